"""Writes to a PostgreSQL database of tasks.

What waits is one transaction. In it the lines of one task and stream are one statement, and statements are sent without
waiting for each other's answers. All is on the disk when it is acknowledged.

If the connection is lost, the transaction is tried again for half a minute. Was it lost in the midst of a commit, the
database is asked first whether that took place: nothing is written twice.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias
from uuid import uuid4

import psycopg

from ...errors import Conflict, HdspAgentError, StorageUnavailable
from .._pending_lines import PendingLine
from ..tables._sql import SqlCursor
from ..tables._table_writer import Job, TableLine, TableWriter, TaskTable, WriterWork
from ._connection import PostgresConnection
from ._postgres_database import PostgresDatabase

__all__ = ["PostgresWriter"]

_PATIENCE_SECONDS: Final = 30.0
_PATIENCE_AT_THE_END_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.2
_MOST_DEADLOCKS: Final = 5
# Its session waits for what was never sent to it, or has not noticed that nobody listens any more.
_END_SESSION: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid::text::bigint = ? & 4294967295"
)
_STATUS: Final = "SELECT txid_status(?)"
_BEGIN: Final = ("BEGIN", "SELECT txid_current()")
# A transaction's number alone proves nothing: what a crash took with it is given to others anew.
_MARK: Final = "INSERT INTO writers (id, wrote) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET wrote = excluded.wrote"
_WROTE: Final = "SELECT count(*) FROM writers WHERE id = ? AND wrote = ?"

_Results: TypeAlias = list[BaseException | None]


class PostgresWriter(TableWriter):
    """See ``TableWriter`` for what it does."""

    def __init__(self, database: PostgresDatabase, *, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        super().__init__(database)
        self._server = database
        self._patience_seconds = patience_seconds
        self._connection: PostgresConnection | None = None
        self._was_open = False
        self._is_reached = False
        self._lost_at: float | None = None
        self._trouble: StorageUnavailable | None = None
        self._id: Final = uuid4().hex
        self._written = 0
        self._unsure: tuple[int, Sequence[Job]] | None = None
        self.session: int | None = None

    async def check_writable(self) -> None:
        if (trouble := self._trouble) is not None:
            raise trouble
        await super().check_writable()

    # What follows runs in the writer's thread.

    def _transactions(self, jobs: Sequence[Job]) -> Sequence[Sequence[Job]]:
        return (jobs,)

    def _transaction(self, jobs: Sequence[Job]) -> _Results:
        deadlocks = 0
        results: _Results = []
        while True:
            self._is_reached = False
            try:
                connection = self._current()
                self._is_reached = True
                if self._unsure is None or not self._was_committed(connection, jobs):
                    self._written += 1
                    number, results = _perform(connection, jobs, (self._id, self._written))
                    self._unsure = number, jobs
                    connection.execute("COMMIT")
                    self._unsure = None
            except psycopg.Error as error:
                if not self._could_roll_back(error):
                    self._wait_after(error)
                elif not isinstance(error, psycopg.errors.DeadlockDetected) or deadlocks == _MOST_DEADLOCKS:
                    raise
                else:
                    deadlocks += 1
            except BaseException:
                self._disconnect()
                self._lost_at = self._trouble = None
                raise
            else:
                self._lost_at = self._trouble = None
                return results

    def _could_roll_back(self, error: psycopg.Error) -> bool:
        """Take back what was done, unless the connection is lost or leads to a server that only reads now."""
        connection = self._connection
        if connection is None or connection.is_lost or isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
            return False
        self._unsure = None
        try:
            connection.execute("ROLLBACK")
        except psycopg.Error:
            return False
        self._lost_at = self._trouble = None
        return True

    def _wait_after(self, error: psycopg.Error) -> None:
        """Wait before the next attempt, or raise if that was long enough."""
        self._disconnect()
        now = time.monotonic()
        if self._lost_at is None:
            self._lost_at = now
        patience = (
            min(self._patience_seconds, _PATIENCE_AT_THE_END_SECONDS) if self._stopped else self._patience_seconds
        )
        if not self._was_open or now - self._lost_at >= patience:
            self._trouble = None
            raise error
        self._trouble = self._database.refusal(error)
        time.sleep(_PAUSE_SECONDS)

    def _was_committed(self, connection: PostgresConnection, jobs: Sequence[Job]) -> bool:
        """Whether the transaction took place that was being committed when the connection was lost, if it was this one."""
        assert self._unsure is not None
        number, unsure = self._unsure
        try:
            if _is_under_way(connection, number):
                connection.execute(_END_SESSION, (number,))
                raise psycopg.OperationalError("it still keeps what was being saved")
            took_place = bool(connection.execute(_WROTE, (self._id, self._written)).fetchone()[0])
        except BaseException:
            # As long as it is not known nothing may be written.
            self._disconnect()
            raise
        self._unsure = None
        if unsure is jobs:
            return took_place
        if took_place:
            # Those who waited for it have heard that it did not, and would number what is next as what is there.
            for job in unsure:
                if isinstance(job, PendingLine):
                    job.log.refuse(_recorded_after_all(job.log), sys.maxsize)
        return False

    def _concerns_all(self, error: Exception) -> bool:
        # What keeps one waiting for so long, such as somebody who changes the tables, would keep all.
        # Where only one task's part ends the session, the others can be written.
        is_unreachable = self._connection is None and not self._is_reached
        return is_unreachable or self._unsure is not None or isinstance(error, psycopg.errors.LockNotAvailable)

    def _current(self) -> PostgresConnection:
        if self._connection is None:
            self._connection = self._server.open_for_writing()
            self.session = self._connection.number
            self._was_open = True
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _is_under_way(connection: PostgresConnection, number: int) -> bool:
    try:
        return bool(connection.execute(_STATUS, (number,)).fetchone()[0] == "in progress")
    except psycopg.errors.InvalidParameterValue:
        # Another server took over that has never heard of this transaction.
        return False


def _perform(connection: PostgresConnection, jobs: Sequence[Job], mark: tuple[str, int]) -> tuple[int, _Results]:
    """Do all jobs in a transaction that stays open: its number, and what went wrong with which of them."""
    results: _Results = [None] * len(jobs)
    number = 0
    heads: Sequence[str] = _BEGIN
    for lines, at in _rounds(jobs, results):
        with connection.together():
            begun = [connection.execute(statement) for statement in heads]
            if heads:
                connection.execute(_MARK, mark)
            inserted = {log: _insert(connection, log, [line for _, line in ours]) for log, ours in lines.items()}
        if begun:
            number, heads = int(begun[-1].fetchone()[0]), ()
        for log, cursor in inserted.items():
            if cursor.rowcount == 0:
                lost = log.taken_over()
                for index, line in lines[log]:
                    log.refuse(lost, line.attempt)
                    results[index] = lost
        if at is not None:
            results[at] = _work(connection, jobs[at])
    return number, results


def _rounds(
    jobs: Sequence[Job], results: _Results
) -> Iterator[tuple[Mapping[TaskTable, list[tuple[int, TableLine]]], int | None]]:
    """The lines up to each piece of work, by their tables, and the work's place among the jobs; at least one such round."""
    lines: dict[TaskTable, list[tuple[int, TableLine]]] = {}
    for index, job in enumerate(jobs):
        if isinstance(job, WriterWork):
            yield lines, index
            lines = {}
            continue
        try:
            job.log.check(job.attempt)
        except HdspAgentError as error:
            results[index] = error
        else:
            if job.data:
                lines.setdefault(job.log, []).append((index, job))
    yield lines, None


def _insert(connection: PostgresConnection, log: TaskTable, lines: Sequence[TableLine]) -> SqlCursor:
    keys, records = zip(*(log.row(line.data) for line in lines), strict=True)
    # While the lock's row is held nobody takes the task over.
    return connection.execute(
        f"INSERT INTO {log.table} (task, {log.key}, record)"  # noqa: S608 -- our own names
        " SELECT held.task, line.key, line.record"
        " FROM (SELECT task FROM locks WHERE task = ? AND token = ? FOR KEY SHARE) AS held,"
        " unnest(?::bigint[], ?::text[]) WITH ORDINALITY AS line (key, record, place) ORDER BY line.place",
        (log.number, log.token, list(keys), list(records)),
    )


def _work(connection: PostgresConnection, job: Job) -> BaseException | None:
    assert isinstance(job, WriterWork)
    try:
        job.perform(connection, psycopg.Error)
    except psycopg.Error:
        raise
    except BaseException as error:  # noqa: BLE001 -- whoever waits for the job is told
        return error
    return None


def _recorded_after_all(log: TaskTable) -> Conflict:
    return Conflict(
        f"Task {log.task_id} has more messages than this server knows of: the connection to the database was lost while "
        "they were saved. Close the task and resume it.",
        task=log.task_id,
    )
