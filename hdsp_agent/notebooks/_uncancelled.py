"""Work that is finished although whoever waits for it is cancelled: half a save would be a broken file."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TypeVar

__all__ = ["finished"]

logger = logging.getLogger(__name__)

R = TypeVar("R")


async def finished(work: Coroutine[object, object, R]) -> R:
    """Its result. When cancelled, this waits for its end before it is cancelled in turn."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            # Unlike awaiting the task, waiting for it does not cancel it.
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled() and (failure := task.exception()) is not None:
        logger.error("What was not to be interrupted failed", exc_info=failure)
    raise cancelled
