"""Waiting no longer than a number of seconds, without ever losing a cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["wait_at_most"]

R = TypeVar("R")


async def wait_at_most(awaitable: Awaitable[R], seconds: float | None) -> R:
    """Its result; raises ``TimeoutError`` after this many seconds.

    ``asyncio.wait_for`` of Python 3.11 swallows a cancellation that comes just when the result does: a task that was to
    end with the server would go on, and the server would wait for it for ever.
    """
    async with asyncio.timeout(seconds):
        return await awaitable
