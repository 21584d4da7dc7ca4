"""What the history is rebuilt from: the task folders, read one after the other. Everything here blocks."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, get_args

from ...errors import HdspAgentError, UnknownTask
from ...messages import ClineMessage, HistoryItem, HistoryState, TaskId
from .._protocol import Recovery, TaskStore
from .._records import STREAM_FILES, TaskMetadata, TaskState, parse_iso_time
from ..files._folders import TaskFolders, read_metadata, read_state
from ..files._jsonl import JsonlLog
from ..files._records import UI_FORM
from ._index import HistoryIndex, HistoryRecord

__all__ = ["as_left", "history_item", "list_recovered", "said_and_owner", "task_records"]

logger = logging.getLogger(__name__)

_TEXT_MESSAGES: Final = 40
_NEWEST_POSSIBLE: Final = 2**53 - 1
_TITLE_CHARACTERS: Final = 4_000


def task_records(folders: TaskFolders, person: str) -> Iterator[HistoryRecord]:
    """Every task that can be read; one that nobody is named for belongs to ``person``."""
    for place in ("completed", "running"):
        for task_id in list(folders.ids(place)):
            try:
                yield _record(folders, task_id, person)
            except HdspAgentError as error:
                logger.warning("Task %s cannot be shown in the history: %s", task_id, error)


def history_item(metadata: TaskMetadata, state: TaskState, first: ClineMessage | None) -> HistoryItem:
    """The line the task has in the history; for a task that never got one, what its files tell."""
    if state.history_item is not None:
        return as_left(state.history_item, state)
    began = parse_iso_time(metadata.created_at)
    text = (first.text or "") if first is not None else ""
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


def as_left(item: HistoryItem, state: TaskState) -> HistoryItem:
    """The line, and how the task was left if nobody works on it and it is not done."""
    waits = item.status == "delegated" and state.status == "paused"
    left = None if item.status == "completed" or waits or state.status not in get_args(HistoryState) else state.status
    return item.model_copy(update={"state": left})


async def list_recovered(recoveries: Sequence[Recovery], store: TaskStore, index: HistoryIndex) -> None:
    """Let the history tell how the tasks of dead processes were left."""
    for recovery in recoveries:
        # Others may delete it, or go on with it.
        with suppress(UnknownTask):
            state = await (await store.view(recovery.task_id)).read_state()
            if state.history_item is not None:
                await index.upsert(as_left(state.history_item, state))


def said_and_owner(folders: TaskFolders, task_id: TaskId) -> tuple[str, str | None]:
    """What a task can be found by, the beginning of what was said, and whose it is."""
    _, folder = folders.find(task_id)
    return _text(_first_messages(folders, task_id)), read_metadata(folder).user


def _text(messages: list[ClineMessage]) -> str:
    return "\n".join(message.text for message in messages if message.text)


def _record(folders: TaskFolders, task_id: TaskId, person: str) -> HistoryRecord:
    _, folder = folders.find(task_id)
    metadata, state = read_metadata(folder), read_state(folder, repair=False)
    messages = _first_messages(folders, task_id)
    item = history_item(metadata, state, messages[0] if messages else None)
    item = item.model_copy(update={"size": folders.size(task_id)})
    return HistoryRecord(item, _text(messages), metadata.user or person, metadata.created_at)


def _first_messages(folders: TaskFolders, task_id: TaskId) -> list[ClineMessage]:
    def paths() -> list[Path]:
        return [folders.at(place, task_id) / STREAM_FILES["ui"] for place in ("running", "completed")]

    # Whoever opens the conversation hears of its damage; here it is enough that the rest is found.
    log = JsonlLog(paths, UI_FORM, lambda path, line: None)
    return [entry.record for entry in log.between(0, _NEWEST_POSSIBLE, _TEXT_MESSAGES, newest=False)]
