"""The one thread of a process that writes to a database of tasks.

What waits for it is written together, in the order in which it came for each task. When the database refuses a
transaction, each task's part is tried by itself, so that one cannot stand in the way of the others.

A refused line takes with it every line for that table and task handed over before the refusal became known, so that
no later line takes the place of an earlier one; the next one is a new attempt.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Generic, TypeAlias, TypeVar

from ...errors import Conflict, HdspAgentError
from ...messages import TaskId
from .._pending_lines import MAX_PENDING_BYTES, LineWriter, PendingLine, WrittenLog, stopped_store
from .._records import Stream
from .._task_streams import LINE_FORMS
from ._sql import STREAM_TABLES, SqlConnection, Work
from ._task_database import TaskDatabase

__all__ = ["Job", "StillWaits", "TableLine", "TableWriter", "TaskTable", "WriterWork", "task_of"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

_MAX_BATCH: Final = 2_000

_KEYS: Final = {stream: form.key_pattern() for stream, form in LINE_FORMS.items()}


class TaskTable(WrittenLog):
    """The rows of one stream of a task that this process holds; the same to the database as ``LogFile`` to a file."""

    def __init__(self, task_id: TaskId, number: int, token: str, stream: Stream) -> None:
        super().__init__()
        self.task_id: Final = task_id
        self.number: Final = number
        self.token: Final = token
        self.stream: Final = stream
        self.table, self.key = STREAM_TABLES[stream]
        self._key_first = _KEYS[stream]
        self._refused_attempt = -1
        self._refusal: HdspAgentError | None = None

    def row(self, line: bytes) -> tuple[int, str]:
        """The key and the record of a line."""
        found = self._key_first.match(line)
        assert found is not None, "every line begins with its key"
        return int(found[1]), line.rstrip(b"\n").decode()

    def check(self, attempt: int) -> None:
        """Raise if a line before those of this attempt was refused."""
        if attempt <= self._refused_attempt and self._refusal is not None:
            raise self._refusal

    def refuse(self, refusal: HdspAgentError, attempt: int) -> None:
        """Let all lines of this attempt be refused."""
        self._refusal = refusal
        self._refused_attempt = max(self._refused_attempt, attempt)

    def taken_over(self) -> Conflict:
        """The error when the task's lock is not ours any more: whoever lost the task writes nothing more to it."""
        return Conflict(
            f"Task {self.task_id} was taken over by another process, or deleted. Nothing was recorded. "
            "Continue it there.",
            task=self.task_id,
        )


@dataclass(slots=True)
class WriterWork(Generic[T]):
    """Work to be done in a transaction, which takes back what it did if it raises."""

    task_id: TaskId | None
    durable: bool
    work: Work[T]
    done: Future[T]
    result: T | None = None

    def perform(self, connection: SqlConnection, error: type[Exception]) -> None:
        """Do it. What the driver raises spoils the transaction."""
        connection.execute("SAVEPOINT work")
        try:
            self.result = self.work(connection)
        except error:
            raise
        except BaseException:
            connection.execute("ROLLBACK TO work")
            connection.execute("RELEASE work")
            raise
        connection.execute("RELEASE work")


class StillWaits(Exception):
    """The job is neither done nor refused: the writer comes back to it."""


@dataclass(slots=True)
class _Passed:
    """Asks to be told when everything before it was written or refused."""

    told: asyncio.Future[None]


@dataclass(slots=True)
class _Stop:
    stopped: asyncio.Future[None]


TableLine: TypeAlias = PendingLine[TaskTable]
Job: TypeAlias = TableLine | WriterWork[object]
_Outcome = tuple[TableLine, HdspAgentError | None]


@dataclass(slots=True)
class _Outcomes:
    """What a transaction has to tell: to each event loop, and to those who wait in threads."""

    by_loop: dict[asyncio.AbstractEventLoop, list[_Outcome]] = field(default_factory=dict)

    def add(self, job: Job, error: BaseException | None) -> None:
        match job:
            case WriterWork():
                # Whoever waited may give up at any time; the work is done all the same.
                with suppress(InvalidStateError):
                    if error is None:
                        job.done.set_result(job.result)
                    else:
                        job.done.set_exception(error)
            case PendingLine():
                refusal = error if error is None or isinstance(error, HdspAgentError) else _unexpected(error)
                self.by_loop.setdefault(job.acknowledged.get_loop(), []).append((job, refusal))


class TableWriter(LineWriter[TaskTable]):
    """Writes to the database."""

    def __init__(self, database: TaskDatabase, *, max_pending_bytes: int = MAX_PENDING_BYTES) -> None:
        super().__init__(max_pending_bytes)
        self._database = database
        self._error = database.dialect.error
        self._work: queue.SimpleQueue[Job | _Passed | _Stop] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._stopped = False
        self._refused = False
        # Of the writer's thread: what it comes back to, and after how long at most.
        self._waiting: list[Job] = []
        self._look_again_seconds: float | None = None

    def submit(self, work: Work[T], *, task_id: TaskId | None = None, durable: bool = False) -> Future[T]:
        """Do the work in a transaction; from any thread. It may be done twice, if the first time was taken back."""
        done: Future[T] = Future()
        self._put(WriterWork(task_id, durable, work, done))
        return done

    async def run(self, work: Work[T], *, task_id: TaskId | None = None, durable: bool = False) -> T:
        """The same, from the event loop."""
        return await asyncio.wrap_future(self.submit(work, task_id=task_id, durable=durable))

    async def check_writable(self) -> None:
        """Raise why the database cannot be written, if it was refused the last time and still is."""
        if self._refused:
            await self.run(lambda connection: connection.execute(self._database.dialect.try_writing))

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
        self._stopped = True
        self._work.put(_Stop(stopped))
        await stopped

    def _hand_over(self, line: TableLine) -> None:
        self._put(line)

    def _put(self, job: TableLine | WriterWork[T] | _Passed | _Stop) -> None:
        if self._stopped:
            raise stopped_store(self._database.name)
        self._work.put(job)  # type: ignore[arg-type]  # the queue does not ask what the work returns
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="hdsp-agent task writer", daemon=True)
                    self._thread.start()

    # What follows runs in the writer's thread.

    @abstractmethod
    def _transactions(self, jobs: Sequence[Job]) -> Sequence[Sequence[Job]]:
        """Which jobs are done together, those first that need not wait."""

    @abstractmethod
    def _transaction(self, jobs: Sequence[Job]) -> list[BaseException | None]:
        """Do all jobs; returns what went wrong with which of them, and raises what went wrong with the database."""

    @abstractmethod
    def _concerns_all(self, error: Exception) -> bool:
        """Whether what the driver raised would be raised for each job, too."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Let go of the database."""

    def _end(self) -> None:
        """Let go of everything, when all is written."""
        self._disconnect()

    def _run(self) -> None:
        stop: _Stop | None = None
        while stop is None:
            jobs, self._waiting = self._waiting, []
            passed: list[_Passed] = []
            for taken in self._take():
                match taken:
                    case _Stop():
                        stop = taken
                    case _Passed():
                        passed.append(taken)
                    case _:
                        jobs.append(taken)
            for together in self._transactions(jobs):
                self._commit(together)
            for asked in passed:
                _tell(asked.told)
        self._end()
        _tell(stop.stopped)

    def _take(self) -> list[Job | _Passed | _Stop]:
        taken: list[Job | _Passed | _Stop] = []
        with suppress(queue.Empty):
            taken.append(self._work.get(timeout=self._look_again_seconds))
            while len(taken) < _MAX_BATCH:
                taken.append(self._work.get_nowait())
        return taken

    def _commit(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        outcomes = _Outcomes()
        try:
            results = self._transaction(jobs)
        except Exception as error:  # noqa: BLE001 -- whoever waits is told, and the thread goes on
            parts = _by_task(jobs)
            if len(parts) == 1 or not isinstance(error, self._error) or self._concerns_all(error):
                self._refuse(jobs, error, outcomes)
            else:
                for part in parts:
                    self._commit(part)
        else:
            self._refused = False
            for job, failure in zip(jobs, results, strict=True):
                if isinstance(failure, StillWaits):
                    self._waiting.append(job)
                else:
                    outcomes.add(job, failure)
        for loop, told in outcomes.by_loop.items():
            # A loop that was closed has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._deliver, told)

    def _refuse(self, jobs: Sequence[Job], error: Exception, outcomes: _Outcomes) -> None:
        self._refused = True
        if isinstance(error, HdspAgentError):
            refusal = error
        else:
            refusal = self._database.refusal(error) if isinstance(error, self._error) else _unexpected(error)
        for job in jobs:
            if isinstance(job, PendingLine):
                job.log.refuse(refusal, job.attempt)
            outcomes.add(job, refusal)


def task_of(job: Job) -> TaskId | None:
    """The task that the job is about, if it is about one."""
    return job.task_id if isinstance(job, WriterWork) else job.log.task_id


def _by_task(jobs: Sequence[Job]) -> list[list[Job]]:
    parts: dict[TaskId | int, list[Job]] = {}
    for job in jobs:
        parts.setdefault(task_of(job) or id(job), []).append(job)
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
