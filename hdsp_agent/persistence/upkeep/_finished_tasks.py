"""The finished tasks of a store, as the retention sees them: each backend's own way to look at, pack and delete one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from ...errors import Conflict
from ...messages import TaskId
from .._records import StoredTaskState

__all__ = ["FinishedTasks", "changed_meanwhile"]


class FinishedTasks(ABC):
    """Everything here blocks. A backend that packs nothing says nothing about packing."""

    @property
    @abstractmethod
    def executions(self) -> Path:
        """Where it is noted when the clock was last believed."""

    @abstractmethod
    def ids(self) -> list[TaskId]:
        """The tasks, in a fixed order."""

    @abstractmethod
    def has(self, task_id: TaskId) -> bool:
        """Whether there is such a task, finished or not."""

    @abstractmethod
    def state(self, task_id: TaskId) -> StoredTaskState:
        """The task's state."""

    def changes(self, task_id: TaskId) -> list[datetime]:
        """When the task was changed, if something else than its state can tell."""
        return []

    @abstractmethod
    def size(self, task_id: TaskId) -> int:
        """How many bytes it takes."""

    @abstractmethod
    def delete(self, task_id: TaskId, is_due: Callable[[StoredTaskState], bool]) -> None:
        """Delete it if that is due still. A ``Conflict`` says that it is not, or who works on it."""

    def can_be_packed(self, task_id: TaskId) -> bool:
        """Whether there is anything to pack."""
        return False

    def pack(self, task_id: TaskId) -> bool:
        """Pack it; False if somebody took the task up meanwhile."""
        return False


def changed_meanwhile(task_id: TaskId) -> Conflict:
    """The error when something happened to a task since it was looked at."""
    return Conflict(f"Task {task_id} was changed in the meantime, so it stays.", task=task_id)
