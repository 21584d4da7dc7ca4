"""Whether operations that were asked for, and never answered, have been done."""

from __future__ import annotations

from collections.abc import Sequence

from ..messages import (
    AppendOutput,
    CellId,
    ChangeCellType,
    ClearOutputs,
    DeleteCell,
    InsertCell,
    MoveCell,
    ReplaceSource,
    SetAttachments,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
)
from ._apply import changed_cells
from ._document import Applied, Cell, EditSource, NotebookSnapshot, Operation

__all__ = ["was_applied"]


def was_applied(snapshot: NotebookSnapshot, operations: Sequence[Operation]) -> Applied | None:
    """What came of them, if a notebook shows that all were done and saved; None if it does not.

    They are done together or not at all, so it is enough that what each of them left behind, and no later one changed,
    is there.
    """
    cells = {cell.id: cell for cell in snapshot.cells}
    if not operations or not all(
        _is_done(operation, cells, snapshot, operations[place + 1 :]) for place, operation in enumerate(operations)
    ):
        return None
    return Applied(
        snapshot_revision=snapshot.revision,
        saved=not snapshot.dirty,
        changed=changed_cells([each for each in operations if not isinstance(each, EditSource)]),
        content_hash=snapshot.revision if snapshot.source == "disk" else None,
    )


def _is_done(
    operation: Operation, cells: dict[CellId, Cell], snapshot: NotebookSnapshot, later: Sequence[Operation]
) -> bool:
    if isinstance(operation, SetNotebookMetadata):
        return snapshot.metadata.get(operation.key) == operation.value
    cell = cells.get(operation.cell_id)
    same_cell = [
        each for each in later if not isinstance(each, SetNotebookMetadata) and each.cell_id == operation.cell_id
    ]
    if any(isinstance(each, DeleteCell) for each in same_cell):
        return cell is None
    if isinstance(operation, DeleteCell):
        return cell is None
    if cell is None:
        return False
    return bool(same_cell) or _left_behind(operation, cell, snapshot)


def _left_behind(operation: Operation, cell: Cell, snapshot: NotebookSnapshot) -> bool:
    match operation:
        case InsertCell():
            return cell.source == operation.source and cell.cell_type == operation.cell_type
        case ReplaceSource():
            return cell.source == operation.source
        case MoveCell():
            place = snapshot.index(operation.cell_id)
            before = snapshot.cells[place - 1].id if place else None
            return before == operation.after
        case ChangeCellType():
            return cell.cell_type == operation.cell_type
        case SetOutputs():
            return list(cell.outputs) == operation.outputs and cell.execution_count == operation.execution_count
        case ClearOutputs():
            return not cell.has_outputs
        case SetAttachments():
            return cell.attachments == operation.attachments
        case SetCellMetadata():
            return cell.metadata.get(operation.key) == operation.value
        case AppendOutput():
            return bool(cell.outputs) and cell.outputs[-1] == operation.output
        case _:
            return False
