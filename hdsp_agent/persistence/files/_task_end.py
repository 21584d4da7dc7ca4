"""How the work on a task ends, step by step, so that whoever comes after a crash can take the next step.

The state says ``completing`` and what the task will be; the folder moves; the state says what it is; the lock goes. A
task whose lock is still there has a step to take. (Were the lock removed before the move, a task half moved
could be taken by somebody else.) Everything here blocks.
"""

from __future__ import annotations

from pathlib import Path

from ..._iso_time import iso_time
from ...append_log.jsonl import JsonlLog
from ...errors import Conflict, UnknownTask
from ...messages import ClineMessage, TaskId
from .._abandoned_tasks import TaskRecovery, settled_status, taken_up
from .._records import COMPLETED_STATUSES, STREAM_FILES, Outcome, Place, StoredTaskState
from .._task_streams import UI_FORM
from ._task_folders import STATE, TaskFolders, read_state, tidy, unpack_streams, write_record
from ._task_locks import LOCK_NAME, LockWatch, TaskLock, read_lock

__all__ = ["end_task", "recover_task", "settle_task", "take_task"]


def end_task(
    folders: TaskFolders, folder: Path, lock: TaskLock, state: StoredTaskState, outcome: Outcome
) -> StoredTaskState:
    """Take all steps that are left; returns the state as it is then. May be called again after it failed."""
    task_id = TaskId(folder.name)
    now = iso_time()
    ending = state.model_copy(
        update={
            "status": "completing",
            "outcome": outcome,
            "updated_at": now,
            "completed_at": state.completed_at or now,
        }
    )
    write_record(folder / STATE, ending)
    moved = folders.move(task_id, "completed")
    lock.moved(moved)
    ended = ending.model_copy(update={"status": outcome, "outcome": None, "updated_at": iso_time()})
    write_record(moved / STATE, ended)
    tidy(moved)
    lock.release()
    return ended


def take_task(folders: TaskFolders, task_id: TaskId) -> tuple[Path, TaskLock, StoredTaskState]:
    """Take a task that nobody works on, wherever it is, to work on it again."""
    while True:
        place, folder = folders.find(task_id)
        try:
            lock = TaskLock.acquire(folder)
        except FileNotFoundError:
            # It was moved meanwhile.
            continue
        try:
            if place == "completed":
                folder = folders.move(task_id, "running")
                lock.moved(folder)
            unpack_streams(folder)
            tidy(folder)
            state = taken_up(read_state(folder, repair=True))
            write_record(folder / STATE, state)
        except BaseException:
            lock.release()
            raise
        return folder, lock, state


def recover_task(folders: TaskFolders, place: Place, task_id: TaskId, watch: LockWatch) -> TaskRecovery | None:
    """Take the steps that a dead process left; None if there are none, or it lives."""
    folder = folders.at(place, task_id)
    if not (folder / LOCK_NAME).exists() and (place == "completed" or _is_paused(folder)):
        return None
    return settle_task(folders, place, folder, watch)


def settle_task(
    folders: TaskFolders, place: Place, folder: Path, watch: LockWatch | None = None
) -> TaskRecovery | None:
    """Give a task that nobody works on the state it is in; None if it has that, or somebody works on it."""
    holder, died = read_lock(folder), (folder / LOCK_NAME).exists()
    try:
        lock = TaskLock.acquire(folder, watch) if watch is not None else TaskLock.acquire(folder)
    except (Conflict, FileNotFoundError):
        return None
    try:
        state = read_state(folder, repair=True)
        if place == "completed" and state.status in COMPLETED_STATUSES:
            return None
        settled = settled_status(state, died=died, holder=holder, newest=_newest_message(folder))
        if settled.status == "failed" and state.status != "completing":
            state = state.model_copy(update={"error": settled.reason, "resumable": True})
        if settled.status == "paused":
            if place == "completed":
                lock.moved(folder := folders.move(TaskId(folder.name), "running"))
            write_record(folder / STATE, state.model_copy(update={"status": "paused"}))
        else:
            end_task(folders, folder, lock, state, settled.status)
        return TaskRecovery(TaskId(folder.name), settled.status, settled.reason)
    finally:
        lock.release()


def _is_paused(folder: Path) -> bool:
    try:
        return read_state(folder, repair=False).status == "paused"
    except UnknownTask:
        return False


def _newest_message(folder: Path) -> ClineMessage | None:
    """The last message that the person saw."""
    log = JsonlLog(lambda: [folder / STREAM_FILES["ui"]], UI_FORM, lambda path, line: None)
    newest = log.newest(1)
    return newest[-1].record if newest else None
