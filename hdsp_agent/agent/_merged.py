"""The history as requests hold it. It grows with the log, and a request costs nothing for how long it has become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import overload

from ..messages import ApiMessage, JsonObject
from ..persistence import ApiRecord

__all__ = ["Merged"]


class Merged:
    """Neighbours of the person's are one message."""

    def __init__(self) -> None:
        self._messages: list[ApiMessage] = []
        self._open = False

    def add(self, record: ApiRecord) -> None:
        """Take in the next record."""
        if record.role == "system":
            return
        message = record.message()
        merges = message.role == "user" and not record.is_summary and not record.is_truncation_marker
        if merges and self._open:
            last = self._messages[-1]
            content = [*_blocks(last), *_blocks(message)]
            self._messages[-1] = last.model_copy(update={"content": content})
        else:
            self._messages.append(message)
        # A message may be added to a summary, a summary to nothing.
        self._open = message.role == "user" and not record.is_truncation_marker

    @property
    def messages(self) -> Sequence[ApiMessage]:
        """All of them, and for good as they are now."""
        return _AsItWas(self._messages)


class _AsItWas(Sequence[ApiMessage]):
    """A list as it was when this was made. The list only grows, or gets another last item."""

    def __init__(self, growing: list[ApiMessage]) -> None:
        self._growing = growing
        self._before_last = max(0, len(growing) - 1)
        self._last = growing[-1:]

    def __len__(self) -> int:
        return self._before_last + len(self._last)

    def __iter__(self) -> Iterator[ApiMessage]:
        return chain(islice(self._growing, self._before_last), self._last)

    @overload
    def __getitem__(self, index: int) -> ApiMessage: ...

    @overload
    def __getitem__(self, index: slice) -> list[ApiMessage]: ...

    def __getitem__(self, index: int | slice) -> ApiMessage | list[ApiMessage]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return self._growing[place] if place < self._before_last else self._last[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __repr__(self) -> str:
        return repr(list(self))


def _blocks(message: ApiMessage) -> list[JsonObject]:
    return [{"type": "text", "text": message.content}] if isinstance(message.content, str) else list(message.content)
