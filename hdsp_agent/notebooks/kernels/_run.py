"""A run: cells that were given to a kernel, what became of each, and how to wait for them or stop them."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NewType, Protocol

from ...messages import CellId, RunState, TaskId
from ._output_collector import OutputCollector

__all__ = ["CellRun", "CellRunSpec", "EndReason", "Keep", "Run", "RunError", "RunId", "RunListener"]

RunId = NewType("RunId", str)

EndReason = Literal[
    "not_run",
    "interrupted",
    "idle_limit",
    "total_limit",
    "interrupt_ignored",
    "kernel_died",
    "kernel_restarted",
    "kernel_gone",
    "kernel_silent",
    "connection_lost",
    "input_requested",
]
"""Why a cell ended other than by its own code; ``not_run``: a cell before it failed, or the run was withdrawn."""

_KERNEL_ENDED: Final = frozenset({"kernel_died", "kernel_restarted", "kernel_gone", "kernel_silent", "connection_lost"})

Keep = Callable[[bytes], Awaitable[str]]
"""Keeps the whole of a long output, and tells its artifact's name."""


@dataclass(frozen=True)
class CellRunSpec:
    """Code to run; ``cell_id`` is None for scratch code that is in no notebook."""

    cell_id: CellId | None
    code: str


@dataclass(frozen=True)
class RunError:
    """The exception a cell ended with."""

    ename: str
    evalue: str
    traceback: tuple[str, ...] = ()


@dataclass
class CellRun:
    """One cell of a run. Times are milliseconds since 1970."""

    cell_id: CellId | None
    code: str
    outputs: OutputCollector
    state: RunState = "queued"
    execution_count: int | None = None
    """Known when the kernel is idle again."""
    started_at: int | None = None
    ended_at: int | None = None
    error: RunError | None = None
    reason: EndReason | None = None
    advice: str | None = None
    """A sentence about what to do now, when the cell did not end by itself."""
    artifact: str | None = None
    """Where the whole text is, when it was too long to show."""
    last_output: float = field(default_factory=time.monotonic)

    @property
    def ended(self) -> bool:
        """Whether nothing more comes."""
        return self.ended_at is not None

    def end(self, state: RunState, reason: EndReason | None = None, advice: str | None = None) -> None:
        """Say how it ended; only the first word counts."""
        if self.ended:
            return
        self.state, self.reason, self.advice = state, reason, advice
        self.ended_at = time.time_ns() // 1_000_000


class RunListener(Protocol):
    """Who wants to know how a run goes on."""

    def changed(self, run: Run, cell: CellRun) -> None:
        """Something about this cell changed. Called on the loop for every message; must not block."""


class Run:
    """Cells given to one kernel, in order. It goes on whether or not somebody waits for it."""

    def __init__(
        self,
        path: str,
        cells: Sequence[CellRun],
        *,
        interrupt: Callable[[Run], Awaitable[None]],
        task_id: TaskId | None = None,
        store_history: bool = True,
        stop_on_error: bool = True,
        listeners: Sequence[RunListener] = (),
        keep: Keep | None = None,
        kernel_id: str = "",
    ) -> None:
        self.id = RunId(uuid.uuid4().hex)
        self.kernel_id = kernel_id
        self.path = path
        self.cells = tuple(cells)
        self.task_id = task_id
        self.store_history = store_history
        self.stop_on_error = stop_on_error
        self.listeners = listeners
        self.keep = keep
        self.withdrawn = False
        self._interrupt = interrupt
        self._ended = asyncio.Event()

    @property
    def done(self) -> bool:
        """Whether all of its cells have ended."""
        return self._ended.is_set()

    @property
    def current(self) -> CellRun | None:
        """The cell that runs, or the next to run."""
        return next((cell for cell in self.cells if not cell.ended), None)

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended, or so long; whether it has ended. May be called again and again."""
        if self.done:
            return True
        waiter = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({waiter}, timeout=seconds)
        finally:
            waiter.cancel()
        return self.done

    async def interrupt(self) -> None:
        """Stop it: the kernel is interrupted only if a cell of this run runs; what waits is not run at all."""
        if not self.done:
            await self._interrupt(self)

    def changed(self, cell: CellRun) -> None:
        """Tell the listeners."""
        for listener in self.listeners:
            listener.changed(self, cell)

    def finish(self, reason: EndReason = "not_run", advice: str | None = None) -> None:
        """End the cells that have not, and let go those who wait."""
        for cell in self.cells:
            if not cell.ended:
                cell.end("dead" if reason in _KERNEL_ENDED else "interrupted", reason, advice)
                self.changed(cell)
        self._ended.set()
