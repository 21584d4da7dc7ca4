"""Asking the server again until it tells what is waited for, with pauses in which a kernel has the processor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

__all__ = ["polled"]

_PATIENCE_SECONDS = 120.0


async def polled(ask: Callable[[], Awaitable[Any]], is_wanted: Callable[[Any], object]) -> Any:
    """The first answer that is wanted."""
    deadline = monotonic() + _PATIENCE_SECONDS
    while not is_wanted(answer := await ask()):
        assert monotonic() < deadline, answer
        await asyncio.sleep(0.05)
    return answer
