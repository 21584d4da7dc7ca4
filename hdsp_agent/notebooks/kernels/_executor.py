"""Running cells: a queue for each kernel, results that outlive whoever asked for them."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ...errors import HdspAgentError, NotFound
from ...messages import TaskId
from ._client import KernelClient
from ._databases import Database, DatabaseLimits, list_databases, read_schema
from ._kernel_queue import KernelQueue
from ._output_collector import OutputCollector
from ._ports import KernelInfo, KernelPort, KernelSession, KernelSpec
from ._run import CellRun, CellRunSpec, Keep, Run, RunId, RunListener
from ._run_limits import RunLimits
from ._sessions import Sessions
from ._variable_inspection import InspectionLimits, VariablesReport, VariableTable, inspect, look_into

__all__ = ["Executor"]

_log = logging.getLogger(__name__)

_REMEMBERED_RUNS: Final = 32


class Executor:
    """Runs code in the kernels of notebooks, each notebook named by its path in the contents API."""

    def __init__(
        self,
        port: KernelPort,
        *,
        limits: Callable[[], RunLimits] = RunLimits,
        active: Callable[[], None] | None = None,
    ) -> None:
        self._port = port
        self._limits = limits
        self._active = active or (lambda: None)
        self._sessions = Sessions(port)
        self._queues: dict[str, KernelQueue] = {}
        self._runs: OrderedDict[RunId, Run] = OrderedDict()
        self._closed = False

    # ---- runs

    async def run(
        self,
        path: str,
        cells: Sequence[CellRunSpec],
        *,
        kernel_name: str | None = None,
        store_history: bool = True,
        task_id: TaskId | None = None,
        stop_on_error: bool = True,
        listeners: Sequence[RunListener] = (),
        keep: Keep | None = None,
    ) -> Run:
        """Give cells to the notebook's kernel, which is started if there is none; returns when they are queued.

        With a ``task_id`` the kernel is spared by culling until ``release`` is called for that task.
        """
        session = await self._sessions.ensure(path, kernel_name)
        queue = self._queue(session.kernel_id)
        limits = self._limits()
        run = Run(
            path,
            [CellRun(spec.cell_id, spec.code, OutputCollector(limits)) for spec in cells],
            interrupt=queue.interrupt,
            task_id=task_id,
            store_history=store_history,
            stop_on_error=stop_on_error,
            listeners=listeners,
            keep=keep,
            kernel_id=session.kernel_id,
        )
        self._remember(run)
        queue.add(run)
        return run

    def get(self, run_id: str) -> Run:
        """A run that goes on, or one of the last that ended."""
        run = self._runs.get(RunId(run_id))
        if run is None:
            raise NotFound(f"There is no run {run_id}. Finished runs are removed after a while.", run=run_id)
        return run

    def runs(self, path: str | None = None) -> list[Run]:
        """Runs that have not ended, of one notebook or of all."""
        return [run for run in self._runs.values() if not run.done and path in (None, run.path)]

    async def release(self, task_id: TaskId) -> None:
        """A task has ended: what it has queued is stopped, and its kernels may be culled again."""
        for run in [run for run in self._runs.values() if run.task_id == task_id]:
            try:
                await run.interrupt()
            except HdspAgentError as error:
                # The task ends all the same, and lets go of its other kernels.
                _log.warning("A run of %s could not be interrupted: %s", run.path, error)
        for queue in self._queues.values():
            queue.release(task_id)

    # ---- kernels

    async def interrupt(self, path: str) -> None:
        """Interrupt whatever the notebook's kernel does, whoever asked for it."""
        session = await self._sessions.require(path)
        queue = self._queues.get(session.kernel_id)
        running = queue.running if queue is not None else None
        if running is not None:
            await running.interrupt()
        else:
            await self._port.interrupt(session.kernel_id)

    async def restart(self, path: str) -> None:
        """Restart the notebook's kernel: its variables are gone, and what was queued is not run."""
        session = await self._sessions.require(path)
        if (queue := self._queues.get(session.kernel_id)) is not None:
            await queue.fail("kernel_restarted")
        await self._port.restart(session.kernel_id)

    async def start(self, path: str, kernel_name: str | None = None) -> KernelInfo:
        """The notebook's kernel, started if there is none."""
        return self._info(await self._sessions.ensure(path, kernel_name), await self._port.specs())

    async def kernels(self) -> list[KernelInfo]:
        """All kernels that run for a file."""
        specs = await self._port.specs()
        return [self._info(session, specs) for session in await self._port.sessions()]

    def life(self, kernel_id: str) -> str:
        """Another text after each restart of this kernel, where that can be known; empty when it is gone."""
        return self._port.life(kernel_id)

    async def kernel_specs(self) -> Mapping[str, KernelSpec]:
        """Kernels that can be started."""
        return await self._port.specs()

    async def kernel_spec(self, name: str | None = None) -> KernelSpec:
        """The kernel of this name, or the usual one. Raises NotFound that lists those there are."""
        return await self._sessions.spec(name)

    async def inspect(
        self, path: str, *, names: Sequence[str] | None = None, limits: InspectionLimits | None = None
    ) -> VariablesReport:
        """What the variables of the notebook's Python kernel are, without changing anything in it."""
        return await inspect(await self.link(path), names=names, limits=limits or InspectionLimits())

    async def look_into(
        self, path: str, name: str, *, start: int = 0, limits: InspectionLimits | None = None
    ) -> VariableTable:
        """Rows of one variable of the notebook's Python kernel, without changing anything in it."""
        return await look_into(await self.link(path), name, start, limits or InspectionLimits())

    async def databases(self, path: str) -> tuple[Database, ...] | None:
        """The databases that the notebook's Python kernel is connected to, and their tables; None while a cell runs."""
        return await list_databases(await self.link(path), DatabaseLimits())

    async def schema(
        self,
        path: str,
        database: str,
        table: tuple[str | None, str] | None = None,
        *,
        may_connect: bool = True,
    ) -> Database:
        """The columns of a database's tables, or of one of them. No row is read."""
        return await read_schema(await self.link(path), database, table, DatabaseLimits(), may_connect=may_connect)

    async def link(self, path: str) -> KernelClient:
        """The connection to the notebook's kernel, for questions of one's own."""
        session = await self._sessions.require(path)
        self._active()
        return await self._queue(session.kernel_id).link()

    async def close(self) -> None:
        """Stop what runs and let the kernels be; they go on."""
        if self._closed:
            return
        self._closed = True
        for queue in self._queues.values():
            await queue.close()
        self._queues.clear()
        await self._port.close()

    def _queue(self, kernel_id: str) -> KernelQueue:
        for gone in [one for one, queue in self._queues.items() if queue.over]:
            del self._queues[gone]
        queue = self._queues.get(kernel_id)
        if queue is None:
            queue = self._queues[kernel_id] = KernelQueue(
                kernel_id, self._port, limits=self._limits, active=self._active
            )
        return queue

    def _remember(self, run: Run) -> None:
        self._runs[run.id] = run
        for old in [one for one, known in self._runs.items() if known.done]:
            if len(self._runs) <= _REMEMBERED_RUNS:
                break
            del self._runs[old]

    def _info(self, session: KernelSession, specs: Mapping[str, KernelSpec]) -> KernelInfo:
        spec = specs.get(session.kernel_name)
        queue = self._queues.get(session.kernel_id)
        state = queue.state if queue is not None and queue.state != "unknown" else session.state
        return KernelInfo(
            path=session.path,
            id=session.kernel_id,
            name=session.kernel_name,
            display_name=spec.display_name if spec is not None else session.kernel_name,
            language=spec.language if spec is not None else "",
            state=state,
            ours=queue is not None and queue.running is not None,
            is_remote=self._port.is_behind_gateway(session.kernel_id),
        )
