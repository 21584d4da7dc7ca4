"""How long to wait before a model is asked again, and showing that somebody waits."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Final

from ...providers import ModelError

__all__ = ["LONGEST_WAIT", "Sleep", "backoff_seconds", "count_down", "may_retry"]

LONGEST_WAIT: Final = 600
"""Seconds. A provider that wants more is not waited for: the person is asked."""

Sleep = Callable[[float], Awaitable[None]]


def backoff_seconds(attempt: int, base: float, *, retry_after: float | None = None, least: float = 0) -> int:
    """The wait before try number ``attempt`` + 1, doubling with each, and no less than the provider or the spacing wants."""
    doubled = min(float(LONGEST_WAIT), base * 2.0 ** min(attempt, 30))
    wanted = 0.0 if retry_after is None else retry_after + 1
    return math.ceil(max(doubled, wanted, least))


def may_retry(error: ModelError, attempt: int, *, most: int, begun: bool, auto: bool) -> bool:
    """Whether to try again without asking.

    An answer that had ``begun`` has cost money, so trying again is for those who approve automatically.
    """
    if not error.retryable or attempt >= most or (error.retry_after or 0) > LONGEST_WAIT:
        return False
    return auto or not begun


async def count_down(seconds: int, show: Callable[[int], Awaitable[None]], sleep: Sleep = asyncio.sleep) -> None:
    """Wait, and show once a second how long still."""
    for left in range(seconds, 0, -1):
        await show(left)
        await sleep(1)
