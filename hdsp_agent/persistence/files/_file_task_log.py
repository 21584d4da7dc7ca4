"""A task that this process works on, kept in files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from ...messages import TaskId
from .._damage_reports import DamageNotice
from .._records import STREAM_FILES, Outcome, StoredTaskState, TaskMetadata
from .._task_log import TaskLog
from ._file_task_reader import FileTaskReader
from ._log_writer import LogFile, LogWriter
from ._state_keeper import StateKeeper
from ._task_end import end_task
from ._task_folders import STATE, TaskFolders, write_record
from ._task_locks import TaskLock

__all__ = ["FileTaskLog"]


class FileTaskLog(FileTaskReader, TaskLog):
    """See ``TaskLog`` for what it does."""

    def __init__(
        self,
        folders: TaskFolders,
        writer: LogWriter,
        folder: Path,
        lock: TaskLock,
        metadata: TaskMetadata,
        state: StoredTaskState,
        *,
        on_damage: Callable[[DamageNotice], None],
        on_end: Callable[[TaskId], None],
        remembered: int,
        heartbeat_seconds: float,
    ) -> None:
        super().__init__(folders, metadata, on_damage=on_damage, owner=True, remembered=remembered)
        self._place = folder
        self._lock = lock
        files = {stream: LogFile(folder / name) for stream, name in STREAM_FILES.items()}
        keeper = StateKeeper(self._save, state, self._logger, heartbeat_seconds=heartbeat_seconds)
        self._record_with(writer, files, keeper, on_end)

    async def put_artifact(self, data: bytes) -> str:
        self._check_ours()
        return await asyncio.to_thread(self._artifacts.put, data)

    async def _save(self, state: StoredTaskState) -> None:
        await asyncio.to_thread(self._write_state, state)

    def _write_state(self, state: StoredTaskState) -> None:
        self._lock.beat()
        write_record(self._place / STATE, state)

    async def _end_task(self, state: StoredTaskState, outcome: Outcome) -> None:
        try:
            await asyncio.to_thread(end_task, self._folders, self._place, self._lock, state, outcome)
        except BaseException:
            self._place = await asyncio.to_thread(self._folder)
            raise

    async def _release(self) -> None:
        await asyncio.to_thread(self._lock.release)
