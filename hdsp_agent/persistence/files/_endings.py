"""How the work on a task ends, step by step, so that whoever comes after a crash can take the next step.

The state says ``completing`` and what the task will be; the folder moves; the state says what it is; the lock goes. A
task whose lock is still there has a step to take. (Seed 003 removes the lock before the move; then a task half moved
could be taken by somebody else.) Everything here blocks.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from ...errors import Conflict
from ...messages import TaskId
from .._protocol import Outcome, Place, Recovery
from .._records import COMPLETED_STATUSES, LockRecord, TaskState, iso_time
from ._folders import STATE, TaskFolders, read_state, tidy, unpack_streams, write_record
from ._locks import LOCK_NAME, LockWatch, TaskLock, read_lock

__all__ = ["end_task", "recover_task", "take_task"]


def end_task(folders: TaskFolders, folder: Path, lock: TaskLock, state: TaskState, outcome: Outcome) -> TaskState:
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


def take_task(folders: TaskFolders, task_id: TaskId) -> tuple[Path, TaskLock, TaskState]:
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
            state = read_state(folder, repair=True).model_copy(
                update={
                    "status": "processing", "outcome": None, "error": None, "resumable": False, "completed_at": None,
                    "updated_at": iso_time(),
                }
            )  # fmt: skip
            write_record(folder / STATE, state)
        except BaseException:
            lock.release()
            raise
        return folder, lock, state


def recover_task(folders: TaskFolders, place: Place, task_id: TaskId, watch: LockWatch) -> Recovery | None:
    """Take the steps that a dead process left; None if there are none, or it lives."""
    folder = folders.at(place, task_id)
    holder = read_lock(folder)
    if place == "completed" and not (folder / LOCK_NAME).exists():
        return None
    try:
        lock = TaskLock.acquire(folder, watch)
    except (Conflict, FileNotFoundError):
        return None
    try:
        state = read_state(folder, repair=True)
        if place == "completed" and state.status in COMPLETED_STATUSES:
            return None
        if state.status == "completing" and state.outcome in COMPLETED_STATUSES:
            outcome = cast("Outcome", state.outcome)
            reason = "Its move to the completed tasks was interrupted and is finished now."
        else:
            outcome = "failed"
            reason = _reason(holder, state)
            state = state.model_copy(update={"error": reason, "resumable": True})
        end_task(folders, folder, lock, state, outcome)
        return Recovery(task_id, outcome, reason)
    finally:
        lock.release()


def _reason(holder: LockRecord | None, state: TaskState) -> str:
    if holder is None:
        return f"The server was stopped while the task was {state.status}. It can be resumed."
    return (
        f"Process {holder.process_id} on {holder.hostname} ended while the task was {state.status}; "
        f"it was last seen at {holder.heartbeat_at}. The task can be resumed."
    )
