"""Whether operations can be done: a rehearsal on ids, types and sources alone, before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from pydantic import ValidationError

from ..errors import InvalidInput, NotAllowed
from ..messages import (
    AppendOutput,
    CellId,
    CellMismatch,
    ChangeCellType,
    ClearOutputs,
    DeleteCell,
    InsertCell,
    MoveCell,
    NotebookOperation,
    ReplaceSource,
    SetAttachments,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
)
from ._document import CellConflict, CellType, EditSource, Operation
from ._hashes import source_hash

__all__ = ["DryRun", "DryRunCell"]

_TRUST_KEY: Final = "trusted"
_MOST_REASONS: Final = 5
_LONGEST_SHOWN_LINE: Final = 120
_ALIKE_PERCENT: Final = 60


@dataclass
class DryRunCell:
    """A cell as far as operations ask about it."""

    cell_type: CellType
    source: str
    before: str | None = None
    """The source it had before the operations; None for a cell they inserted."""

    def is_expected(self, expect: str | None) -> bool:
        """Whether its source is the one expected, from before these operations or by now."""
        sources = {self.source} if self.before is None else {self.source, self.before}
        return expect is None or expect in map(source_hash, sources)

    @property
    def untouched(self) -> bool:
        """Whether its source is still the one from before."""
        return self.source == self.before


@dataclass
class DryRun:
    """Goes through operations in order and notes all that cannot be done, not only the first."""

    path: str
    cells: dict[CellId, DryRunCell]
    _done: list[NotebookOperation] = field(default_factory=list)
    _mismatches: list[CellMismatch] = field(default_factory=list)
    _reasons: list[str] = field(default_factory=list)

    def operations(self, operations: Sequence[Operation]) -> list[NotebookOperation]:
        """The operations as the wire has them, each with the hash that holds when it is its turn."""
        for index, operation in enumerate(operations):
            exact = self._rehearse(index, operation)
            if exact is not None:
                self._done.append(exact)
        if self._mismatches:
            raise CellConflict(self._sentence(), path=self.path, mismatches=self._mismatches)
        return self._done

    def _rehearse(self, index: int, operation: Operation) -> NotebookOperation | None:
        if isinstance(operation, SetNotebookMetadata):
            return operation
        if isinstance(operation, InsertCell):
            return self._insert(index, operation)
        cell = self.cells.get(operation.cell_id)
        if cell is None:
            self._note(index, operation.cell_id, f"there is no cell {operation.cell_id}")
            return None
        match operation:
            case EditSource() | ReplaceSource() | DeleteCell() | ChangeCellType():
                return self._expecting(index, operation, cell)
            case MoveCell():
                return operation if self._has_place(index, operation) else None
            case SetOutputs() | AppendOutput() | ClearOutputs():
                self._require_code(operation.cell_id, cell.cell_type)
                return operation
            case SetAttachments():
                self._refuse_code(operation.cell_id, cell.cell_type)
                return operation
            case SetCellMetadata():
                self._refuse_trust(operation)
                return operation
            case _:
                assert_never(operation)

    def _insert(self, index: int, operation: InsertCell) -> NotebookOperation | None:
        if operation.cell_id in self.cells:
            self._note(index, operation.cell_id, f"there is a cell {operation.cell_id} already")
            return None
        if not self._has_place(index, operation):
            return None
        if operation.outputs or operation.execution_count is not None:
            self._require_code(operation.cell_id, operation.cell_type)
        if operation.attachments:
            self._refuse_code(operation.cell_id, operation.cell_type)
        self.cells[operation.cell_id] = DryRunCell(operation.cell_type, operation.source)
        if operation.metadata and _TRUST_KEY in operation.metadata:
            rest = {key: value for key, value in operation.metadata.items() if key != _TRUST_KEY}
            return operation.model_copy(update={"metadata": rest})
        return operation

    def _expecting(
        self, index: int, operation: EditSource | ReplaceSource | DeleteCell | ChangeCellType, cell: DryRunCell
    ) -> NotebookOperation | None:
        if not cell.is_expected(operation.expect):
            self._note(index, operation.cell_id, f"cell {operation.cell_id} has another source by now")
            return None
        expect = source_hash(cell.source) if cell.untouched else None
        match operation:
            case EditSource():
                return self._edit(index, operation, cell, expect)
            case ReplaceSource():
                cell.source = operation.source
            case DeleteCell():
                del self.cells[operation.cell_id]
            case ChangeCellType():
                cell.cell_type = operation.cell_type
            case _:
                assert_never(operation)
        # Whoever does the operations compares with the source as it is by then.
        return operation if operation.expect is None else operation.model_copy(update={"expect": expect})

    def _edit(
        self, index: int, operation: EditSource, cell: DryRunCell, expect: str | None
    ) -> NotebookOperation | None:
        if not operation.old:
            raise InvalidInput(
                f"The text to replace in cell {operation.cell_id} is empty. Give the text that is to be replaced, or "
                "replace the whole source.",
                cell=operation.cell_id,
            )
        count = _occurrences(cell.source, operation.old)
        if count != 1:
            found = (
                f"is in cell {operation.cell_id} {count} times, not once" if count else self._missing(operation, cell)
            )
            self._note(index, operation.cell_id, f"the text to replace {found}")
            return None
        source = cell.source.replace(operation.old, operation.new)
        try:
            exact = ReplaceSource(cell_id=operation.cell_id, expect=expect, source=source)
        except ValidationError as error:
            raise InvalidInput(
                f"The new source of cell {operation.cell_id} cannot be kept: {error.errors()[0]['msg']}.",
                cell=operation.cell_id,
            ) from error
        cell.source = source
        return exact

    def _missing(self, operation: EditSource, cell: DryRunCell) -> str:
        # Of more than are told nobody would learn where they nearly are.
        told = len(self._reasons) < _MOST_REASONS
        return f"is not in cell {operation.cell_id}{_nearest(operation.old, cell.source) if told else ''}"

    def _has_place(self, index: int, operation: InsertCell | MoveCell) -> bool:
        if operation.after == operation.cell_id:
            raise InvalidInput(f"Cell {operation.cell_id} cannot stand behind itself.", cell=operation.cell_id)
        if operation.after is None or operation.after in self.cells:
            return True
        self._note(index, operation.after, f"there is no cell {operation.after} to put one behind")
        return False

    def _require_code(self, cell_id: CellId, cell_type: CellType) -> None:
        if cell_type != "code":
            raise InvalidInput(f"Cell {cell_id} is {cell_type}; only code cells have outputs.", cell=cell_id)

    def _refuse_code(self, cell_id: CellId, cell_type: CellType) -> None:
        if cell_type == "code":
            raise InvalidInput(f"Cell {cell_id} is code; only other cells have attachments.", cell=cell_id)

    def _refuse_trust(self, operation: SetCellMetadata) -> None:
        if operation.key == _TRUST_KEY:
            raise NotAllowed("Whether outputs are trusted is the person's to say.", cell=operation.cell_id)

    def _note(self, index: int, cell_id: CellId, reason: str) -> None:
        cell = self.cells.get(cell_id)
        self._mismatches.append(CellMismatch(index=index, cell_id=cell_id, source=cell.source if cell else None))
        self._reasons.append(reason)

    def _sentence(self) -> str:
        reasons = "; ".join(self._reasons[:_MOST_REASONS])
        more = len(self._reasons) - _MOST_REASONS
        others = f"; and {more} more" if more > 0 else ""
        return f"{self.path} is not as expected, so nothing was changed: {reasons}{others}."


def _occurrences(source: str, old: str) -> int:
    """How often it is there, overlapping ones counted: replacing either would be a guess."""
    count, place = 0, source.find(old)
    while place >= 0:
        count += 1
        place = source.find(old, place + 1)
    return count


def _nearest(wanted: str, source: str) -> str:
    from rapidfuzz import fuzz, process  # 25 ms, for the few edits that need it

    if "".join(wanted.split()) in "".join(source.split()):
        return "; it differs in white space"
    line = next((line for line in wanted.splitlines() if line.strip()), "")[:_LONGEST_SHOWN_LINE]
    lines = [one[:_LONGEST_SHOWN_LINE] for one in source.splitlines()]
    close = process.extractOne(line, lines, scorer=fuzz.ratio, score_cutoff=_ALIKE_PERCENT)
    if close is None:
        return ""
    found, _, place = close
    return f"; the nearest line is {place + 1}: {found}"
