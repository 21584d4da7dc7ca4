"""The conversation in the notebook it is about, where the person wants it there: written when the agent's turn is over."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ... import persistence
from ...errors import HdspAgentError

if TYPE_CHECKING:
    from ..task.task import Task

__all__ = ["NotebookCopy"]

_KILOBYTE = 1024


class NotebookCopy:
    """Lets the notebook of one task carry what was said so far. Of subtasks the parent tells."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._written = ""

    async def write(self) -> None:
        """Write it if it is another than before. What cannot be written is told in the log and tried again after a turn."""
        task = self._task
        # The person's own settings: a folder that somebody shares has no say in what is shared.
        settings, files, notebook = task.services.settings(), task.services.files, task.notebook
        if not settings.embed_history_in_notebook or files is None or notebook is None or task.parent is not None:
            return
        most = settings.embed_history_max_kilobytes * _KILOBYTE
        try:
            # What is read of it comes from the disk.
            await task.conversation.log.sync()
            conversation = await persistence.embedded_conversation(task.conversation.log, most)
        except HdspAgentError as error:
            task.logger.warning("%s does not carry this conversation: %s", notebook.path, error.message)
            return
        written = hashlib.sha256(json.dumps(conversation).encode()).hexdigest()
        if conversation is not None and written != self._written:
            self._written = written
            files.embed(task.folder, notebook.path, conversation)
