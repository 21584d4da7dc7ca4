"""Of numbers in some order, the most that rise already: what has to move for all to rise is the least that is left."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

__all__ = ["longest_rise"]


def longest_rise(numbers: Iterable[int]) -> set[int]:
    """The most of these, each there once, that stand in their order already."""
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(ends, number)
        before[number] = ends[at - 1] if at else None
        ends[at : at + 1] = [number]
    found: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = before[last]
    return found
