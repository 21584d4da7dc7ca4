"""Times that name messages: unique and rising within a task."""

from __future__ import annotations

import time

__all__ = ["TimestampAllocator"]


class TimestampAllocator:
    """Gives out milliseconds, each greater than all before it, whatever the clock does."""

    def __init__(self, newest: int = 0) -> None:
        self._newest = newest

    @property
    def newest(self) -> int:
        """The greatest time given out or seen."""
        return self._newest

    def next(self) -> int:
        """A time nobody else has."""
        self._newest = max(time.time_ns() // 1_000_000, self._newest + 1)
        return self._newest

    def saw(self, ts: int) -> None:
        """Take note of a time that a message already has."""
        self._newest = max(self._newest, ts)
