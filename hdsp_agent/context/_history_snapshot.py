"""A conversation that grows, as it was once: a request keeps it without copying it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import overload

from ..messages import ApiMessage

__all__ = ["HistorySnapshot"]


class HistorySnapshot(Sequence[ApiMessage]):
    """The first ``count`` messages of a list, which never change again, and these behind them."""

    def __init__(self, growing: list[ApiMessage], count: int, last: list[ApiMessage]) -> None:
        self._growing = growing
        self._count = count
        self._last = last

    def __len__(self) -> int:
        return self._count + len(self._last)

    def __iter__(self) -> Iterator[ApiMessage]:
        return chain(islice(self._growing, self._count), self._last)

    @overload
    def __getitem__(self, index: int) -> ApiMessage: ...

    @overload
    def __getitem__(self, index: slice) -> list[ApiMessage]: ...

    def __getitem__(self, index: int | slice) -> ApiMessage | list[ApiMessage]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return self._growing[place] if place < self._count else self._last[place - self._count]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __repr__(self) -> str:
        return repr(list(self))
