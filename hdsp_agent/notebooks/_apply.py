"""Operations on a notebook as plain JSON: all of them or none, and every other cell stays the very object it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from ..messages import (
    AppendOutput,
    CellId,
    ChangeCellType,
    ClearOutputs,
    DeleteCell,
    InsertCell,
    JsonObject,
    MoveCell,
    NotebookOperation,
    ReplaceSource,
    SetAttachments,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
)
from ._cell_changes import new_cell, with_attachments, with_metadata, with_output, with_outputs, with_source, with_type
from ._cells import cell_ids, cell_source, cells_of, splits_text, type_of
from ._document import NotebookSnapshot, Operation
from ._dry_run import DryRun, DryRunCell
from ._format import has_cell_ids

__all__ = ["ChangedNotebook", "apply_operations", "changed_cells", "resolve_edits"]


@dataclass(frozen=True)
class ChangedNotebook:
    """What operations made of a notebook."""

    notebook: JsonObject
    changed: tuple[CellId, ...]
    """Cells that were inserted, changed or moved and are still there, by the ids they have now."""
    renamed: Mapping[CellId, CellId]
    """Old to new ids, of cells that are named by what they say."""
    new_outputs: frozenset[int]
    """At which places are cells whose outputs the operations brought."""


def resolve_edits(snapshot: NotebookSnapshot, operations: Sequence[Operation]) -> list[NotebookOperation]:
    """The operations as the wire has them, if a notebook like this one can do them; else CellConflict or InvalidInput.

    An edit becomes a replaced source that expects the source the edit was found in. A hash may be of the source before
    the operations or of what earlier ones of them made of it.
    """
    cells = {cell.id: DryRunCell(cell.cell_type, cell.source, cell.source) for cell in snapshot.cells}
    return DryRun(snapshot.path, cells).operations(operations)


def changed_cells(operations: Sequence[NotebookOperation]) -> tuple[CellId, ...]:
    """The cells that such operations insert, change or move, in their order, without those they delete."""
    changed: dict[CellId, None] = {}
    for operation in operations:
        if isinstance(operation, DeleteCell):
            changed.pop(operation.cell_id, None)
        elif not isinstance(operation, SetNotebookMetadata):
            changed[operation.cell_id] = None
    return tuple(changed)


def apply_operations(
    notebook: JsonObject, operations: Sequence[Operation], *, path: str = "The notebook"
) -> ChangedNotebook:
    """The notebook after all operations, or CellConflict, InvalidInput or NotAllowed. The one given is not changed.

    Cells that no operation names are the same objects as before. Below format 4.5 no cell gets an id. From 4.5 on, a
    cell whose id is missing or taken gets the one that ``cell_ids`` calls it by: without, the file would not be valid.
    """
    cells = cells_of(notebook)
    ids = cell_ids(cells)
    rehearsed = {
        cell_id: DryRunCell(type_of(cell), source, source)
        for cell_id, cell, source in zip(ids, cells, map(cell_source, cells), strict=True)
    }
    exact = DryRun(path, rehearsed).operations(operations)
    work = _Work(notebook, dict(zip(ids, cells, strict=True)), ids, split=splits_text(cells))
    for operation in exact:
        work.do(operation)
    return work.result(changed_cells(exact))


class _Work:
    """The cells while operations that are known to be possible are done."""

    def __init__(self, notebook: JsonObject, cells: dict[CellId, JsonObject], order: list[CellId], *, split: bool):
        self._notebook = notebook
        self._cells = cells
        self._order = order
        self._split = split
        self._new_outputs: set[CellId] = set()

    def do(self, operation: NotebookOperation) -> None:
        """One operation."""
        match operation:
            case SetNotebookMetadata():
                self._notebook = with_metadata(self._notebook, operation.key, operation.value)
            case InsertCell():
                self._cells[operation.cell_id] = new_cell(operation, split=self._split)
                self._place(operation.cell_id, operation.after)
                if operation.outputs:
                    self._new_outputs.add(operation.cell_id)
            case DeleteCell():
                self._order.remove(operation.cell_id)
                del self._cells[operation.cell_id]
            case MoveCell():
                self._order.remove(operation.cell_id)
                self._place(operation.cell_id, operation.after)
            case _:
                self._cells[operation.cell_id] = self._changed(self._cells[operation.cell_id], operation)

    def result(self, changed: tuple[CellId, ...]) -> ChangedNotebook:
        """The notebook, with ids where its format has them."""
        with_ids = has_cell_ids(self._notebook)
        cells = [self._identified(cell_id, with_ids) for cell_id in self._order]
        named = dict(zip(self._order, cell_ids(cells), strict=True))
        return ChangedNotebook(
            notebook={**self._notebook, "cells": [*cells]},
            changed=tuple(named[cell_id] for cell_id in changed),
            renamed={old: new for old, new in named.items() if old != new},
            new_outputs=frozenset(place for place, each in enumerate(self._order) if each in self._new_outputs),
        )

    def _place(self, cell_id: CellId, after: CellId | None) -> None:
        self._order.insert(0 if after is None else self._order.index(after) + 1, cell_id)

    def _identified(self, cell_id: CellId, with_ids: bool) -> JsonObject:
        cell = self._cells[cell_id]
        return cell if not with_ids or cell.get("id") == cell_id else {**cell, "id": cell_id}

    def _changed(
        self,
        cell: JsonObject,
        operation: ReplaceSource
        | ChangeCellType
        | SetOutputs
        | AppendOutput
        | ClearOutputs
        | SetAttachments
        | SetCellMetadata,
    ) -> JsonObject:
        match operation:
            case ReplaceSource():
                return cell if cell_source(cell) == operation.source else with_source(cell, operation.source)
            case ChangeCellType():
                return cell if type_of(cell) == operation.cell_type else with_type(cell, operation.cell_type)
            case SetOutputs():
                self._new_outputs.add(operation.cell_id)
                return with_outputs(cell, operation.outputs, operation.execution_count, split=self._split)
            case AppendOutput():
                self._new_outputs.add(operation.cell_id)
                return with_output(cell, operation.output, split=self._split)
            case ClearOutputs():
                return with_outputs(cell, [], None, split=self._split)
            case SetAttachments():
                return with_attachments(cell, operation.attachments)
            case SetCellMetadata():
                return with_metadata(cell, operation.key, operation.value)
            case _:
                assert_never(operation)
