"""How many calls one person's programs may have under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ...errors import Unavailable

__all__ = ["MOST_CALLS", "CallLimits"]

MOST_CALLS: Final = 64


class CallLimits:
    """Counts what is under way, by person."""

    def __init__(self, most: int = MOST_CALLS) -> None:
        self._most = most
        self._running: Counter[str | None] = Counter()

    @contextmanager
    def counted(self, owner: str | None) -> Iterator[None]:
        """While a call runs. Raises Unavailable if there are too many."""
        if self._running[owner] >= self._most:
            raise Unavailable(
                f"{self._most} calls are already running. Wait until one ends, then try again.", limit=self._most
            )
        self._running[owner] += 1
        try:
            yield
        finally:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]
