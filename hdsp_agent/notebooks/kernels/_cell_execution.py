"""One cell in the kernel: its outputs, its limits, and how it ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Final

from ...errors import HdspAgentError, NotFound
from ...messages import JsonObject
from ._client import ExecuteRequest, KernelClient
from ._output_messages import as_number, as_object, as_text, collect_output
from ._ports import KernelPort
from ._run import CellRun, EndReason, Run, RunError
from ._run_limits import RunLimits
from ._transport import KernelMessage

__all__ = ["ADVICE", "CellExecution"]

_log = logging.getLogger(__name__)

_TRIES_AFTER_ABORT: Final = 3
_SHORTEST_WAIT: Final = 0.02
_BARELY_BEGUN: Final = 0.5
_NOT_BEFORE: Final = 0.1
_NEXT_BEGINS: Final = 0.05

ADVICE: Final[dict[EndReason, str]] = {
    "not_run": "It was not run.",
    "interrupted": "It was interrupted.",
    "idle_limit": "It printed nothing for too long and was interrupted; the limit is in the settings.",
    "total_limit": "It ran for too long and was interrupted; the limit is in the settings.",
    "interrupt_ignored": "It was interrupted and goes on all the same. Only restarting the kernel stops it; "
    "that loses all variables.",
    "kernel_died": "The kernel died, perhaps for want of memory. Its variables are lost; run the cells it needs again.",
    "kernel_restarted": "The kernel was restarted. Its variables are lost; run the cells it needs again.",
    "kernel_gone": "The kernel was shut down. Running a cell starts a new one, without the old one's variables.",
    "kernel_silent": "The kernel does not answer. Restart it.",
    "connection_lost": "The connection to the kernel broke, so whether it went on is not known. Look at its variables.",
    "input_requested": "Code the agent runs cannot ask for input. Put the value into the code, or ask the person.",
}


class CellExecution:
    """Has one cell executed and sees to it that this ends."""

    def __init__(
        self,
        link: KernelClient,
        run: Run,
        cell: CellRun,
        *,
        port: KernelPort,
        limits: RunLimits,
        active: Callable[[], None],
        later: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self.execution: ExecuteRequest | None = None
        self._link = link
        self._run = run
        self._cell = cell
        self._port = port
        self._limits = limits
        self._active = active
        self._later = later
        self._life = port.life(link.kernel_id)
        self._watch_seconds = port.watch_seconds(link.kernel_id)
        self._watched = self._started = time.monotonic()
        self._stop = asyncio.get_running_loop().create_future()
        self._why: EndReason | None = None
        self._interrupted_at: float | None = None
        self._interrupts = 0

    @property
    def running(self) -> bool:
        """Whether the kernel works on it just now."""
        return self._cell.state == "running" and not self._cell.ended

    @property
    def unfinished(self) -> ExecuteRequest | None:
        """What the kernel still has of it although the cell has ended for us."""
        execution = self.execution
        return execution if execution is not None and not execution.ended and self._link.lost is None else None

    async def go(self) -> None:
        """Run it to its end, whichever that is."""
        if self._link.busy_with_others:
            await self._wait_behind_others()
        for _ in range(_TRIES_AFTER_ABORT):
            if self._stop.done() or self._link.lost is not None:
                break
            self.execution = execution = self._link.execute(
                self._cell.code, self._heard, store_history=self._run.store_history, cell_id=self._cell.cell_id
            )
            await self._until_ended(execution)
            await self._link.widgets.settled()
            if not _aborted(execution):
                break
            # A failing cell of the person took everything queued with it. Ours has not begun, so it can come again.
            self._cell.state = "queued"
            self._run.changed(self._cell)
        self._conclude()

    async def stop(self) -> None:
        """Interrupt it if it runs; if the kernel has not begun with it, it ends here and now."""
        if not self._stop.done():
            self._stop.set_result(None)
        early = self._started + _NOT_BEFORE - time.monotonic()
        if self.running and early > 0:
            # An ipykernel that is interrupted between saying that it is busy and running the code loses the request.
            await asyncio.sleep(early)
        if self.running:
            await self._interrupt("interrupted")
            if self.execution is not None:
                # Something is due sooner now.
                self.execution.wake()
        elif self.execution is not None:
            # Should the kernel begin with what was given up.
            self.execution.abandoned = lambda: self._later(self._interrupt_abandoned())
            self._cell.end("interrupted", "interrupted", ADVICE["not_run"])
            self.execution.wake()

    # ---- waiting

    async def _wait_behind_others(self) -> None:
        """Nothing is sent while the person's cell runs: what waits in the kernel's own queue cannot be taken back."""
        while self._is_behind_others():
            waiting = asyncio.ensure_future(self._link.until_not_busy(self._watch_seconds))
            try:
                await asyncio.wait({waiting, self._stop}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
            await self._watch()
            if not self._is_behind_others():
                # The next of the cells that the person queued begins at once.
                await asyncio.sleep(_NEXT_BEGINS)

    def _is_behind_others(self) -> bool:
        return self._link.busy_with_others and not self._stop.done() and self._link.lost is None

    async def _until_ended(self, execution: ExecuteRequest) -> None:
        while True:
            changed = execution.changed
            self._notice_start(execution)
            if execution.ended or self._link.lost is not None or self._cell.ended:
                return
            await asyncio.wait({changed}, timeout=self._patience())
            await self._watch()
            await self._enforce()

    def _notice_start(self, execution: ExecuteRequest) -> None:
        if not execution.busy or self._cell.state != "queued" or self._cell.ended:
            return
        self._cell.state = "running"
        self._cell.started_at = time.time_ns() // 1_000_000
        self._cell.last_output = self._started = time.monotonic()
        self._run.changed(self._cell)

    def _patience(self) -> float:
        """Until something may be due."""
        now = time.monotonic()
        due = [self._watched + self._watch_seconds]
        if self._interrupted_at is not None:
            last = self._limits.interrupt_seconds
            due.append(self._interrupted_at + (self._second_interrupt_after if self._interrupts == 1 else last))
        elif self.running:
            if self._limits.total_seconds is not None:
                due.append(self._started + self._limits.total_seconds)
            if self._limits.idle_seconds is not None:
                due.append(self._cell.last_output + self._limits.idle_seconds)
        return max(_SHORTEST_WAIT, min(due) - now)

    async def _watch(self) -> None:
        """Notice at once that the kernel died, was restarted or is gone."""
        now = time.monotonic()
        if now - self._watched < self._watch_seconds:
            return
        self._watched = now
        self._active()
        kernel = self._link.kernel_id
        try:
            alive = await self._port.alive(kernel)
        except NotFound:
            self._link.lose("kernel_gone")
            return
        except HdspAgentError as error:
            _log.warning("Could not check whether kernel %s is alive: %s", kernel, error)
            return
        if not alive:
            self._link.lose("kernel_died")
        elif self._port.life(kernel) != self._life:
            self._link.lose("kernel_restarted")

    async def _enforce(self) -> None:
        """Interrupt what runs over a limit, and give up on what does not heed that."""
        if not self.running:
            return
        now = time.monotonic()
        if self._interrupted_at is None:
            total, idle = self._limits.total_seconds, self._limits.idle_seconds
            if total is not None and now - self._started >= total:
                await self._interrupt("total_limit")
            elif idle is not None and now - self._cell.last_output >= idle:
                await self._interrupt("idle_limit")
            return
        waited = now - self._interrupted_at
        if waited >= self._limits.interrupt_seconds:
            self._cell.end("timed_out", "interrupt_ignored", ADVICE["interrupt_ignored"])
        elif waited >= self._second_interrupt_after and self._interrupts == 1:
            await self._interrupt(self._why or "interrupted")

    @property
    def _second_interrupt_after(self) -> float:
        """A kernel that says it is busy and has not begun with the code yet swallows an interruption."""
        half = self._limits.interrupt_seconds / 2
        barely_begun = self._interrupted_at is not None and self._interrupted_at - self._started < _BARELY_BEGUN
        return min(_BARELY_BEGUN, half) if barely_begun else half

    async def _interrupt(self, why: EndReason) -> None:
        self._why = self._why or why
        self._interrupts += 1
        if self._interrupted_at is None:
            self._interrupted_at = time.monotonic()
        await self._port.interrupt(self._link.kernel_id)

    async def _interrupt_abandoned(self) -> None:
        try:
            if self.execution is not None and not self.execution.ended:
                await self._port.interrupt(self._link.kernel_id)
        except HdspAgentError as error:
            _log.warning("An abandoned cell in kernel %s cannot be interrupted: %s", self._link.kernel_id, error)

    # ---- what comes

    def _heard(self, message: KernelMessage, content: JsonObject) -> None:
        if self.execution is not None:
            # Outputs can come with the message that says that it runs, before whoever waits for that wakes.
            self._notice_start(self.execution)
        cell = self._cell
        cell.last_output = time.monotonic()
        if message.kind == "error":
            self._failed(content)
        if collect_output(cell.outputs, message, content):
            self._run.changed(cell)

    def _failed(self, content: JsonObject) -> None:
        lines = content.get("traceback")
        traceback = tuple(str(line) for line in lines) if isinstance(lines, list) else ()
        self._cell.error = RunError(as_text(content.get("ename")), as_text(content.get("evalue")), traceback)

    # ---- the end

    def _conclude(self) -> None:
        cell = self._cell
        reply = self.execution.reply if self.execution is not None else None
        if reply is not None:
            cell.execution_count = as_number(reply.get("execution_count"))
            self._show_pages(reply)
        if self._link.lost is not None:
            cell.end("dead", self._link.lost, ADVICE[self._link.lost])
        elif reply is None or self.execution is None or not self.execution.ended:
            cell.end("interrupted", "interrupted", ADVICE["not_run"])
        elif reply.get("status") == "ok":
            cell.end("ok")
        else:
            self._end_failed(reply)
        cell.outputs.finish()
        self._run.changed(cell)

    def _end_failed(self, reply: JsonObject) -> None:
        cell = self._cell
        if cell.error is None and "ename" in reply:
            cell.error = RunError(as_text(reply.get("ename")), as_text(reply.get("evalue")))
        name = cell.error.ename if cell.error is not None else ""
        if self._why in ("idle_limit", "total_limit"):
            cell.end("timed_out", self._why, ADVICE[self._why])
        elif self._why == "interrupted" or name == "KeyboardInterrupt" or reply.get("status") != "error":
            cell.end("interrupted", "interrupted", ADVICE["interrupted"])
        elif name == "StdinNotImplementedError":
            cell.end("error", "input_requested", ADVICE["input_requested"])
        else:
            cell.end("error")

    def _show_pages(self, reply: JsonObject) -> None:
        """What ``obj?`` would show in a pager goes below the cell, as in JupyterLab."""
        payload = reply.get("payload")
        for page in payload if isinstance(payload, list) and reply.get("status") == "ok" else ():
            if isinstance(page, dict) and page.get("source") == "page":
                data = as_object(page.get("data"))
                self._cell.outputs.display("display_data", data, {}, size=len(str(data)))


def _aborted(execution: ExecuteRequest) -> bool:
    reply = execution.reply
    return reply is not None and reply.get("status") == "aborted" and not execution.began
