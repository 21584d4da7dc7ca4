"""Changing and running cells by the tools for notebooks, so that approvals, rows, queues and checkpoints are theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..._threads import in_thread
from ...errors import HdspAgentError
from ...messages import CellId
from ...notebooks import Cell, NotebookSnapshot, freshness_of
from ...notebooks.kernels import CellRun, Variable
from .._cell_runs import KnownRun
from .._tool import ToolContext, ToolResult
from .._tool_failed import ToolFailed
from ..notebook._cell_selection import numbers_of
from ..notebook._code_runner import MOST_SECONDS, begun, result_of, waited_for
from ..notebook._edit_cells import EditCells, EditCellsArguments
from ..notebook._notebook_location import NotebookLocation, place_of
from ..notebook._operations import CellOperation
from ..notebook._run_cells import RunCells, RunCellsArguments
from ._code import last_names, made_names, wanted_names
from ._hints import hint_for, meant_by, replaced, within
from ._step_report import error_in, number_in, run_words, shown_text

__all__ = ["CellRunner", "variable_words"]

_MOST_VALUE = 160
_MOST_BELOW = 5


@dataclass(frozen=True)
class CellRunner:
    """The notebook of the task, as one step finds it."""

    context: ToolContext
    place: NotebookLocation
    snapshot: NotebookSnapshot
    said: str = ""
    """What the person said when they approved something."""
    last_shown: dict[CellId, str] = field(default_factory=dict)
    """What the cells showed that were run on it."""

    @classmethod
    async def of(cls, context: ToolContext) -> CellRunner:
        """Raises ToolFailed where the task is about no notebook, or it may not be touched."""
        place = await place_of(None, context)
        return cls(context, place, await place.document.snapshot())

    def cell(self, number: int) -> Cell:
        """The cell of this number."""
        if not 1 <= number <= len(self.snapshot.cells):
            raise ToolFailed(f"There is no cell {number}: the notebook has {len(self.snapshot.cells)} cells.")
        return self.snapshot.cells[number - 1]

    def code_cell(self, number: int) -> Cell:
        """The cell of this number, which holds code."""
        cell = self.cell(number)
        if cell.cell_type != "code":
            raise ToolFailed(f"Cell {number} holds text, no code.")
        return cell

    async def changed(self, operations: Sequence[CellOperation]) -> CellRunner | ToolResult:
        """The notebook after these operations, or how the person refused them."""
        # What the model was shown of the notebook is all of these cells that it needs to know.
        path = self.place.document.path
        unknown = [cell for cell in self.snapshot.cells if not self.context.state.cells.knows(path, cell.id)]
        self.context.state.cells.saw(path, [(cell.id, cell.hash) for cell in unknown])
        result = await EditCells().run(EditCellsArguments(operations=list(operations)), self.context)
        if result.is_error:
            return result
        now = await CellRunner.of(self.context)
        return replace(now, said=self.said or _said(result))

    def drawing(self) -> int | None:
        """The number of the last cell that shows a picture."""
        numbers = [at for at, cell in enumerate(self.snapshot.cells, 1) if cell.output_summary.images]
        return numbers[-1] if numbers else None

    async def ran(self, cells: Sequence[CellId], *, with_those_below: bool = False) -> ToolResult:
        """Run these cells, and those above that make what they need and have not run. What came of it, in few words.

        ``with_those_below`` runs again what ran before and uses what they make.
        """
        not_run = await self.not_run()
        if with_those_below:
            cells = [*cells, *self._using(cells, not_run)]
        wanted = [*self._needed(cells, not_run), *cells]
        run = _Kept()
        result = await run.run(RunCellsArguments(cells=wanted), self.context)
        if run.known is None:
            return result
        numbers = numbers_of(self.snapshot)
        self.last_shown.update(
            (one.cell_id, shown_text(one.outputs.outputs)) for one in run.known.run.cells if one.cell_id is not None
        )
        told = [one for one in run.known.run.cells if one.started_at is not None or one.error is not None]
        # Those above are told of only if they fail.
        told = [one for one in told if one.cell_id in cells or one.state != "ok"] or list(run.known.run.cells)[-1:]
        words = [run_words(number_in(numbers, one.cell_id), one, await self._more(one)) for one in told]
        problem = self.context.notebooks.live_outputs.problem(run.known.run)
        said = self.said or _said(result)
        text = "\n".join([*([f"The person says: {said}"] if said else []), *words, *([problem] if problem else [])])
        return ToolResult(self.context.mask(text))

    def was_run(self, cell: CellId) -> bool:
        """Whether the cell is there and shows that it was run."""
        found = next((one for one in self.snapshot.cells if one.id == cell), None)
        return found is not None and (found.execution_count is not None or bool(found.output_summary.error))

    async def shown(self) -> dict[CellId, str]:
        """What the code cells show, or the error they ended with."""
        whole = await self.place.document.snapshot(outputs="full")
        return {cell.id: shown_text(cell.outputs) for cell in whole.cells if cell.cell_type == "code"}

    async def not_run(self) -> frozenset[CellId]:
        """The code cells that have not run in the present kernel."""
        kernel = await self.context.notebooks.kernel(self.place.path)
        code = [cell for cell in self.snapshot.cells if cell.cell_type == "code" and cell.source.strip()]
        if kernel is None:
            return frozenset(cell.id for cell in code)
        memory = self.context.notebooks.memory(self.place.path, kernel)
        states = freshness_of(self.snapshot.cells, memory)
        return frozenset(
            cell.id
            for cell in code
            if states[cell.id].state == "never_ran" or states[cell.id].reason == "not_in_this_kernel"
        )

    def _needed(self, cells: Sequence[CellId], not_run: frozenset[CellId]) -> list[CellId]:
        """The cells above that make names these cells use, as far as they have not run yet, and what those use."""
        above: list[Cell] = []
        for cell in self.snapshot.cells:
            if cell.id in cells:
                break
            above.append(cell)
        wanted = {name for cell_id in cells for name in wanted_names(self.snapshot.cell(cell_id).source)}
        needed: list[CellId] = []
        for cell in reversed(above):
            makes = made_names(cell.source) if cell.cell_type == "code" else frozenset()
            if cell.id in not_run and makes & wanted:
                needed.append(cell.id)
                wanted |= set(wanted_names(cell.source))
        return needed[::-1]

    def _using(self, cells: Sequence[CellId], not_run: frozenset[CellId]) -> list[CellId]:
        """The cells below that ran and use what these make, or what others make of it."""
        begin = max(self.snapshot.index(cell_id) for cell_id in cells) + 1
        made = {name for cell_id in cells for name in made_names(self.snapshot.cell(cell_id).source)}
        using: list[CellId] = []
        for cell in self.snapshot.cells[begin:]:
            if cell.cell_type == "code" and cell.id not in not_run and made & set(wanted_names(cell.source)):
                using.append(cell.id)
                made |= made_names(cell.source)
        return using[:_MOST_BELOW]

    async def _more(self, cell: CellRun) -> str:
        """What the last statement made, which nobody would see otherwise; of one that failed what may help."""
        if cell.state == "ok":
            names = last_names(cell.code)[:3]
            return "\n".join(variable_words(variable) for variable in await self._variables(names)) if names else ""
        error = cell.error
        if error is None:
            return ""
        made = [name for one in self.snapshot.cells if one.cell_type == "code" for name in made_names(one.source)]
        variables = await self._variables(None)
        return await in_thread(
            lambda _stop: hint_for(error, variables, made, self.place.checked.path.parent, cell.code)
        )

    async def corrected(self, cell: Cell) -> str:
        """The code of a cell that failed, with the word in it that is nearly right put right, if there is one."""
        whole = (await self.place.document.snapshot(outputs="full")).cell(cell.id)
        error = error_in(whole.outputs)
        if error is None:
            return cell.source
        made = [name for one in self.snapshot.cells if one.cell_type == "code" for name in made_names(one.source)]
        variables = await self._variables(None)
        meant = await in_thread(lambda _stop: meant_by(error, variables, made, self.place.checked.path.parent))
        return within(cell.source, error, variables) if meant is None else replaced(cell.source, meant)

    async def _variables(self, names: Sequence[str] | None) -> Sequence[Variable]:
        try:
            return (await self.context.notebooks.executor.inspect(self.place.document.path, names=names)).variables
        except HdspAgentError:
            # The kernel is gone, busy, or of another language.
            return ()


class _Kept(RunCells):
    """Runs cells, and keeps the run."""

    known: KnownRun | None = None

    async def _do(
        self,
        cells: Sequence[Cell],
        snapshot: NotebookSnapshot,
        place: NotebookLocation,
        seconds: int,
        context: ToolContext,
    ) -> ToolResult:
        specs = self._specs(cells, snapshot, context)
        numbers = numbers_of(snapshot)
        self.known = await begun(specs, place, context, numbers=numbers, kernel_name=snapshot.kernel_name)
        await waited_for(self.known, MOST_SECONDS, context)
        return await result_of(self.known, context)


def variable_words(variable: Variable) -> str:
    """A variable in one line."""
    kind = variable.type.rpartition(".")[2]
    if variable.columns:
        columns = ", ".join(f"{name} {dtype}" for name, dtype in variable.columns)
        rows = variable.shape[0] if variable.shape else "?"
        return f"{variable.name}: {kind} of {rows} rows, columns: {columns}"
    shape = f" of shape {tuple(variable.shape)}" if variable.shape else ""
    length = f" of length {variable.length}" if variable.length is not None and not shape else ""
    value = " ".join((variable.head or variable.error or "").split())
    if len(value) > _MOST_VALUE:
        value = value[:_MOST_VALUE] + "…"
    return f"{variable.name}: {kind}{shape}{length}" + (f" = {value}" if value else "")


def _said(result: ToolResult) -> str:
    """What the person said with an approval."""
    text = result.content if isinstance(result.content, str) else str(result.content[0].get("text", ""))
    if not text.startswith('{"status"'):
        return ""
    try:
        said = json.loads(text.partition("\n")[0]).get("feedback")
    except ValueError:
        return ""
    return said if isinstance(said, str) else ""
