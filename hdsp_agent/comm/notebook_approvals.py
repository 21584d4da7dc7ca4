"""What may be done without asking in one notebook goes with its file, and ends with it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Mapping

from .._background_tasks import BackgroundTasks
from ..config import ApprovalPreset, ContextProxy, chosen_for
from ..errors import ForbiddenByOperator, HdspAgentError, InvalidInput, NotFound
from ..messages import UpdateSettingsRequest
from ..notebooks import NotebookAccess, is_within, renamed

__all__ = ["NotebookApprovals"]

_ByFile = Mapping[str, ApprovalPreset]

logger = logging.getLogger(__name__)


class NotebookApprovals:
    """Keeps the choices for notebooks true: a name that another notebook takes later brings it nothing.

    Jupyter and other editors may replace the file with each save, so a notebook is known by its path alone. It ends where
    it is deleted in Jupyter, and where its file is found missing: when the server starts, when a page connects, before a
    model is asked about it and before an action in it is decided. What remains: a file that is deleted outside Jupyter and
    made anew between two of these looks is taken for the same notebook, and so is what a link leads to that is changed.
    """

    def __init__(self, config: ContextProxy, access: NotebookAccess) -> None:
        self._config = config
        self._access = access
        self._held = BackgroundTasks()
        access.on_moved(self._moved)
        access.on_deleted(self._deleted)
        access.on_missing(self._missing)

    async def stop(self) -> None:
        """Finish what is being written."""
        await self._held.drain()

    async def look(self) -> None:
        """Forget what was chosen for notebooks of this server whose files are no more."""
        root = self._access.root
        if root is None:
            return
        # Those of other folders are other servers' own: here they may just not be mounted.
        files = [file for file in self._config.settings.notebook_approvals if is_within(file, root.as_posix())]
        gone = await asyncio.to_thread(lambda: {file for file in files if not os.path.exists(file)})
        if gone:
            await self._write(_without(gone))

    def look_soon(self) -> None:
        """Look without being waited for."""
        self._held.begin(self.look())

    async def update_settings(self, message: UpdateSettingsRequest) -> None:
        """Change settings for a page, and what was chosen for one notebook; all or none.

        Raises InvalidInput for a whole list: a page that has not heard of a notebook's end would bring it back.
        """
        for whole in ("notebookApprovals", "clientApprovals", "clientQuestions"):
            if whole in message.updated_settings:
                raise InvalidInput(
                    "This page is out of date. Reload it, then choose again.", field=f"updatedSettings.{whole}"
                )
        chosen = message.notebook_approval
        if chosen is None:
            await self._config.update(message.updated_settings)
            return
        path, preset = self._access.now_at(chosen.path), chosen.approval_preset
        file = self._access.file_of(path)
        if preset is None:
            await self._config.update(message.updated_settings, by_notebook=_without({file}))
            return
        if self._access.root is not None and not await asyncio.to_thread(os.path.isfile, file):
            raise NotFound(f"There is no notebook {path}. It may have been moved or deleted.", path=path)
        await self._config.update(message.updated_settings, by_notebook=chosen_for(file, preset))

    # ---- inside

    def _moved(self, old: str, new: str) -> None:
        """A notebook, or a folder, has another path now."""
        before, after = self._access.file_of(old), self._access.file_of(new)
        self._change(lambda known: renamed(known, before, after))

    def _deleted(self, path: str) -> None:
        """A notebook, or a folder, is no more: one that is made in its place is another."""
        gone = self._access.file_of(path)
        self._change(lambda known: {file: preset for file, preset in known.items() if not is_within(file, gone)})

    async def _missing(self, path: str) -> None:
        """The file of a notebook is not there."""
        await self._write(_without({self._access.file_of(path)}))

    def _change(self, change: Callable[[_ByFile], _ByFile]) -> None:
        known = self._config.settings.notebook_approvals
        if change(known) != known:
            self._held.begin(self._write(change))

    async def _write(self, change: Callable[[_ByFile], _ByFile]) -> None:
        try:
            await self._config.update({}, by_notebook=change)
        except ForbiddenByOperator:
            # What the operator has fixed by path holds for whatever has that path.
            return
        except HdspAgentError as error:
            logger.warning("The approvals of a notebook could not be moved with it: %s", error.message)


def _without(files: Collection[str]) -> Callable[[_ByFile], _ByFile]:
    return lambda known: {file: preset for file, preset in known.items() if file not in files}
