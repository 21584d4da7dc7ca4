"""Blocking work off the event loop, that stops when whoever waits for it is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["Stop", "in_thread"]

R = TypeVar("R")
Stop = Callable[[], bool]
"""Whether the work is to end early."""


async def in_thread(work: Callable[[Stop], R]) -> R:
    """Run the work in a thread. It is told to stop when this is cancelled, and nobody waits for it then."""
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(work, stopped.is_set)
    finally:
        stopped.set()
