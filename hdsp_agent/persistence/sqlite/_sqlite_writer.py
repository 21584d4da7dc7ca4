"""Writes to a SQLite database of tasks.

What waits is written as one transaction, and what must survive a power cut as one more that is synced: SQLite's
``synchronous`` is FULL for that one only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ...errors import HdspAgentError
from ...messages import TaskId
from .._pending_lines import PendingLine
from ..files._database_file import FileConnection, is_busy
from ..tables._table_writer import Job, TableLine, TableWriter, WriterWork, task_of
from ._sqlite_database import SQLITE, SqliteDatabase

__all__ = ["SqliteWriter"]


class SqliteWriter(TableWriter):
    """See ``TableWriter`` for what it does."""

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__(database)
        self._file = database
        self._connection: FileConnection | None = None
        self._was_open = False
        self._full = False

    def _transactions(self, jobs: Sequence[Job]) -> Sequence[Sequence[Job]]:
        """What need not wait for the disk, and what must or comes after such in its task."""
        quick: list[Job] = []
        durable: list[Job] = []
        waits: set[TaskId] = set()
        for job in jobs:
            task_id = task_of(job)
            if job.durable and task_id is not None:
                waits.add(task_id)
            (durable if job.durable or task_id in waits else quick).append(job)
        return quick, durable

    def _transaction(self, jobs: Sequence[Job]) -> list[BaseException | None]:
        connection = self._current(full=any(job.durable for job in jobs))
        connection.execute("BEGIN IMMEDIATE")
        try:
            results = [self._perform(connection, job) for job in jobs]
            connection.execute("COMMIT")
        except BaseException:
            # A full disk makes SQLite end the transaction by itself.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if not self._file.is_of_use(connection):
            raise self._file.gone()
        return results

    def _perform(self, connection: FileConnection, job: Job) -> BaseException | None:
        try:
            if isinstance(job, WriterWork):
                job.perform(connection, self._error)
            else:
                _insert(connection, job)
        except sqlite3.Error:
            raise
        except BaseException as error:  # noqa: BLE001 -- whoever waits for the job is told
            if isinstance(job, PendingLine) and isinstance(error, HdspAgentError):
                job.log.refuse(error, job.attempt)
            return error
        return None

    def _concerns_all(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.Error) and is_busy(error)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _current(self, *, full: bool) -> FileConnection:
        former = self._connection
        if former is not None and not self._file.is_of_use(former):
            former.close()
            self._connection = None
        if self._connection is None:
            if self._was_open:
                self._file.check_there()
            self._connection = self._file.open_for_writing()
            self._was_open = True
            self._full = False
        if full != self._full:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
            self._full = full
        return self._connection


def _insert(connection: FileConnection, line: TableLine) -> None:
    log = line.log
    log.check(line.attempt)
    if not line.data:
        connection.execute(SQLITE.try_writing)
        return
    key, record = log.row(line.data)
    inserted = connection.execute(
        f"INSERT INTO {log.table} (task, {log.key}, record) SELECT ?, ?, ? FROM locks WHERE task = ? AND token = ?",  # noqa: S608 -- our own names
        (log.number, key, record, log.number, log.token),
    )
    if inserted.rowcount == 0:
        raise log.taken_over()
