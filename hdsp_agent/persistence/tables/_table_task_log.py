"""A task that this process works on, kept in the database."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import TypeVar

from ...errors import StorageUnavailable
from ...messages import TaskId
from .._damage_reports import DamageNotice
from .._records import Outcome, StoredTaskState, TaskMetadata
from .._task_log import TaskLog
from ..files._state_keeper import StateKeeper
from ._artifact_rows import ArtifactRows
from ._row_locks import RowLock
from ._sql import STREAM_TABLES, SqlConnection, Work
from ._table_task_reader import TableTaskReader
from ._table_writer import TableWriter, TaskTable
from ._task_database import TaskDatabase
from ._task_rows import TaskRows

__all__ = ["TableTaskLog"]

T = TypeVar("T")


class TableTaskLog(TableTaskReader, TaskLog):
    """See ``TaskLog`` for what it does."""

    def __init__(
        self,
        database: TaskDatabase,
        rows: TaskRows,
        artifacts: ArtifactRows,
        writer: TableWriter,
        lock: RowLock,
        metadata: TaskMetadata,
        state: StoredTaskState,
        *,
        on_damage: Callable[[DamageNotice], None],
        on_end: Callable[[TaskId], None],
        remembered: int,
        heartbeat_seconds: float,
    ) -> None:
        super().__init__(database, rows, artifacts, metadata, on_damage=on_damage, remembered=remembered)
        self._lock = lock
        self._group = writer
        tables = {stream: TaskTable(metadata.uuid, lock.number, lock.token, stream) for stream in STREAM_TABLES}

        async def write(state: StoredTaskState) -> None:
            # No thread waits with it: while the database is away, the tasks would take all there are.
            await writer.run(lambda connection: rows.save_state(connection, lock, state), task_id=lock.task_id)

        keeper = StateKeeper(write, state, self._logger, heartbeat_seconds=heartbeat_seconds)
        self._record_with(writer, tables, keeper, on_end)

    async def put_artifact(self, data: bytes) -> str:
        self._check_ours()
        name = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        await self._artifacts.put(self._write_as_holder, self._lock.number, name, data)
        return name

    async def save_state(self) -> None:
        await super().save_state()
        await self._append("ui", b"", durable=True)

    async def _end_task(self, state: StoredTaskState, outcome: Outcome) -> None:
        await self._write(lambda connection: self._rows.end(connection, self._lock, state, outcome))
        self._lock.forget()

    async def _release(self) -> None:
        try:
            await self._write(self._lock.release)
        except StorageUnavailable as error:
            self._logger.warning("The task's lock stays until this process ends: %s", error)
        finally:
            self._lock.forget()

    async def _write_as_holder(self, work: Work[T]) -> T:
        def perform(connection: SqlConnection) -> T:
            self._lock.beat(connection)
            return work(connection)

        return await self._write(perform)

    async def _write(self, work: Work[T]) -> T:
        return await self._group.run(work, task_id=self.task_id, durable=True)
