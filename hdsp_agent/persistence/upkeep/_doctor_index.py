"""Compares the history index with the tasks' folders, which are right, and brings it in line."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final

from ...errors import HdspAgentError
from ...messages import HistoryItem, JsonObject, TaskId
from ..files._folders import TaskFolders, read_state
from ..history._index import HistoryIndex
from ..history._state_database import StateDatabase
from ..history._task_records import said_and_owner
from ._findings import Report
from ._other_tasks import tasks_without_folder

__all__ = ["examine_index"]

_SETTLING_SECONDS: Final = 1.0
_MOST_TOLD: Final = 50


async def examine_index(home: Path, report: Report, *, repair: bool) -> None:
    """Look whether ``state.db`` is sound and says what the folders say. Without one there is nothing to be wrong."""
    path = home / "state.db"
    if not path.is_file():
        return
    database = StateDatabase(path)
    index = HistoryIndex(database)
    try:
        async with database, index:
            problems = await index.problems()
            for problem in problems:
                report.add("index_damaged", path, f"{problem}. It is made anew from the folders when it is deleted.")
            if not problems:
                await _compare(TaskFolders(home), index, report, repair=repair)
    except HdspAgentError as error:
        report.add("index_damaged", path, str(error))


async def _compare(folders: TaskFolders, index: HistoryIndex, report: Report, *, repair: bool) -> None:
    differing = await _differing(folders, index)
    if differing:
        # A server may have been between the two: the folder is written first.
        await asyncio.sleep(_SETTLING_SECONDS)
        again = await _differing(folders, index)
        differing = {task_id: why for task_id, why in differing.items() if task_id in again}
    for told, (task_id, (why, item)) in enumerate(differing.items()):
        if repair and item is None:
            await index.forget([task_id])
        elif repair and item is not None:
            text, owner = await asyncio.to_thread(said_and_owner, folders, TaskId(task_id))
            await index.upsert(item, text=text, owner=owner)
        if told < _MOST_TOLD:
            report.add(
                "index_out_of_step", folders.root.parent / "state.db", why, task_id=TaskId(task_id), mended=repair
            )
    if len(differing) > _MOST_TOLD:
        rest = f"And {len(differing) - _MOST_TOLD} more tasks."
        report.add("index_out_of_step", folders.root.parent / "state.db", rest, mended=repair)


_Differing = dict[str, tuple[str, HistoryItem | None]]


async def _differing(folders: TaskFolders, index: HistoryIndex) -> _Differing:
    differing: _Differing = {}
    known = set(await index.ids())
    ids = await asyncio.to_thread(lambda: {*folders.ids("running"), *folders.ids("completed")})
    elsewhere = await asyncio.to_thread(tasks_without_folder, folders.root.parent)
    for task_id in sorted(known - ids - elsewhere if elsewhere is not None else ()):
        differing[task_id] = ("The history has a task that has no folder.", None)
    for task_id in sorted(ids):
        item = await asyncio.to_thread(_item, folders, task_id)
        if item is None:
            continue
        if task_id not in known:
            differing[task_id] = ("The history does not have this task.", item)
            continue
        hit = await index.get(task_id)
        if hit is not None and not _agree(item, hit.item):
            differing[task_id] = ("The history says something else of this task than its folder.", item)
    return differing


def _agree(folder: HistoryItem, index: HistoryItem) -> bool:
    """The index may know more: what the folder does not state is left as it was."""
    stated, known = _fields(folder), _fields(index)
    return all(known.get(name) == value for name, value in stated.items())


def _fields(item: HistoryItem) -> JsonObject:
    fields = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    if not item.number:
        # The index numbers a task before its folder knows of it.
        del fields["number"]
    return fields


def _item(folders: TaskFolders, task_id: TaskId) -> HistoryItem | None:
    with suppress(HdspAgentError):
        item = read_state(folders.find(task_id)[1], repair=False).history_item
        return item if item is not None and item.id == task_id else None
    return None
