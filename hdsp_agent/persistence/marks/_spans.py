"""Sets of whole numbers as sorted, disjoint spans: what is visible of a log, whatever its length."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

__all__ = ["EVERYTHING", "OPEN", "Span", "SpanSet"]

OPEN: Final = 2**63 - 1
"""The end of a span that holds whatever is still to come."""


class Span(NamedTuple):
    """The numbers from ``first`` to ``last``, both included."""

    first: int
    last: int


def _last(span: Span) -> int:
    return span.last


@dataclass(frozen=True, slots=True)
class SpanSet:
    """An immutable set of numbers. Operations share what they leave alone, so that keeping many versions is cheap."""

    items: tuple[Span, ...]

    @classmethod
    def of(cls, spans: Iterable[tuple[int, int]]) -> SpanSet:
        """The set of what is in any of these spans, which are sorted and disjoint."""
        return cls(tuple(Span(first, last) for first, last in spans))

    def __contains__(self, number: int) -> bool:
        index = bisect_left(self.items, number, key=_last)
        return index < len(self.items) and self.items[index].first <= number

    def without(self, first: int, last: int) -> SpanSet:
        """The set less the numbers from ``first`` to ``last``."""
        begin = bisect_left(self.items, first, key=_last)
        if first > last or begin == len(self.items) or self.items[begin].first > last:
            return self
        end = begin
        while end < len(self.items) and self.items[end].first <= last:
            end += 1
        rests = (Span(self.items[begin].first, first - 1), Span(last + 1, self.items[end - 1].last))
        kept = tuple(rest for rest in rests if rest.first <= rest.last)
        return SpanSet((*self.items[:begin], *kept, *self.items[end:]))

    def without_all(self, spans: Iterable[tuple[int, int]]) -> SpanSet:
        """The set less all of these spans."""
        rest = self
        for first, last in spans:
            rest = rest.without(first, last)
        return rest

    def minus(self, other: SpanSet) -> SpanSet:
        """What is in this set and not in the other."""
        return self.without_all(other.items)

    def until(self, last: int) -> SpanSet:
        """The part of the set up to ``last``."""
        return self.without(last + 1, OPEN)

    def open_from(self, first: int) -> SpanSet:
        """The set with everything from ``first`` on."""
        before = self.until(first - 1).items
        if before and before[-1].last == first - 1:
            return SpanSet((*before[:-1], Span(before[-1].first, OPEN)))
        return SpanSet((*before, Span(first, OPEN)))

    def membership(self) -> Callable[[int], bool]:
        """A test for membership that remembers where it was: a walk in order costs one look-up a span, not one a number."""
        items = self.items
        first, last, inside = 1, 0, False

        def test(number: int) -> bool:
            nonlocal first, last, inside
            if not first <= number <= last:
                index = bisect_left(items, number, key=_last)
                inside = index < len(items) and items[index].first <= number
                if inside:
                    first, last = items[index]
                else:
                    first = items[index - 1].last + 1 if index else -OPEN
                    last = items[index].first - 1 if index < len(items) else OPEN
            return inside

        return test


EVERYTHING: Final = SpanSet((Span(0, OPEN),))
