"""Long work in a thread: it tells its progress on the event loop, and stops soon when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

from ._work_progress import Progress

__all__ = ["LongWork", "WorkStopped", "in_thread"]

T = TypeVar("T")

_TELL_SECONDS: Final = 0.05


class WorkStopped(Exception):
    """Raised inside the work when whoever waited for it was cancelled."""


class LongWork:
    """What the work in the thread tells, and asks."""

    def __init__(self, loop: asyncio.AbstractEventLoop, progress: Progress | None) -> None:
        self._loop = loop
        self._progress = progress
        self._stopped = threading.Event()
        self._what = ""
        self._told_at = 0.0

    def stop(self) -> None:
        """Nobody waits for it any more."""
        self._stopped.set()

    def check(self) -> None:
        """A good moment to stop."""
        if self._stopped.is_set():
            raise WorkStopped

    def tell(self, what: str, done: int, total: int | None) -> None:
        """Say how far the work is; what comes too quickly is left out, but for each beginning and end."""
        self.check()
        now = time.monotonic()
        if self._progress is None or (what == self._what and done != total and now - self._told_at < _TELL_SECONDS):
            return
        self._what, self._told_at = what, now
        self._loop.call_soon_threadsafe(self._progress, what, done, total)


async def in_thread(work: Callable[[LongWork], T], progress: Progress | None) -> T:
    """Do the work in a thread. A cancellation waits until it has stopped in good order."""
    long_work = LongWork(asyncio.get_running_loop(), progress)
    running = asyncio.ensure_future(asyncio.to_thread(work, long_work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        long_work.stop()
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()
        raise
