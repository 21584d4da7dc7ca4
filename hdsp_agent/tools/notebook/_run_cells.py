"""Running cells, and waiting for those that take long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import Annotated, ClassVar, Final

from pydantic import Field, StringConstraints

from ...config import ToolGroup
from ...messages import CellCode, ClineSayTool
from ...notebooks import Cell, NotebookSnapshot
from ...notebooks.kernels import CellRunSpec
from .._tool import Approval, SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from .._tool_failed import ToolFailed
from ._cell_selection import CellNames, chosen_cells, numbers_of
from ._code_runner import MOST_SECONDS, USUAL_SECONDS, action_for, begun, language_of, result_of, waited_for
from ._notebook_location import NotebookLocation, NotebookPath, place_of, still_allowed
from ._outputs import RunReport

__all__ = ["RunCells", "RunCellsArguments", "WaitRun", "WaitRunArguments"]

_MOST_QUESTIONS: Final = 3
_JUST_NOW_SECONDS: Final = 0.1

Seconds = Annotated[int, Field(ge=0, le=MOST_SECONDS)]


class RunCellsArguments(ToolArguments):
    """The arguments of ``run_cells``."""

    cells: CellNames
    """Which cells: ids, numbers from 1, ranges such as "3-7", "5.." (to the end) or "..a1b2c3d4", or "all". They run in the notebook's order."""
    path: NotebookPath | None = None
    """The notebook, relative to the workspace; absent for the one the task is about."""
    timeout: Seconds = USUAL_SECONDS
    """How many seconds to wait. What still runs then goes on; wait_run tells how it ends."""


class RunCells(SimpleTool[RunCellsArguments]):
    """Runs cells."""

    name: ClassVar[str] = "run_cells"
    group: ClassVar[ToolGroup | None] = "command"
    description: ClassVar[str] = (
        "Run code cells of a notebook in its kernel, which is started if none runs. What they print is put into the "
        "notebook and told to you, images included. A cell that fails ends the run. Cells have no standard input."
    )
    Output = RunReport

    async def _run(self, arguments: RunCellsArguments, context: ToolContext) -> ToolResult:
        place = await place_of(arguments.path, context)
        snapshot = await place.document.snapshot()
        cells = _runnable(arguments.cells, snapshot, place)
        look = _Look(place)
        approval = await self._approved(cells, snapshot, place, context, look)
        for _ in range(_MOST_QUESTIONS):
            if not approval.approved:
                return denied(approval)
            await still_allowed(place, context)
            snapshot = await look.newest()
            now = _again(cells, snapshot, place)
            if [(cell.id, cell.hash) for cell in now] == [(cell.id, cell.hash) for cell in cells]:
                return answered(approval, await self._do(cells, snapshot, place, arguments.timeout, context))
            cells = now
            approval = await self._approved(cells, snapshot, place, context, look)
        raise ToolFailed(
            "The cells were changed again and again while their running waited for approval. Nothing was run. Read them "
            "and try again.",
            code="cells_changed",
        )

    async def _approved(
        self,
        cells: Sequence[Cell],
        snapshot: NotebookSnapshot,
        place: NotebookLocation,
        context: ToolContext,
        look: _Look,
    ) -> Approval:
        kernel = await context.notebooks.kernel(place.path)
        language = await language_of(snapshot, kernel, context)
        action = await action_for(self.name, [cell.source for cell in cells], language, place, context)
        allowed = context.state.allowed_runs.cover(place.document.path, [(cell.id, cell.hash) for cell in cells])
        action = replace(action, allowed_before=allowed)
        numbers = numbers_of(snapshot)
        shown = ClineSayTool(
            tool="runCells",
            path=place.shown,
            cells=[
                CellCode(cell_id=cell.id, number=numbers[cell.id], code=context.mask(cell.source)) for cell in cells
            ],
            is_outside_workspace=place.checked.is_outside or None,
        )
        return await context.approve(action, "tool", shown.to_json(), meanwhile=look.again)

    async def _do(
        self,
        cells: Sequence[Cell],
        snapshot: NotebookSnapshot,
        place: NotebookLocation,
        seconds: int,
        context: ToolContext,
    ) -> ToolResult:
        specs = self._specs(cells, snapshot, context)
        known = await begun(specs, place, context, numbers=numbers_of(snapshot), kernel_name=snapshot.kernel_name)
        await waited_for(known, seconds, context)
        return await result_of(known, context)

    def _specs(self, cells: Sequence[Cell], snapshot: NotebookSnapshot, context: ToolContext) -> list[CellRunSpec]:
        context.state.cells.saw(snapshot.path, [(cell.id, cell.hash) for cell in cells])
        context.state.allowed_runs.ran(snapshot.path, [cell.id for cell in cells])
        return [CellRunSpec(cell.id, cell.source) for cell in cells]


class _Look:
    """The notebook as it is when its cells may run, read while what they may change is saved: that takes about as long."""

    def __init__(self, place: NotebookLocation) -> None:
        self._place = place
        self._seen: tuple[float, NotebookSnapshot] | None = None

    async def again(self) -> None:
        """Read it."""
        begun = monotonic()
        self._seen = begun, await self._place.document.snapshot()

    async def newest(self) -> NotebookSnapshot:
        """As it was read just now, or anew where saving took longer: the person may have typed meanwhile."""
        if self._seen is None or monotonic() - self._seen[0] > _JUST_NOW_SECONDS:
            await self.again()
        assert self._seen is not None
        return self._seen[1]


class WaitRunArguments(ToolArguments):
    """The arguments of ``wait_run``."""

    run: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    """The run, as run_cells or run_code named it (`run-…`)."""
    seconds: Seconds = USUAL_SECONDS
    """How many seconds to wait at most; 0 tells how it stands now."""
    interrupt: bool = False
    """Whether to interrupt it first."""


class WaitRun(SimpleTool[WaitRunArguments]):
    """Waits for a run."""

    name: ClassVar[str] = "wait_run"
    group: ClassVar[ToolGroup | None] = "command"
    description: ClassVar[str] = (
        "Wait for a run of cells that still goes on, and get what it has printed so far, or all of it if it has ended. It "
        "can also be interrupted."
    )
    Output = RunReport

    async def _run(self, arguments: WaitRunArguments, context: ToolContext) -> ToolResult:
        known = context.state.runs.get(arguments.run.strip())
        if known is None:
            there = ", ".join(run.id for run in context.state.runs.running)
            raise ToolFailed(
                f"There is no run {arguments.run}. "
                + (
                    f"These still go on: {there}."
                    if there
                    else "None of this task goes on; read_notebook shows outputs."
                ),
                code="run_unknown",
            )
        await context.say("tool", ClineSayTool(tool="waitRun", path=known.shown, reason=known.id).to_json())
        if arguments.interrupt:
            await known.run.interrupt()
        await waited_for(known, arguments.seconds, context)
        return await result_of(known, context)


def _runnable(names: Sequence[str], snapshot: NotebookSnapshot, place: NotebookLocation) -> list[Cell]:
    chosen = chosen_cells(names, snapshot, place.shown)
    cells = [cell for cell in chosen if cell.cell_type == "code" and cell.source.strip()]
    if not cells:
        what = "are no code cells with code in them" if len(chosen) != 1 else "is no code cell with code in it"
        raise ToolFailed(f"Among {', '.join(names)} of {place.shown} there {what}, so there is nothing to run.")
    return cells


def _again(cells: Sequence[Cell], snapshot: NotebookSnapshot, place: NotebookLocation) -> list[Cell]:
    """The same cells as they are now."""
    wanted = {cell.id for cell in cells}
    now = [cell for cell in snapshot.cells if cell.id in wanted and cell.cell_type == "code"]
    if len(now) < len(cells):
        gone = ", ".join(sorted(wanted - {cell.id for cell in now}))
        raise ToolFailed(
            f"{place.shown} was changed while running it waited for approval: there is no code cell {gone} any more. "
            "Nothing was run. Read the notebook again.",
            code="cells_changed",
        )
    return now
