"""The notebook as it was, where nothing of what was tried worked."""

from __future__ import annotations

from ...errors import HdspAgentError
from .._tool import ToolContext, ToolResult
from .._tool_failed import ToolFailed
from ..notebook._operations import CellOperation
from ._cell_runner import CellRunner

__all__ = ["put_back"]


async def put_back(context: ToolContext) -> bool:
    """Give the cells that were changed in vain their sources again, and take those away that were added."""
    tried = list(context.state.tried)
    if not tried:
        return False
    try:
        runner = await CellRunner.of(context)
        there = {cell.id: cell for cell in runner.snapshot.cells}
        operations = [
            CellOperation(op="delete", cell=cell)
            if before is None
            else CellOperation(op="replace", cell=cell, source=before)
            for cell, before in tried
            if cell in there and there[cell].source != before
        ]
        if not operations:
            return False
        now = await runner.changed(operations)
    except (ToolFailed, HdspAgentError):
        # It is gone, or may not be touched any more: there is nothing to put back.
        return False
    if isinstance(now, ToolResult):
        return False
    context.state.tried.forget()
    again = [cell for cell, before in tried if before is not None and now.was_run(cell)]
    if again:
        await now.ran(again, with_those_below=True)
    return True
