"""Backups of a home folder while tasks are worked on: settings, databases, tasks, checkpoints, memories. Never keys.

What was acknowledged when the backup began is in it, and nothing of a later turn whose beginning is not: of each log it
has the lines up to where it ended then, and of a task the marks were measured before the messages they speak of.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Final

from pydantic import JsonValue

from ..._iso_time import iso_time
from ..._private_files import locked, make_private_folder, read_with_identity, storage_error, sync_folder
from ..._private_open import open_private
from ...append_log.gzip_logs import PACKED
from ...config import CREDENTIAL_NAME, secret_keys, setting_keys
from ...errors import HdspAgentError, InvalidInput, StorageUnavailable, UnknownTask
from ...messages import TaskId
from .._backends import DATABASE_NAME, has_store
from .._records import COMPLETED_STATUSES, STREAM_FILES
from ..files._task_folders import METADATA, STATE, Place, TaskFolders
from ..sqlite._sqlite_database import SqliteDatabase
from ._archive import FILES, FOLDERS, ArchiveHead, ArchiveWriter, belongs_in_a_backup, is_safe_name, members, read_head
from ._long_work import LongWork, in_thread
from ._restore import RestoreReport, restore_backup
from ._work_progress import Progress

__all__ = ["BackupInfo", "BackupReport", "RestoreReport", "back_up", "backups", "restore_backup", "verify_backup"]

logger = logging.getLogger(__name__)

_NAME: Final = re.compile(r"hdsp-agent-(\d{6,})-\d{8}T\d{6}Z\.tar\.gz")
_UNFINISHED: Final = ".hdsp-agent-backup."
_BLOCK: Final = 1024 * 1024
_LOCK_SECONDS: Final = 2.0
_BUSY_SECONDS: Final = 30.0
# What speaks of other streams is measured before them.
_STREAMS: Final = tuple(STREAM_FILES[stream] for stream in ("marks", "tools", "summaries", "api", "ui"))
_HEADERS: Final = "openAiHeaders"

_Identity = tuple[int, int]


@dataclass(frozen=True)
class BackupInfo:
    """A backup that is there."""

    path: Path
    generation: int
    created_at: str
    tasks: int
    size: int


@dataclass
class BackupReport:
    """The backup that was made; ``removed`` are those that were too old, ``left_out`` says what could not be read and why."""

    backup: BackupInfo
    files: int
    bytes: int
    removed: list[Path] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


async def back_up(home: Path, target: Path, *, generations: int = 7, progress: Progress | None = None) -> BackupReport:
    """Make a backup in the folder ``target``, read it again, and only then remove those that are too old."""
    if generations < 1:
        raise InvalidInput(f"{generations} generations cannot be kept. Keep at least one.", field="generations")
    return await in_thread(partial(_back_up, home, target, generations), progress)


async def verify_backup(archive: Path, *, progress: Progress | None = None) -> int:
    """Read a backup to its end and return how many files it has; raises ``InvalidInput`` if anything is wrong with it."""
    return await in_thread(partial(_verify, archive), progress)


def backups(target: Path) -> list[BackupInfo]:
    """The backups in a folder, newest first. Blocks."""
    found: list[BackupInfo] = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in target.iterdir():
            match = _NAME.fullmatch(path.name)
            if match is None or not path.is_file():
                continue
            created_at, tasks = "", 0
            with suppress(HdspAgentError):
                head = read_head(path)
                created_at, tasks = head.created_at, head.tasks
            found.append(BackupInfo(path, int(match[1]), created_at, tasks, path.stat().st_size))
    return sorted(found, key=lambda info: info.generation, reverse=True)


def _back_up(home: Path, target: Path, generations: int, work: LongWork) -> BackupReport:
    if not home.is_dir():
        raise InvalidInput(f"There is no folder {home}. Choose the folder to back up.", field="home")
    inside = (
        target.resolve().relative_to(home.resolve()).parts if target.resolve().is_relative_to(home.resolve()) else ()
    )
    if target.resolve() == home.resolve() or (inside and belongs_in_a_backup(inside[0])):
        raise InvalidInput(
            f"A backup cannot be written to {target}, because that folder is itself backed up. Choose another one.",
            field="to",
        )
    make_private_folder(target)
    with locked(target / "backup", _LOCK_SECONDS):
        for leftover in target.glob(f"{_UNFINISHED}*"):
            with suppress(OSError):
                leftover.unlink()
        # Those a killed backup left beyond the number come first, else each kill would leave one more.
        removed = list(_remove_old(target, generations))
        number = 1 + max((int(match[1]) for match in map(_NAME.fullmatch, os.listdir(target)) if match), default=0)
        unfinished = target / f"{_UNFINISHED}{secrets.token_hex(4)}.tmp"
        created = time.gmtime()
        path = target / f"hdsp-agent-{number:06}-{time.strftime('%Y%m%dT%H%M%SZ', created)}.tar.gz"
        try:
            with os.fdopen(open_private(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                report = _write(home, target, file, work)
                file.flush()
                os.fsync(file.fileno())
            _verify(unfinished, work)
            os.replace(unfinished, path)
            sync_folder(target)
        except BaseException as error:
            with suppress(OSError):
                unfinished.unlink()
            if isinstance(error, OSError):
                raise _failure(path, error) from error
            raise
        report.backup = BackupInfo(path, number, report.backup.created_at, report.backup.tasks, path.stat().st_size)
        report.removed = [*removed, *_remove_old(target, generations)]
    return report


def _failure(backup: Path, error: OSError) -> StorageUnavailable:
    """What failed: writing the backup, or reading what was to go into it."""
    name = error.filename
    failed = Path(os.fsdecode(name)) if isinstance(name, (str, bytes)) else backup
    if failed.is_relative_to(backup.parent):
        return storage_error(backup, "write", error)
    return storage_error(failed, "read", error)


def _remove_old(target: Path, generations: int) -> Iterator[Path]:
    for old in backups(target)[generations:]:
        try:
            old.path.unlink()
        except OSError as error:
            logger.warning("The old backup %s could not be removed: %s", old.path, error)
        else:
            yield old.path


def _verify(archive: Path, work: LongWork) -> int:
    count = 0
    for member in members(archive):
        while member.data is not None and member.data.read(_BLOCK):
            work.check()
        count += member.data is not None
        work.tell("verify", count, None)
    work.tell("verify", count, count)
    return count


def _write(home: Path, target: Path, file: IO[bytes], work: LongWork) -> BackupReport:
    folders = TaskFolders(home)
    # Tasks that are worked on are measured at once, the others when their turn comes: nobody writes to them.
    running = {
        task_id: measured for task_id in list(folders.ids("running")) if (measured := _measure(folders, task_id))
    }
    ids = [*running, *(task_id for task_id in sorted(folders.ids("completed")) if task_id not in running)]
    head = ArchiveHead(iso_time(), len(ids) + _tasks_in_database(home))
    report = BackupReport(BackupInfo(target, 0, head.created_at, head.tasks, 0), 0, 0)
    writer = ArchiveWriter(file, head, target)
    files = _Files(writer, _identities_of_keys(home), report.left_out)
    try:
        _add_top(home, target, files)
        for done, task_id in enumerate(ids):
            work.tell("back up", done, len(ids))
            try:
                measured = running.get(task_id) or _measure(folders, task_id)
            except HdspAgentError as error:
                report.left_out[task_id] = str(error)
                continue
            if measured is not None:
                _Task(folders, task_id, measured, files).add()
        for name in FOLDERS[1:]:
            _add_tree(home / name, name, files, work)
        writer.finish()
    finally:
        writer.close()
    work.tell("back up", len(ids), len(ids))
    report.files, report.bytes = writer.files, writer.bytes
    return report


def _tasks_in_database(home: Path) -> int:
    """How many tasks are kept in the database; one that cannot be read is told when it is its turn."""
    if not has_store(home, "sqlite"):
        return 0
    database = SqliteDatabase(home / DATABASE_NAME)
    try:
        return database.read(lambda connection: int(connection.execute("SELECT COUNT(*) FROM tasks").fetchone()[0]))
    except HdspAgentError:
        return 0
    finally:
        database.close()


def _add_top(home: Path, scratch: Path, files: _Files) -> None:
    for name in sorted(os.listdir(home)):
        path = home / name
        if not belongs_in_a_backup(name) or name in FOLDERS or not stat.S_ISREG(os.lstat(path).st_mode):
            continue
        try:
            if name == "config.json":
                files.writer.add_bytes(name, _settings(path), path.stat().st_mtime)
            elif name in FILES:
                # Its last line may be on its way.
                files.add_log(name, path, None)
            else:
                _add_database(path, scratch, files.writer)
        except (ValueError, RecursionError, sqlite3.Error, HdspAgentError) as error:
            files.left_out[name] = str(error)
            logger.warning("%s is not in the backup: %s", path, error)


def _settings(path: Path) -> bytes:
    """The settings without anything that is a key: one may have been written there by hand."""
    found = read_with_identity(path)
    content: JsonValue = json.loads(found[0].decode("utf-8-sig")) if found else {}
    return json.dumps(_without_keys(content), ensure_ascii=False, indent=2).encode() + b"\n"


def _without_keys(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            secrets = secret_keys() | setting_keys()
            kept = {name: _without_keys(item) for name, item in value.items() if name not in secrets}
            headers = kept.get(_HEADERS)
            if isinstance(headers, dict):
                kept[_HEADERS] = {name: text for name, text in headers.items() if not CREDENTIAL_NAME.search(name)}
            return kept
        case list():
            return [_without_keys(item) for item in value]
        case _:
            return value


def _add_database(path: Path, scratch: Path, writer: ArchiveWriter) -> None:
    # Never opened as a file: closing it would drop the locks that SQLite has on it in this process.
    copy = scratch / f"{_UNFINISHED}{secrets.token_hex(4)}.db"
    os.close(open_private(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    try:
        source_uri = f"{path.absolute().as_uri()}?mode=rw"
        with (
            closing(sqlite3.connect(source_uri, uri=True, timeout=_BUSY_SECONDS)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            _copy_database(source, target, copy)
            if path.name == DATABASE_NAME:
                # Nobody works on the tasks of a copy.
                target.execute("DELETE FROM locks")
                target.commit()
        with open(copy, "rb") as data:
            writer.add(path.name, data, os.fstat(data.fileno()).st_size, path.stat().st_mtime)
    finally:
        for leftover in scratch.glob(f"{copy.name}*"):
            with suppress(OSError):
                leftover.unlink()


def _copy_database(source: sqlite3.Connection, target: sqlite3.Connection, copy: Path) -> None:
    try:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        if "full" in str(error):
            # Of the two databases only the copy grows: it is the disk of the backup.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy)) from error
        raise


@dataclass(frozen=True)
class _Measured:
    """A task as it was at one moment: where its logs ended, and its two whole-file records."""

    place: Place
    ends: dict[str, int]
    records: dict[str, bytes]


def _measure(folders: TaskFolders, task_id: TaskId) -> _Measured | None:
    for _ in range(3):
        try:
            folder = folders.find(task_id)[1]
        except UnknownTask:
            return None
        ends: dict[str, int] = {}
        for name in _STREAMS:
            with suppress(FileNotFoundError):
                ends[name] = os.stat(folder / name).st_size
        found = {name: read_with_identity(folder / name) for name in (STATE, METADATA)}
        if not folder.is_dir():
            continue
        records = {name: read[0] for name, read in found.items() if read is not None}
        return _Measured("completed" if _is_over(records.get(STATE, b"")) else "running", ends, records)
    return None


def _is_over(state: bytes) -> bool:
    """A task that is in the midst of anything is restored as one that a monitor will pause."""
    try:
        content = json.loads(state)
    except ValueError:
        return True
    return isinstance(content, dict) and content.get("status") in COMPLETED_STATUSES


class _Task:
    """Adds one task; it may move, be packed, unpacked or deleted meanwhile."""

    def __init__(self, folders: TaskFolders, task_id: TaskId, measured: _Measured, files: _Files) -> None:
        self._places = [folders.at(place, task_id) for place in ("running", "completed")]
        self._name = f"contexts/{measured.place}/{task_id}"
        self._measured = measured
        self._files = files

    def add(self) -> None:
        self._files.writer.add_folder(self._name)
        for name, data in self._measured.records.items():
            self._files.writer.add_bytes(f"{self._name}/{name}", data, time.time())
        for name in _STREAMS:
            self._add_log(name)
        known = {*self._measured.records, *_STREAMS, *(name + PACKED for name in _STREAMS)}
        for folder in self._places:
            for path, relative in _tree(folder):
                if relative not in known and not relative.startswith(".") and path is not None:
                    known.add(relative)
                    self._files.add(f"{self._name}/{relative}", path)

    def _add_log(self, name: str) -> None:
        # Twice, because it may be moved or packed between two looks.
        for folder in (*self._places, *self._places):
            if self._files.add_log(f"{self._name}/{name}", folder / name, self._measured.ends.get(name)):
                return
            if self._files.add(f"{self._name}/{name}{PACKED}", folder / (name + PACKED)):
                return


class _Files:
    """Adds files as they are; one that the disk does not give is left out, and said so. They return whether it was there."""

    def __init__(self, writer: ArchiveWriter, keys: set[_Identity], left_out: dict[str, str]) -> None:
        self.writer = writer
        self.left_out = left_out
        self._keys = keys

    def add_folder(self, name: str) -> None:
        """Add a folder that may be empty."""
        if _is_safe(name):
            self.writer.add_folder(name)

    def add(self, name: str, path: Path) -> bool:
        """Add a whole file."""
        return self._add(name, path, lambda data, size: size, b"\0")

    def add_log(self, name: str, path: Path, end: int | None) -> bool:
        """Add a log up to the last whole line before ``end``."""
        # A line that was never acknowledged may be cut off meanwhile: blank lines are none.
        return self._add(
            name, path, lambda data, size: _last_line_end(data, size if end is None else min(end, size)), b"\n"
        )

    def _add(self, name: str, path: Path, end: Callable[[IO[bytes], int], int], padding: bytes) -> bool:
        if not _is_safe(name):
            # A backup that has it could not be restored, everything else in it neither.
            if os.path.lexists(path):
                self._leave_out(name, path, OSError(errno.EINVAL, "Its name is not allowed on every system; rename it"))
            return True
        try:
            data = open(path, "rb")  # noqa: SIM115 -- closed below
        except FileNotFoundError:
            return False
        except OSError as error:
            self._leave_out(name, path, error)
            return True
        with data:
            status = os.fstat(data.fileno())
            if (status.st_dev, status.st_ino) in self._keys:
                return True
            try:
                size = end(data, status.st_size)
                data.seek(0)
            except OSError as error:
                self._leave_out(name, path, error)
                return True
            error_within = self.writer.add(name, data, size, status.st_mtime, padding)
            if error_within is not None:
                self._leave_out(name, path, error_within)
        return True

    def _leave_out(self, name: str, path: Path, error: OSError) -> None:
        self.left_out[name] = str(error)
        logger.warning("%s is incomplete in the backup: %s", path, error)


def _is_safe(name: str) -> bool:
    return all(is_safe_name(part) for part in name.split("/"))


def _last_line_end(data: IO[bytes], end: int) -> int:
    while end > 0:
        start = max(0, end - 64 * 1024)
        data.seek(start)
        cut = data.read(end - start).rfind(b"\n")
        if cut >= 0:
            return start + cut + 1
        end = start
    return 0


def _add_tree(root: Path, name: str, files: _Files, work: LongWork) -> None:
    """Add a folder; what names objects goes before the objects, which are written before they are named."""
    if not root.is_dir() or root.is_symlink():
        return
    late: list[tuple[Path, str]] = []
    files.writer.add_folder(name)
    for count, (path, relative) in enumerate(_tree(root)):
        work.tell(name, count, None)
        if path is None:
            files.add_folder(f"{name}/{relative}")
        elif "/objects/" in f"/{relative}":
            late.append((path, relative))
        else:
            files.add(f"{name}/{relative}", path)
    for path, relative in late:
        work.check()
        files.add(f"{name}/{relative}", path)


def _tree(root: Path) -> Iterator[tuple[Path | None, str]]:
    """The folders (None) and files below a folder by their relative names; links and the like are none of ours."""
    waiting = [(root, "")]
    while waiting:
        folder, prefix = waiting.pop()
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                relative = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    yield None, relative
                    waiting.append((Path(entry.path), relative + "/"))
                elif entry.is_file(follow_symlinks=False) and not entry.name.endswith((".lock", ".tmp")):
                    yield Path(entry.path), relative


def _identities_of_keys(home: Path) -> set[_Identity]:
    """The files keys are kept in: another name of one of them is no way into a backup either."""
    found: set[_Identity] = set()
    for path in home.glob("*secrets*"):
        with suppress(OSError):
            status = path.stat()
            found.add((status.st_dev, status.st_ino))
    return found
