"""A store that keeps all tasks in the tables of one database."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from typing_extensions import Unpack

from ...errors import HdspAgentError, UnknownTask
from ...messages import ClineMessage, TaskId
from .._abandoned_tasks import TaskRecovery
from .._records import Place, StoredTaskState, TaskMetadata
from .._task_store import StoreOptions, TaskOverview, TaskStore
from .._task_streams import UI_FORM
from .._trace import task_logger
from ..files._task_folders import checked_id
from ._artifact_rows import ArtifactRows
from ._row_locks import LockJudge, RowLock
from ._sql import SqlConnection
from ._table_log import TableLog
from ._table_task_log import TableTaskLog
from ._table_task_reader import TableTaskReader
from ._table_writer import TableWriter
from ._task_database import TaskDatabase
from ._task_rows import TaskRows

__all__ = ["TableStore"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


class TableStore(TaskStore):
    """See ``TaskStore`` for what it does. ``clock_notes`` is the file in which it is noted when the clock was believed."""

    def __init__(
        self,
        database: TaskDatabase,
        writer: TableWriter,
        judge: LockJudge,
        clock_notes: Path,
        artifacts: ArtifactRows,
        **options: Unpack[StoreOptions],
    ) -> None:
        super().__init__(**options)
        self.database: Final = database
        self.writer: Final = writer
        self.rows: Final = TaskRows(database.dialect, judge)
        self.clock_notes: Final = clock_notes
        self.artifacts: Final = artifacts
        self._judge = judge

    async def view(self, task_id: TaskId) -> TableTaskReader:
        def read(connection: SqlConnection) -> TaskMetadata:
            return self.rows.find(connection, task_id).read_metadata()

        metadata = await self.database.in_thread(self.database.read, read)
        return TableTaskReader(self.database, self.rows, self.artifacts, metadata, on_damage=self._damages.tell)

    async def tasks(self, place: Place | None = None) -> Sequence[TaskId]:
        return await self.database.in_thread(self.database.read, lambda connection: self.rows.ids(connection, place))

    async def size(self, task_id: TaskId) -> int:
        return await self.database.in_thread(self.database.read, lambda connection: self.rows.size(connection, task_id))

    async def amend(self, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]) -> StoredTaskState:
        return await self._held.finish(
            self.writer.run(lambda connection: self.rows.amend(connection, task_id, change), durable=True)
        )

    async def delete(self, task_id: TaskId) -> None:
        await self._held.finish(self.writer.run(lambda connection: self.rows.delete(connection, task_id), durable=True))

    async def check_usable(self) -> None:
        await self.writer.check_writable()

    async def check_at_rest(self, task_id: TaskId) -> None:
        await self.database.in_thread(self.database.read, lambda connection: self.rows.at_rest(connection, task_id))

    def overview(self, task_id: TaskId, *, messages: int, size: bool = True) -> TaskOverview:
        row = self.database.read(lambda connection: self.rows.find(connection, task_id))
        first: list[ClineMessage] = []
        if messages:
            # Whoever opens the conversation hears of its damage; here it is enough that the rest is found.
            first = TableLog(self.database, task_id, "ui", UI_FORM, lambda line: None).first(messages)
        taken = self.database.read(lambda connection: self.rows.size(connection, task_id)) if size else 0
        return TaskOverview(row.read_metadata(), row.read_state(), taken, first)

    def overviews(self, *, messages: int, size: bool = True) -> Iterator[TaskOverview]:
        for task_id in self.database.read(lambda connection: self.rows.ids(connection, None)):
            try:
                found = self.overview(task_id, messages=messages, size=size)
            except UnknownTask:
                # Deleted meanwhile.
                continue
            yield found

    async def in_thread(self, call: Callable[[], T]) -> T:
        return await self.database.in_thread(call)

    async def _prepare(self) -> None:
        # Opens the file, and makes it and its tables as needed.
        await self.writer.run(lambda _: None)

    async def _shut(self) -> None:
        await self.writer.stop()
        await asyncio.to_thread(self.database.close)

    async def _recover(self) -> Sequence[TaskRecovery]:
        recoveries: list[TaskRecovery] = []
        for task_id, _ in await self.database.in_thread(self.database.read, self.rows.left_behind):
            log = task_logger(logger, task_id)
            try:
                recovery = await self.writer.run(partial(self.rows.recover, task_id=task_id), durable=True)
            except HdspAgentError as error:
                log.warning("The task could not be recovered: %s", error)
                continue
            if recovery is not None:
                log.warning("The task is %s now: %s", recovery.status, recovery.reason)
                recoveries.append(recovery)
        return recoveries

    async def _make(self, metadata: TaskMetadata, state: StoredTaskState) -> TableTaskLog:
        def make(connection: SqlConnection, lock: RowLock) -> tuple[TaskMetadata, StoredTaskState]:
            self.rows.create(connection, metadata, state, lock)
            return metadata, state

        return await self._load(metadata.uuid, make)

    async def _take(self, task_id: TaskId) -> TableTaskLog:
        checked_id(task_id)
        return await self._load(task_id, lambda connection, lock: self.rows.take(connection, task_id, lock))

    async def _load(
        self, task_id: TaskId, take: Callable[[SqlConnection, RowLock], tuple[TaskMetadata, StoredTaskState]]
    ) -> TableTaskLog:
        lock = await self.database.in_thread(RowLock, task_id, self._judge)
        try:
            metadata, state = await self.writer.run(
                lambda connection: take(connection, lock), task_id=task_id, durable=True
            )
            try:
                log = TableTaskLog(
                    self.database, self.rows, self.artifacts, self.writer, lock, metadata, state,
                    on_damage=self._damages.tell, on_end=self._ended,
                    remembered=self._remembered, heartbeat_seconds=self._heartbeat_seconds,
                )  # fmt: skip
                await self.database.in_thread(log.load)
            except BaseException:
                await self.writer.run(lock.release, durable=True)
                raise
        except BaseException:
            lock.forget()
            raise
        return log
