"""What becomes of finished tasks as they grow old: packed, then deleted. Whoever works on a task keeps it from both."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial, singledispatch
from typing import Final, Literal

from ..._iso_time import iso_time, parse_iso_time
from ..._private_files import make_private_folder, read_with_identity, replace_file
from ...errors import Conflict, HdspAgentError, UnknownTask, Unsupported
from ...messages import TaskId
from .._records import COMPLETED_STATUSES, StoredTaskState
from .._task_store import TaskStore
from .._trace import task_logger
from ..files._file_store import FileStore
from ..history._index import HistoryIndex
from ..tables._table_store import TableStore
from ._finished_tasks import FinishedTasks
from ._long_work import LongWork, in_thread
from ._retention_files import FinishedFolders
from ._retention_rows import FinishedRows
from ._work_progress import Progress

__all__ = ["CleanReport", "CleanedTask", "RetentionRules", "clean"]

logger = logging.getLogger(__name__)

_EPOCH: Final = datetime(2020, 1, 1, tzinfo=UTC)
"""No task is older: a clock that said so was not set."""
_TOLERANCE: Final = timedelta(days=1)
_LEAP: Final = timedelta(days=7)
_BELIEVED_AFTER: Final = timedelta(hours=1)

Step = Literal["packed", "deleted"]


@dataclass(frozen=True)
class RetentionRules:
    """After how many days without activity a finished task is packed, and deleted. 0 is never.

    A task that can go on is packed at most, if its process died, and left alone if it is paused.
    """

    compress_days: float = 7
    delete_days: float = 30

    def step(self, age: timedelta | None) -> Step | None:
        """What is due at this age."""
        if age is None:
            return None
        if self.delete_days > 0 and age >= timedelta(days=self.delete_days):
            return "deleted"
        if self.compress_days > 0 and age >= timedelta(days=self.compress_days):
            return "packed"
        return None


@dataclass(frozen=True)
class CleanedTask:
    """What was done about a task, or would be; ``before`` and ``after`` are the bytes it takes."""

    task_id: TaskId
    step: Step
    age_days: float
    before: int
    after: int


@dataclass
class CleanReport:
    """What was done. ``busy`` are tasks that somebody works on, ``failed`` those the disk refused, with the reason.

    With ``clock_doubted`` nothing was deleted because the clock leapt since the last time: if it is right, the next
    round an hour later deletes.
    """

    dry_run: bool = False
    looked_at: int = 0
    done: list[CleanedTask] = field(default_factory=list)
    exempt: int = 0
    busy: list[TaskId] = field(default_factory=list)
    failed: dict[TaskId, str] = field(default_factory=dict)
    forgotten: int = 0
    clock_doubted: bool = False

    @property
    def packed(self) -> list[CleanedTask]:
        """The tasks that were packed."""
        return [task for task in self.done if task.step == "packed"]

    @property
    def deleted(self) -> list[CleanedTask]:
        """The tasks that were deleted."""
        return [task for task in self.done if task.step == "deleted"]

    @property
    def freed(self) -> int:
        """How many bytes less are taken."""
        return sum(task.before - task.after for task in self.done)


async def clean(
    store: TaskStore,
    rules: RetentionRules,
    *,
    index: HistoryIndex | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> CleanReport:
    """Pack and delete what is due, and take tasks that are gone out of the index. Whoever gives ``now`` vouches for it."""
    report = CleanReport(dry_run=dry_run)
    time = now or datetime.now(tz=UTC)
    finished = _finished_tasks(store)
    if now is None:
        report.clock_doubted = await asyncio.to_thread(_clock_leapt, finished, time, write=not dry_run)
    if not dry_run:
        await store.recover()
    await in_thread(partial(_clean, store, finished, rules, time, report), progress)
    if index is not None and not dry_run:
        await _forget_gone(finished, index, report)
    return report


@singledispatch
def _finished_tasks(store: object) -> FinishedTasks:
    raise Unsupported(f"Tasks of {type(store).__name__} cannot be cleaned. Use a store of open_store.")


_finished_tasks.register(FileStore, FinishedFolders)
_finished_tasks.register(TableStore, FinishedRows)


async def _forget_gone(finished: FinishedTasks, index: HistoryIndex, report: CleanReport) -> None:
    """A crash between a task's deletion and this leaves it to the next round. A task is there before its entry is."""
    known = await index.ids()
    gone = await asyncio.to_thread(lambda: [task_id for task_id in known if not finished.has(TaskId(task_id))])
    if gone:
        await index.forget(gone)
    report.forgotten = len(gone)


def _clean(
    store: TaskStore,
    finished: FinishedTasks,
    rules: RetentionRules,
    now: datetime,
    report: CleanReport,
    work: LongWork,
) -> None:
    exemptions = _Exemptions(store, work)
    ids = finished.ids()
    for done, task_id in enumerate(ids):
        work.tell("clean", done, len(ids))
        report.looked_at += 1
        try:
            _clean_task(finished, task_id, rules, now, exemptions, report)
        except (FileNotFoundError, UnknownTask):
            # It was taken up or deleted meanwhile.
            continue
        except Conflict:
            report.busy.append(task_id)
        except (HdspAgentError, OSError) as error:
            report.failed[task_id] = str(error)
            task_logger(logger, task_id).warning("The task could not be cleaned: %s", error)
    work.tell("clean", len(ids), len(ids))


def _clean_task(
    finished: FinishedTasks,
    task_id: TaskId,
    rules: RetentionRules,
    now: datetime,
    exemptions: _Exemptions,
    report: CleanReport,
) -> None:
    state = finished.state(task_id)
    age = _age(finished, task_id, state, now)
    step = rules.step(age)
    if step is None or state.status not in COMPLETED_STATUSES:
        return
    if task_id in exemptions or _is_kept(state):
        report.exempt += 1
        return
    if step == "deleted" and (report.clock_doubted or not state.is_over):
        step = "packed" if rules.compress_days > 0 else None
    if step is None or (step == "packed" and not finished.can_be_packed(task_id)):
        return
    before = finished.size(task_id)
    after = 0
    if not report.dry_run:
        if step == "deleted":
            finished.delete(task_id, lambda newest: _is_to_be_deleted(finished, task_id, newest, rules, now))
        else:
            if not finished.pack(task_id):
                report.busy.append(task_id)
                return
            after = finished.size(task_id)
        task_logger(logger, task_id).info("The task was %s after %s days", step, age.days if age else "?")
    assert age is not None
    report.done.append(CleanedTask(task_id, step, age / timedelta(days=1), before, after))


class _Exemptions:
    """The tasks that stay because they, or the task they are part of, are pinned or a favourite."""

    def __init__(self, store: TaskStore, work: LongWork) -> None:
        self._kept: set[TaskId] = set()
        self._parents: dict[TaskId, tuple[TaskId, ...]] = {}
        for count, task in enumerate(store.overviews(messages=0, size=False)):
            work.tell("look", count, None)
            metadata = task.metadata
            if _is_kept(task.state):
                self._kept.add(metadata.uuid)
            parents = [parent for parent in (metadata.parent_task_id, metadata.root_task_id) if parent]
            if parents:
                self._parents[metadata.uuid] = tuple(parents)

    def __contains__(self, task_id: TaskId) -> bool:
        seen: set[TaskId] = set()
        waiting = [task_id]
        while waiting:
            one = waiting.pop()
            if one in self._kept:
                return True
            if one not in seen:
                seen.add(one)
                waiting += self._parents.get(one, ())
        return False


def _is_kept(state: StoredTaskState) -> bool:
    return state.pinned or bool(state.history_item and state.history_item.is_favorited)


def _is_to_be_deleted(
    finished: FinishedTasks, task_id: TaskId, state: StoredTaskState, rules: RetentionRules, now: datetime
) -> bool:
    due = rules.step(_age(finished, task_id, state, now)) == "deleted"
    return due and not _is_kept(state) and state.is_over


def _age(finished: FinishedTasks, task_id: TaskId, state: StoredTaskState, now: datetime) -> timedelta | None:
    """How long ago something happened to the task; None if nobody can tell, so that nothing is done to it."""
    said = [parse_iso_time(text) for text in (state.updated_at, state.completed_at) if text]
    credible = [time for time in said if time is not None and _EPOCH <= time <= now + _TOLERANCE]
    unreadable = state.error is not None and not state.started_at and not state.completed_at
    if unreadable:
        # Nor whether it is pinned; the doctor makes its state anew.
        return None
    if not credible:
        # The clock was wrong; the file system's may know.
        credible = [time for time in finished.changes(task_id) if _EPOCH <= time <= now + _TOLERANCE]
    return now - max(credible) if credible else None


def _clock_leapt(finished: FinishedTasks, now: datetime, *, write: bool) -> bool:
    """Whether the clock is so far from where it was last time that it may be wrong. Seen twice, it is believed."""
    path = finished.executions
    last: datetime | None = None
    leapt: datetime | None = None
    with suppress(ValueError, AttributeError, TypeError):
        found = read_with_identity(path)
        if found is not None:
            kept = json.loads(found[0])
            last, leapt = parse_iso_time(kept["at"]), parse_iso_time(kept.get("leapt_to") or "")
    doubted = last is not None and not last - _TOLERANCE <= now <= last + _LEAP
    if doubted and leapt is not None and leapt + _BELIEVED_AFTER <= now <= leapt + _LEAP:
        doubted = False
    if write:
        first_doubt = leapt if leapt is not None and leapt <= now <= leapt + _LEAP else now
        entry = {"at": iso_time(last if doubted else now), "leapt_to": iso_time(first_doubt) if doubted else None}
        make_private_folder(path.parent)
        replace_file(path, json.dumps(entry).encode())
    return doubted
