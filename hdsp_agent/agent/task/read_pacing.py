"""Reading less often while many answers stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ...messages import DELTA_INTERVAL_MS

__all__ = ["ReadPacing"]

_EACH: Final = 0.002
"""Seconds for each other answer that streams."""
_LONGEST: Final = DELTA_INTERVAL_MS / 1000
"""No tab is told more often."""


class ReadPacing:
    """How long the pieces of an answer may come together before they are read.

    To wait for a piece costs far more than to take it in, so where twenty answers stream, several pieces of each are taken
    in at once. An answer that streams alone is read as it comes.
    """

    def __init__(self) -> None:
        self._streaming = 0

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """One more answer streams in this block."""
        self._streaming += 1
        try:
            yield
        finally:
            self._streaming -= 1

    @property
    def seconds(self) -> float:
        """To wait between two reads of one answer."""
        return min(_LONGEST, _EACH * max(0, self._streaming - 1))
