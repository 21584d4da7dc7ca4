"""Compares the history index with the tasks, which are right, and brings it in line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from ...errors import HdspAgentError
from ...messages import HistoryItem, JsonObject, TaskId
from .._backends import Backend, history_database, open_history, open_store
from .._task_store import TaskStore
from ..history._index import HistoryIndex
from ..history._state_database import StateDatabase
from ..history._task_records import task_record
from ._doctor_findings import Report

__all__ = ["examine_index"]

_SETTLING_SECONDS: Final = 1.0
_MOST_TOLD: Final = 50


async def examine_index(home: Path, backend: Backend, report: Report, *, url: str = "", repair: bool) -> None:
    """Look whether the index of this backend is sound and says what the tasks say. Without one nothing can be wrong."""
    path = history_database(home, backend)
    if not path.is_file():
        return
    database, store = StateDatabase(path), open_store(home, backend, url=url)
    index = open_history(store, backend, database)
    advice = "Delete it: it is then rebuilt from the tasks."
    if backend == "postgres":
        advice = "Restore the database from a backup."
    try:
        async with database, index:
            problems = await index.problems()
            for problem in problems:
                report.add("index_damaged", path, f"{problem}. {advice}")
            if not problems:
                await _compare(path, store, index, report, repair=repair)
    except HdspAgentError as error:
        report.add("index_damaged", path, str(error))
    finally:
        await store.stop()


async def _compare(path: Path, store: TaskStore, index: HistoryIndex, report: Report, *, repair: bool) -> None:
    differing = await _differing(store, index)
    if differing:
        # A server may have been between the two: the task is written first.
        await asyncio.sleep(_SETTLING_SECONDS)
        again = await _differing(store, index)
        differing = {task_id: why for task_id, why in differing.items() if task_id in again}
    for told, (task_id, (why, item)) in enumerate(differing.items()):
        if repair and item is None:
            await index.forget([task_id])
        elif repair and item is not None:
            record = await asyncio.to_thread(task_record, store, TaskId(task_id))
            await index.upsert(item, text=record.text, owner=record.owner)
        if told < _MOST_TOLD:
            report.add("index_out_of_step", path, why, task_id=TaskId(task_id), mended=repair)
    if len(differing) > _MOST_TOLD:
        rest = f"And {len(differing) - _MOST_TOLD} more tasks."
        report.add("index_out_of_step", path, rest, mended=repair)


_Differing = dict[str, tuple[str, HistoryItem | None]]


async def _differing(store: TaskStore, index: HistoryIndex) -> _Differing:
    differing: _Differing = {}
    known = set(await index.ids())
    ids = set(await store.tasks())
    for task_id in sorted(known - ids):
        differing[task_id] = ("The history has a task that does not exist.", None)
    for item in await asyncio.to_thread(_items, store):
        if item.id not in known:
            differing[item.id] = ("The history does not have this task.", item)
            continue
        hit = await index.get(item.id)
        if hit is not None and not _agree(item, hit.item):
            differing[item.id] = ("The history entry of this task is out of date.", item)
    return differing


def _agree(own: HistoryItem, index: HistoryItem) -> bool:
    """The index may know more: what the task does not state is left as it was."""
    stated, known = _fields(own), _fields(index)
    return all(known.get(name) == value for name, value in stated.items())


def _fields(item: HistoryItem) -> JsonObject:
    fields = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    if not item.number:
        # The index numbers a task before its folder knows of it.
        del fields["number"]
    return fields


def _items(store: TaskStore) -> list[HistoryItem]:
    found = [(task.metadata.uuid, task.state.history_item) for task in store.overviews(messages=0, size=False)]
    return [item for task_id, item in found if item is not None and item.id == task_id]
