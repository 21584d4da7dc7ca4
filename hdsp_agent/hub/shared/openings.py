"""Which openings of links the audit log has: one of each person and link in an hour, so that nobody fills it by opening one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

__all__ = ["LinkOpenings"]

_SECONDS: Final = 3600.0
_MOST: Final = 20_000


class LinkOpenings:
    """Those of the past hour."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._until: OrderedDict[tuple[str, int], float] = OrderedDict()

    def has(self, person: str, link: int) -> bool:
        """Whether the log has one of the past hour."""
        return self._now() < self._until.get((person, link), 0.0)

    def add(self, person: str, link: int) -> None:
        """The log has one."""
        self._until[person, link] = self._now() + _SECONDS
        self._until.move_to_end((person, link))
        while len(self._until) > _MOST:
            self._until.popitem(last=False)
