"""The tasks that a search of ``hdsp-agent stats`` counted, one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from ..errors import HdspAgentError
from ..messages import TaskId
from ..persistence import Progress, StoredTaskState, TaskFilter, TaskReader, TaskStatus, TaskStore, parse_iso_time
from ._amounts import count_text, time_text
from ._columns import table

__all__ = ["SearchedTask", "matching", "task_table"]


@dataclass(frozen=True)
class SearchedTask:
    """One of the tasks that were searched for."""

    task_id: TaskId
    begun: datetime | None
    status: TaskStatus
    user: str
    task: str
    error: str

    @classmethod
    def of(cls, reader: TaskReader, state: StoredTaskState) -> SearchedTask:
        """What is told of a task."""
        item, metadata = state.history_item, reader.metadata
        said = (item.title or item.task) if item is not None else ""
        begun = parse_iso_time(metadata.created_at) or parse_iso_time(state.started_at or "")
        return cls(reader.task_id, begun, state.status, metadata.user or "", said, state.error or "")

    def document(self) -> dict[str, object]:
        """The same as JSON."""
        return {
            "uuid": self.task_id,
            "startedAt": self.begun.isoformat() if self.begun is not None else None,
            "status": self.status,
            "user": self.user,
            "task": self.task,
            "error": self.error or None,
        }


async def matching(
    store: TaskStore,
    *,
    user: str | None,
    since: datetime | None,
    until: datetime | None,
    statuses: Collection[TaskStatus] | None,
    progress: Progress,
) -> list[SearchedTask]:
    """The tasks that ``statistics`` counts for the same question, newest first."""
    wanted = TaskFilter(user, since, until, statuses)
    found: list[SearchedTask] = []
    ids = await store.tasks()
    for done, task_id in enumerate(ids):
        progress("search", done, len(ids))
        try:
            reader = await store.view(task_id)
            state = await reader.read_state()
        except HdspAgentError:
            # Deleted meanwhile, or counted among those that cannot be read.
            continue
        if (reader.metadata, state) in wanted:
            found.append(SearchedTask.of(reader, state))
    return sorted(found, key=lambda task: task.begun.timestamp() if task.begun else 0.0, reverse=True)


def task_table(tasks: list[SearchedTask], limit: int, width: int | None) -> Iterator[str]:
    """The first of them as a table."""
    rows = [
        (task.task_id, time_text(task.begun), task.status, task.user or "-", task.error or task.task)
        for task in tasks[:limit]
    ]
    yield ""
    yield from table(("TASK", "STARTED", "STATUS", "USER", "WHAT"), rows, width=width)
    if len(tasks) > limit:
        yield f"and {count_text(len(tasks) - limit)} more; use --limit to see them"
