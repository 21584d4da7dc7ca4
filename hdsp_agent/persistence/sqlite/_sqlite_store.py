"""The store that keeps all tasks in one SQLite database."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from typing_extensions import Unpack

from ...errors import HdspAgentError, StorageUnavailable, UnknownTask
from ...messages import ClineMessage, TaskId
from .._abandoned_tasks import TaskRecovery
from .._disk_space import check_free_space
from .._records import Place, StoredTaskState, TaskMetadata
from .._task_store import StoreOptions, TaskOverview, TaskStore
from .._task_streams import UI_FORM
from .._trace import task_logger
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


class SqliteStore(TaskStore):
    """See ``TaskStore`` for what it does. ``busy_seconds`` is how long another process may keep the database."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS, **options: Unpack[StoreOptions]) -> None:
        super().__init__(**options)
        self._database = TaskDatabase(path, busy_seconds=busy_seconds)
        # What is seen of other hosts' locks is judged by our own clock, which takes a second look.
        self._rows = TaskRows(path, LockWatch(patient=True))
        self._writer = TaskRowWriter(self._database)

    @property
    def path(self) -> Path:
        """The database's file."""
        return self._database.path

    async def view(self, task_id: TaskId) -> SqliteTaskReader:
        def read(connection: sqlite3.Connection) -> TaskMetadata:
            return self._rows.find(connection, task_id).read_metadata()

        metadata = await asyncio.to_thread(self._database.read, read)
        return SqliteTaskReader(self._database, self._rows, metadata, on_damage=self._damages.tell)

    async def tasks(self, place: Place | None = None) -> Sequence[TaskId]:
        return await asyncio.to_thread(self._database.read, lambda connection: self._rows.ids(connection, place))

    async def size(self, task_id: TaskId) -> int:
        return await asyncio.to_thread(self._database.read, lambda connection: self._rows.size(connection, task_id))

    async def amend(self, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]) -> StoredTaskState:
        return await self._held.finish(
            self._writer.run(lambda connection: self._rows.amend(connection, task_id, change), durable=True)
        )

    async def delete(self, task_id: TaskId) -> None:
        await self._held.finish(
            self._writer.run(lambda connection: self._rows.delete(connection, task_id), durable=True)
        )

    async def check_usable(self) -> None:
        await asyncio.to_thread(self._check_usable)
        await self._writer.check_writable()

    async def check_at_rest(self, task_id: TaskId) -> None:
        await asyncio.to_thread(self._database.read, lambda connection: self._rows.at_rest(connection, task_id))

    def overview(self, task_id: TaskId, *, messages: int, size: bool = True) -> TaskOverview:
        row = self._database.read(lambda connection: self._rows.find(connection, task_id))
        first: list[ClineMessage] = []
        if messages:
            # Whoever opens the conversation hears of its damage; here it is enough that the rest is found.
            first = TableLog(self._database, task_id, "ui", UI_FORM, lambda line: None).first(messages)
        taken = self._database.read(lambda connection: self._rows.size(connection, task_id)) if size else 0
        return TaskOverview(row.read_metadata(), row.read_state(), taken, first)

    def overviews(self, *, messages: int, size: bool = True) -> Iterator[TaskOverview]:
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
                f"Conversations cannot be saved in {path}: permission denied. What was saved before is safe. Check who owns "
                "that file and its folder, and their permissions.",
                path=str(path), action="write", reason="permission denied",
            )  # fmt: skip
        check_free_space(path)

    async def _prepare(self) -> None:
        # Opens the file, and makes it and its tables as needed.
        await self._writer.run(lambda _: None)

    async def _shut(self) -> None:
        await self._writer.stop()
        await asyncio.to_thread(self._database.close)

    async def _recover(self) -> Sequence[TaskRecovery]:
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

    async def _make(self, metadata: TaskMetadata, state: StoredTaskState) -> SqliteTaskLog:
        def make(connection: sqlite3.Connection, lock: RowLock) -> tuple[TaskMetadata, StoredTaskState]:
            self._rows.create(connection, metadata, state, lock)
            return metadata, state

        return await self._load(metadata.uuid, make)

    async def _take(self, task_id: TaskId) -> SqliteTaskLog:
        checked_id(task_id)
        return await self._load(task_id, lambda connection, lock: self._rows.take(connection, task_id, lock))

    async def _load(
        self, task_id: TaskId, take: Callable[[sqlite3.Connection, RowLock], tuple[TaskMetadata, StoredTaskState]]
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
        return log
