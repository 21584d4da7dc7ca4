"""Tasks that are never lost: held while they run, awaited when their owner stops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TypeVar

__all__ = ["HeldTasks"]

logger = logging.getLogger(__name__)
T = TypeVar("T")


class HeldTasks:
    """The asyncio tasks one object has under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    async def finish(self, work: Coroutine[object, object, T]) -> T:
        """Do the work to its end even if whoever waits for it is cancelled."""
        task = asyncio.ensure_future(work)
        self._hold(task)
        return await asyncio.shield(task)

    def begin(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Do the work in the background; what it raises is logged."""
        task = asyncio.ensure_future(work)
        task.add_done_callback(_log_failure)
        self._hold(task)
        return task

    async def drain(self) -> None:
        """Wait until nothing is under way."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

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
