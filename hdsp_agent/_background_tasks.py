"""Tasks that are never lost: held while they run, awaited when their owner stops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from time import monotonic
from typing import Final, TypeVar

from .errors import Unavailable

__all__ = ["STOP_SECONDS", "BackgroundTasks"]

logger = logging.getLogger(__name__)
T = TypeVar("T")

STOP_SECONDS: Final = 1.0
"""What is under way gets to finish when the server stops; nobody waits long for a server to end."""


class BackgroundTasks:
    """The asyncio tasks one object has under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    async def finish(self, work: Coroutine[object, object, T]) -> T:
        """Do the work to its end even if whoever waits for it is cancelled. Raises Unavailable if it was given up."""
        task = asyncio.ensure_future(work)
        self._hold(task)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if task.cancelled() and not (waiting is not None and waiting.cancelling()):
                raise Unavailable("The server stopped before this was done. Try again when it is running.") from None
            raise

    def begin(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Do the work in the background; what it raises is logged."""
        task = asyncio.ensure_future(work)
        task.add_done_callback(_log_failure)
        self._hold(task)
        return task

    async def drain(self, seconds: float | None = None) -> bool:
        """Wait until nothing is under way, but no longer than ``seconds``; returns whether nothing is."""
        deadline = None if seconds is None else monotonic() + seconds
        while self._tasks:
            left = None if deadline is None else deadline - monotonic()
            if left is not None and left <= 0:
                return False
            await asyncio.wait(self._tasks, timeout=left)
        return True

    def cancel(self) -> None:
        """Give up what is under way."""
        for task in self._tasks:
            task.cancel()

    def _hold(self, task: asyncio.Task[T]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._release)

    def _release(self, task: asyncio.Task[T]) -> None:
        self._tasks.discard(task)
        # Its owner may be gone; asking for the error keeps asyncio from calling it forgotten.
        if not task.cancelled():
            task.exception()


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("A background task of the configuration failed", exc_info=error)
