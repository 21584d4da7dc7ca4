"""What reading and marking a task's histories needs of wherever its logs are kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final, Protocol

from ..messages import ClineMessage
from ._records import ApiRecord
from .marks._marks import Mark
from .marks._spans import Span

__all__ = ["HistoryLog", "api_records"]

_PAGE: Final = 200


class HistoryLog(Protocol):
    """The logs of one task. Answers are in the order of the log; of a message that was replaced, its newest line."""

    @property
    def last_ui_ts(self) -> int:
        """The newest ``ts`` given to a UI message, 0 if there is none."""
        ...

    @property
    def last_api_seq(self) -> int:
        """The newest ``seq`` of the API log, 0 if there is none."""
        ...

    async def ui_between(self, first_ts: int, last_ts: int, *, limit: int, newest: bool) -> Sequence[ClineMessage]:
        """At most ``limit`` messages of this span: the newest of them, or the oldest."""
        ...

    async def api_between(self, first_seq: int, last_seq: int, *, limit: int, newest: bool) -> Sequence[ApiRecord]:
        """At most ``limit`` records of this span: the newest of them, or the oldest."""
        ...

    async def append_mark(self, mark: Mark) -> None:
        """Append one line to the marks and return when it is on disk."""
        ...


async def api_records(log: HistoryLog, span: Span) -> AsyncIterator[ApiRecord]:
    """The records of a span, oldest first, a page at a time."""
    first = span.first
    while first <= span.last:
        page = await log.api_between(first, span.last, limit=_PAGE, newest=False)
        for record in page:
            yield record
        if len(page) < _PAGE:
            return
        first = page[-1].seq + 1
