"""Looks a home folder over, and mends what can be mended without losing a byte: what is taken out is kept beside it.

Looking changes nothing. Mending takes a task's lock first, so a task that is worked on is left to who works on it.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from ..._private_files import read_with_identity
from ...errors import Conflict, HdspAgentError
from ...messages import TaskId
from .._backends import BACKENDS, Backend, has_store, open_store, tasks_elsewhere
from .._records import COMPLETED_STATUSES, Place
from ..files._task_end import settle_task
from ..files._task_folders import TaskFolders, read_state
from ..files._task_locks import LOCK_NAME, TaskLock, is_held
from ._doctor_database import examine_database
from ._doctor_findings import DoctorFinding, FindingKind, Report
from ._doctor_index import examine_index
from ._doctor_task import TaskExamination
from ._long_work import LongWork, in_thread
from ._restore import finish_restore, restore_under_way
from ._work_progress import Progress

__all__ = ["DoctorFinding", "DoctorReport", "FindingKind", "examine"]

_ABANDONED_SECONDS: Final = 3600.0
_PLACES: Final[tuple[Place, ...]] = ("running", "completed")
_HOME_FILES: Final = frozenset(
    {
        "config.json",
        "config.json.lock",
        "ghost-text.json",
        "history.jsonl",
        "screens.json",
        "secrets.json",
        "secrets.enc",
        "trusted-folders.json",
        "variables.key",
    }
)
_HOME_FOLDERS: Final = frozenset({"contexts", "checkpoints", "memories", "ipc", "backups", "logs"})


@dataclass
class DoctorReport:
    """What was found. ``problems`` are left to be seen to, ``mended`` are not any more, ``notes`` need nothing."""

    findings: list[DoctorFinding] = field(default_factory=list)
    tasks: int = 0

    @property
    def problems(self) -> list[DoctorFinding]:
        """What is still wrong."""
        return [finding for finding in self.findings if not finding.mended and not finding.note]

    @property
    def mended(self) -> list[DoctorFinding]:
        """What was put right just now."""
        return [finding for finding in self.findings if finding.mended]

    @property
    def notes(self) -> list[DoctorFinding]:
        """What is worth knowing."""
        return [finding for finding in self.findings if finding.note]

    @property
    def counts(self) -> Counter[FindingKind]:
        """How often each kind was found."""
        return Counter(finding.kind for finding in self.findings)


async def examine(
    home: Path,
    *,
    backend: Backend = "files",
    url: str = "",
    artifact_store_url: str = "",
    repair: bool = False,
    progress: Progress | None = None,
) -> DoctorReport:
    """Look everything over; with ``repair``, mend what can be mended. ``backend`` is the one in use, at ``url`` if need be."""
    report = Report()
    tasks = await in_thread(partial(_examine, home, report, repair), progress)
    databases: list[Backend] = [
        each for each in BACKENDS if each != "files" and (each == backend or each != "postgres")
    ]
    for database in databases:
        if has_store(home, database):
            store = open_store(home, database, url=url, artifact_store_url=artifact_store_url)
            tasks += await examine_database(store, report, repair=repair, progress=progress)
    for each in BACKENDS:
        if each in ("files", *databases):
            await examine_index(home, each, report, url=url, repair=repair)
    await _examine_other_backends(home, backend, url, report)
    return DoctorReport(report.findings, tasks)


async def _examine_other_backends(home: Path, backend: Backend, url: str, report: Report) -> None:
    store = open_store(home, backend, url=url)
    try:
        kept = await tasks_elsewhere(store, home, backend)
    except HdspAgentError:
        # Told already.
        return
    finally:
        await store.stop()
    for other, count in kept.items():
        report.add(
            "other_backend", home,
            f"Tasks kept in {other} are not shown ({count}), because {backend} is in use. To copy them, run hdsp-agent "
            f"migrate --to {backend}.",
            note=True,
        )  # fmt: skip


def _examine(home: Path, report: Report, repair: bool, work: LongWork) -> int:
    if not home.is_dir():
        report.add("missing", home, f"There is no folder {home}.")
        return 0
    if restore_under_way(home):
        _mend(
            report, repair, "interrupted_restore", home, "A restore was interrupted after it started.",
            lambda: finish_restore(home),
        )  # fmt: skip
    _examine_home(home, report, repair)
    folders = TaskFolders(home)
    _examine_leftovers(folders, report, repair)
    found: list[tuple[Place, TaskId]] = [(place, task_id) for place in _PLACES for task_id in folders.ids(place)]
    twice = {task_id for task_id, times in Counter(task_id for _, task_id in found).items() if times > 1}
    for done, (place, task_id) in enumerate(found):
        work.tell("examine", done, len(found))
        if task_id in twice and place == "running":
            report.add(
                "twice", folders.at(place, task_id), "The task is both in the running and in the completed tasks."
            )
        with suppress(FileNotFoundError):
            _examine_task(folders, place, task_id, report, repair)
    work.tell("examine", len(found), len(found))
    return len(found)


def _examine_home(home: Path, report: Report, repair: bool) -> None:
    _check_mode(home, report, repair)
    for entry in sorted(os.scandir(home), key=lambda entry: entry.name):
        path = Path(entry.path)
        if ".corrupt-" in entry.name:
            report.add("kept_aside", path, "It was damaged and set aside. Look at it, or delete it.", note=True)
        elif entry.name.startswith("before-restore-"):
            report.add("kept_aside", path, "It contains what was here before a restore.", note=True)
        elif not _is_ours(entry.name):
            report.add("unknown_file", path, "This is unknown, and is not changed.", note=True)
            continue
        _check_mode(path, report, repair)
    config = home / "config.json"
    try:
        found = read_with_identity(config)
        if found is not None and not isinstance(json.loads(found[0].decode("utf-8-sig")), dict):
            raise ValueError("it does not contain a JSON object")
    except (HdspAgentError, ValueError, RecursionError) as error:
        report.add("damaged_settings", config, f"The settings cannot be read: {error}. The server sets them aside.")
    for part in ("contexts", "contexts/running", "contexts/completed", "checkpoints", "memories"):
        _check_mode(home / part, report, repair)


def _is_ours(name: str) -> bool:
    if name in _HOME_FILES | _HOME_FOLDERS:
        return True
    return name.startswith((".", "state.db", "secrets.", "config.json", "audit.jsonl")) or name.endswith(
        (".db", ".db-wal", ".db-shm", ".lock")
    )


def _check_mode(path: Path, report: Report, repair: bool) -> None:
    """Nobody but its owner may read a file or folder of ours."""
    if sys.platform == "win32":
        return
    with suppress(FileNotFoundError):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            report.add("unknown_file", path, "It is a link. HDSP Agent makes no links.", note=True)
            return
        if status.st_mode & 0o077:
            mode = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
            _mend(
                report, repair, "permissions", path, f"Others can use it (mode {stat.S_IMODE(status.st_mode):03o}).",
                lambda: path.chmod(mode),
            )  # fmt: skip


def _examine_leftovers(folders: TaskFolders, report: Report, repair: bool) -> None:
    for folder in list(folders.unfinished()):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS:
                # A monitor does the same: it was not yet a task, or not any more.
                _mend(
                    report, repair, "unfinished", folder, "The creation, compression or deletion of a task did not finish.",
                    partial(shutil.rmtree, folder),
                )  # fmt: skip


def _examine_task(folders: TaskFolders, place: Place, task_id: TaskId, report: Report, repair: bool) -> None:
    folder = folders.at(place, task_id)
    if is_held(folder):
        # Its logs end in the midst of a line every now and then.
        TaskExamination(folder, task_id, report, repair=False, worked_on=True).run()
        return
    trouble = _trouble(folder, place)
    if trouble is not None:
        kind, message = trouble
        report.mend(
            kind, folder, message, partial(_end, folders, folder) if repair else None,
            task_id=task_id, note=kind == "stopped_task" and not repair,
        )  # fmt: skip
        folder = folders.find(task_id)[1]
    if not repair:
        TaskExamination(folder, task_id, report, repair=False).run()
        return
    try:
        lock = TaskLock.acquire(folder)
    except Conflict:
        TaskExamination(folder, task_id, report, repair=False, worked_on=True).run()
        return
    try:
        TaskExamination(folder, task_id, report, repair=True).run()
    finally:
        lock.release()


def _end(folders: TaskFolders, folder: Path) -> None:
    """What a monitor would do, also for a task whose lock is gone."""
    settle_task(folders, "completed" if folder.parent.name == "completed" else "running", folder)


def _trouble(folder: Path, place: Place) -> tuple[FindingKind, str] | None:
    """What a monitor would see to."""
    status = read_state(folder, repair=False).status
    locked = (folder / LOCK_NAME).exists()
    if status == "completing":
        return "interrupted_move", "Its move to the completed tasks was interrupted."
    if place == "running":
        if status == "paused" and not locked:
            return None
        if locked:
            return "dead_task", f"It is {status}, but the process that worked on it has stopped."
        return (
            "stopped_task",
            f"It is {status}, and no process works on it. The next start of the server pauses it, and it can be resumed.",
        )
    if locked or any(folder.glob(f"{LOCK_NAME}.*")):
        return "orphan_lock", "A stopped process has left its lock."
    if status not in COMPLETED_STATUSES:
        return "interrupted_move", f"It is among the completed tasks, but {status}."
    return None


def _mend(report: Report, repair: bool, kind: FindingKind, path: Path, what: str, mend: Callable[[], object]) -> None:
    report.mend(kind, path, what, mend if repair else None)
