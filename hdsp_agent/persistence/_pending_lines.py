"""How much waits for a writer's thread, and who waits for room. On the event loop only."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

__all__ = ["MAX_PENDING_BYTES", "PendingLines"]

MAX_PENDING_BYTES: Final = 64 * 1024 * 1024
_MAX_PENDING_LINES: Final = 20_000


class PendingLines:
    """Counts the lines handed over and not told of yet."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._lines = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    @property
    def crowded(self) -> bool:
        """Whether so much waits to be written that callers should wait for ``room`` first."""
        return self._full or bool(self._waiters)

    @property
    def _full(self) -> bool:
        return self._bytes >= self._max_bytes or self._lines >= _MAX_PENDING_LINES

    def add(self, line: bytes) -> None:
        """A line was handed over."""
        self._bytes += len(line)
        self._lines += 1

    def remove(self, line: bytes) -> None:
        """A line was written or refused."""
        self._bytes -= len(line)
        self._lines -= 1

    async def room(self) -> None:
        """Wait until there is room for a line; who came first goes first."""
        if not self.crowded:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def make_room(self) -> None:
        """Let the first of those who wait go on, and the next one after it has added its line."""
        while self._waiters and not self._full:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                if self._waiters:
                    waiter.get_loop().call_soon(self.make_room)
                return
