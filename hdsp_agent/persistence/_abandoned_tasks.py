"""What becomes of a task that nobody works on any more and nobody has ended, wherever it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from .._iso_time import iso_time
from ..messages import ClineMessage, TaskId, status_during
from ._records import COMPLETED_STATUSES, LockRecord, Outcome, StoredTaskState, TaskStatus

__all__ = ["SettledStatus", "TaskRecovery", "settled_status", "taken_up", "waits_for_person"]


@dataclass(frozen=True)
class TaskRecovery:
    """What was done for a task whose process died, or whose move was interrupted."""

    task_id: TaskId
    status: TaskStatus
    reason: str


@dataclass(frozen=True)
class SettledStatus:
    """What the task is from now on, and why."""

    status: Outcome | Literal["paused"]
    reason: str


def settled_status(
    state: StoredTaskState, *, died: bool, holder: LockRecord | None, newest: ClineMessage | None
) -> SettledStatus:
    """Only what a dead process was working on has failed.

    ``died`` says that somebody's lock was left, which ``holder`` tells of if it can be read; ``newest`` is the last
    message that the person saw.
    """
    if state.status == "completing" and state.outcome in COMPLETED_STATUSES:
        return SettledStatus(
            cast("Outcome", state.outcome), "Its move to the completed tasks was interrupted, and is now finished."
        )
    worked = died and state.status != "paused" and not waits_for_person(newest)
    if worked:
        return SettledStatus("failed", _why_failed(state, holder))
    if state.history_item is not None and state.history_item.status == "completed":
        return SettledStatus("completed", "It was finished, and only viewed.")
    return SettledStatus("paused", "No process is working on it. It can be resumed.")


def taken_up(state: StoredTaskState) -> StoredTaskState:
    """The state of a task that is worked on again."""
    return state.model_copy(
        update={
            "status": "processing", "outcome": None, "error": None, "resumable": False, "completed_at": None,
            "updated_at": iso_time(),
        }
    )  # fmt: skip


def waits_for_person(newest: ClineMessage | None) -> bool:
    """Whether the work stands still at a question."""
    if newest is None or newest.ask is None or newest.is_answered is not None or newest.partial:
        return False
    return status_during(newest.ask) != "running"


def _why_failed(state: StoredTaskState, holder: LockRecord | None) -> str:
    if holder is None:
        return f"The process that worked on it ended while the task was {state.status}. It can be resumed."
    return (
        f"Process {holder.process_id} on {holder.hostname} ended while the task was {state.status}; "
        f"it was last seen at {holder.heartbeat_at}. The task can be resumed."
    )
