"""What the agent did to cells and nobody has looked at yet, for tabs that were not there, or were loaded anew."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from .._background_tasks import BackgroundTasks
from ..errors import HdspAgentError, Unavailable
from ..messages import CellId, DeleteCell, InsertCell, JsonObject, NotebookOperation, ReplaceSource, TaskId
from ._document import Cell, NotebookSnapshot
from ._renamed_paths import is_within, renamed
from ._unreviewed_change import RemovedCell, UnreviewedChange, merged
from ._unreviewed_files import UnreviewedFiles

__all__ = ["Unreviewed"]

logger = logging.getLogger(__name__)

_MOST_NOTEBOOKS: Final = 100
_MOST_CHARACTERS: Final = 400_000
"""Of the changes of one notebook. They are told in one piece; those of cells that were changed longest ago go first."""

_Changes = dict[CellId, UnreviewedChange]


class Unreviewed:
    """Keeps these for each notebook, the last ones only; with files, a server that starts again has them, too."""

    def __init__(self, files: UnreviewedFiles | None = None) -> None:
        self._files = files
        self._notebooks: dict[str, _Changes] = {}
        self._unwritten: set[str] = set()
        self._held = BackgroundTasks()
        self._writing: asyncio.Task[None] | None = None

    async def recall(self) -> None:
        """Learn what was kept when the server last ran."""
        if self._files is None:
            return
        try:
            kept = await asyncio.to_thread(self._files.read)
        except HdspAgentError as error:
            logger.warning("The list of changes to review could not be read: %s", error)
            return
        self._notebooks = {
            path: {change.cell_id: change for change in changes} for path, changes in kept.items()
        } | self._notebooks

    async def written(self) -> None:
        """Wait until the files have what is known now."""
        await self._held.drain()

    @asynccontextmanager
    async def noting(
        self,
        path: str,
        before: NotebookSnapshot,
        operations: Sequence[NotebookOperation],
        task_id: TaskId | None,
        *,
        known_only: bool = False,
    ) -> AsyncIterator[None]:
        """Note these operations while they are done: a server that is killed meanwhile shows them all the same.

        They are forgotten if it is sure that none was done.
        """
        withdraw = self.note(path, before, operations, task_id, known_only=known_only)
        await self.written()
        try:
            yield
        except HdspAgentError as error:
            # Of a tab that does not answer nobody knows what it did.
            if not isinstance(error, Unavailable):
                withdraw()
            raise

    def note(
        self,
        path: str,
        before: NotebookSnapshot,
        operations: Sequence[NotebookOperation],
        task_id: TaskId | None,
        *,
        known_only: bool = False,
    ) -> Callable[[], None]:
        """These operations were done, shown to the person to keep or take back, in a notebook that was like this.

        ``known_only`` leaves out cells that do not wait for the person already: they have seen what was done. Call what
        comes back if they were not done after all.
        """
        earlier = self._notebooks.get(path, {})
        changes = dict(earlier)
        named: dict[CellId, UnreviewedChange | None] = {}
        for change in _changes(before, operations, task_id):
            if known_only and change.cell_id not in changes:
                continue
            now = named[change.cell_id] = merged(changes.pop(change.cell_id, None), change)
            if now is not None:
                changes[change.cell_id] = now
        _shorten(changes)
        self._put(path, changes)
        for oldest in list(self._notebooks)[:-_MOST_NOTEBOOKS]:
            self._put(oldest, {})

        def withdraw() -> None:
            left = self._notebooks.get(path, {})
            mine = [cell_id for cell_id, change in named.items() if left.get(cell_id) is change]
            others = {cell_id: change for cell_id, change in left.items() if cell_id not in mine}
            self._put(path, {cell_id: earlier[cell_id] for cell_id in mine if cell_id in earlier} | others)

        return withdraw

    def of(self, path: str) -> list[UnreviewedChange]:
        """The changes of a notebook."""
        return list(self._notebooks.get(path, {}).values())

    def settled(self, path: str, cell_id: CellId) -> None:
        """The person kept the change of a cell, or took it back."""
        changes = self._notebooks.get(path, {})
        self._put(path, {id: change for id, change in changes.items() if id != cell_id})

    def kept_part(self, path: str, cell_id: CellId, before: str) -> None:
        """The person kept part of the change of a cell: the rest is what differs from this."""
        changes = self._notebooks.get(path, {})
        change = changes.get(cell_id)
        if change is not None and change.before is not None:
            self._put(path, changes | {cell_id: change.model_copy(update={"before": before})})

    def moved(self, old: str, new: str) -> None:
        """A notebook, or a folder, has another path now."""
        before, self._notebooks = self._notebooks, renamed(self._notebooks, old, new)
        for path in {*before, *self._notebooks}:
            if before.get(path) is not self._notebooks.get(path):
                self._write_soon(path)

    def deleted(self, path: str) -> None:
        """A notebook, or a folder, is no more: one that is made in its place is another."""
        for one in [one for one in self._notebooks if is_within(one, path)]:
            self._put(one, {})

    def _put(self, path: str, changes: _Changes) -> None:
        known = self._notebooks.pop(path, None)
        if changes:
            # The newest last.
            self._notebooks[path] = changes
        if changes or known:
            self._write_soon(path)

    def _write_soon(self, path: str) -> None:
        if self._files is None:
            return
        self._unwritten.add(path)
        if self._writing is None or self._writing.done():
            self._writing = self._held.begin(self._write(self._files))

    async def _write(self, files: UnreviewedFiles) -> None:
        while self._unwritten:
            path = self._unwritten.pop()
            try:
                await asyncio.to_thread(files.write, path, self.of(path))
            except HdspAgentError as error:
                logger.warning("The list of changes to review in %s could not be saved: %s", path, error)


def _changes(
    before: NotebookSnapshot, operations: Sequence[NotebookOperation], task_id: TaskId | None
) -> list[UnreviewedChange]:
    """What all of them together did to each cell they name."""
    after: dict[CellId, str | None] = {}
    for operation in operations:
        match operation:
            case InsertCell() | ReplaceSource():
                after[operation.cell_id] = operation.source
            case DeleteCell():
                after[operation.cell_id] = None
    cells = {cell.id: place for place, cell in enumerate(before.cells)}
    return [
        UnreviewedChange(
            cell_id=cell_id,
            task_id=task_id,
            before=before.cells[cells[cell_id]].source if cell_id in cells else None,
            after=source,
            removed=_removed(before, cells[cell_id]) if source is None and cell_id in cells else None,
        )
        for cell_id, source in after.items()
    ]


def _removed(before: NotebookSnapshot, place: int) -> RemovedCell:
    behind = before.cells[place - 1].id if place else None
    return RemovedCell(cell=_as_json(before.cells[place]), behind=behind, place=place)


def _as_json(cell: Cell) -> JsonObject:
    """A cell as nbformat has it, without its outputs."""
    base: JsonObject = {"id": cell.id, "cell_type": cell.cell_type, "source": cell.source, "metadata": cell.metadata}
    return base | {"outputs": [], "execution_count": None} if cell.cell_type == "code" else base


def _shorten(changes: dict[CellId, UnreviewedChange]) -> None:
    length = sum(change.length for change in changes.values())
    for oldest in list(changes):
        if length <= _MOST_CHARACTERS:
            return
        length -= changes.pop(oldest).length
