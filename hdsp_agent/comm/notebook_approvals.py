"""What may be done without asking in one notebook goes with its file, and ends with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from .._background_tasks import BackgroundTasks
from ..config import ApprovalPreset, ContextProxy
from ..errors import ForbiddenByOperator, HdspAgentError
from ..notebooks import is_within, renamed

__all__ = ["NotebookApprovals"]

_ByFile = Mapping[str, ApprovalPreset]

logger = logging.getLogger(__name__)


class NotebookApprovals:
    """Keeps the choices for notebooks true: a name that another notebook takes later brings it nothing."""

    def __init__(self, config: ContextProxy, file_of: Callable[[str], str]) -> None:
        self._config = config
        self._file_of = file_of
        self._held = BackgroundTasks()
        self._one_at_a_time = asyncio.Lock()

    async def stop(self) -> None:
        """Finish what is being written."""
        await self._held.drain()

    def moved(self, old: str, new: str) -> None:
        """A notebook, or a folder, has another path now."""
        before, after = self._file_of(old), self._file_of(new)
        self._change(lambda known: renamed(known, before, after))

    def deleted(self, path: str) -> None:
        """A notebook, or a folder, is no more: one that is made in its place is another."""
        gone = self._file_of(path)
        self._change(lambda known: {file: preset for file, preset in known.items() if not is_within(file, gone)})

    def _change(self, change: Callable[[_ByFile], _ByFile]) -> None:
        known = self._config.settings.notebook_approvals
        if change(known) != known:
            self._held.begin(self._write(change))

    async def _write(self, change: Callable[[_ByFile], _ByFile]) -> None:
        async with self._one_at_a_time:
            now = change(self._config.settings.notebook_approvals)
            try:
                await self._config.update({"notebookApprovals": {**now}})
            except ForbiddenByOperator:
                # What the operator has fixed by path holds for whatever has that path.
                return
            except HdspAgentError as error:
                logger.warning("What may be done without asking could not follow a notebook: %s", error.message)
