"""The store that keeps each task in a folder of its own: the default."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ..._background_tasks import BackgroundTasks
from ...append_log.jsonl import JsonlLog
from ...errors import Conflict, HdspAgentError, StorageUnavailable, UnknownTask
from ...messages import TaskId
from .._damage_reports import DamageReports
from .._disk_space import check_free_space
from .._new_task import first_records
from .._protocol import DamageNotice, NewTaskRecord, Place, TaskOverview, TaskRecovery
from .._records import STREAM_FILES, StoredTaskState, TaskMetadata
from .._trace import task_logger
from ._file_records import UI_FORM
from ._file_task_log import REMEMBERED, FileTaskLog
from ._file_task_reader import FileTaskReader
from ._interrupted_tasks import MONITOR_SECONDS, InterruptedTaskMonitor
from ._log_writer import LogWriter
from ._state_keeper import HEARTBEAT_SECONDS
from ._task_end import take_task
from ._task_folders import STATE, TaskFolders, checked_id, read_metadata, read_state, write_record
from ._task_locks import TaskLock, read_lock

__all__ = ["FileStore"]

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS: Final = 1.0
_NEWEST_POSSIBLE: Final = 2**53 - 1


class FileStore:
    """See ``TaskStore`` for what it does. ``on_damage`` hears of each damaged line once, on the event loop."""

    def __init__(
        self,
        home: Path,
        *,
        on_damage: Callable[[DamageNotice], None] | None = None,
        remembered: int = REMEMBERED,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        monitor_seconds: float = MONITOR_SECONDS,
    ) -> None:
        self._folders = TaskFolders(home)
        self._writer = LogWriter()
        self._monitor = InterruptedTaskMonitor(self._folders, lambda: self._open, interval=monitor_seconds)
        self._open: dict[TaskId, FileTaskLog] = {}
        self._held = BackgroundTasks()
        self._damages = DamageReports(on_damage)
        self._remembered = remembered
        self._heartbeat_seconds = heartbeat_seconds

    @property
    def folders(self) -> TaskFolders:
        """Where the tasks are."""
        return self._folders

    async def start(self) -> Sequence[TaskRecovery]:
        """Get ready, and finish what a crash interrupted; what that was."""
        self._damages.start()
        await asyncio.to_thread(self._folders.prepare)
        recoveries = await self._monitor.recover()
        self._monitor.start()
        return recoveries

    async def stop(self) -> None:
        """Let go of all tasks, with everything written."""
        await self._monitor.stop()
        await self._held.drain()
        for log in list(self._open.values()):
            await log.close()
        await self._writer.stop()

    async def create(self, new: NewTaskRecord) -> FileTaskLog:
        """Begin a task."""
        return await self._held.finish(self._create(new))

    async def resume(self, task_id: TaskId) -> FileTaskLog:
        """Work on a task again. ``Conflict`` says who works on it already."""
        return await self._held.finish(self._resume(task_id))

    async def view(self, task_id: TaskId) -> FileTaskReader:
        """A task to look at."""
        metadata = await asyncio.to_thread(lambda: read_metadata(self._folders.find(task_id)[1]))
        return FileTaskReader(self._folders, metadata, on_damage=self._damages.tell)

    async def tasks(self, place: Place | None = None) -> Sequence[TaskId]:
        """The ids of all tasks, or of those in one place."""
        places: tuple[Place, ...] = ("running", "completed") if place is None else (place,)
        # A task that moves meanwhile may be met twice.
        return await asyncio.to_thread(
            lambda: list(dict.fromkeys(id_ for at in places for id_ in self._folders.ids(at)))
        )

    async def size(self, task_id: TaskId) -> int:
        """How many bytes a task takes."""
        return await asyncio.to_thread(self._folders.size, task_id)

    async def amend(self, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]) -> StoredTaskState:
        """Change the state of a task nobody works on, such as its title."""

        def amend() -> StoredTaskState:
            lock, folder = self._take(task_id)
            try:
                state = change(read_state(folder, repair=True))
                write_record(folder / STATE, state)
            finally:
                lock.release()
            return state

        return await self._held.finish(asyncio.to_thread(amend))

    async def delete(self, task_id: TaskId) -> None:
        """Delete a task nobody works on."""

        def delete() -> None:
            lock, folder = self._take(task_id)
            try:
                lock.moved(self._folders.delete(task_id, folder))
            finally:
                lock.release()

        await self._held.finish(asyncio.to_thread(delete))

    async def recover(self) -> Sequence[TaskRecovery]:
        """Finish interrupted moves and mark the tasks of dead processes as failed."""
        return await self._monitor.recover()

    async def check_usable(self) -> None:
        """Raise what hinders tasks from being kept just now, such as a folder that is gone or a full disk."""
        await asyncio.to_thread(_check_usable, self._folders.root)

    async def check_at_rest(self, task_id: TaskId) -> None:
        """Raise ``Conflict`` if somebody works on the task."""

        def check() -> None:
            if read_lock(self._folders.find(task_id)[1]) is not None:
                self._take(task_id)[0].release()

        await asyncio.to_thread(check)

    def overview(self, task_id: TaskId, *, messages: int, size: bool = True) -> TaskOverview:
        """A task, with so many of its first messages, and with its size, for which all of it may have to be read. Blocks."""
        folder = self._folders.find(task_id)[1]

        def paths() -> list[Path]:
            return [self._folders.at(place, task_id) / STREAM_FILES["ui"] for place in ("running", "completed")]

        # Whoever opens the conversation hears of its damage; here it is enough that the rest is found.
        log = JsonlLog(paths, UI_FORM, lambda path, line: None)
        first = log.between(0, _NEWEST_POSSIBLE, messages, newest=False) if messages else []
        state, taken = read_state(folder, repair=False), self._folders.size(task_id) if size else 0
        return TaskOverview(read_metadata(folder), state, taken, [entry.record for entry in first])

    def overviews(self, *, messages: int, size: bool = True) -> Iterator[TaskOverview]:
        """All tasks that can be read, each as it is when its turn comes. Blocks."""
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

    async def _create(self, new: NewTaskRecord) -> FileTaskLog:
        metadata, state = first_records(new)
        checked_id(metadata.uuid)

        def create() -> FileTaskLog:
            locks: list[TaskLock] = []
            try:
                folder = self._folders.create(metadata, state, lambda made: locks.append(TaskLock.acquire(made)))
                locks[0].moved(folder)
                return self._load(folder, locks[0], metadata, state)
            except BaseException:
                for lock in locks:
                    lock.release()
                raise

        return self._begin(await asyncio.to_thread(create), "started")

    async def _resume(self, task_id: TaskId) -> FileTaskLog:
        if task_id in self._open:
            raise Conflict(f"Task {task_id} is being worked on here already. Continue it there.", task=task_id)

        def resume() -> FileTaskLog:
            folder, lock, state = take_task(self._folders, task_id)
            try:
                return self._load(folder, lock, read_metadata(folder), state)
            except BaseException:
                lock.release()
                raise

        return self._begin(await asyncio.to_thread(resume), "resumed")

    def _load(self, folder: Path, lock: TaskLock, metadata: TaskMetadata, state: StoredTaskState) -> FileTaskLog:
        log = FileTaskLog(
            self._folders, self._writer, folder, lock, metadata, state,
            on_damage=self._damages.tell, on_end=self._ended,
            remembered=self._remembered, heartbeat_seconds=self._heartbeat_seconds,
        )  # fmt: skip
        log.load()
        return log

    def _begin(self, log: FileTaskLog, how: str) -> FileTaskLog:
        self._open[log.task_id] = log
        log.begin()
        task_logger(logger, log.task_id).info("Task %s", how)
        return log

    def _ended(self, task_id: TaskId) -> None:
        self._open.pop(task_id, None)

    def _take(self, task_id: TaskId) -> tuple[TaskLock, Path]:
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
        advice = "Put it back, or start the server again."
    elif not os.access(root, os.W_OK | os.X_OK) or not os.access(root.parent, os.W_OK | os.X_OK):
        reason, advice = "permission denied", "Check who owns that folder and its permissions."
    else:
        check_free_space(root)
        return
    raise StorageUnavailable(
        f"Conversations cannot be kept in {root}: {reason}. What was recorded is safe. {advice}",
        path=str(root), action="write", reason=reason,
    )  # fmt: skip
