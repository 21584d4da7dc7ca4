"""The one thread of a process that writes to the database of tasks.

What waits for it is written as one transaction, and what must survive a power cut as one more that is synced: SQLite's
``synchronous`` is FULL for that one only. The order in which things came is kept within each task. When the database
refuses a transaction, each task's part is tried by itself, so that one cannot stand in the way of the others.

A refused line takes with it every line for that table and task handed over before the refusal became known, so that
no later line takes the place of an earlier one; the next one is a new attempt.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Generic, TypeAlias, TypeVar

from ...errors import Conflict, HdspAgentError
from ...messages import TaskId
from .._pending_lines import MAX_PENDING_BYTES, LineWriter, PendingLine, WrittenLog, stopped_store
from .._records import Stream
from .._task_streams import LINE_FORMS
from ..files._database_file import FileIdentity, file_identity, is_busy
from ._database import TaskDatabase, Work
from ._task_schema import STREAM_TABLES

__all__ = ["TaskRowWriter", "TaskTable"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

_MAX_BATCH: Final = 2_000
_TRY_WRITING: Final = "UPDATE barrier SET passed = passed + 1"

_KEYS: Final = {stream: form.key_pattern() for stream, form in LINE_FORMS.items()}


class TaskTable(WrittenLog):
    """The rows of one stream of a task that this process holds; the same to the database as ``LogFile`` to a file."""

    def __init__(self, task_id: TaskId, number: int, token: str, stream: Stream) -> None:
        super().__init__()
        self.task_id: Final = task_id
        self._number = number
        self._token = token
        self._key = _KEYS[stream]
        table, key = STREAM_TABLES[stream]
        # Whoever lost the task to another process writes nothing more to it.
        self._insert = (
            f"INSERT INTO {table} (task, {key}, record) SELECT ?, ?, ? FROM locks WHERE task = ? AND token = ?"  # noqa: S608 -- our own names
        )
        self.refused_attempt = -1
        self.refusal: HdspAgentError | None = None

    def insert(self, connection: sqlite3.Connection, line: bytes, attempt: int) -> None:
        """Add the line, unless one before it was refused. In the writer's thread."""
        if attempt <= self.refused_attempt and self.refusal is not None:
            raise self.refusal
        if not line:
            connection.execute(_TRY_WRITING)
            return
        found = self._key.match(line)
        assert found is not None, "every line begins with its key"
        values = (self._number, int(found[1]), line.rstrip(b"\n").decode(), self._number, self._token)
        if connection.execute(self._insert, values).rowcount == 0:
            raise Conflict(
                f"Task {self.task_id} was taken over by another process, or deleted. Nothing was recorded. "
                "Continue it there.",
                task=self.task_id,
            )


@dataclass(slots=True)
class _Work(Generic[T]):
    task_id: TaskId | None
    durable: bool
    work: Work[T]
    done: Future[T]
    result: T | None = None

    def perform(self, connection: sqlite3.Connection) -> None:
        connection.execute("SAVEPOINT work")
        try:
            self.result = self.work(connection)
        except sqlite3.Error:
            raise
        except BaseException:
            connection.execute("ROLLBACK TO work")
            connection.execute("RELEASE work")
            raise
        connection.execute("RELEASE work")


@dataclass(slots=True)
class _Passed:
    """Asks to be told when everything before it was written or refused."""

    told: asyncio.Future[None]


@dataclass(slots=True)
class _Stop:
    stopped: asyncio.Future[None]


_Line: TypeAlias = PendingLine[TaskTable]
_Job: TypeAlias = _Line | _Work[object]
_Outcome = tuple[_Line, HdspAgentError | None]


@dataclass(slots=True)
class _Outcomes:
    """What a transaction has to tell: to each event loop, and to those who wait in threads."""

    by_loop: dict[asyncio.AbstractEventLoop, list[_Outcome]] = field(default_factory=dict)

    def add(self, job: _Job, error: BaseException | None) -> None:
        match job:
            case _Work():
                # Whoever waited may have given up; the work is done all the same.
                if error is None and not job.done.cancelled():
                    job.done.set_result(job.result)
                elif error is not None and not job.done.cancelled():
                    job.done.set_exception(error)
            case PendingLine():
                refusal = error if error is None or isinstance(error, HdspAgentError) else _unexpected(error)
                self.by_loop.setdefault(job.acknowledged.get_loop(), []).append((job, refusal))


class TaskRowWriter(LineWriter[TaskTable]):
    """Writes to the database."""

    def __init__(self, database: TaskDatabase, *, max_pending_bytes: int = MAX_PENDING_BYTES) -> None:
        super().__init__(max_pending_bytes)
        self._database = database
        self._work: queue.SimpleQueue[_Job | _Passed | _Stop] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._stopped = False
        self._connection: sqlite3.Connection | None = None
        self._identity: FileIdentity | None = None
        self._full = False
        self._refused = False

    def submit(self, work: Work[T], *, task_id: TaskId | None = None, durable: bool = False) -> Future[T]:
        """Do the work in a transaction; from any thread. It may be done twice, if the first time was taken back."""
        done: Future[T] = Future()
        self._put(_Work(task_id, durable, work, done))
        return done

    async def run(self, work: Work[T], *, task_id: TaskId | None = None, durable: bool = False) -> T:
        """The same, from the event loop."""
        return await asyncio.wrap_future(self.submit(work, task_id=task_id, durable=durable))

    async def check_writable(self) -> None:
        """Raise why the database cannot be written, if it was refused the last time and still is."""
        if self._refused:
            await self.run(lambda connection: connection.execute(_TRY_WRITING))

    async def close_file(self, log: TaskTable) -> None:
        """Return when everything handed over so far was written or refused, for this table and all others."""
        if self._thread is not None and not self._stopped:
            told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._put(_Passed(told))
            await told

    async def stop(self) -> None:
        """Write what was handed over, and let go of the database."""
        if self._stopped:
            return
        if self._thread is None:
            self._stopped = True
            return
        stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._put(_Stop(stopped))
        self._stopped = True
        await stopped

    def _hand_over(self, line: _Line) -> None:
        self._put(line)

    def _put(self, job: _Line | _Work[T] | _Passed | _Stop) -> None:
        if self._stopped:
            raise stopped_store(self._database.path)
        self._work.put(job)  # type: ignore[arg-type]  # the queue does not ask what the work returns
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="hdsp-agent task writer", daemon=True)
                    self._thread.start()

    # What follows runs in the writer's thread.

    def _run(self) -> None:
        stop: _Stop | None = None
        while stop is None:
            jobs: list[_Job] = []
            passed: list[_Passed] = []
            for taken in self._take():
                match taken:
                    case _Stop():
                        stop = taken
                    case _Passed():
                        passed.append(taken)
                    case _:
                        jobs.append(taken)
            quick, durable = _by_durability(jobs)
            self._commit(quick, full=False)
            self._commit(durable, full=True)
            for asked in passed:
                _tell(asked.told)
        if self._connection is not None:
            self._connection.close()
        _tell(stop.stopped)

    def _take(self) -> list[_Job | _Passed | _Stop]:
        taken = [self._work.get()]
        with suppress(queue.Empty):
            while len(taken) < _MAX_BATCH:
                taken.append(self._work.get_nowait())
        return taken

    def _commit(self, jobs: Sequence[_Job], *, full: bool) -> None:
        if not jobs:
            return
        outcomes = _Outcomes()
        try:
            results = self._transaction(jobs, full=full)
        except Exception as error:  # noqa: BLE001 -- whoever waits is told, and the thread goes on
            parts = _by_task(jobs)
            if len(parts) == 1 or not isinstance(error, sqlite3.Error) or is_busy(error):
                self._refuse(jobs, error, outcomes)
            else:
                for part in parts:
                    self._commit(part, full=full)
        else:
            self._refused = False
            for job, failure in zip(jobs, results, strict=True):
                outcomes.add(job, failure)
        for loop, told in outcomes.by_loop.items():
            # A loop that was closed has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._deliver, told)

    def _transaction(self, jobs: Sequence[_Job], *, full: bool) -> list[BaseException | None]:
        """Do all jobs; returns what went wrong with which of them, and raises what went wrong with the database."""
        connection = self._current(full=full)
        connection.execute("BEGIN IMMEDIATE")
        try:
            results = [_perform(connection, job) for job in jobs]
            connection.execute("COMMIT")
        except BaseException:
            # A full disk makes SQLite end the transaction by itself.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if file_identity(self._database.path) != self._identity:
            raise self._database.gone()
        return results

    def _current(self, *, full: bool) -> sqlite3.Connection:
        if self._connection is not None and file_identity(self._database.path) != self._identity:
            self._connection.close()
            self._connection = None
        if self._connection is None:
            if self._identity is not None and file_identity(self._database.path) is None:
                raise self._database.gone()
            self._connection, self._identity = self._database.open_for_writing()
            self._full = False
        if full != self._full:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
            self._full = full
        return self._connection

    def _refuse(self, jobs: Sequence[_Job], error: Exception, outcomes: _Outcomes) -> None:
        self._refused = True
        if isinstance(error, HdspAgentError):
            refusal = error
        else:
            refusal = self._database.refusal(error) if isinstance(error, sqlite3.Error) else _unexpected(error)
        for job in jobs:
            if isinstance(job, PendingLine):
                job.log.refusal = refusal
                job.log.refused_attempt = max(job.log.refused_attempt, job.attempt)
            outcomes.add(job, refusal)


def _perform(connection: sqlite3.Connection, job: _Job) -> BaseException | None:
    try:
        if isinstance(job, _Work):
            job.perform(connection)
        else:
            job.log.insert(connection, job.data, job.attempt)
    except sqlite3.Error:
        raise
    except BaseException as error:  # noqa: BLE001 -- whoever waits for the job is told
        if isinstance(job, PendingLine) and isinstance(error, HdspAgentError):
            job.log.refusal = error
            job.log.refused_attempt = max(job.log.refused_attempt, job.attempt)
        return error
    return None


def _by_durability(jobs: Sequence[_Job]) -> tuple[list[_Job], list[_Job]]:
    """What need not wait for the disk, and what must or comes after such in its task."""
    quick: list[_Job] = []
    durable: list[_Job] = []
    waits: set[TaskId] = set()
    for job in jobs:
        task_id = _task_of(job)
        if job.durable and task_id is not None:
            waits.add(task_id)
        (durable if job.durable or task_id in waits else quick).append(job)
    return quick, durable


def _task_of(job: _Job) -> TaskId | None:
    return job.task_id if isinstance(job, _Work) else job.log.task_id


def _by_task(jobs: Sequence[_Job]) -> list[list[_Job]]:
    parts: dict[TaskId | int, list[_Job]] = {}
    for job in jobs:
        parts.setdefault(_task_of(job) or id(job), []).append(job)
    return list(parts.values())


def _unexpected(error: BaseException) -> HdspAgentError:
    logger.error("The task database cannot be written", exc_info=error)
    return HdspAgentError(f"It could not be recorded: {type(error).__name__}: {error}. The server's log says more.")


def _tell(future: asyncio.Future[None]) -> None:
    with suppress(RuntimeError):
        future.get_loop().call_soon_threadsafe(_done, future)


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
