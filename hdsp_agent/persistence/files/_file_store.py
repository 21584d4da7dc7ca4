"""The store that keeps each task in a folder of its own: the default."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from typing_extensions import Unpack

from ...append_log.jsonl import JsonlLog
from ...errors import Conflict, HdspAgentError, StorageUnavailable, UnknownTask
from ...messages import TaskId
from .._abandoned_tasks import TaskRecovery
from .._disk_space import check_free_space
from .._records import STREAM_FILES, Place, StoredTaskState, TaskMetadata
from .._task_store import StoreOptions, TaskOverview, TaskStore
from .._task_streams import UI_FORM
from .._trace import task_logger
from ._file_task_log import FileTaskLog
from ._file_task_reader import FileTaskReader
from ._interrupted_tasks import InterruptedTasks
from ._log_writer import LogWriter
from ._task_end import take_task
from ._task_folders import STATE, TaskFolders, read_metadata, read_state, write_record
from ._task_locks import TaskLock, read_lock

__all__ = ["FileStore"]

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS: Final = 1.0
_NEWEST_POSSIBLE: Final = 2**53 - 1


class FileStore(TaskStore):
    """See ``TaskStore`` for what it does."""

    def __init__(self, home: Path, **options: Unpack[StoreOptions]) -> None:
        super().__init__(**options)
        self._folders = TaskFolders(home)
        self._writer = LogWriter()
        self._interrupted = InterruptedTasks(self._folders)

    @property
    def folders(self) -> TaskFolders:
        """Where the tasks are."""
        return self._folders

    async def view(self, task_id: TaskId) -> FileTaskReader:
        metadata = await asyncio.to_thread(self._folders.read, task_id, read_metadata)
        return FileTaskReader(self._folders, metadata, on_damage=self._damages.tell)

    async def tasks(self, place: Place | None = None) -> Sequence[TaskId]:
        places: tuple[Place, ...] = ("running", "completed") if place is None else (place,)
        # A task that moves meanwhile may be met twice.
        return await asyncio.to_thread(
            lambda: list(dict.fromkeys(id_ for at in places for id_ in self._folders.ids(at)))
        )

    async def size(self, task_id: TaskId) -> int:
        return await asyncio.to_thread(self._folders.size, task_id)

    async def amend(self, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]) -> StoredTaskState:
        def amend() -> StoredTaskState:
            lock, folder = self._take_shortly(task_id)
            try:
                state = change(read_state(folder, repair=True))
                write_record(folder / STATE, state)
            finally:
                lock.release()
            return state

        return await self._held.finish(asyncio.to_thread(amend))

    async def delete(self, task_id: TaskId) -> None:
        def delete() -> None:
            lock, folder = self._take_shortly(task_id)
            try:
                lock.moved(self._folders.delete(task_id, folder))
            finally:
                lock.release()

        await self._held.finish(asyncio.to_thread(delete))

    async def check_usable(self) -> None:
        await asyncio.to_thread(_check_usable, self._folders.root)

    async def check_at_rest(self, task_id: TaskId) -> None:
        def check() -> None:
            if read_lock(self._folders.find(task_id)[1]) is not None:
                self._take_shortly(task_id)[0].release()

        await asyncio.to_thread(check)

    def overview(self, task_id: TaskId, *, messages: int, size: bool = True) -> TaskOverview:
        def paths() -> list[Path]:
            return [self._folders.at(place, task_id) / STREAM_FILES["ui"] for place in ("running", "completed")]

        # Whoever opens the conversation hears of its damage; here it is enough that the rest is found.
        log = JsonlLog(paths, UI_FORM, lambda path, line: None)
        first = log.between(0, _NEWEST_POSSIBLE, messages, newest=False) if messages else []
        metadata, state = self._folders.read(task_id, lambda at: (read_metadata(at), read_state(at, repair=False)))
        taken = self._folders.size(task_id) if size else 0
        return TaskOverview(metadata, state, taken, [entry.record for entry in first])

    def overviews(self, *, messages: int, size: bool = True) -> Iterator[TaskOverview]:
        places: tuple[Place, ...] = ("completed", "running")
        for place in places:
            for task_id in list(self._folders.ids(place)):
                try:
                    found = self.overview(task_id, messages=messages, size=size)
                except UnknownTask:
                    # Deleted meanwhile.
                    continue
                except HdspAgentError as error:
                    task_logger(logger, task_id).warning("The task cannot be listed: %s", error)
                    continue
                yield found

    async def _prepare(self) -> None:
        await asyncio.to_thread(self._folders.prepare)

    async def _shut(self) -> None:
        await self._writer.stop()

    async def _recover(self) -> Sequence[TaskRecovery]:
        return await asyncio.to_thread(self._interrupted.recover, frozenset(self._open))

    async def _make(self, metadata: TaskMetadata, state: StoredTaskState) -> FileTaskLog:
        def make() -> FileTaskLog:
            locks: list[TaskLock] = []
            try:
                folder = self._folders.create(metadata, state, lambda made: locks.append(TaskLock.acquire(made)))
                locks[0].moved(folder)
                return self._load(folder, locks[0], metadata, state)
            except BaseException:
                for lock in locks:
                    lock.release()
                raise

        return await asyncio.to_thread(make)

    async def _take(self, task_id: TaskId) -> FileTaskLog:
        def take() -> FileTaskLog:
            folder, lock, state = take_task(self._folders, task_id)
            try:
                return self._load(folder, lock, read_metadata(folder), state)
            except BaseException:
                lock.release()
                raise

        return await asyncio.to_thread(take)

    def _load(self, folder: Path, lock: TaskLock, metadata: TaskMetadata, state: StoredTaskState) -> FileTaskLog:
        log = FileTaskLog(
            self._folders, self._writer, folder, lock, metadata, state,
            on_damage=self._damages.tell, on_end=self._ended,
            remembered=self._remembered, heartbeat_seconds=self._heartbeat_seconds,
        )  # fmt: skip
        log.load()
        return log

    def _take_shortly(self, task_id: TaskId) -> tuple[TaskLock, Path]:
        """Take a task for a moment; another who does the same is waited for."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            _, folder = self._folders.find(task_id)
            try:
                return TaskLock.acquire(folder), folder
            except FileNotFoundError:
                # Moved between the two steps: look again.
                continue
            except Conflict:
                if task_id in self._open or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def _check_usable(root: Path) -> None:
    if not root.is_dir():
        reason = "it is not a folder" if root.exists() else "it is gone"
        advice = "Restore it, or restart the server."
    elif not os.access(root, os.W_OK | os.X_OK) or not os.access(root.parent, os.W_OK | os.X_OK):
        reason, advice = "permission denied", "Check who owns that folder and its permissions."
    else:
        check_free_space(root)
        return
    raise StorageUnavailable(
        f"Conversations cannot be saved in {root}: {reason}. What was saved before is safe. {advice}",
        path=str(root), action="write", reason=reason,
    )  # fmt: skip
