"""What a model wants done to cells, and what that is in the words of the notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Self, assert_never

from pydantic import BaseModel, ConfigDict, model_validator

from ...messages import (
    CellId,
    ChangeCellType,
    ClearOutputs,
    DeleteCell,
    InsertCell,
    MoveCell,
    ReplaceSource,
)
from ...notebooks import Cell, EditSource, NotebookSnapshot, Operation
from .._tool_failed import ToolFailed
from ._cell_selection import CellName, cell_named

__all__ = ["CellOperation", "Planned", "planned"]

Op = Literal["insert", "replace", "edit", "delete", "move", "change_type", "clear_outputs"]
_START: Final = "start"
_NEEDS: Final[dict[Op, tuple[str, ...]]] = {
    "insert": ("source",),
    "replace": ("cell", "source"),
    "edit": ("cell", "old", "new"),
    "delete": ("cell",),
    "move": ("cell",),
    "change_type": ("cell", "cell_type"),
    "clear_outputs": ("cell",),
}
_MAY: Final[dict[Op, tuple[str, ...]]] = {"insert": ("after", "cell_type"), "move": ("after",)}


class CellOperation(BaseModel):
    """One change of a cell."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    op: Op
    """insert: a new cell with `source`. replace: the whole source becomes `source`. edit: the text `old` in the source, which must stand there exactly once, becomes `new`. delete; move; change_type; clear_outputs."""
    cell: CellName | None = None
    """The cell, by id or number; not for insert. clear_outputs also takes "all"."""
    after: CellName | None = None
    """For insert and move: the cell it goes behind, or "start"; absent for the end of the notebook."""
    cell_type: Literal["code", "markdown", "raw"] | None = None
    """For insert (code if absent) and change_type."""
    source: str | None = None
    """For insert and replace: the whole source."""
    old: str | None = None
    """For edit: the text to replace, exactly as it is in the cell."""
    new: str | None = None
    """For edit: the text to put in its place."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs, may = _NEEDS[self.op], _MAY.get(self.op, ())
        given = {name for name in type(self).model_fields if name != "op" and getattr(self, name) is not None}
        missing = [name for name in needs if name not in given]
        if missing:
            raise ValueError(f"{self.op} needs {' and '.join(missing)}")
        strange = sorted(given - {*needs, *may})
        if strange:
            raise ValueError(f"{self.op} takes no {' or '.join(strange)}")
        return self


@dataclass(frozen=True)
class Planned:
    """One operation, and where it was meant to be."""

    operation: Operation
    before: Cell | None
    """The cell as it is; None for a new one."""
    after: int | None = None
    """Of what is put somewhere: behind which cell, by its number before the change; 0 is the beginning."""


def planned(
    wanted: Sequence[CellOperation],
    snapshot: NotebookSnapshot,
    shown: str,
    fill: Callable[[str], str],
    unmask: Callable[[str], str],
    new_ids: Sequence[CellId],
) -> list[Planned]:
    """The operations, with the hashes of the cells as they are. Raises ToolFailed naming every one that cannot be.

    Numbers are those of the notebook before the first one. What is put behind the same cell stands there in order.
    """
    plan = _Plan(snapshot, shown, fill, unmask, iter(new_ids))
    problems: list[str] = []
    first: ToolFailed | None = None
    for number, one in enumerate(wanted, 1):
        try:
            plan.add(one)
        except ToolFailed as problem:
            first = first or problem
            problems.append(f"Operation {number} ({one.op}): {problem}")
    if first is not None:
        raise ToolFailed("\n".join(["Nothing was changed.", *problems]), code=first.code, cells=first.cells)
    return plan.done


class _Plan:
    """The operations so far, and the order the cells have after them."""

    def __init__(
        self,
        snapshot: NotebookSnapshot,
        shown: str,
        fill: Callable[[str], str],
        unmask: Callable[[str], str],
        new_ids: Iterator[CellId],
    ) -> None:
        self._snapshot = snapshot
        self._shown = shown
        self._fill = fill
        self._unmask = unmask
        self._new_ids = new_ids
        self._order = [cell.id for cell in snapshot.cells]
        self._last_behind: dict[CellId | None, CellId] = {}
        self.done: list[Planned] = []

    def add(self, wanted: CellOperation) -> None:
        """One more."""
        if wanted.op == "insert":
            self._insert(wanted)
        elif wanted.op == "clear_outputs" and wanted.cell == "all":
            for cell in self._snapshot.cells:
                if cell.has_outputs or cell.execution_count is not None:
                    self.done.append(Planned(ClearOutputs(cell_id=cell.id), cell))
        else:
            self._change(wanted, cell_named(wanted.cell or "", self._snapshot, self._shown))

    def _insert(self, wanted: CellOperation) -> None:
        cell_id = next(self._new_ids)
        behind, number = self._put(cell_id, wanted.after)
        source = self._fill(wanted.source or "").replace("\r\n", "\n")
        insert = InsertCell(cell_id=cell_id, after=behind, cell_type=wanted.cell_type or "code", source=source)
        self.done.append(Planned(insert, None, number))

    def _change(self, wanted: CellOperation, cell: Cell) -> None:
        if cell.id not in self._order:
            raise ToolFailed(f"an earlier operation deletes cell {cell.id}.")
        number: int | None = None
        operation: Operation
        match wanted.op:
            case "replace":
                source = self._fill(wanted.source or "").replace("\r\n", "\n")
                operation = ReplaceSource(cell_id=cell.id, expect=cell.hash, source=source)
            case "edit":
                operation = self._edit(wanted, cell)
            case "delete":
                self._order.remove(cell.id)
                operation = DeleteCell(cell_id=cell.id, expect=cell.hash)
            case "move":
                self._order.remove(cell.id)
                behind, number = self._put(cell.id, wanted.after)
                operation = MoveCell(cell_id=cell.id, after=behind)
            case "change_type":
                operation = ChangeCellType(cell_id=cell.id, expect=cell.hash, cell_type=wanted.cell_type or "code")
            case "clear_outputs":
                operation = ClearOutputs(cell_id=cell.id)
            case "insert":
                raise AssertionError("inserted before")
            case _:
                assert_never(wanted.op)
        self.done.append(Planned(operation, cell, number))

    def _edit(self, wanted: CellOperation, cell: Cell) -> EditSource:
        if not wanted.old:
            raise ToolFailed("`old` is empty. Give the text that is to be replaced, or use replace.")
        # What is searched for is in the cell or nowhere, so it may be unmasked whoever approves.
        old = self._unmask(wanted.old).replace("\r\n", "\n")
        new = self._fill(wanted.new or "").replace("\r\n", "\n")
        if old == new:
            raise ToolFailed("`old` and `new` are the same: nothing would change.")
        return EditSource(cell.id, old, new, expect=cell.hash)

    def _put(self, cell_id: CellId, after: str | None) -> tuple[CellId | None, int]:
        """Behind which cell it comes, as the cells are by then, and that cell's number before the change."""
        if after is None:
            behind, number = (self._order[-1] if self._order else None), len(self._snapshot.cells)
        elif after == _START:
            behind, number = self._last_behind.get(None), 0
            self._last_behind[None] = cell_id
        else:
            anchor = cell_named(after, self._snapshot, self._shown)
            if anchor.id == cell_id:
                raise ToolFailed(f"cell {cell_id} cannot stand behind itself.")
            if anchor.id not in self._order:
                raise ToolFailed(f"an earlier operation deletes cell {anchor.id}, which this one is put behind.")
            behind, number = self._last_behind.get(anchor.id, anchor.id), self._snapshot.index(anchor.id) + 1
            self._last_behind[anchor.id] = cell_id
        self._order.insert(0 if behind is None else self._order.index(behind) + 1, cell_id)
        return behind, number
