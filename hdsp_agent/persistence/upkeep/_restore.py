"""A home folder from a backup: unpacked and checked beside what is there, then put in its place, which is kept aside.

What was begun is written down first, so that after a crash the same call, or the doctor, takes the steps that are left.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from ..._private_files import make_private_folder, read_with_identity, replace_file, storage_error, sync_folder
from ..._private_open import open_private
from ...errors import Conflict, StorageUnavailable
from .._backends import DATABASE_NAME, has_store
from ..files._task_folders import TaskFolders
from ..files._task_locks import TaskLock
from ..sqlite._process_locks import ProcessLockJudge
from ..sqlite._sqlite_database import SqliteDatabase
from ..tables._sql import SqlConnection
from ..tables._task_rows import TaskRows
from ._archive import HEAD, belongs_in_a_backup, damaged, members, read_head
from ._long_work import LongWork, in_thread
from ._work_progress import Progress

__all__ = ["RestoreReport", "finish_restore", "restore_backup", "restore_under_way"]

_JOURNAL: Final = ".restore.json"
_STAGING: Final = ".restoring-"
_ASIDE: Final = "before-restore-"
_BLOCK: Final = 1024 * 1024
_LEFT_FREE: Final = 64 * 1024 * 1024
_COMPANIONS: Final = ("-wal", "-shm", "-journal")


@dataclass
class RestoreReport:
    """What was put in place, and where what was there before is now (None if nothing was)."""

    created_at: str
    tasks: int
    files: int
    bytes: int
    aside: Path | None = None
    replaced: list[str] = field(default_factory=list)


async def restore_backup(
    archive: Path, home: Path, *, overwrite: bool = False, progress: Progress | None = None
) -> RestoreReport:
    """Put what a backup has in the home folder. ``Conflict`` if something is there already and ``overwrite`` is not said.

    No task may be worked on. Keys are in no backup: those of the home folder stay as they are.
    """
    return await in_thread(partial(_restore, archive, home, overwrite), progress)


def _restore(archive: Path, home: Path, overwrite: bool, work: LongWork) -> RestoreReport:
    head = read_head(archive)
    make_private_folder(home)
    finished = finish_restore(home)
    if finished is not None and finished.created_at == head.created_at:
        return finished
    if not overwrite:
        _check_empty(home)
    _remove_abandoned(home)
    staging = home / f"{_STAGING}{secrets.token_hex(4)}"
    report = RestoreReport(head.created_at, head.tasks, 0, 0)
    try:
        make_private_folder(staging)
        _unpack(archive, staging, report, work)
        report.replaced = _ours(home)
        _check_nobody_works(home)
    except BaseException as error:
        shutil.rmtree(staging, ignore_errors=True)
        if isinstance(error, OSError):
            raise storage_error(staging, "restore to", error) from error
        raise
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = home / f"{_ASIDE}{stamp}-{staging.name.removeprefix(_STAGING)}"
    report.aside = aside if report.replaced else None
    _write_journal(home, _Journal(staging.name, aside.name, "aside", report))
    return finish_restore(home) or report


def restore_under_way(home: Path) -> bool:
    """Whether a restoring was interrupted when it had begun to put things in place."""
    return (home / _JOURNAL).exists()


def finish_restore(home: Path) -> RestoreReport | None:
    """Take the steps that are left of a restoring that has begun to put things in place; None if none has. Blocks."""
    journal = _read_journal(home)
    if journal is None:
        return None
    staging, aside = home / journal.staging, home / journal.aside
    try:
        if journal.step == "aside":
            for name in _ours(home):
                make_private_folder(aside)
                os.rename(home / name, aside / name)
            sync_folder(aside)
            sync_folder(home)
            journal.step = "in"
            _write_journal(home, journal)
        for name in sorted(os.listdir(staging)) if staging.is_dir() else ():
            if os.path.lexists(home / name):
                # Whoever started meanwhile met an empty home and began a new one.
                make_private_folder(aside)
                os.rename(home / name, aside / f"{name}.{secrets.token_hex(4)}")
            os.rename(staging / name, home / name)
        sync_folder(home)
        if staging.is_dir():
            os.rmdir(staging)
        os.unlink(home / _JOURNAL)
        sync_folder(home)
    except OSError as error:
        raise storage_error(home, "finish restoring", error) from error
    return journal.report


@dataclass
class _Journal:
    """What is to be put in place, what becomes of what is there, and which of the two is under way."""

    staging: str
    aside: str
    step: str
    report: RestoreReport


def _read_journal(home: Path) -> _Journal | None:
    path = home / _JOURNAL
    found = read_with_identity(path)
    if found is None:
        return None
    try:
        read = json.loads(found[0])
        kept = read["report"]
        report = RestoreReport(**{**kept, "aside": home / read["aside"] if kept["aside"] else None})
        journal = _Journal(read["staging"], read["aside"], read["step"], report)
        if not journal.staging.startswith(_STAGING) or not journal.aside.startswith(_ASIDE):
            raise ValueError("it names other folders than ours")
        if "/" in journal.staging + journal.aside:
            raise ValueError("it names folders elsewhere")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageUnavailable(
            f"{path} cannot be read, so the interrupted restore cannot be finished. Nothing was changed. "
            f"Look for folders named {_STAGING}… and {_ASIDE}… in {home}.",
            path=str(path), action="finish", reason=str(error),
        ) from error  # fmt: skip
    return journal


def _write_journal(home: Path, journal: _Journal) -> None:
    report = {**vars(journal.report), "aside": journal.report.aside is not None}
    content = {"staging": journal.staging, "aside": journal.aside, "step": journal.step, "report": report}
    replace_file(home / _JOURNAL, json.dumps(content).encode() + b"\n")


def _ours(home: Path) -> list[str]:
    """What a backup replaces, companions of a database before it: a new one must never meet the write-ahead log of an old one."""
    names = os.listdir(home)
    databases = [name for name in names if name.endswith(".db")]
    companions = {database + suffix for database in databases for suffix in _COMPANIONS} & set(names)
    return [*sorted(companions), *sorted(name for name in names if belongs_in_a_backup(name))]


def _check_empty(home: Path) -> None:
    for name in _ours(home):
        path = home / name
        if path.is_dir() and not any(files for _, _, files in os.walk(path)):
            continue
        raise Conflict(
            f"{home} is not empty: it has {name}. Choose another folder, or allow overwriting it; what is there is then "
            "set aside.",
            path=str(home),
            name=name,
        )


def _check_nobody_works(home: Path) -> None:
    folders = TaskFolders(home)
    for place in ("running", "completed"):
        for task_id in folders.ids(place):
            with suppress(FileNotFoundError):
                TaskLock.acquire(folders.at(place, task_id)).release()
    if has_store(home, "sqlite"):
        _check_nobody_works_in(home / DATABASE_NAME)


def _check_nobody_works_in(path: Path) -> None:
    database = SqliteDatabase(path)
    rows = TaskRows(database.dialect, ProcessLockJudge(path, patient=False))

    def check(connection: SqlConnection) -> None:
        for task_id in rows.ids(connection, None):
            rows.at_rest(connection, task_id)

    try:
        # Of a database that cannot be read nobody works on anything.
        with suppress(StorageUnavailable):
            database.read(check)
    finally:
        database.close()


def _remove_abandoned(home: Path) -> None:
    for leftover in home.glob(f"{_STAGING}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _unpack(archive: Path, staging: Path, report: RestoreReport, work: LongWork) -> None:
    synced: set[Path] = set()
    for member in members(archive):
        if member.name == HEAD:
            raise damaged(archive, "it has two heads")
        path = staging / member.name
        folder = path if member.data is None else path.parent
        if folder not in synced:
            _make_folders(staging, folder)
            synced.add(folder)
        if member.data is None:
            continue
        work.tell("restore", report.files, None)
        if shutil.disk_usage(staging).free - member.size < _LEFT_FREE:
            raise StorageUnavailable(
                f"There is not enough space to restore {archive} to {staging.parent}. Nothing was changed. "
                "Free some space on that disk and try again.",
                path=str(staging.parent), action="restore", reason="No space left on device",
            )  # fmt: skip
        try:
            descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            raise damaged(archive, f"it has {member.name!r} twice") from None
        with os.fdopen(descriptor, "wb") as file:
            while piece := member.data.read(_BLOCK):
                work.check()
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.utime(path, (member.modified, member.modified))
        report.files += 1
        report.bytes += member.size
    for folder in synced:
        sync_folder(folder)
    work.tell("restore", report.files, report.files)


def _make_folders(staging: Path, folder: Path) -> None:
    for parent in (*reversed(folder.relative_to(staging).parents), folder.relative_to(staging)):
        make_private_folder(staging / parent)
