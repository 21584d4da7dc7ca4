"""Reading one stream of a task out of its table: the same questions as to a log in a file. Everything here blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

from ...append_log.corrupt_lines import CorruptLine
from ...append_log.jsonl import LineForm, LogEntry
from ...append_log.log_tail import is_record
from ...messages import TaskId
from .._records import Stream
from ._sql import STREAM_TABLES, Dialect, SqlConnection
from ._task_database import TaskDatabase

__all__ = ["TableLog"]

T = TypeVar("T")

_SMALLEST: Final = -(2**62)
_GREATEST: Final = 2**62
_Row = tuple[int, int, bytes]
"""Key, id and line."""


class TableLog(Generic[T]):
    """One stream. ``on_damage`` hears of each row that no record could be made of, once; its offset is the row's id."""

    def __init__(
        self,
        database: TaskDatabase,
        task_id: TaskId,
        stream: Stream,
        form: LineForm[T],
        on_damage: Callable[[CorruptLine], None],
    ) -> None:
        self._database = database
        self._task_id = task_id
        self._form = form
        self._on_damage = on_damage
        self._damaged: set[int] = set()
        self._unreadable: set[int] = set()
        self._guard = threading.Lock()
        self._statements = _Statements(database.dialect, *STREAM_TABLES[stream], latest_wins=form.latest_wins)

    def newest(self, limit: int) -> list[LogEntry[T]]:
        """The last records, oldest first."""
        return self.between(_SMALLEST, _GREATEST, limit, newest=True)

    def first(self, limit: int) -> list[T]:
        """The very first records."""
        return [entry.record for entry in self.between(_SMALLEST, _GREATEST, limit, newest=False)]

    def between(self, first: int, last: int, limit: int, *, newest: bool) -> list[LogEntry[T]]:
        """At most ``limit`` records whose keys are in this span, ends included: the newest of them, or the oldest."""
        if limit <= 0 or first > last:
            return []

        def read(connection: SqlConnection) -> list[LogEntry[T]]:
            found: list[LogEntry[T]] = []
            low, high = first, last
            while len(found) < limit and low <= high:
                asked = limit - len(found)
                rows = list(self._rows(connection, low, high, asked, newest=newest))
                found += [entry for row in rows if (entry := self._entry(connection, row)) is not None]
                if len(rows) < asked:
                    break
                # Damaged rows left room for more.
                low, high = (low, rows[-1][0] - 1) if newest else (rows[-1][0] + 1, high)
            return found[::-1] if newest else found

        return self._database.read(read)

    def count(self) -> int:
        """How many records there are, without those found to be damaged."""

        def read(connection: SqlConnection) -> int:
            return int(connection.execute(self._statements.count, (self._task_id,)).fetchone()[0])

        return self._database.read(read) - len(self._unreadable)

    def _rows(self, connection: SqlConnection, first: int, last: int, limit: int, *, newest: bool) -> Iterator[_Row]:
        statement = self._statements.backwards if newest else self._statements.forwards
        yield from connection.execute(statement, (self._task_id, first, last, limit))

    def _entry(self, connection: SqlConnection, row: _Row) -> LogEntry[T] | None:
        key, number, line = row
        record = self._parse(number, line)
        if record is None and self._form.latest_wins:
            # An earlier form of the message is better than none.
            for earlier in connection.execute(self._statements.forms, (self._task_id, key, number)):
                record = self._parse(earlier[1], earlier[2])
                if record is not None:
                    break
        if record is None:
            self._unreadable.add(key if self._form.latest_wins else number)
            return None
        return LogEntry(key, record)

    def _parse(self, number: int, line: bytes) -> T | None:
        try:
            return self._form.parse(line)
        except (ValueError, RecursionError):
            with self._guard:
                if number not in self._damaged:
                    self._damaged.add(number)
                    self._on_damage(CorruptLine(number, line, "unknown" if is_record(line) else "corrupt"))
            return None


class _Statements:
    def __init__(self, dialect: Dialect, table: str, key: str, *, latest_wins: bool) -> None:
        columns = f"{key}, id, {dialect.as_bytes.format('record')}"
        where = "task = (SELECT number FROM tasks WHERE task_id = ?)"
        span = f"{where} AND {key} BETWEEN ? AND ?"
        self.count = f"SELECT COUNT({'DISTINCT ' + key if latest_wins else '*'}) FROM {table} WHERE {where}"  # noqa: S608
        self.forms = f"SELECT {columns} FROM {table} WHERE {where} AND {key} = ? AND id < ? ORDER BY id DESC"  # noqa: S608
        if latest_wins:
            # The index alone tells which rows count; only theirs are read.
            newest = f"SELECT MAX(id) FROM {table} WHERE {span} GROUP BY {key} ORDER BY {key}"  # noqa: S608
            self.forwards = f"SELECT {columns} FROM {table} WHERE id IN ({newest} LIMIT ?) ORDER BY {key}"  # noqa: S608
            self.backwards = f"SELECT {columns} FROM {table} WHERE id IN ({newest} DESC LIMIT ?) ORDER BY {key} DESC"  # noqa: S608
        else:
            self.forwards = f"SELECT {columns} FROM {table} WHERE {span} ORDER BY {key}, id LIMIT ?"  # noqa: S608
            self.backwards = f"SELECT {columns} FROM {table} WHERE {span} ORDER BY {key} DESC, id DESC LIMIT ?"  # noqa: S608
