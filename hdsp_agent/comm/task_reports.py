"""What the hub service is told of the tasks that are worked on here, and of what is stored."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from time import monotonic
from typing import TYPE_CHECKING, Final

from ..config import model_id
from ..events import TurnStarted, WorkEvent
from ..messages import TaskId
from ..telemetry import StorageReport, TaskReport, TaskWork
from .open_tasks import needs_person

if TYPE_CHECKING:
    from ..agent import Task
    from .retention_job import MeasuredStorage
    from .running_agent import RunningAgent

__all__ = ["TaskReports", "shown_name", "storage_report"]

_LONGEST_NAME: Final = 200
_NOT_SHOWN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class TaskReports:
    """Knows since when each task does what it does."""

    def __init__(self, agent: RunningAgent) -> None:
        self._agent = agent
        self._since: dict[TaskId, tuple[bool, float]] = {}
        """Whether it was at work, and since when."""

    def heed(self, event: WorkEvent) -> None:
        """A turn begins now, however little time there was since the last one."""
        if isinstance(event, TurnStarted):
            self._since[TaskId(event.task_id)] = True, monotonic()

    def now(self) -> list[TaskReport]:
        """The tasks that are at work, then those that are paused; of each, those that are the longest."""
        works = {task: work for task in self._agent.open_tasks if (work := _work(task)) is not None}
        known, now = self._since, monotonic()
        self._since = {}
        for task, work in works.items():
            at_work = work != "paused"
            before = known.get(task.task_id)
            self._since[task.task_id] = before if before and before[0] == at_work else (at_work, now)
        told = [_report(task, work, now - self._since[task.task_id][1]) for task, work in works.items()]
        return sorted(told, key=lambda one: (not one.is_at_work, -one.seconds))


def _work(task: Task) -> TaskWork | None:
    """What a task does; None for one that is done, or that another agent calls when it likes."""
    state = task.state
    if state.completed:
        return None
    match state.status:
        case "running":
            return "running"
        case "interactive":
            return "waiting"
        case "resumable":
            return "paused"
        case _:
            return "waiting" if any(needs_person(question.ask) for question in state.dialogue.asks.open) else None


def _report(task: Task, work: TaskWork, seconds: float) -> TaskReport:
    state = task.state
    return TaskReport(
        id=task.task_id,
        mode=shown_name(state.mode.slug),
        model=_model(None if state.provider is None else model_id(state.provider)),
        work=work,
        seconds=max(0.0, seconds),
        tokens=max(0, state.usage.total_tokens),
        cost=max(0.0, state.cost),
    )


def _model(model: str | None) -> str:
    """The name of a model. Of one that is a file, not where that is."""
    name = model or ""
    if name.startswith(("/", "~", ".")):
        return shown_name(PurePosixPath(name).name)
    return shown_name(PureWindowsPath(name).name if "\\" in name else name)


def shown_name(text: str) -> str:
    """A name as a report may have it."""
    return _NOT_SHOWN.sub("", text)[:_LONGEST_NAME]


def storage_report(measured: MeasuredStorage) -> StorageReport:
    """What is stored, by what it is."""
    parts = measured.use.parts
    checkpoints, memory = parts.get("checkpoints", 0), parts.get("memories", 0)
    return StorageReport(
        conversations=measured.use.tasks_bytes,
        checkpoints=checkpoints,
        memory=memory,
        other=sum(parts.values()) - checkpoints - memory,
        free=measured.free_bytes,
        seconds=max(0.0, monotonic() - measured.at),
    )
