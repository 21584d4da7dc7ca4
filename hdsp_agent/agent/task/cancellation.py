"""Work that is let go of within a moment, even if it does not heed being cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Final, TypeVar

__all__ = ["BoundedCancellation"]

logger = logging.getLogger(__name__)
T = TypeVar("T")

_PATIENCE_SECONDS: Final = 0.12
"""Of the 200 ms in which a cancel answers, what the work itself gets to end."""


class BoundedCancellation:
    """Runs work whose cancellation is waited for only briefly. What outlives that is held until ``gone``."""

    def __init__(self) -> None:
        self._stragglers: set[asyncio.Task[object]] = set()

    async def run(self, work: Coroutine[object, object, T], name: str) -> T:
        """Do the work. If whoever waits is cancelled, so is the work."""
        task = asyncio.create_task(work, name=name)
        try:
            # Not awaited itself: its own cancellation must be told from that of whoever waits.
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            try:
                await asyncio.wait({task}, timeout=_PATIENCE_SECONDS)
            finally:
                # Whoever waits may be cancelled once more meanwhile.
                self._let_go(task)
            raise
        return task.result()

    async def gone(self, seconds: float) -> None:
        """Wait for what was let go of, but not longer than this."""
        if self._stragglers:
            await asyncio.wait(set(self._stragglers), timeout=seconds)

    def _let_go(self, task: asyncio.Task[T]) -> None:
        if not task.done():
            logger.warning(
                "%s is still running although it was canceled; waiting for it in the background.", task.get_name()
            )
            self._stragglers.add(task)
            task.add_done_callback(self._release)
        elif not task.cancelled() and (error := task.exception()) is not None:
            logger.debug("%s failed while it was being canceled", task.get_name(), exc_info=error)

    def _release(self, task: asyncio.Task[T]) -> None:
        self._stragglers.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("%s failed after it was canceled", task.get_name(), exc_info=error)
