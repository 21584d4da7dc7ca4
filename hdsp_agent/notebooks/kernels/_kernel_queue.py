"""The queue of one kernel: runs one after another, through a link that is made again when the kernel restarts."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Final

from ...errors import HdspAgentError, NotFound, Unavailable, Unsupported
from ...messages import TaskId
from ._cell_execution import ADVICE, CellExecution
from ._client import ExecuteRequest, KernelClient, KernelState, LostReason
from ._ports import KernelPort
from ._run import CellRun, EndReason, Run, RunId
from ._run_limits import RunLimits
from ._variable_inspection import load_probe

__all__ = ["KernelQueue"]

_log = logging.getLogger(__name__)

_REVIVAL_SECONDS: Final = 20
"""How long a dead kernel may take to be restarted by itself: it is looked after every three seconds."""
_PROBE_SECONDS: Final = 2.0
_UNUSED_SECONDS: Final = 60.0
"""How long a connection that keeps a kernel from being culled stays when nobody uses it."""


class KernelQueue:
    """What one kernel has to do for us."""

    def __init__(
        self, kernel_id: str, port: KernelPort, *, limits: Callable[[], RunLimits], active: Callable[[], None]
    ) -> None:
        self.kernel_id = kernel_id
        self._port = port
        self._limits = limits
        self._active = active
        self._runs: deque[Run] = deque()
        self._filled = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self._current: tuple[Run, CellExecution] | None = None
        self._unfinished: ExecuteRequest | None = None
        self._link: KernelClient | None = None
        self._life = ""
        self._linking = asyncio.Lock()
        self._holders: set[TaskId | RunId] = set()
        self._afterwards: set[asyncio.Task[None]] = set()
        self._closed = False
        self._leaving: asyncio.TimerHandle | None = None

    @property
    def over(self) -> bool:
        """Whether the kernel is gone for good and nothing waits for it."""
        return self._closed or (not self._runs and self._link is None and not self._port.life(self.kernel_id))

    @property
    def state(self) -> KernelState:
        """What the kernel does, as far as is known here."""
        return self._link.state if self._link is not None and self._link.lost is None else "unknown"

    @property
    def running(self) -> Run | None:
        """The run one of whose cells the kernel works on."""
        return self._current[0] if self._current is not None and self._current[1].running else None

    def add(self, run: Run) -> None:
        """Run this after what there is already."""
        self._runs.append(run)
        self._hold(run.id)
        if run.task_id is not None:
            self._hold(run.task_id)
        self._filled.set()
        if self._worker is None:
            self._worker = asyncio.ensure_future(self._work())

    async def interrupt(self, run: Run) -> None:
        """Stop a run; the kernel notices only if it works on it."""
        run.withdrawn = True
        if self._current is not None and self._current[0] is run:
            await self._current[1].stop()
        else:
            # Its place in the queue stays until its turn comes; nothing is done then.
            run.finish("not_run", ADVICE["not_run"])

    async def fail(self, reason: LostReason) -> None:
        """The kernel's life ends: nothing of what is here will be run."""
        if self._link is not None:
            self._link.lose(reason)
        for run in self._runs:
            run.withdrawn = True
            if self._current is None or self._current[0] is not run:
                run.finish(reason, ADVICE[reason])
        if self._current is not None:
            await self._current[0].wait(self._limits().interrupt_seconds)

    def release(self, task_id: TaskId) -> None:
        """The task needs this kernel no more."""
        self._let_go(task_id)

    async def link(self) -> KernelClient:
        """The connection to the kernel's present life."""
        self._leave_later()
        async with self._linking:
            life = self._port.life(self.kernel_id)
            link = self._link
            if link is not None and link.lost is None and life == self._life:
                return link
            has_ended = link is not None and link.lost is not None
            await self._unlink()
            await self._alive()
            self._life = self._port.life(self.kernel_id)
            link = self._link = await self._connect(self._server_state(has_ended=has_ended))
            return link

    async def _connect(self, server_state: Callable[[], KernelState]) -> KernelClient:
        seconds = self._limits().start_seconds
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            transport = await self._port.connect(self.kernel_id)
            link = KernelClient(self.kernel_id, transport, server_state=server_state)
            try:
                if await link.greet(min(left, transport.silent_seconds)):
                    await self._prepare(link)
                    return link
            except BaseException:
                await asyncio.shield(link.close())
                raise
            await link.close()
        raise Unavailable(
            f"The kernel did not answer within {seconds:g} s. Restart the kernel, then try again.",
            kernel=self.kernel_id,
        )

    async def close(self) -> None:
        """Stop working; what runs in the kernel is let be."""
        self._closed = True
        if self._leaving is not None:
            self._leaving.cancel()
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        for run in self._runs:
            run.finish("not_run", ADVICE["not_run"])
            await self._tidy(run)
        self._runs.clear()
        await asyncio.gather(*self._afterwards, return_exceptions=True)
        async with self._linking:
            await self._unlink()
        for holder in list(self._holders):
            self._let_go(holder)

    # ---- working

    async def _work(self) -> None:
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._runs:
                run = self._runs[0]
                self._active()
                try:
                    await self._do(run)
                except HdspAgentError as error:
                    gone = isinstance(error, NotFound)
                    run.finish("kernel_gone" if gone else "kernel_silent", error.message)
                except Exception:  # noqa: BLE001 -- the queue goes on with the next run
                    _log.exception("A run of %s failed in kernel %s", run.path, self.kernel_id)
                    run.finish("kernel_silent", ADVICE["kernel_silent"])
                await self._tidy(run)
                self._runs.popleft()
                self._let_go(run.id)
                self._active()

    async def _do(self, run: Run) -> None:
        for cell in run.cells:
            if run.withdrawn or cell.ended:
                break
            if await self._free_for(run):
                await self._execute(run, cell)
            if cell.state == "dead" or cell.state in ("interrupted", "timed_out"):
                break
            if cell.state == "error" and run.stop_on_error:
                break
        lost = self._link.lost if self._link is not None else None
        reason: EndReason = lost or "not_run"
        run.finish(reason, ADVICE[reason])
        if lost is not None:
            for other in self._runs:
                if other is not run:
                    other.withdrawn = True
                    other.finish(lost, ADVICE[lost])

    async def _execute(self, run: Run, cell: CellRun) -> None:
        link = await self.link()
        if run.withdrawn:
            return
        execution = CellExecution(
            link, run, cell, port=self._port, limits=self._limits(), active=self._active, later=self._later
        )
        self._current = (run, execution)
        try:
            await execution.go()
        finally:
            self._current = None
            self._unfinished = execution.unfinished
        await self._keep_text(run, cell)

    async def _free_for(self, run: Run) -> bool:
        """Wait for a cell that did not heed its interruption: the kernel does nothing else until it ends.

        Whether the run is still wanted then.
        """
        while (execution := self._unfinished) is not None and not run.withdrawn:
            changed = execution.changed
            if execution.ended or self._link is None or self._link.lost is not None:
                self._unfinished = None
                break
            await asyncio.wait({changed}, timeout=self._port.watch_seconds(self.kernel_id))
            if self._port.life(self.kernel_id) != self._life:
                self._unfinished = None
        return not run.withdrawn

    async def _keep_text(self, run: Run, cell: CellRun) -> None:
        text = cell.outputs.full_text
        if not text.begun or run.keep is None:
            return
        try:
            cell.artifact = await run.keep(await text.read())
        except (HdspAgentError, OSError) as error:
            _log.warning("The full output of a cell of %s could not be saved: %s", run.path, error)
        run.changed(cell)

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._afterwards.add(task)
        task.add_done_callback(self._afterwards.discard)

    async def _tidy(self, run: Run) -> None:
        for cell in run.cells:
            await cell.outputs.full_text.close()

    # ---- the link and who needs it

    async def _alive(self) -> None:
        """Wait for a kernel that died to be restarted."""
        until = time.monotonic() + _REVIVAL_SECONDS
        while not await self._port.alive(self.kernel_id):
            if time.monotonic() > until:
                raise Unavailable("The kernel died and did not come back. Restart it.", kernel=self.kernel_id)
            await asyncio.sleep(self._port.watch_seconds(self.kernel_id) / 2)

    def _server_state(self, *, has_ended: bool) -> Callable[[], KernelState]:
        """What the server takes the kernel to do. The cell that a life ended with can count as running ever after."""
        is_left_over = has_ended and self._port.state(self.kernel_id) == "busy"

        def state() -> KernelState:
            nonlocal is_left_over
            now = self._port.state(self.kernel_id)
            is_left_over = is_left_over and now == "busy"
            return "unknown" if is_left_over else now

        return state

    async def _prepare(self, link: KernelClient) -> None:
        """Make its variables visible, also while a cell runs; that cannot be begun while one does."""
        if link.language == "python" and link.state != "busy":
            try:
                await load_probe(link, _PROBE_SECONDS)
            except (Unavailable, Unsupported) as error:
                _log.debug("The variables of kernel %s cannot be read yet: %s", self.kernel_id, error)

    def _leave_later(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        if not self._closed and self._port.is_behind_gateway(self.kernel_id):
            self._leaving = asyncio.get_running_loop().call_later(_UNUSED_SECONDS, self._leave)

    def _leave(self) -> None:
        if self._runs or self._holders or (self._link is not None and self._link.lost is None and self._link.is_asking):
            self._leave_later()
        else:
            self._later(self._leave_now())

    async def _leave_now(self) -> None:
        async with self._linking:
            await self._unlink()

    async def _unlink(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _hold(self, holder: TaskId | RunId) -> None:
        if not self._holders:
            self._port.hold(self.kernel_id)
        self._holders.add(holder)

    def _let_go(self, holder: TaskId | RunId) -> None:
        if holder in self._holders:
            self._holders.remove(holder)
            if not self._holders:
                self._port.release(self.kernel_id)
