"""Changing and running cells by the tools for notebooks, so that approvals, rows, queues and checkpoints are theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ..._threads import in_thread
from ...errors import HdspAgentError
from ...messages import CellId, EndingCheck
from ...notebooks import Cell, CellFreshness, NotebookSnapshot, RanCell, freshness_of, source_hash
from ...notebooks.kernels import CellRun, RunError, Variable
from .._cell_runs import KnownRun
from .._changed_cells import ChangedCell, FailedRun
from .._tool import ToolContext, ToolResult
from .._tool_failed import ToolFailed
from ..notebook._cell_selection import numbers_of
from ..notebook._code_runner import MOST_SECONDS, begun, result_of, waited_for
from ..notebook._edit_cells import EditCells, EditCellsArguments, new_id
from ..notebook._notebook_location import NotebookLocation, place_of
from ..notebook._operations import CellOperation
from ..notebook._run_cells import RunCells, RunCellsArguments
from ._code import last_names, made_names, wanted_names
from ._hints import hint_for, meant_by
from ._step_report import error_in, failing_line, run_words

__all__ = ["CellRunner", "StepRun", "variable_words"]

_MOST_VALUE: Final = 160
_MOST_BELOW: Final = 5
_MOST_KEPT: Final = 1_000_000


@dataclass(frozen=True)
class StepRun:
    """What came of running cells: few words for the model, and the runs."""

    result: ToolResult
    cells: Sequence[CellRun] = ()

    @property
    def works(self) -> bool:
        """Whether all ran to their ends."""
        return not self.result.is_error

    @property
    def words(self) -> str:
        """What the model is told."""
        return str(self.result.content)


@dataclass(frozen=True)
class CellRunner:
    """The notebook of the task, as one step finds it."""

    context: ToolContext
    place: NotebookLocation
    snapshot: NotebookSnapshot
    said: str = ""
    """What the person said when they approved something."""

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

    def code(self, cells: Sequence[Cell] | None = None) -> list[str]:
        """The sources of the code cells among these, or of all."""
        among = self.snapshot.cells if cells is None else cells
        return [cell.source for cell in among if cell.cell_type == "code"]

    # ---- changing

    async def changed(self, operations: Sequence[CellOperation]) -> CellRunner | ToolResult:
        """The notebook after these operations, or how the person refused them. What it was like before is kept first."""
        path = self.place.document.path
        # What the model was shown of the notebook is all of these cells that it needs to know.
        unknown = [cell for cell in self.snapshot.cells if not self.context.state.cells.knows(path, cell.id)]
        self.context.state.cells.saw(path, [(cell.id, cell.hash) for cell in unknown])
        record = self.context.state.changed
        planned = await self._planned(operations)
        earlier = [known for one in planned if (known := record.get(one.cell_id)) is not None]
        await record.put(planned)
        result = await EditCells().run(EditCellsArguments(operations=list(operations)), self.context)
        if result.is_error:
            await record.put(earlier, without=[one.cell_id for one in planned])
            return result
        now = await CellRunner.of(self.context)
        await record.put(self._as_left(planned, now), without=[one.cell_id for one in planned])
        return replace(now, said=self.said or _said(result))

    async def worked(self, cell: CellId, *checks: EndingCheck) -> None:
        """The tool is content with what came of the change of this cell."""
        record = self.context.state.changed
        known = record.get(cell)
        if known is not None:
            await record.put([known.model_copy(update={"works": True, "checks": checks})])

    async def before(self, cell_id: CellId) -> ChangedCell:
        """The cell as it was before the request."""
        known = self.context.state.changed.get(cell_id)
        if known is not None:
            return known
        whole = await self.place.document.snapshot(outputs="full")
        memory = self.context.notebooks.memory(self.place.path, await self.context.notebooks.kernel(self.place.path))
        return _as_it_is(whole.cell(cell_id), whole, memory.ran.get(cell_id))

    async def _planned(self, operations: Sequence[CellOperation]) -> list[ChangedCell]:
        planned: list[ChangedCell] = []
        for at, one in enumerate(operations):
            now = None if one.op == "delete" else source_hash(one.source or "")
            if one.op == "insert":
                made = new_id(self.context.task_id, self.snapshot.path, at, one.source or "")
                planned.append(ChangedCell(cell_id=made, now=now))
                continue
            known = await self.before(CellId(one.cell or ""))
            planned.append(known.model_copy(update={"now": now, "works": False, "checks": ()}))
        return planned

    def _as_left(self, planned: Sequence[ChangedCell], now: CellRunner) -> list[ChangedCell]:
        """With the ids and sources that the cells really have: the person may have edited them, old formats know no ids."""
        there = {cell.id: cell for cell in now.snapshot.cells}
        known = {cell.id for cell in self.snapshot.cells}
        new = iter([cell for cell in now.snapshot.cells if cell.id not in known])
        left: list[ChangedCell] = []
        for one in planned:
            cell = there.get(one.cell_id)
            if cell is None and one.now is not None:
                cell = next(new, None)
            if cell is not None:
                left.append(one.model_copy(update={"cell_id": cell.id, "now": cell.hash}))
            elif one.source is not None:
                left.append(one)
        return left

    # ---- running

    async def ran(self, cells: Sequence[CellId], *, with_those_below: bool = False, asked_for: bool = False) -> StepRun:
        """Run these cells, and those above that make what they need and have not run.

        ``with_those_below`` runs again what ran before and uses what they make. What fails now and did not before gets
        back what it showed if the request is not done, unless the person ``asked_for`` the run of these cells.
        """
        not_run = await self.not_run()
        below = self._using(cells, not_run | await self._failed_before()) if with_those_below else []
        chosen = [*cells, *below]
        # What they show is theirs again if the change is put back.
        kept = [await self.before(cell_id) for cell_id in below]
        await self.context.state.changed.put([one.model_copy(update={"works": False}) for one in kept])
        needed = self._needed(chosen, not_run)
        risked = await self._risked([*needed, *([] if asked_for else cells)])
        run = _Kept()
        try:
            result = await run.run(RunCellsArguments(cells=[*needed, *chosen]), self.context)
        finally:
            await self._keep_failures(risked, () if run.known is None else run.known.run.cells)
        if run.known is None:
            return StepRun(result)
        ran = {one.cell_id for one in run.known.run.cells if one.state == "ok"}
        works = [one for cell_id in below if cell_id in ran and (one := self.context.state.changed.get(cell_id))]
        await self.context.state.changed.put([one.model_copy(update={"works": True}) for one in works])
        numbers = numbers_of(self.snapshot)
        told = [one for one in run.known.run.cells if one.started_at is not None or one.error is not None]
        # Those above are told of only if they fail.
        told = [one for one in told if one.cell_id in chosen or one.state != "ok"] or list(run.known.run.cells)[-1:]
        words = [run_words(_number(one, numbers), one, await self._more(one)) for one in told]
        broken = [_number(one, numbers) for one in told if one.state != "ok" and one.cell_id in below]
        if broken:
            words.append(f"Cell {broken[0]} ran before. Change cell {numbers[cells[0]]} so that it runs again.")
        problem = self.context.notebooks.live_outputs.problem(run.known.run)
        said = self.said or _said(result)
        text = "\n".join([*([f"The person says: {said}"] if said else []), *words, *([problem] if problem else [])])
        failed = any(one.state != "ok" for one in run.known.run.cells)
        return StepRun(ToolResult(self.context.mask(text), is_error=failed, shown=True), list(run.known.run.cells))

    async def _risked(self, cells: Sequence[CellId]) -> list[ChangedCell]:
        """Those of these cells that a run may leave with an error they do not show now, as they are; kept before it."""
        record = self.context.state.changed
        before = [await self.before(cell_id) for cell_id in cells if record.get(cell_id) is None]
        # It has run then, whatever comes of it, and does not do so again. What is too large to keep cannot be shown again.
        risked = [
            one.model_copy(update={"works": True, "had_run": False})
            for one in before
            if one.failure is None and one.outputs is not None
        ]
        await record.put(risked)
        return risked

    async def _keep_failures(self, risked: Sequence[ChangedCell], runs: Sequence[CellRun]) -> None:
        """Of those cells only the ones that failed are to be put back; why they did is told to who mends them.

        So it is with those that were kept for an earlier run, and ran now.
        """
        record = self.context.state.changed
        ran = {one.cell_id: one for one in runs if one.started_at is not None or one.error is not None}
        earlier = [one for one in record if one.shows_failure and one.cell_id in ran and one not in risked]
        failed = [
            one.model_copy(
                update={"failure": _failure(ran[one.cell_id].error, one.source or "") or FailedRun.unknown()}
            )
            for one in (*risked, *earlier)
            if one.cell_id in ran and ran[one.cell_id].state != "ok"
        ]
        await record.put(failed, without=[one.cell_id for one in (*risked, *earlier)])

    async def not_run(self) -> frozenset[CellId]:
        """The code cells that have not run in the present kernel."""
        return frozenset(
            cell_id
            for cell_id, state in (await self._states()).items()
            if state.state == "never_ran" or state.reason == "not_in_this_kernel"
        )

    async def failed(self) -> frozenset[CellId]:
        """The code cells that failed when they last ran, or show that they did."""
        states = await self._states()
        return frozenset(
            cell.id
            for cell in self.snapshot.cells
            if cell.id in states and (states[cell.id].state == "failed" or cell.output_summary.error is not None)
        )

    async def _failed_before(self) -> frozenset[CellId]:
        """Those that failed, but for cells that did only when the change of this request came."""
        own = {one.cell_id for one in self.context.state.changed if one.failure is None}
        return await self.failed() - own

    async def _states(self) -> dict[CellId, CellFreshness]:
        kernel = await self.context.notebooks.kernel(self.place.path)
        code = [cell for cell in self.snapshot.cells if cell.cell_type == "code" and cell.source.strip()]
        if kernel is None:
            return {cell.id: CellFreshness("never_ran") for cell in code}
        states = freshness_of(self.snapshot.cells, self.context.notebooks.memory(self.place.path, kernel))
        return {cell.id: states[cell.id] for cell in code}

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

    def _using(self, cells: Sequence[CellId], left_out: frozenset[CellId]) -> list[CellId]:
        """The cells below that ran and use what these make, or what others make of it."""
        begin = max(self.snapshot.index(cell_id) for cell_id in cells) + 1
        made = {name for cell_id in cells for name in made_names(self.snapshot.cell(cell_id).source)}
        using: list[CellId] = []
        for cell in self.snapshot.cells[begin:]:
            if cell.cell_type == "code" and cell.id not in left_out and made & set(wanted_names(cell.source)):
                using.append(cell.id)
                made |= made_names(cell.source)
        return using[:_MOST_BELOW]

    async def _more(self, cell: CellRun) -> str:
        """What the last statement made, which nobody would see otherwise; of one that failed what may help."""
        if cell.state == "ok":
            names = last_names(cell.code)[:3]
            return "\n".join(variable_words(variable) for variable in await self.variables(names)) if names else ""
        return (
            "" if cell.error is None else await self.hint(FailedRun(ename=cell.error.ename, evalue=cell.error.evalue))
        )

    async def hint(self, error: FailedRun) -> str:
        """What may help with an error."""
        variables, names, folder = await self._about_errors()
        return await in_thread(lambda _stop: hint_for(error, variables, names, folder))

    async def meant(self, error: FailedRun) -> str | None:
        """What the word that the code failed at most likely stands for."""
        variables, names, folder = await self._about_errors()
        found = await in_thread(lambda _stop: meant_by(error, variables, names, folder))
        return None if found is None else found[1]

    async def _about_errors(self) -> tuple[Sequence[Variable], Sequence[str], Path]:
        made = [name for source in self.code() for name in made_names(source)]
        return await self.variables(None), made, self.place.checked.path.parent

    async def variables(self, names: Sequence[str] | None) -> Sequence[Variable]:
        """Of the kernel, as far as it tells them."""
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


def _as_it_is(cell: Cell, whole: NotebookSnapshot, ran: RanCell | None) -> ChangedCell:
    """A cell before its first change. ``whole`` has its outputs."""
    at = whole.index(cell.id)
    shown = json.dumps(cell.outputs)
    return ChangedCell(
        cell_id=cell.id,
        source=cell.source,
        before=cell.hash,
        cell_type=cell.cell_type,
        after=whole.cells[at - 1].id if at else None,
        outputs=shown if len(shown) <= _MOST_KEPT else None,
        execution_count=cell.execution_count,
        had_run=ran is not None and ran.source_hash == cell.hash and not ran.failed,
        now=cell.hash,
        failure=_failure(error_in(cell.outputs), cell.source),
    )


def _failure(error: RunError | None, source: str) -> FailedRun | None:
    if error is None:
        return None
    return FailedRun(ename=error.ename, evalue=error.evalue, line=failing_line(error, source))


def _number(cell: CellRun, numbers: Mapping[CellId, int]) -> int | None:
    return None if cell.cell_id is None else numbers.get(cell.cell_id)


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
