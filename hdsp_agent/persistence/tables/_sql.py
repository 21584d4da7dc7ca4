"""What the shared code asks of a database's driver, and in what databases differ. Everything here blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from .._records import Stream

__all__ = ["FIELD_VIEWS", "STREAM_TABLES", "Dialect", "SqlConnection", "SqlCursor", "Work"]

T = TypeVar("T")

STREAM_TABLES: Final[dict[Stream, tuple[str, str]]] = {
    "ui": ("ui_messages", "ts"),
    "api": ("messages", "seq"),
    "summaries": ("summaries", "summary_id"),
    "tools": ("tool_calls", "seq"),
    "marks": ("marks", "seq"),
}
"""The table of each stream, and the name of its key there and in the lines."""
FIELD_VIEWS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "message_fields": (
        "messages", ("seq", "role", "content", "tool_name", "timestamp", "token_count", "is_summarized"),
    ),
    "summary_fields": (
        "summaries",
        (
            "summary_id", "start_seq", "end_seq", "summary", "original_tokens", "summary_tokens", "compression_ratio",
            "created_at",
        ),
    ),
    "tool_call_fields": (
        "tool_calls", ("seq", "tool_name", "arguments", "result", "status", "error", "duration_ms", "timestamp"),
    ),
}  # fmt: skip
"""The views that show the fields of a table's records as columns."""


class SqlCursor(Protocol):
    """The rows that a statement found, and how many it changed. No driver says of what types a row is."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class SqlConnection(Protocol):
    """A connection in autocommit mode, which takes parameters where a ``?`` is. One of ``sqlite3`` is such."""

    def execute(self, statement: str, parameters: Sequence[object] = ..., /) -> SqlCursor: ...

    def executemany(self, statement: str, parameters: Iterable[Sequence[object]], /) -> object: ...

    def close(self) -> None: ...


Work = Callable[[SqlConnection], T]


@dataclass(frozen=True)
class Dialect:
    """In what a database differs from others. ``{}`` stands for a column of text."""

    error: type[Exception]
    """What its driver raises."""
    as_bytes: str
    """The column's UTF-8, for text that is not could not be read otherwise."""
    as_text: str
    """The text that a parameter of UTF-8 is."""
    length: str
    """How many bytes that is."""
    for_update: str
    """What ends a query for a row that this transaction is about to change."""
    begin_reading: str
    """Begins a transaction that sees one unchanging view."""
    try_writing: str
    """Changes nothing, and fails where writing fails."""
    rows: Callable[[SqlConnection, str, Sequence[object]], Iterator[Any]]
    """The rows of a query, of which few are in memory at once; the connection does nothing else meanwhile."""
    artifact_bytes: int
    """How much of an artifact is read at once."""
    task_key: str
    """What no two tasks that a person has may share."""
    give_back_space: Callable[[SqlConnection], None]
    """Gives the system back what was deleted."""
