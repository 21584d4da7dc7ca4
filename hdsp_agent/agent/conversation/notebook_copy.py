"""The conversation in the notebook it is about, where the person wants it there: written when the agent's turn is over."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ... import persistence
from ...errors import HdspAgentError

if TYPE_CHECKING:
    from ..task.task_state import TaskState

__all__ = ["NotebookCopy"]

_KILOBYTE = 1024


class NotebookCopy:
    """Lets the notebook of one task carry what was said so far. Of subtasks the parent tells."""

    def __init__(self, state: TaskState) -> None:
        self._state = state
        self._written = ""

    async def write(self) -> None:
        """Write it if it is another than before. What cannot be written is told in the log and tried again after a turn."""
        state = self._state
        # The person's own settings: a folder that somebody shares has no say in what is shared.
        settings, checkpoints, notebook = state.services.settings(), state.services.checkpoints, state.notebook
        if (
            not settings.embed_history_in_notebook
            or checkpoints is None
            or notebook is None
            or state.parent is not None
        ):
            return
        most = settings.embed_history_max_kilobytes * _KILOBYTE
        try:
            # What is read of it comes from the disk.
            await state.conversation.log.sync()
            conversation = await persistence.embedded_conversation(state.conversation.log, most)
        except HdspAgentError as error:
            state.logger.warning("The conversation was not saved in %s: %s", notebook.path, error.message)
            return
        written = hashlib.sha256(json.dumps(conversation).encode()).hexdigest()
        if conversation is not None and written != self._written:
            self._written = written
            checkpoints.embed(state.folder, notebook.path, conversation)
