"""What the agent did to cells and nobody has looked at yet, for tabs that were not there, or were loaded anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..messages import CellId, DeleteCell, InsertCell, JsonObject, NotebookOperation, ReplaceSource, TaskId
from ..wire import WireModel
from ._document import Cell, NotebookSnapshot
from ._renamed_paths import renamed

__all__ = ["RemovedCell", "Unreviewed", "UnreviewedChange"]

_MOST_NOTEBOOKS: Final = 100
_MOST_CHARACTERS: Final = 400_000
"""Of the changes of one notebook. They are told in one piece; those of cells that were changed longest ago go first."""


class RemovedCell(WireModel):
    """A cell that is gone, and where it was."""

    cell: JsonObject
    behind: CellId | None = None
    place: int


class UnreviewedChange(WireModel):
    """What a cell said before the agent changed it, and after; absent is no cell."""

    cell_id: CellId
    task_id: TaskId | None = None
    before: str | None = None
    after: str | None = None
    removed: RemovedCell | None = None

    @property
    def length(self) -> int:
        """In characters."""
        return len(self.before or "") + len(self.after or "")


class Unreviewed:
    """Keeps these for each notebook while the server runs, the last ones only."""

    def __init__(self) -> None:
        self._notebooks: dict[str, dict[CellId, UnreviewedChange]] = {}

    def note(
        self,
        path: str,
        before: NotebookSnapshot,
        operations: Sequence[NotebookOperation],
        task_id: TaskId | None,
        *,
        known_only: bool = False,
    ) -> None:
        """These operations were done, shown to the person to keep or take back, in a notebook that was like this.

        ``known_only`` leaves out cells that do not wait for the person already: they have seen what was done.
        """
        changes = self._notebooks.pop(path, {})
        for change in _changes(before, operations, task_id):
            if known_only and change.cell_id not in changes:
                continue
            now = _merged(changes.pop(change.cell_id, None), change)
            if now is not None:
                changes[change.cell_id] = now
        _shorten(changes)
        if changes:
            self._notebooks[path] = changes
        for oldest in list(self._notebooks)[:-_MOST_NOTEBOOKS]:
            del self._notebooks[oldest]

    def of(self, path: str) -> list[UnreviewedChange]:
        """The changes of a notebook."""
        return list(self._notebooks.get(path, {}).values())

    def settled(self, path: str, cell_id: CellId) -> None:
        """The person kept the change of a cell, or took it back."""
        changes = self._notebooks.get(path, {})
        changes.pop(cell_id, None)
        if not changes:
            self._notebooks.pop(path, None)

    def moved(self, old: str, new: str) -> None:
        """A notebook, or a folder, has another path now."""
        self._notebooks = renamed(self._notebooks, old, new)


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


def _merged(earlier: UnreviewedChange | None, later: UnreviewedChange) -> UnreviewedChange | None:
    """Both as one; None if nothing is left of them. What the person typed in between is theirs, and stays in ``before``."""
    if earlier is not None and earlier.after == later.before:
        later = later.model_copy(update={"before": earlier.before})
    if later.before == later.after or (later.before is None and later.removed is not None):
        return None
    return later


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
