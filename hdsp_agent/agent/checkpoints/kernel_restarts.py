"""Restart a notebook's kernel and run its cells again, from the top up to one of them, for people who go back that way."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...checkpoints.timeline import RestartedCell, RestartedRun, RestartPreview
from ...checkpoints.variables import RerunCell, cell_to_rerun
from ...errors import Conflict, NotFound, Unsupported
from ...messages import CellId
from ...notebooks import Cell, Notebooks, NotebookSnapshot
from ...notebooks.kernels import CellRun, CellRunSpec, KernelInfo, Run, RunId

if TYPE_CHECKING:
    from .._agent_services import AgentServices

__all__ = ["KernelRestarts", "RestartTarget"]

_REASON: Final = "before restart"
_MOST_REMEMBERED: Final = 32


@dataclass(frozen=True)
class RestartTarget:
    """Which cell is the last to run: one that is named, or the last that had run by a checkpoint."""

    path: str
    cell: str | None = None
    checkpoint: str | None = None


@dataclass(frozen=True)
class _Plan:
    path: str
    snapshot: NotebookSnapshot
    kernel: KernelInfo | None
    last: CellId
    cells: Sequence[Cell]

    @property
    def seen(self) -> str:
        kernel = self.kernel.id if self.kernel is not None else None
        told = json.dumps([kernel, *([cell.id, cell.source] for cell in self.cells)])
        return hashlib.sha256(told.encode()).hexdigest()[:32]


class KernelRestarts:
    """Plans them for people to see, does them, and stops them. The runs are those of the executor, as the agent's are."""

    def __init__(self, services: AgentServices) -> None:
        self._services = services
        self._owners: OrderedDict[RunId, str] = OrderedDict()

    async def preview(self, folder: Path, up_to: RestartTarget) -> RestartPreview:
        """What ``start`` would do now."""
        plan = await self._plan(folder, up_to)
        return RestartPreview(
            path=plan.path,
            cell_id=plan.last,
            cells=await asyncio.to_thread(_told, plan),
            kernel=plan.kernel.display_name if plan.kernel is not None else None,
            busy=plan.kernel is not None and plan.kernel.state == "busy",
            seen=plan.seen,
        )

    async def start(self, folder: Path, up_to: RestartTarget, seen: str, *, owner: str) -> RestartedRun:
        """Save a checkpoint, restart the kernel, or start one, and run the cells that were ``seen``; Conflict if they are others
        now, or it is another kernel whose variables would be lost."""
        plan = await self._plan(folder, up_to)
        if plan.seen != seen:
            raise Conflict(
                "The cells or the kernel changed since you looked, so nothing was restarted. Look again.",
                why="cells_changed",
            )
        checkpoints = self._services.checkpoint_service
        if checkpoints.enabled:
            notebooks = checkpoints.notebooks_of(folder, plan.path, ())
            async with checkpoints.at(folder) as line:
                await line.save(
                    _REASON,
                    owner=owner,
                    notebooks=notebooks,
                    code="thorough" if checkpoints.keeps_variables else "none",
                )
        if plan.kernel is not None:
            await self._notebooks.executor.restart(plan.path)
        run = await self._notebooks.run(
            plan.path, [CellRunSpec(cell.id, cell.source) for cell in plan.cells], kernel_name=plan.snapshot.kernel_name
        )
        self._owners[run.id] = owner
        while len(self._owners) > _MOST_REMEMBERED:
            self._owners.popitem(last=False)
        return _state_of(run)

    def look(self, run_id: str, *, owner: str) -> RestartedRun:
        """How far a run is. Somebody else's is as unknown as one that is not there."""
        return _state_of(self._run(run_id, owner))

    async def stop(self, run_id: str, *, owner: str) -> RestartedRun:
        """Interrupt the cell that runs; those after it do not run."""
        run = self._run(run_id, owner)
        await run.interrupt()
        return _state_of(run)

    # ---- inside

    @property
    def _notebooks(self) -> Notebooks:
        if self._services.notebooks is None:
            raise Unsupported("This agent works with no notebooks.")
        return self._services.notebooks

    def _run(self, run_id: str, owner: str) -> Run:
        if self._owners.get(RunId(run_id)) != owner:
            raise NotFound(f"There is no run {run_id}. Finished runs are removed after a while.", run=run_id)
        return self._notebooks.executor.get(run_id)

    async def _plan(self, folder: Path, up_to: RestartTarget) -> _Plan:
        notebooks = self._notebooks
        path = await notebooks.called(up_to.path)
        snapshot = await notebooks.access.document(path).snapshot()
        last = CellId(up_to.cell) if up_to.cell is not None else await self._last_run(folder, up_to, path, snapshot)
        at = next((place for place, cell in enumerate(snapshot.cells) if cell.id == last), None)
        if at is None:
            raise NotFound(f"{path} has no cell {last}. Look at the notebook again.", path=path, cell=last)
        cells = [cell for cell in snapshot.cells[: at + 1] if cell.cell_type == "code" and cell.source.strip()]
        if not cells:
            raise NotFound(f"{path} has no code up to this cell, so there is nothing to run.", path=path, cell=last)
        return _Plan(path, snapshot, await notebooks.kernel(path), last, cells)

    async def _last_run(self, folder: Path, up_to: RestartTarget, path: str, snapshot: NotebookSnapshot) -> CellId:
        """The cell that ran last before the checkpoint, of those that are there still."""
        line = await self._services.checkpoint_service.timeline(folder)
        record = await line.files.checkpoint(up_to.checkpoint or "")
        there = {cell.id for cell in snapshot.cells if cell.cell_type == "code"}
        for cell in await line.ran_before(record, path):
            if CellId(cell) in there:
                return CellId(cell)
        raise NotFound(
            f"None of the cells of {path} is known to have run by this checkpoint. Choose a cell to run up to instead.",
            path=path,
            checkpoint=record.id,
        )


def _told(plan: _Plan) -> tuple[RerunCell, ...]:
    language = plan.kernel.language if plan.kernel is not None else ""
    return tuple(cell_to_rerun(number, cell.id, cell.source, language) for number, cell in enumerate(plan.cells, 1))


def _state_of(run: Run) -> RestartedRun:
    cells = tuple(
        RestartedCell(cell_id=cell.cell_id, state=cell.state, error=_why(cell))
        for cell in run.cells
        if cell.cell_id is not None
    )
    return RestartedRun(id=run.id, path=run.path, done=run.done, cells=cells)


def _why(cell: CellRun) -> str | None:
    if cell.error is not None:
        return f"{cell.error.ename}: {cell.error.evalue}"
    return cell.advice
