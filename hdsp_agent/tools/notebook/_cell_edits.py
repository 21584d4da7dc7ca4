"""Changes of cells as a person is asked about them: one entry a cell and kind of change, with what changes in its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from ...messages import (
    CellEdit,
    CellEditKind,
    CellId,
    ChangeCellType,
    ClearOutputs,
    DeleteCell,
    InsertCell,
    JsonObject,
    MoveCell,
    NotebookOperation,
    ReplaceSource,
)
from ...notebooks import Cell, CellType, EditSource
from .._edit_check import unified_diff
from ._operations import Planned

__all__ = ["cell_edits", "previewed_edit"]

_KINDS: Final[Mapping[str, CellEditKind]] = {
    "insert": "insert",
    "replace": "replace",
    "edit": "edit",
    "delete": "delete",
    "move": "move",
    "change_type": "changeType",
    "clear_outputs": "clearOutputs",
}
_TYPES: Final = ("code", "markdown", "raw")


@dataclass
class _Change:
    op: CellEditKind
    cell_id: CellId
    number: int | None
    before: str
    after: str
    cell_type: CellType | None = None
    behind: int | None = None


def cell_edits(
    plan: Sequence[Planned],
    exact: Sequence[NotebookOperation],
    numbers: Mapping[CellId, int],
    mask: Callable[[str], str],
) -> list[CellEdit]:
    """What these operations change. One that changes nothing is left out."""
    changes: list[_Change] = []
    sources: dict[CellId, _Change] = {}
    for planned, operation in zip(plan, exact, strict=True):
        cell = planned.before
        match operation:
            case InsertCell():
                changes.append(
                    _Change("insert", operation.cell_id, None, "", operation.source, operation.cell_type, planned.after)
                )
            case ReplaceSource():
                known = sources.get(operation.cell_id)
                if known is None:
                    op: CellEditKind = "edit" if isinstance(planned.operation, EditSource) else "replace"
                    known = _source_change(op, operation.cell_id, cell, numbers)
                    sources[operation.cell_id] = known
                    changes.append(known)
                known.after = operation.source
            case DeleteCell():
                change = _source_change("delete", operation.cell_id, cell, numbers)
                change.after = ""
                changes.append(change)
            case ChangeCellType():
                change = _source_change("changeType", operation.cell_id, cell, numbers)
                change.cell_type = operation.cell_type
                changes.append(change)
            case MoveCell():
                change = _source_change("move", operation.cell_id, cell, numbers)
                change.behind = planned.after
                changes.append(change)
            case ClearOutputs():
                changes.append(_source_change("clearOutputs", operation.cell_id, cell, numbers))
            case _:
                raise AssertionError(f"{operation.op} is not among what a model can ask for")
    same = [change for change in changes if change.op in ("replace", "edit") and change.before == change.after]
    return [_told(change, mask) for change in changes if change not in same]


def previewed_edit(operation: JsonObject) -> CellEdit | None:
    """An operation whose arguments still stream in, as far as they are there."""
    op, cell, cell_type = operation.get("op"), operation.get("cell"), operation.get("cell_type")
    kind = _KINDS.get(op) if isinstance(op, str) else None
    if kind is None:
        return None
    text = "\n".join(
        f"{sign}{line}"
        for name, sign in (("old", "-"), ("new", "+"), ("source", "+"))
        if isinstance(given := operation.get(name), str)
        for line in given.split("\n")
    )
    return CellEdit(
        op=kind,
        cell_id=CellId(str(cell)) if isinstance(cell, (str, int)) else None,
        cell_type=cast("CellType", cell_type) if cell_type in _TYPES else None,
        diff=text or None,
    )


def _source_change(op: CellEditKind, cell_id: CellId, cell: Cell | None, numbers: Mapping[CellId, int]) -> _Change:
    source = cell.source if cell is not None else ""
    return _Change(op, cell_id, numbers.get(cell_id), source, source)


def _told(change: _Change, mask: Callable[[str], str]) -> CellEdit:
    named = f"cell {change.number} {change.cell_id}" if change.number is not None else f"cell {change.cell_id}"
    diff, stats = unified_diff(mask(change.before), mask(change.after), named)
    return CellEdit(
        op=change.op,
        cell_id=change.cell_id,
        number=change.number,
        cell_type=change.cell_type,
        after=change.behind,
        diff=diff or None,
        added=stats.added or None,
        removed=stats.removed or None,
    )
