"""What the history is rebuilt from: the tasks of a store, looked at one after the other. Everything here blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final, get_args

from ..._iso_time import parse_iso_time
from ...errors import UnknownTask
from ...messages import ClineMessage, HistoryItem, HistoryState, TaskId, labels_of, words_of
from .._abandoned_tasks import TaskRecovery
from .._records import StoredTaskState, TaskMetadata
from .._task_store import TaskOverview, TaskStore
from ._index import HistoryIndex, HistoryRecord

__all__ = ["as_left", "history_item", "list_recovered", "task_record", "task_records"]

_TEXT_MESSAGES: Final = 40
"""A task can be found by what is said in so many of its first messages."""
_TITLE_CHARACTERS: Final = 4_000


def task_records(store: TaskStore, person: str) -> Iterator[HistoryRecord]:
    """Every task that can be read; one that nobody is named for belongs to ``person``."""
    for task in store.overviews(messages=_TEXT_MESSAGES):
        yield _record(task, person)


def task_record(store: TaskStore, task_id: TaskId) -> HistoryRecord:
    """One task; if nobody is named for it, it has no owner."""
    return _record(store.overview(task_id, messages=_TEXT_MESSAGES), None)


def history_item(metadata: TaskMetadata, state: StoredTaskState, first: ClineMessage | None) -> HistoryItem:
    """The line the task has in the history; for a task that never got one, what its files tell."""
    if state.history_item is not None:
        return as_left(state.history_item, state)
    began = parse_iso_time(metadata.created_at)
    text = "" if first is None else first.text or labels_of(first.attachments)
    item = HistoryItem(
        id=metadata.uuid,
        number=0,
        ts=int(began.timestamp() * 1000) if began else 0,
        task=text[:_TITLE_CHARACTERS],
        tokens_in=0,
        tokens_out=0,
        total_cost=0.0,
        status="completed" if state.status == "completed" else "active",
        parent_task_id=metadata.parent_task_id,
        root_task_id=metadata.root_task_id,
        forked_from=metadata.forked_from,
        workspace=metadata.workspace,
        notebook=metadata.notebook,
        mode=metadata.mode,
    )
    return as_left(item, state)


def as_left(item: HistoryItem, state: StoredTaskState) -> HistoryItem:
    """The line, and how the task was left if nobody works on it and it is not done."""
    waits = item.status == "delegated" and state.status == "paused"
    left = None if item.status == "completed" or waits or state.status not in get_args(HistoryState) else state.status
    return item.model_copy(update={"state": left})


async def list_recovered(recoveries: Sequence[TaskRecovery], store: TaskStore, index: HistoryIndex) -> None:
    """Let the history tell how the tasks of dead processes were left."""
    for recovery in recoveries:
        # Others may delete it, or go on with it.
        with suppress(UnknownTask):
            state = await (await store.view(recovery.task_id)).read_state()
            if state.history_item is not None:
                await index.upsert(as_left(state.history_item, state))


def _record(task: TaskOverview, person: str | None) -> HistoryRecord:
    item = history_item(task.metadata, task.state, task.first[0] if task.first else None)
    text = "\n".join(filter(None, map(words_of, task.first)))
    item = item.model_copy(update={"size": task.size})
    return HistoryRecord(item, text, task.metadata.user or person, task.metadata.created_at)
