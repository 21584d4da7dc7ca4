"""Lines on their way to a writer's thread: how much waits, who waits for room, and who is told. On the event loop only."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from ..errors import HdspAgentError, StorageUnavailable

__all__ = ["MAX_PENDING_BYTES", "LineWriter", "PendingLine", "WrittenLog", "stopped_store"]

MAX_PENDING_BYTES: Final = 64 * 1024 * 1024
_MAX_PENDING_LINES: Final = 20_000


class WrittenLog:
    """A log in a writer's care. ``paused`` says why it cannot be written just now; the next line tries again.

    ``accepted`` counts the lines acknowledged and those on their way; a refusal takes back the latter.
    """

    def __init__(self) -> None:
        self.paused: StorageUnavailable | None = None
        self.attempt = 0
        self.acknowledged = 0
        self.outstanding = 0

    @property
    def accepted(self) -> int:
        """How many lines precede the next one."""
        return self.acknowledged + self.outstanding


L = TypeVar("L", bound=WrittenLog)


@dataclass(slots=True)
class PendingLine(Generic[L]):
    """A line, and who waits for it. No bytes at all are no line."""

    log: L
    data: bytes
    durable: bool
    attempt: int
    acknowledged: asyncio.Future[None]
    on_success: Callable[[], None] | None


class LineWriter(ABC, Generic[L]):
    """Appends lines in the order they came, without ever blocking the event loop; it counts those not told of yet."""

    def __init__(self, max_pending_bytes: int) -> None:
        self._max_pending_bytes = max_pending_bytes
        self._bytes = 0
        self._lines = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    @abstractmethod
    def _hand_over(self, line: PendingLine[L]) -> None:
        """Give the line to the writer's thread."""

    @abstractmethod
    async def close_file(self, log: L) -> None:
        """Return when everything handed over for this log was written or refused."""

    @property
    def crowded(self) -> bool:
        """Whether so much waits to be written that callers should wait for ``room`` first."""
        return self._is_full or bool(self._waiters)

    @property
    def _is_full(self) -> bool:
        return self._bytes >= self._max_pending_bytes or self._lines >= _MAX_PENDING_LINES

    def append(
        self, log: L, data: bytes, *, durable: bool, on_success: Callable[[], None] | None = None
    ) -> asyncio.Future[None]:
        """Hand over a line; the future is done when the OS has it, or the disk if it must be durable.

        No bytes at all are no line: made durable, they say when the disk has all lines before.
        ``on_success`` is called on the event loop even if nobody waits for the future any more.
        """
        acknowledged: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._hand_over(PendingLine(log, data, durable, log.attempt, acknowledged, on_success))
        self._bytes += len(data)
        self._lines += 1
        log.outstanding += bool(data)
        return acknowledged

    def _deliver(self, outcomes: Iterable[tuple[PendingLine[L], HdspAgentError | None]]) -> None:
        """These lines were written, or refused for the reason beside them: tell who waits."""
        for line, error in outcomes:
            self._bytes -= len(line.data)
            self._lines -= 1
            log, acknowledged = line.log, line.acknowledged
            if error is None:
                log.paused = None
                log.acknowledged += bool(line.data)
                log.outstanding -= bool(line.data)
                if line.on_success is not None:
                    line.on_success()
                if not acknowledged.done():
                    acknowledged.set_result(None)
                continue
            log.paused = error if isinstance(error, StorageUnavailable) else None
            if line.attempt == log.attempt:
                log.attempt += 1
                log.outstanding = 0
            if not acknowledged.done():
                acknowledged.set_exception(error)
        self._make_room()

    async def room(self) -> None:
        """Wait until there is room for a line; who came first goes first."""
        if not self.crowded:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def _make_room(self) -> None:
        """Let the first of those who wait go on, and the next one after it has added its line."""
        while self._waiters and not self._is_full:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                if self._waiters:
                    waiter.get_loop().call_soon(self._make_room)
                return


def stopped_store(path: Path | str) -> StorageUnavailable:
    """What whoever writes after the end is told."""
    return StorageUnavailable(
        f"Could not write {path}: the store was stopped. Nothing was changed. Try again when it runs.",
        path=str(path),
        action="write",
        reason="stopped",
    )
