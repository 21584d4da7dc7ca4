"""What becomes of finished tasks as they grow old: packed, then deleted. Whoever works on a task keeps it from both.

Each step is done under the task's lock and leaves nothing half done: logs are packed in a folder of their own and put in
place beside the ones that can be appended to, which go last; a task is deleted by taking its name away first.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import IO, Final, Literal

from ...config._private_files import (
    Identity,
    identity_of,
    make_private_folder,
    read_with_identity,
    replace_file,
    storage_error,
)
from ...errors import Conflict, HdspAgentError
from ...messages import TaskId
from .._records import COMPLETED_STATUSES, STREAM_FILES, Stream, TaskState, iso_time, parse_iso_time
from .._trace import task_logger
from ..files._folders import TaskFolders, read_metadata, read_state, sync_folder
from ..files._locks import TaskLock
from ..files._packing import PACKED, open_packed, write_packed
from ..files._store import FileStore
from ..history._index import HistoryIndex
from ._compaction import compacted_ui_lines
from ._long_work import LongWork, in_thread
from ._other_tasks import tasks_without_folder
from ._progress import Progress

__all__ = ["CleanReport", "CleanedTask", "RetentionRules", "clean"]

logger = logging.getLogger(__name__)

_LEDGER: Final = ".clean.json"
_EPOCH: Final = datetime(2020, 1, 1, tzinfo=timezone.utc)
"""No task is older: a clock that said so was not set."""
_TOLERANCE: Final = timedelta(days=1)
_LEAP: Final = timedelta(days=7)
_BELIEVED_AFTER: Final = timedelta(hours=1)
_BLOCK: Final = 256 * 1024

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
    store: FileStore,
    rules: RetentionRules,
    *,
    index: HistoryIndex | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> CleanReport:
    """Pack and delete what is due, and take tasks without a folder out of the index. Whoever gives ``now`` vouches for it."""
    report = CleanReport(dry_run=dry_run)
    moment = now or datetime.now(tz=timezone.utc)
    folders = store.folders
    if now is None:
        report.clock_doubted = await asyncio.to_thread(_clock_leapt, folders, moment, write=not dry_run)
    if not dry_run:
        await store.recover()
    await in_thread(partial(_clean, folders, rules, moment, report), progress)
    if index is not None and not dry_run:
        await _forget_gone(folders, index, report)
    return report


async def _forget_gone(folders: TaskFolders, index: HistoryIndex, report: CleanReport) -> None:
    """A crash between a task's deletion and this leaves it to the next round. A folder is there before its entry is."""
    known = await index.ids()
    elsewhere = await asyncio.to_thread(tasks_without_folder, folders.root.parent)
    if elsewhere is None:
        return
    gone = await asyncio.to_thread(
        lambda: [task_id for task_id in known if task_id not in elsewhere and not _has_folder(folders, task_id)]
    )
    if gone:
        await index.forget(gone)
    report.forgotten = len(gone)


def _has_folder(folders: TaskFolders, task_id: str) -> bool:
    try:
        folders.find(TaskId(task_id))
    except HdspAgentError:
        return False
    return True


def _clean(folders: TaskFolders, rules: RetentionRules, now: datetime, report: CleanReport, work: LongWork) -> None:
    exemptions = _Exemptions(folders, work)
    ids = sorted(folders.ids("completed"))
    for done, task_id in enumerate(ids):
        work.tell("clean", done, len(ids))
        report.looked_at += 1
        try:
            _clean_task(folders, task_id, rules, now, exemptions, report)
        except FileNotFoundError:
            # It was taken up or deleted meanwhile.
            continue
        except Conflict:
            report.busy.append(task_id)
        except (HdspAgentError, OSError) as error:
            report.failed[task_id] = str(error)
            task_logger(logger, task_id).warning("The task could not be cleaned: %s", error)
    work.tell("clean", len(ids), len(ids))


def _clean_task(
    folders: TaskFolders,
    task_id: TaskId,
    rules: RetentionRules,
    now: datetime,
    exemptions: _Exemptions,
    report: CleanReport,
) -> None:
    folder = folders.at("completed", task_id)
    age, state = _age(folder, now)
    step = rules.step(age)
    if step is None or state.status not in COMPLETED_STATUSES:
        return
    if task_id in exemptions or _is_kept(state):
        report.exempt += 1
        return
    if step == "deleted" and (report.clock_doubted or not state.is_over):
        step = "packed" if rules.compress_days > 0 else None
    if step is None or (step == "packed" and not _plain_logs(folder)):
        return
    before = _size(folder)
    after = 0
    if not report.dry_run:
        if step == "deleted":
            _delete(folders, folder, rules, now)
        else:
            if not _pack(folder):
                report.busy.append(task_id)
                return
            after = _size(folder)
        task_logger(logger, task_id).info("The task was %s after %s days", step, age.days if age else "?")
    assert age is not None
    report.done.append(CleanedTask(task_id, step, age / timedelta(days=1), before, after))


class _Exemptions:
    """The tasks that stay because they, or the task they are part of, are pinned or a favourite."""

    def __init__(self, folders: TaskFolders, work: LongWork) -> None:
        self._kept: set[TaskId] = set()
        self._parents: dict[TaskId, tuple[TaskId, ...]] = {}
        for place in ("running", "completed"):
            for count, task_id in enumerate(folders.ids(place)):
                work.tell("look", count, None)
                folder = folders.at(place, task_id)
                with suppress(HdspAgentError):
                    if _is_kept(read_state(folder, repair=False)):
                        self._kept.add(task_id)
                    metadata = read_metadata(folder)
                    parents = [parent for parent in (metadata.parent_task_id, metadata.root_task_id) if parent]
                    if parents:
                        self._parents[task_id] = tuple(parents)

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


def _is_kept(state: TaskState) -> bool:
    return state.pinned or bool(state.history_item and state.history_item.is_favorited)


def _age(folder: Path, now: datetime) -> tuple[timedelta | None, TaskState]:
    """How long ago something happened to the task; None if nobody can tell, so that nothing is done to it."""
    state = read_state(folder, repair=False)
    said = [parse_iso_time(text) for text in (state.updated_at, state.completed_at) if text]
    credible = [moment for moment in said if moment is not None and _EPOCH <= moment <= now + _TOLERANCE]
    unreadable = state.error is not None and not state.started_at and not state.completed_at
    if unreadable:
        # Nor whether it is pinned; the doctor makes its state anew.
        return None, state
    if not credible:
        # The clock was wrong; the file system's may know.
        credible = [moment for moment in _changes(folder) if _EPOCH <= moment <= now + _TOLERANCE]
    return (now - max(credible) if credible else None), state


def _changes(folder: Path) -> Iterator[datetime]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ".jsonl" in entry.name:
                yield datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, tz=timezone.utc)


def _clock_leapt(folders: TaskFolders, now: datetime, *, write: bool) -> bool:
    """Whether the clock is so far from where it was last time that it may be wrong. Seen twice, it is believed."""
    path = folders.root / _LEDGER
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
        make_private_folder(folders.root)
        replace_file(path, json.dumps(entry).encode())
    return doubted


def _plain_logs(folder: Path) -> list[tuple[Stream, Path, Identity]]:
    """The logs that have something to pack."""
    logs: list[tuple[Stream, Path, Identity]] = []
    for stream, name in STREAM_FILES.items():
        identity = identity_of(folder / name)
        if identity is not None and identity[1] > 0:
            logs.append((stream, folder / name, identity))
    return logs


def _size(folder: Path) -> int:
    total = 0
    for at, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(at, name)).st_size
    return total


def _delete(folders: TaskFolders, folder: Path, rules: RetentionRules, now: datetime) -> None:
    lock = TaskLock.acquire(folder)
    try:
        age, state = _age(folder, now)
        if rules.step(age) == "deleted" and not _is_kept(state) and state.is_over:
            lock.moved(folders.delete(TaskId(folder.name), folder))
        else:
            raise Conflict(f"Task {folder.name} was changed meanwhile. It stays.", task=folder.name)
    finally:
        lock.release()


def _pack(folder: Path) -> bool:
    """Pack the logs; False if somebody took the task up meanwhile. The lock is held only while names change."""
    logs = _plain_logs(folder)
    with _workshop(folder) as workshop:
        for stream, path, (_, size, _) in logs:
            _pack_log(stream, path, workshop / (path.name + PACKED), size)
        lock = TaskLock.acquire(folder)
        try:
            if read_state(folder, repair=False).status not in COMPLETED_STATUSES or logs != _plain_logs(folder):
                return False
            for _, path, _ in logs:
                os.replace(workshop / (path.name + PACKED), folder / (path.name + PACKED))
            sync_folder(folder)
            for _, path, _ in logs:
                os.unlink(path)
            sync_folder(folder)
        except OSError as error:
            raise storage_error(folder, "pack the logs of", error) from error
        finally:
            lock.release()
    return True


@contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """A folder beside the task's; its name is that of one whose making did not end, so whoever tidies up removes it."""
    workshop = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    make_private_folder(workshop)
    try:
        yield workshop
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _pack_log(stream: Stream, path: Path, packed: Path, size: int) -> None:
    try:
        with open(path, "rb") as log:
            lines = compacted_ui_lines(log, size) if stream == "ui" else _pieces(log, size)
            length = write_packed(packed, lines, size)
        with open(packed, "rb", buffering=0) as raw:
            reader, known = open_packed(raw)
            unpacked = 0
            while piece := reader.read(_BLOCK):
                unpacked += len(piece)
        if unpacked != length or known not in (None, length) or (stream != "ui" and length != size):
            raise OSError(f"{length} bytes were packed, {unpacked} came out")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise storage_error(path, "pack", error) from error


def _pieces(log: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left > 0 and (piece := log.read(min(_BLOCK, left))):
        yield piece
        left -= len(piece)
