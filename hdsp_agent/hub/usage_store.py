"""What was used, in one SQLite file: a row when a request begins, and one when it ends. Never a word of it.

Rows are only added. A request that has no second row, because the service was killed, counts what was reserved for it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from ..errors import StorageUnavailable
from .policies import matches
from .sqlite_file import connect, open_sqlite_file

__all__ = ["Amounts", "RequestEnd", "RequestStart", "UsageRow", "UsageStore"]

T = TypeVar("T")

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE started (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    user TEXT NOT NULL,
    user_group TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    money REAL NOT NULL
);
CREATE TABLE ended (
    id INTEGER PRIMARY KEY REFERENCES started (id),
    time REAL NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_cached INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    money REAL NOT NULL,
    milliseconds INTEGER NOT NULL,
    first_milliseconds INTEGER,
    status INTEGER NOT NULL,
    error TEXT,
    estimated INTEGER NOT NULL
);
CREATE INDEX started_by_time ON started (time);
CREATE INDEX started_by_user ON started (user, time);
"""
_TOTALS: Final = """
SELECT model,
    TOTAL(COALESCE(tokens_in + tokens_cached + tokens_out, tokens)),
    TOTAL(COALESCE(ended.money, started.money))
FROM started LEFT JOIN ended USING (id)
WHERE started.time >= ?
"""
_ROWS: Final = """
SELECT date(started.time, 'unixepoch'), user, user_group, provider, model, COUNT(*),
    TOTAL(tokens_in), TOTAL(tokens_cached), TOTAL(tokens_out), TOTAL(COALESCE(ended.money, started.money)),
    TOTAL(estimated OR ended.id IS NULL), TOTAL(error <> 'client_gone'),
    MAX(CASE WHEN error <> 'client_gone' THEN printf('%014.3f %s', ended.time, error) END)
FROM started LEFT JOIN ended USING (id)
WHERE started.time >= ? AND started.time < ? AND (? IS NULL OR user = ?)
    AND instr(lower(user), lower(?)) > 0 AND instr(lower(model), lower(?)) > 0
GROUP BY 1, user, user_group, provider, model ORDER BY 1, user, model
"""


@dataclass(frozen=True)
class Amounts:
    """Tokens of all kinds together, and US dollars."""

    tokens: int
    money: float


@dataclass(frozen=True)
class RequestStart:
    """A request that is about to begin, and what it may use at most as far as one can tell."""

    time: float
    user: str
    group: str
    provider: str
    model: str
    kind: str
    reserved: Amounts


@dataclass(frozen=True)
class RequestEnd:
    """What became of a request. ``status`` is HTTP's, or 0 where no answer came; ``error`` the provider's code for it."""

    time: float
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    money: float
    milliseconds: int
    first_milliseconds: int | None
    status: int
    error: str | None
    estimated: bool

    @property
    def amounts(self) -> Amounts:
        """What counts."""
        return Amounts(self.tokens_in + self.tokens_cached + self.tokens_out, self.money)


@dataclass(frozen=True)
class UsageRow:
    """What a person used of a model on a day (UTC). ``last_error`` is the newest one's code."""

    day: str
    user: str
    group: str
    provider: str
    model: str
    requests: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    money: float
    estimated: int
    errors: int
    last_error: str | None


_Write = tuple[str, tuple[object, ...]]
_Pending = tuple[_Write, asyncio.Future[int]]


class _Reader:
    """A thread that reads, and its connection."""

    def __init__(self, name: str) -> None:
        self.pool = ThreadPoolExecutor(1, thread_name_prefix=f"hdsp-hub-{name}")
        self.connection: sqlite3.Connection | None = None


class UsageStore:
    """The file. What many requests write at the same time is one transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="hdsp-hub-writer")
        self._connection: sqlite3.Connection | None = None
        # A long report is not to keep a request waiting that asks for a total.
        self._totals, self._reports = _Reader("totals"), _Reader("reports")
        self._pending: list[_Pending] = []
        self._writing: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the file, or make it. Raises StorageUnavailable."""
        await self._in(self._writer, self._open)

    async def close(self) -> None:
        """Write what is pending, and let go of the file."""
        while (writing := self._writing) is not None:
            await asyncio.wait([writing])
        readers = [(reader.pool, reader.connection) for reader in (self._totals, self._reports)]
        for pool, connection in (*readers, (self._writer, self._connection)):
            if connection is not None:
                await self._in(pool, connection.close)
            pool.shutdown(wait=False)

    async def start(self, request: RequestStart) -> int:
        """Record that a request begins; returns its number. Raises StorageUnavailable."""
        return await self._write(
            "INSERT INTO started (time, user, user_group, provider, model, kind, tokens, money)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                request.time, request.user, request.group, request.provider, request.model, request.kind,
                request.reserved.tokens, request.reserved.money,
            ),
        )  # fmt: skip

    async def end(self, number: int, end: RequestEnd) -> None:
        """Record what became of it. Raises StorageUnavailable."""
        await self._write(
            "INSERT INTO ended VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number, end.time, end.tokens_in, end.tokens_cached, end.tokens_out, end.money, end.milliseconds,
                end.first_milliseconds, end.status, end.error, end.estimated,
            ),
        )  # fmt: skip

    async def total(
        self,
        since: float,
        models: Iterable[str],
        *,
        user: str | None = None,
        group: str | None = None,
        without: Collection[int] = (),
    ) -> Amounts:
        """What was used since then of the models with these names, by a person, a group or everybody."""
        conditions = ""
        found: list[object] = [since]
        for column, wanted in (("user", user), ("user_group", group)):
            if wanted is not None:
                conditions += f" AND {column} = ?"
                found.append(wanted)
        if without:
            conditions += f" AND id NOT IN ({','.join('?' * len(without))})"
            found.extend(without)
        rows = await self._read(self._totals, _TOTALS + conditions + " GROUP BY model", found)
        counted = [row for row in rows if matches(str(row[0]), models)]
        return Amounts(sum(int(row[1]) for row in counted), sum(float(row[2]) for row in counted))

    async def rows(
        self, since: float, until: float, user: str | None = None, *, name: str = "", model: str = ""
    ) -> list[UsageRow]:
        """What was used in this time, by day, person and model. ``name`` and ``model`` are parts of names; ``user`` is one."""
        rows = await self._read(self._reports, _ROWS, [since, until, user, user, name, model])
        return await asyncio.to_thread(_usage_rows, rows)

    async def report(self, query: str, values: Iterable[object]) -> list[tuple[Any, ...]]:
        """The rows of a query that changes nothing. Raises StorageUnavailable."""
        return await self._read(self._reports, query, values)

    # ---- how

    async def _write(self, statement: str, values: tuple[object, ...]) -> int:
        written: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pending.append(((statement, values), written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_pending(), name="hdsp-agent hub usage")
        # Whoever gives up meanwhile takes nothing back.
        return await asyncio.shield(written)

    async def _write_pending(self) -> None:
        try:
            while self._pending:
                batch, self._pending = self._pending, []
                await self._write_batch(batch)
        finally:
            self._writing = None

    async def _write_batch(self, batch: list[_Pending]) -> None:
        try:
            numbers = await self._in(self._writer, partial(self._commit, [one for one, _ in batch]))
        except Exception as error:  # noqa: BLE001 -- whatever it is belongs to those who wait
            if len(batch) == 1:
                _settle(batch[0][1], error)
                return
            # One that cannot be written must not stand in the way of the others.
            for one in batch:
                await self._write_batch([one])
        else:
            for (_, written), number in zip(batch, numbers, strict=True):
                _settle(written, number)

    async def _read(self, reader: _Reader, query: str, values: Iterable[object]) -> list[tuple[Any, ...]]:
        def read() -> list[tuple[Any, ...]]:
            if reader.connection is None:
                reader.connection = connect(self._path)
                reader.connection.execute("PRAGMA query_only = 1")
            return reader.connection.execute(query, tuple(values)).fetchall()

        return await self._in(reader.pool, read)

    async def _in(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work)
        except sqlite3.Error as error:
            raise StorageUnavailable(
                f"The use of models could not be recorded in {self._path}: {error}. Check that disk and that folder.",
                path=str(self._path), action="use", reason=str(error),
            ) from error  # fmt: skip

    # ---- in the writer's thread

    def _open(self) -> None:
        # A process that is killed loses nothing by this; a power cut may cost the last rows.
        settings = ("journal_mode = WAL", "synchronous = NORMAL")
        self._connection = open_sqlite_file(self._path, _SCHEMA, version=_VERSION, settings=settings)

    def _commit(self, writes: list[_Write]) -> list[int]:
        connection = self._connection
        assert connection is not None
        connection.execute("BEGIN IMMEDIATE")
        try:
            numbers = [connection.execute(statement, values).lastrowid or 0 for statement, values in writes]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return numbers


def _settle(future: asyncio.Future[int], outcome: int | Exception) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
        # Whoever waited may have given up.
        future.exception()
    else:
        future.set_result(outcome)


def _usage_rows(rows: Iterable[tuple[Any, ...]]) -> list[UsageRow]:
    return [
        UsageRow(
            day=str(row[0]),
            user=str(row[1]),
            group=str(row[2]),
            provider=str(row[3]),
            model=str(row[4]),
            requests=int(row[5]),
            tokens_in=int(row[6]),
            tokens_cached=int(row[7]),
            tokens_out=int(row[8]),
            money=float(row[9]),
            estimated=int(row[10]),
            errors=int(row[11]),
            last_error=None if row[12] is None else str(row[12]).partition(" ")[2],
        )
        for row in rows
    ]
