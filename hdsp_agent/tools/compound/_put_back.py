"""The cells as they were before a request, where it was not done: nobody is asked, and what the person changed stays."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Final, TypeAlias

from ...errors import HdspAgentError
from ...messages import DeleteCell, InsertCell, ReplaceSource, SetOutputs
from ...notebooks import NotebookSnapshot
from .._changed_cells import ChangedCell
from .._tool import PutBack, ToolContext
from .._tool_failed import ToolFailed
from ..notebook._notebook_location import still_allowed
from ..notebook._run_cells import RunCells, RunCellsArguments
from ._cell_runner import CellRunner

__all__ = ["put_back"]

logger: Final = logging.getLogger(__name__)
_MOST_SECONDS: Final = 20
_Restoring: TypeAlias = InsertCell | ReplaceSource | DeleteCell | SetOutputs


async def put_back(context: ToolContext, *, failed_only: bool = False, run_again: bool = True) -> PutBack:
    """Give the cells that were changed their sources and outputs again; the added go, and the deleted return.

    ``failed_only`` leaves alone what the tools were content with. With ``run_again`` what had run does so again, if the
    context allows it: the kernel has its values then, too.
    """
    record = context.state.changed
    cells = [cell for cell in record if not (failed_only and cell.works)]
    if not cells:
        return "nothing"
    try:
        runner = await CellRunner.of(context)
        operations = [one for cell in cells for one in _operations(cell, runner.snapshot)]
        if operations:
            await still_allowed(runner.place, context)
            await _apply(operations, runner)
        await record.put((), without=[cell.cell_id for cell in cells])
        touched = {one.cell_id for one in operations}
        again = [cell.cell_id for cell in cells if cell.had_run and cell.cell_id in touched]
        if again and run_again:
            await RunCells().run(RunCellsArguments(cells=[*again], timeout=_MOST_SECONDS), context)
        if any(cell.source is not None and cell.outputs is None and cell.cell_id in touched for cell in cells):
            # What they showed was too large to keep.
            return "failed"
    except (ToolFailed, HdspAgentError) as error:
        logger.warning("Cells could not be put back: %s", error)
        return "failed"
    return "done" if operations else "nothing"


async def _apply(operations: Sequence[_Restoring], runner: CellRunner) -> None:
    context, document = runner.context, runner.place.document
    unreviewed = context.notebooks.unreviewed
    # Of what is as it was before, there is nothing to look at.
    async with unreviewed.noting(document.path, runner.snapshot, operations, context.task_id, known_only=True):
        await document.apply(operations, task_id=context.task_id)
    now = await document.snapshot()
    context.state.cells.saw(document.path, [(cell.id, cell.hash) for cell in now.cells])


def _operations(changed: ChangedCell, snapshot: NotebookSnapshot) -> list[_Restoring]:
    """What makes it as it was; nothing where somebody else has changed it meanwhile, or nothing had been done yet."""
    cell = next((one for one in snapshot.cells if one.id == changed.cell_id), None)
    outputs = None if changed.outputs is None else json.loads(changed.outputs)
    if cell is None:
        if changed.now is not None or changed.source is None:
            return []
        there = [one.id for one in snapshot.cells]
        after = changed.after if changed.after is None or changed.after in there else there[-1] if there else None
        return [
            InsertCell(
                cell_id=changed.cell_id,
                after=after,
                cell_type=changed.cell_type,
                source=changed.source,
                outputs=outputs if changed.cell_type == "code" else None,
                execution_count=changed.execution_count,
            )
        ]
    if cell.hash != changed.now:
        return []
    if changed.source is None:
        return [DeleteCell(cell_id=cell.id, expect=cell.hash)]
    if cell.hash == changed.before and cell.execution_count == changed.execution_count and not changed.shows_failure:
        return []
    return [
        ReplaceSource(cell_id=cell.id, expect=cell.hash, source=changed.source),
        SetOutputs(cell_id=cell.id, outputs=outputs or [], execution_count=changed.execution_count),
    ]
