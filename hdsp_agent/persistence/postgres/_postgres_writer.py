"""Writes to a PostgreSQL database of tasks.

What waits is one transaction. In it the lines of one task and stream are one statement, and statements are sent without
waiting for each other's answers. All is on the disk when it is acknowledged.

If the connection is lost, the transaction is tried again. Was it lost in the midst of a commit, the database is asked
first whether that took place: nothing is written twice.

If the database stays away, lines are kept in the ``Spool`` and acknowledged; when it is back they go there before anything
else. What cannot be kept so, such as making and ending tasks, waits for half a minute and is refused.
"""

from __future__ import annotations

import logging
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

import psycopg

from ...errors import Conflict, HdspAgentError, StorageUnavailable
from ...messages import TaskId
from .._pending_lines import PendingLine
from ..tables._table_writer import Job, StillWaits, TableLine, TableWriter, TaskTable, WriterWork
from ._connection import PostgresConnection
from ._postgres_database import PostgresDatabase
from ._spool import FORGET_WRITER, MARK_WRITER, Spool, insert_lines

__all__ = ["PostgresWriter"]

logger = logging.getLogger(__name__)

_SPOOL_AFTER_SECONDS: Final = 2.0
_PATIENCE_SECONDS: Final = 30.0
_PATIENCE_AT_THE_END_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 5.0
_MOST_DEADLOCKS: Final = 5
# Its session waits for what was never sent to it, or has not noticed that nobody listens any more.
_END_SESSION: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid::text::bigint = ? & 4294967295"
)
_STATUS: Final = "SELECT txid_status(?)"
_BEGIN: Final = ("BEGIN", "SELECT txid_current()")
# A transaction's number alone proves nothing: what a crash took with it is given to others anew.
_WROTE: Final = "SELECT count(*) FROM writers WHERE id = ? AND wrote = ?"

_Results: TypeAlias = list[BaseException | None]


@dataclass
class _Unsure:
    """A transaction that was being committed when the connection was lost, and who waits for it."""

    number: int
    mark: int
    jobs: Sequence[Job]


class PostgresWriter(TableWriter):
    """See ``TableWriter`` for what it does."""

    def __init__(self, database: PostgresDatabase, spools: Path) -> None:
        super().__init__(database)
        self._server = database
        self._patience_seconds = _PATIENCE_SECONDS
        self._connection: PostgresConnection | None = None
        self._was_open = False
        self._is_reached = False
        self._lost_at: float | None = None
        self._trouble: StorageUnavailable | None = None
        self._id: Final = uuid4().hex
        self._written = 0
        self._unsure: _Unsure | None = None
        self.spool: Final = Spool(spools, self._id)
        self._refusal: StorageUnavailable | None = None
        """Why the database is away; then lines are kept in the spool."""
        self._next_try_at = 0.0
        self.session: int | None = None

    async def check_writable(self) -> None:
        if (trouble := self._trouble) is not None:
            raise trouble
        await super().check_writable()

    # What follows runs in the writer's thread.

    def _transactions(self, jobs: Sequence[Job]) -> Sequence[Sequence[Job]]:
        if self._refusal is not None and (self._stopped or time.monotonic() >= self._next_try_at):
            self._try_to_return()
        return (jobs,)

    def _transaction(self, jobs: Sequence[Job]) -> _Results:
        if self._refusal is not None:
            return self._keep_here(jobs, self._refusal)
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
                    self._unsure = _Unsure(number, self._written, jobs)
                    connection.execute("COMMIT")
                    self._unsure = None
            except psycopg.Error as error:
                if not self._could_roll_back(error):
                    if self._stays_away(error) and self.spool.has_room(_lines(jobs)):
                        return self._go_on_without(error, jobs)
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

    def _stays_away(self, error: psycopg.Error) -> bool:
        """Whether the database could not be used for some time, whatever is to be written."""
        if self._lost_at is None or not self._was_open:
            return False
        cannot_be_used = self._is_unreachable or isinstance(error, psycopg.errors.ReadOnlySqlTransaction)
        return cannot_be_used and time.monotonic() - self._lost_at >= min(_SPOOL_AFTER_SECONDS, self._patience_seconds)

    def _go_on_without(self, error: psycopg.Error, jobs: Sequence[Job]) -> _Results:
        self._disconnect()
        refusal = self._say_away(self._database.refusal(error))
        logger.warning("Conversations are kept in %s for now: %s", self.spool.folder, refusal)
        return self._keep_here(jobs, refusal)

    def _keep_here(self, jobs: Sequence[Job], refusal: StorageUnavailable) -> _Results:
        """Acknowledge the lines when they are in the spool, and let other work wait for a while."""
        assert self._lost_at is not None
        unsure = self._unsure
        # Whether these lines are in the database shows when they are replayed; of other work nobody can say it.
        is_unsure = unsure is not None and unsure.jobs is jobs
        waits = not is_unsure and not self._stopped and time.monotonic() - self._lost_at < self._patience_seconds
        # Their last lines were refused and may be there all the same, so nobody knows what number is next; or they may have
        # ended.
        doubtful = set() if unsure is None or is_unsure else _doubtful(unsure.jobs)
        results: _Results = [None] * len(jobs)
        lines: list[tuple[int, TableLine]] = []
        for index, job in enumerate(jobs):
            if isinstance(job, PendingLine):
                try:
                    job.log.check(job.attempt)
                    if job.log in doubtful or job.log.task_id in doubtful:
                        job.log.refuse(refusal, job.attempt)
                        raise refusal
                except HdspAgentError as error:
                    results[index] = error
                else:
                    lines.append((index, job))
            else:
                results[index] = StillWaits() if waits else refusal
        try:
            self._spool([line for _, line in lines], unsure.mark if unsure is not None and is_unsure else None, refusal)
        except StorageUnavailable as error:
            for index, line in lines:
                line.log.refuse(error, line.attempt)
                results[index] = error
        else:
            if unsure is not None and is_unsure:
                unsure.jobs = [job for job in jobs if isinstance(job, WriterWork)]
        return results

    def _spool(self, lines: Sequence[TableLine], mark: int | None, refusal: StorageUnavailable) -> None:
        """Keep the lines as those of a transaction with this mark, or of a new one."""
        if mark is None:
            self._written += 1
            mark = self._written
        if not self.spool.has_room(lines):
            raise refusal
        if any(line.data for line in lines):
            self._server.is_complete.clear()
        try:
            self.spool.add(mark, lines)
        finally:
            if self.spool.is_empty:
                self._server.is_complete.set()

    def _try_to_return(self) -> None:
        """Give the database what was kept here, if it is back."""
        try:
            connection = self._current()
            if self._unsure is not None:
                self._was_committed(connection, ())
            self.spool.replay(connection)
        except psycopg.Error as error:
            self._disconnect()
            self._say_away(self._database.refusal(error))
        except StorageUnavailable as error:
            self._disconnect()
            self._say_away(error)
        except Exception as error:
            # The thread goes on, and the file stays as it is.
            logger.exception("What was kept in %s could not be saved in the database", self.spool.folder)
            self._disconnect()
            self._say_away(self._server.address.unavailable("unreadable", str(error), "See the server's log."))
        else:
            logger.info("The database is back, and has what was kept here")
            self._refusal = self._trouble = self._lost_at = self._look_again_seconds = None
            self._server.is_complete.set()

    def _say_away(self, refusal: StorageUnavailable) -> StorageUnavailable:
        self._refusal = refusal
        # All servers of a hub lose it together.
        pause = min(2 * (self._look_again_seconds or _PAUSE_SECONDS / 2), _LONGEST_PAUSE_SECONDS)
        self._look_again_seconds = pause
        self._next_try_at = time.monotonic() + pause * random.uniform(0.5, 1)  # noqa: S311 -- no secret
        self._trouble = self._server.address.kept_here(refusal) if self.spool.has_room(()) else refusal
        return refusal

    def _was_committed(self, connection: PostgresConnection, jobs: Sequence[Job]) -> bool:
        """Whether the transaction took place that was being committed when the connection was lost, if it was this one."""
        assert self._unsure is not None
        number, mark, unsure = self._unsure.number, self._unsure.mark, self._unsure.jobs
        try:
            if _is_under_way(connection, number):
                connection.execute(_END_SESSION, (number,))
                raise psycopg.OperationalError("it still keeps what was being saved")
            took_place = bool(connection.execute(_WROTE, (self._id, mark)).fetchone()[0])
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
        return self._is_unreachable or isinstance(error, psycopg.errors.LockNotAvailable)

    @property
    def _is_unreachable(self) -> bool:
        return (self._connection is None and not self._is_reached) or self._unsure is not None

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

    def _end(self) -> None:
        if self._connection is not None and self._unsure is None and not self.spool.has_file:
            # A row that stays is deleted when it is old.
            with suppress(psycopg.Error):
                self._connection.execute(FORGET_WRITER, (self._id,))
        self._disconnect()
        self.spool.close()


def _lines(jobs: Sequence[Job]) -> Sequence[TableLine]:
    return [job for job in jobs if isinstance(job, PendingLine)]


def _doubtful(jobs: Sequence[Job]) -> set[TaskTable | TaskId | None]:
    """The logs of these lines, and the tasks that these jobs may have ended."""
    works = {job.task_id for job in jobs if isinstance(job, WriterWork) and job.durable}
    return works | {line.log for line in _lines(jobs)}


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
                connection.execute(MARK_WRITER, mark)
            inserted = {
                log: insert_lines(connection, log, [line.data for _, line in ours]) for log, ours in lines.items()
            }
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
