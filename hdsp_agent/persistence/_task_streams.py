"""The streams of a task: read in threads, the newest few remembered while it is worked on."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping
from typing import Final, Generic, ParamSpec, Protocol, TypeVar

from pydantic_core import PydanticSerializationError

from ..append_log.jsonl import REPLACES, LineForm, LogEntry
from ..errors import InvalidInput
from ..messages import ClineMessage
from ..wire import WireModel
from ._records import ApiRecord, Stream, SummaryRecord, ToolRecord
from .marks._marks import AnyMark, parse_mark

__all__ = [
    "API_FORM",
    "LINE_FORMS",
    "MARKS_FORM",
    "SUMMARIES_FORM",
    "TOOLS_FORM",
    "UI_FORM",
    "AnyRecord",
    "InThread",
    "RecordSource",
    "Records",
    "numbered_line",
    "ui_line",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

AnyRecord = ClineMessage | ApiRecord | SummaryRecord | ToolRecord | AnyMark
"""What one of the five streams holds."""

UI_FORM: Final = LineForm[ClineMessage]("ts", ClineMessage.model_validate_json, latest_wins=True)
API_FORM: Final = LineForm[ApiRecord]("seq", ApiRecord.model_validate_json)
SUMMARIES_FORM: Final = LineForm[SummaryRecord]("summary_id", SummaryRecord.model_validate_json)
TOOLS_FORM: Final = LineForm[ToolRecord]("seq", ToolRecord.model_validate_json)
MARKS_FORM: Final = LineForm[AnyMark]("seq", parse_mark)
LINE_FORMS: Final[Mapping[Stream, LineForm[AnyRecord]]] = {
    "ui": UI_FORM,
    "api": API_FORM,
    "summaries": SUMMARIES_FORM,
    "tools": TOOLS_FORM,
    "marks": MARKS_FORM,
}

_GREATEST: Final = 2**62
_PAGE: Final = 200
_FIRST: Final = 5


class InThread(Protocol):
    """Calls what blocks in another thread, as ``asyncio.to_thread`` does."""

    def __call__(
        self, call: Callable[P, R], /, *arguments: P.args, **named: P.kwargs
    ) -> Coroutine[object, object, R]: ...


class RecordSource(Protocol[T]):
    """Where a stream is read from. Everything here blocks."""

    def newest(self, limit: int) -> list[LogEntry[T]]:
        """The last records, oldest first."""
        ...

    def first(self, limit: int) -> list[T]:
        """The very first records."""
        ...

    def between(self, first: int, last: int, limit: int, *, newest: bool) -> list[LogEntry[T]]:
        """At most ``limit`` records whose keys are in this span, ends included: the newest of them, or the oldest."""
        ...

    def count(self) -> int:
        """How many records there are."""
        ...


class Records(Generic[T_co]):
    """One stream of a task, oldest first. Keys are ``ts`` in the UI stream, the line's number in all others."""

    def __init__(self, log: RecordSource[T_co], remembered: int = 0, in_thread: InThread = asyncio.to_thread) -> None:
        self._log = log
        self._in_thread = in_thread
        self._remembered = remembered
        self._recent: OrderedDict[int, T_co] = OrderedDict()
        self._recent_is_all = False

    @property
    def newest_key(self) -> int:
        """The greatest key remembered, 0 if there is none."""
        return next(reversed(self._recent), 0)

    @property
    def recent(self) -> Collection[T_co]:
        """The records remembered, oldest first."""
        return self._recent.values()

    def first(self) -> list[T_co]:
        """The very first few records. Blocks."""
        return self._log.first(_FIRST)

    def load_recent(self) -> None:
        """Read what is to be remembered. Blocks; before the first ``remember``."""
        entries = self._log.newest(self._remembered)
        self._recent = OrderedDict((entry.key, entry.record) for entry in entries)
        self._recent_is_all = len(entries) < self._remembered

    # Only the log that appends to the stream calls this, with records of the stream's own kind.
    def remember(self, key: int, record: T_co) -> None:  # type: ignore[misc]
        """Take note of what was recorded just now."""
        if key in self._recent or key > self.newest_key:
            self._recent[key] = record
            if len(self._recent) > self._remembered:
                self._recent.popitem(last=False)
                self._recent_is_all = False

    def is_recent(self, key: int) -> bool:
        """Whether this record is remembered."""
        return key in self._recent

    async def newest(self, limit: int = 20) -> list[T_co]:
        """The last records."""
        _check_limit(limit)
        if limit <= len(self._recent) or self._recent_is_all:
            return list(self._recent.values())[-limit:]
        return [entry.record for entry in await self._in_thread(self._log.newest, limit)]

    async def page(self, *, before: int | None = None, after: int | None = None, limit: int = 100) -> list[T_co]:
        """The records next to a key, which is itself left out; the newest if no key is given."""
        if before is not None and after is not None:
            raise InvalidInput("A page is either before a record or after one. Leave one of them out.", field="after")
        if before is not None:
            return await self.between(0, before - 1, limit=limit, newest=True)
        if after is not None:
            return await self.between(after + 1, _GREATEST, limit=limit, newest=False)
        return await self.newest(limit)

    async def between(self, first: int, last: int, *, limit: int, newest: bool) -> list[T_co]:
        """At most ``limit`` records of this span, ends included: the newest of them, or the oldest."""
        _check_limit(limit)
        entries = await self._in_thread(self._log.between, first, last, limit, newest=newest)
        return [entry.record for entry in entries]

    async def get(self, key: int) -> T_co | None:
        """The record with this key."""
        if key in self._recent:
            return self._recent[key]
        found = await self.between(key, key, limit=1, newest=True)
        return found[0] if found else None

    async def count(self) -> int:
        """How many records there are."""
        return await self._in_thread(self._log.count)

    async def iterate(self, *, after: int = 0) -> AsyncIterator[T_co]:
        """All records with greater keys, a page at a time."""
        while True:
            page = await self._in_thread(self._log.between, after + 1, _GREATEST, _PAGE, newest=False)
            for entry in page:
                yield entry.record
            if len(page) < _PAGE:
                return
            after = page[-1].key


def ui_line(message: ClineMessage, *, replaces: bool) -> bytes:
    """A message's line; its time comes first."""
    line = _json(message)
    if not replaces:
        return line + b"\n"
    start = len(b'{"ts":%d' % message.ts)
    return b"".join((line[:start], b",", REPLACES, line[start:], b"\n"))


def numbered_line(key: str, number: int, fields: bytes, record: WireModel) -> bytes:
    """A record's line; its number comes first, then ``fields``, which are JSON without braces."""
    return b"".join((b'{"', key.encode(), b'":%d,' % number, fields, _json(record)[1:], b"\n"))


def _json(record: WireModel) -> bytes:
    try:
        return record.to_json().encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        # Half a surrogate pair, as a cut stream or a kernel may give: no file can hold it.
        fields = record.model_dump(by_alias=True, exclude_none=True)
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise InvalidInput(f"A page of {limit} records cannot be read. Ask for at least one.", field="limit")
