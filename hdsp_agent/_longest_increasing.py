"""The longest increasing subsequence: whatever is not in it has to move, and that is as little as possible."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

__all__ = ["longest_increasing"]


def longest_increasing(numbers: Iterable[int]) -> set[int]:
    """The longest increasing subsequence of numbers that are all different."""
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
