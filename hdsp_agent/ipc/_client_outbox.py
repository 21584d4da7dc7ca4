"""What waits to be written to one client."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

__all__ = ["ClientOutbox", "OutboxFull"]

_BATCH_BYTES: Final = 256 * 1024


class OutboxFull(Exception):
    """The client reads too slowly."""


class ClientOutbox:
    """Frames in order, bounded in bytes, written by a task of their own: nobody waits for a slow client."""

    def __init__(self, writer: asyncio.StreamWriter, max_bytes: int) -> None:
        self._writer = writer
        self._max_bytes = max_bytes
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._ending = False
        self._wanted = asyncio.Event()
        # So that a drain means that the operating system has it all, and what is counted here is all there is.
        writer.transport.set_write_buffer_limits(high=0)

    @property
    def waiting(self) -> int:
        """Bytes that the client has not taken."""
        return self._bytes

    def put(self, frame: bytes) -> None:
        """Send a frame when its turn comes. Raises OutboxFull."""
        if self._ending:
            return
        if self._bytes and self._bytes + len(frame) > self._max_bytes:
            raise OutboxFull
        self._add(frame)

    def end(self, last: bytes | None = None) -> None:
        """Write what waits and no more; with a last word, that alone."""
        if self._ending:
            return
        self._ending = True
        if last is not None:
            self._bytes -= sum(map(len, self._frames))
            self._frames.clear()
            self._add(last)
        self._wanted.set()

    async def write(self) -> None:
        """Write until the end. Raises ConnectionError when the client has gone."""
        while True:
            await self._wanted.wait()
            while self._frames:
                batch = self._take()
                self._writer.write(batch)
                await self._writer.drain()
                self._bytes -= len(batch)
            if self._ending:
                return
            self._wanted.clear()

    def _add(self, frame: bytes) -> None:
        self._frames.append(frame)
        self._bytes += len(frame)
        self._wanted.set()

    def _take(self) -> bytes:
        batch = [self._frames.popleft()]
        size = len(batch[0])
        while self._frames and size + len(self._frames[0]) <= _BATCH_BYTES:
            batch.append(self._frames.popleft())
            size += len(batch[-1])
        return batch[0] if len(batch) == 1 else b"".join(batch)
