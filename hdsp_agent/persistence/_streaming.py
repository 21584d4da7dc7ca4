"""Messages that are still being written by the model: recorded at once when they begin and end, in between once a second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from ..errors import Conflict, StorageUnavailable
from ..messages import ClineMessage

__all__ = ["PARTIAL_SECONDS", "Streaming"]

PARTIAL_SECONDS: Final = 1.0


class Streaming:
    """Holds back the forms of streaming messages. What could not be recorded shows in the log's ``paused``."""

    def __init__(self, write: Callable[[ClineMessage], Awaitable[None]], *, every: float = PARTIAL_SECONDS) -> None:
        self._write = write
        self._every = every
        self._written: dict[int, float] = {}
        self._held_back: dict[int, ClineMessage] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._late: set[asyncio.Task[None]] = set()

    async def put(self, message: ClineMessage) -> None:
        """Record this form, or hold it back for a while."""
        loop = asyncio.get_running_loop()
        due = self._written.get(message.ts, loop.time() - self._every) + self._every
        if loop.time() < due:
            self._held_back[message.ts] = message
            if message.ts not in self._timers:
                self._timers[message.ts] = loop.call_at(due, self._begin_late, message.ts)
            return
        self.forget(message.ts, streams=True)
        await self._write(message)

    def forget(self, ts: int, *, streams: bool) -> None:
        """A newer form of this message is recorded now; ``streams`` says whether more will come."""
        self._held_back.pop(ts, None)
        timer = self._timers.pop(ts, None)
        if timer is not None:
            timer.cancel()
        if streams:
            self._written[ts] = asyncio.get_running_loop().time()
        else:
            self._written.pop(ts, None)

    async def flush(self) -> None:
        """Record what is held back."""
        for ts, message in list(self._held_back.items()):
            self.forget(ts, streams=True)
            await self._write(message)
        await asyncio.gather(*self._late)

    def _begin_late(self, ts: int) -> None:
        task = asyncio.create_task(self._write_late(ts), name="hdsp-agent streaming message")
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def _write_late(self, ts: int) -> None:
        message = self._held_back.get(ts)
        if message is None:
            return
        self.forget(ts, streams=True)
        try:
            await self._write(message)
        except (StorageUnavailable, Conflict):
            # Nobody waits for this form. The log is paused now, and the next form tries again.
            return
