"""The store that keeps all tasks in one SQLite database."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from ..._background_tasks import BackgroundTasks
from ...errors import Conflict, HdspAgentError, StorageUnavailable, UnknownTask
from ...messages import ClineMessage, TaskId
from .._damage_reports import DamageReports
from .._disk_space import check_free_space
from .._new_task import first_records
from .._protocol import DamageNotice, NewTaskRecord, Place, TaskOverview, TaskRecovery
from .._recording_log import REMEMBERED
from .._records import StoredTaskState, TaskMetadata
from .._trace import task_logger
from ..files._file_records import UI_FORM
from ..files._interrupted_tasks import MONITOR_SECONDS
from ..files._state_keeper import HEARTBEAT_SECONDS
from ..files._task_folders import checked_id
from ..files._task_locks import LockWatch
from ._database import BUSY_SECONDS, TaskDatabase
from ._group_writer import TaskRowWriter
from ._row_locks import RowLock
from ._sqlite_task_log import SqliteTaskLog
from ._sqlite_task_reader import SqliteTaskReader
from ._table_log import TableLog
from ._task_rows import TaskRows

__all__ = ["SqliteStore"]

logger = logging.getLogger(__name__)


class SqliteStore:
    """See ``TaskStore`` for what it does. ``on_damage`` hears of each damaged row once, on the event loop.

    ``busy_seconds`` is how long another process may keep the database before work pauses.
    """

    def __init__(
        self,
        path: Path,
        *,
        on_damage: Callable[[DamageNotice], None] | None = None,
        remembered: int = REMEMBERED,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        monitor_seconds: float = MONITOR_SECONDS,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._database = TaskDatabase(path, busy_seconds=busy_seconds)
        # What is seen of other hosts' locks is judged by our own clock, which takes a second look.
        self._rows = TaskRows(path, LockWatch(patient=True))
        self._writer = TaskRowWriter(self._database)
        self._open: dict[TaskId, SqliteTaskLog] = {}
        self._held = BackgroundTasks()
        self._damages = DamageReports(on_damage)
        self._remembered = remembered
        self._heartbeat_seconds = heartbeat_seconds
        self._monitor_seconds = monitor_seconds
        self._recovering = asyncio.Lock()
        self._rounds: asyncio.Task[None] | None = None

    @property
    def path(self) -> Path:
        """The database's file."""
        return self._database.path

    async def start(self) -> Sequence[TaskRecovery]:
        """Get ready, and finish what a crash interrupted; what that was."""
        self._damages.start()
        # Opens the file, and makes it and its tables as needed.
        await self._writer.run(lambda _: None)
        recoveries = await self.recover()
        self._rounds = asyncio.create_task(self._go_round(), name="hdsp-agent task monitor")
        return recoveries

    async def stop(self) -> None:
        """Let go of all tasks, with everything written."""
        rounds, self._rounds = self._rounds, None
        if rounds is not None:
            rounds.cancel()
            await asyncio.gather(rounds, return_exceptions=True)
        await self._held.drain()
        for log in list(self._open.values()):
            await log.close()
        await self._writer.stop()
        await asyncio.to_thread(self._database.close)

    async def create(self, new: NewTaskRecord) -> SqliteTaskLog:
        """Begin a task."""
        return await self._held.finish(self._create(new))

    async def resume(self, task_id: TaskId) -> SqliteTaskLog:
        """Work on a task again. ``Conflict`` says who works on it already."""
        return await self._held.finish(self._resume(task_id))

    async def view(self, task_id: TaskId) -> SqliteTaskReader:
        """A task to look at."""

        def read(connection: sqlite3.Connection) -> TaskMetadata:
            return self._rows.find(connection, task_id).read_metadata()

        metadata = await asyncio.to_thread(self._database.read, read)
        return SqliteTaskReader(self._database, self._rows, metadata, on_damage=self._damages.tell)

    async def tasks(self, place: Place | None = None) -> Sequence[TaskId]:
        """The ids of all tasks, or of those in one place."""
        return await asyncio.to_thread(self._database.read, lambda connection: self._rows.ids(connection, place))

    async def size(self, task_id: TaskId) -> int:
        """How many bytes a task takes."""
        return await asyncio.to_thread(self._database.read, lambda connection: self._rows.size(connection, task_id))

    async def amend(self, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]) -> StoredTaskState:
        """Change the state of a task nobody works on, such as its title."""
        return await self._held.finish(
            self._writer.run(lambda connection: self._rows.amend(connection, task_id, change), durable=True)
        )

    async def delete(self, task_id: TaskId) -> None:
        """Delete a task nobody works on."""
        await self._held.finish(
            self._writer.run(lambda connection: self._rows.delete(connection, task_id), durable=True)
        )

    async def recover(self) -> Sequence[TaskRecovery]:
        """Mark the tasks of dead processes as failed."""
        async with self._recovering:
            recoveries: list[TaskRecovery] = []
            for task_id, _ in await asyncio.to_thread(self._database.read, self._rows.left_behind):
                log = task_logger(logger, task_id)
                try:
                    recovery = await self._writer.run(partial(self._rows.recover, task_id=task_id), durable=True)
                except HdspAgentError as error:
                    log.warning("The task could not be recovered: %s", error)
                    continue
                if recovery is not None:
                    log.warning("The task is %s now: %s", recovery.status, recovery.reason)
                    recoveries.append(recovery)
            return recoveries

    async def check_usable(self) -> None:
        """Raise what hinders tasks from being kept just now, such as a file that is gone or a full disk."""
        await asyncio.to_thread(self._check_usable)
        await self._writer.check_writable()

    async def check_at_rest(self, task_id: TaskId) -> None:
        """Raise ``Conflict`` if somebody works on the task."""
        await asyncio.to_thread(self._database.read, lambda connection: self._rows.at_rest(connection, task_id))

    def overview(self, task_id: TaskId, *, messages: int, size: bool = True) -> TaskOverview:
        """A task, with so many of its first messages, and with its size, for which all of it may have to be read. Blocks."""
        row = self._database.read(lambda connection: self._rows.find(connection, task_id))
        first: list[ClineMessage] = []
        if messages:
            # Whoever opens the conversation hears of its damage; here it is enough that the rest is found.
            first = TableLog(self._database, task_id, "ui", UI_FORM, lambda line: None).first(messages)
        taken = self._database.read(lambda connection: self._rows.size(connection, task_id)) if size else 0
        return TaskOverview(row.read_metadata(), row.read_state(), taken, first)

    def overviews(self, *, messages: int, size: bool = True) -> Iterator[TaskOverview]:
        """All tasks that can be read, each as it is when its turn comes. Blocks."""
        for task_id in self._database.read(lambda connection: self._rows.ids(connection, None)):
            try:
                found = self.overview(task_id, messages=messages, size=size)
            except UnknownTask:
                # Deleted meanwhile.
                continue
            yield found

    def _check_usable(self) -> None:
        path = self._database.path
        self._database.check_there()
        if not all(os.access(place, os.W_OK) for place in (path, path.parent)):
            raise StorageUnavailable(
                f"Conversations cannot be kept in {path}: permission denied. What was recorded is safe. Check who owns "
                "that file and its folder, and their permissions.",
                path=str(path), action="write", reason="permission denied",
            )  # fmt: skip
        check_free_space(path)

    async def _create(self, new: NewTaskRecord) -> SqliteTaskLog:
        metadata, state = first_records(new)
        checked_id(metadata.uuid)

        def create(connection: sqlite3.Connection, lock: RowLock) -> tuple[TaskMetadata, StoredTaskState]:
            self._rows.create(connection, metadata, state, lock)
            return metadata, state

        return await self._begin(metadata.uuid, create, "started")

    async def _resume(self, task_id: TaskId) -> SqliteTaskLog:
        if task_id in self._open:
            raise Conflict(f"Task {task_id} is being worked on here already. Continue it there.", task=task_id)
        checked_id(task_id)
        return await self._begin(
            task_id, lambda connection, lock: self._rows.take(connection, task_id, lock), "resumed"
        )

    async def _begin(
        self,
        task_id: TaskId,
        take: Callable[[sqlite3.Connection, RowLock], tuple[TaskMetadata, StoredTaskState]],
        how: str,
    ) -> SqliteTaskLog:
        lock = await asyncio.to_thread(RowLock, task_id)
        try:
            metadata, state = await self._writer.run(
                lambda connection: take(connection, lock), task_id=task_id, durable=True
            )
            try:
                log = SqliteTaskLog(
                    self._database, self._rows, self._writer, lock, metadata, state,
                    on_damage=self._damages.tell, on_end=self._ended,
                    remembered=self._remembered, heartbeat_seconds=self._heartbeat_seconds,
                )  # fmt: skip
                await asyncio.to_thread(log.load)
            except BaseException:
                await self._writer.run(lock.release, durable=True)
                raise
        except BaseException:
            lock.forget()
            raise
        self._open[task_id] = log
        log.begin()
        task_logger(logger, task_id).info("Task %s", how)
        return log

    async def _go_round(self) -> None:
        while True:
            await asyncio.sleep(self._monitor_seconds)
            try:
                await self.recover()
            except HdspAgentError as error:
                logger.warning("The tasks of other processes could not be looked after: %s", error)

    def _ended(self, task_id: TaskId) -> None:
        self._open.pop(task_id, None)
