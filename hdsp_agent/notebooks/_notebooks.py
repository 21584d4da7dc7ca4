"""Everything the agent needs to work with notebooks, in one piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ..errors import HdspAgentError
from ..messages import NotebookWorkMessage, TaskId
from ._access import DiskPort, NotebookAccess, RoomPort
from ._execution_history import ExecutionHistory
from ._freshness import RunMemory
from ._live_outputs import LiveOutputs
from ._person_runs import PersonRuns
from ._tab_port import NoTabs, TabPort
from ._unreviewed import Unreviewed
from .kernels import CellRunSpec, Executor, Keep, KernelInfo, KernelPort, Run, RunLimits, RunListener

__all__ = ["Notebooks"]


class Notebooks:
    """The documents, the kernels, and the outputs that are shown while cells run."""

    def __init__(
        self,
        disk: DiskPort,
        kernels: KernelPort,
        *,
        tabs: TabPort | None = None,
        rooms: RoomPort | None = None,
        limits: Callable[[], RunLimits] = RunLimits,
        active: Callable[[], None] | None = None,
        on_work: Callable[[NotebookWorkMessage], None] | None = None,
        unreviewed: Unreviewed | None = None,
    ) -> None:
        self.access = NotebookAccess(disk, tabs or NoTabs(), rooms)
        self.live_outputs = LiveOutputs(self.access, on_work=on_work)
        self.access.on_moved(self.live_outputs.moved)
        self.executor = Executor(kernels, limits=limits, active=active)
        self.executions = ExecutionHistory(self.executor.life, now_at=self.access.now_at)
        self.access.on_moved(self.executions.moved)
        self.unreviewed = unreviewed or Unreviewed()
        self.access.on_moved(self.unreviewed.moved)
        self.access.on_deleted(self.unreviewed.deleted)
        self.person_runs: PersonRuns = lambda path: ()
        """Whoever watches the kernels puts itself here."""
        self._begun: Counter[str] = Counter()

    async def run(
        self,
        path: str,
        cells: Sequence[CellRunSpec],
        *,
        task_id: TaskId | None = None,
        kernel_name: str | None = None,
        store_history: bool = True,
        stop_on_error: bool = True,
        keep: Keep | None = None,
        listener: RunListener | None = None,
    ) -> Run:
        """Give cells to the notebook's kernel; what they print is shown and kept in the notebook, and remembered."""
        self.stir(path)
        others = (listener,) if listener is not None else ()
        return await self.executor.run(
            self.access.now_at(path),
            cells,
            kernel_name=kernel_name,
            store_history=store_history,
            task_id=task_id,
            stop_on_error=stop_on_error,
            listeners=(self.live_outputs, self.executions, *others),
            keep=keep,
        )

    async def called(self, path: str) -> str:
        """The name by which a notebook is open, or has a kernel, where its file has several.

        Whoever works on it calls it so: its outputs, its marks and its kernel go by that name.
        """
        opened = await self.access.open_name(path)
        if opened is not None:
            return opened
        try:
            running = [kernel.path for kernel in await self.executor.kernels()]
        except HdspAgentError:
            # Whoever needs a kernel is told.
            running = []
        return await self.access.name_among(running, path) or self.access.now_at(path)

    async def kernel(self, path: str) -> KernelInfo | None:
        """The kernel that runs for a notebook now."""
        path = self.access.now_at(path)
        return next((kernel for kernel in await self.executor.kernels() if kernel.path == path), None)

    def memory(self, path: str, kernel: KernelInfo | None) -> RunMemory:
        """What is known to have run in this kernel of the notebook."""
        return self.executions.memory(self.access.now_at(path), kernel.id if kernel is not None else None)

    def stir(self, path: str) -> None:
        """Something runs in the kernel of a notebook, or its variables are set."""
        self._begun[self.access.now_at(path)] += 1

    def stirred(self, path: str, kernel: KernelInfo) -> tuple[str, str, int, int, int]:
        """Something else whenever anything has run in the kernel of a notebook, as far as it was seen."""
        path = self.access.now_at(path)
        newest = next(reversed(self.person_runs(path)), None)
        ended, count = (0, 0) if newest is None else (newest.ended_at, newest.execution_count or 0)
        return kernel.id, self.executor.life(kernel.id), self._begun[path], ended, count

    async def close(self) -> None:
        """Keep the outputs there are, and let the kernels be."""
        await self.live_outputs.close()
        await self.executor.close()
        await self.unreviewed.written()
