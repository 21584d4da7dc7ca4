"""Moving tasks from one backend to another, task by task: copied whole, read again, and only then there.

A task appears in the target with its last byte or not at all: a folder gets its name when it is verified, rows are
committed when they are. So a migration that was cut goes on where it was by being run again. The source stays as it is;
a task that somebody works on is left out and named in the report.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import singledispatch
from pathlib import Path

from ..._background_tasks import BackgroundTasks
from ..._iso_time import iso_time
from ..._private_files import make_private_folder, replace_file, storage_error, sync_folder
from ..._private_open import open_private
from ...append_log.corrupt_lines import keep_aside
from ...errors import Conflict, HdspAgentError, InvalidInput, StorageUnavailable, UnknownTask, Unsupported
from ...messages import TaskId
from .._damage_reports import DamageNotice
from .._records import STREAM_FILES
from .._task_store import TaskStore
from .._trace import task_logger
from ..files._file_store import FileStore
from ..files._task_folders import ARTIFACTS, METADATA, STATE
from ..files._task_locks import TaskLock
from ..tables._sql import STREAM_TABLES, SqlConnection
from ..tables._table_store import TableStore
from ..tables._task_rows import TaskRow
from ..upkeep._work_progress import Progress
from ._task_content import FolderContent, RowContent, TaskContent, TaskDigest

__all__ = ["MigrationReport", "NotMigrated", "migrate"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class NotMigrated:
    """A task that was not copied, and why."""

    task_id: TaskId
    reason: str


@dataclass
class MigrationReport:
    """What a migration did, or would do. ``already`` were in the target, verified, from an earlier run.

    ``skipped`` are worked on somewhere, or the target has another task of that id; ``failed`` met an error. ``damaged``
    are the lines that are no records: their bytes are kept aside in the target.
    """

    dry_run: bool = False
    tasks: int = 0
    copied: list[TaskId] = field(default_factory=list)
    already: list[TaskId] = field(default_factory=list)
    skipped: list[NotMigrated] = field(default_factory=list)
    failed: list[NotMigrated] = field(default_factory=list)
    damaged: list[DamageNotice] = field(default_factory=list)
    damaged_artifacts: list[tuple[TaskId, str]] = field(default_factory=list)
    lines: int = 0
    artifacts: int = 0

    @property
    def complete(self) -> bool:
        """Whether the target has every task of the source now."""
        return not self.dry_run and not self.skipped and not self.failed


async def migrate(
    source: TaskStore, target: TaskStore, *, progress: Progress | None = None, dry_run: bool = False
) -> MigrationReport:
    """Copy all tasks of one started store to another; both go on working meanwhile. May be run again at any time."""
    tell: Progress = progress or (lambda what, done, total: None)
    end_from, end_to = _end_of(source), _end_of(target)
    if end_from.place() == end_to.place():
        raise InvalidInput("A store cannot be migrated to itself. Choose another target.", field="target")
    held = BackgroundTasks()
    ids = await source.tasks()
    report = MigrationReport(dry_run=dry_run, tasks=len(ids))
    for done, task_id in enumerate(ids):
        tell("migrate tasks", done, len(ids))
        # What was begun is ended, or would be in a thread nobody waits for.
        await held.finish(asyncio.to_thread(_migrate_one, end_from, end_to, task_id, report))
    tell("migrate tasks", len(ids), len(ids))
    return report


def _migrate_one(source: _End, target: _End, task_id: TaskId, report: MigrationReport) -> None:
    log = task_logger(logger, task_id)
    try:
        with source.opened(task_id) as content:
            known = content.digest()
            found = target.digest(task_id, known)
            if found is not None and not known.begins(found):
                raise Conflict(
                    f"The target has a task {task_id} with other content. Delete it there, and migrate again.",
                    task=task_id,
                )
            if found is None and not report.dry_run:
                target.put(task_id, content, known)
    except UnknownTask:
        log.info("The task was deleted before it could be copied")
    except Conflict as error:
        report.skipped.append(NotMigrated(task_id, error.message))
    except HdspAgentError as error:
        log.warning("The task could not be migrated: %s", error)
        report.failed.append(NotMigrated(task_id, error.message))
    else:
        (report.already if found is not None else report.copied).append(task_id)
        _count(task_id, content, known, report)


def _count(task_id: TaskId, content: TaskContent, digest: TaskDigest, report: MigrationReport) -> None:
    report.lines += sum(digest.lines.values())
    report.artifacts += len(digest.artifacts)
    report.damaged += [
        DamageNotice(task_id, stream, line.damage, line.offset, len(line.data))
        for (stream, _), line in content.damage.items()
    ]
    report.damaged_artifacts += [(task_id, name) for name in sorted(content.damaged_artifacts)]


class _End(ABC):
    """A store, as the migration sees it. Everything here blocks."""

    @abstractmethod
    def place(self) -> str:
        """Where the tasks are, to tell two stores apart."""

    @abstractmethod
    def opened(self, task_id: TaskId) -> AbstractContextManager[TaskContent]:
        """A task, which stays as it is meanwhile. A ``Conflict`` says who works on it."""

    @abstractmethod
    def digest(self, task_id: TaskId, like: TaskDigest) -> TaskDigest | None:
        """What is here of the task, read as far as ``like`` goes; None if it is not here."""

    @abstractmethod
    def put(self, task_id: TaskId, content: TaskContent, expected: TaskDigest) -> None:
        """Make the task, and verify it before it counts."""


class _Files(_End):
    def __init__(self, store: FileStore) -> None:
        self._folders = store._folders

    def place(self) -> str:
        return str(self._folders.root.resolve())

    @contextmanager
    def opened(self, task_id: TaskId) -> Iterator[TaskContent]:
        while True:
            place, folder = self._folders.find(task_id)
            try:
                lock = TaskLock.acquire(folder)
                break
            except FileNotFoundError:
                # It was moved between the two steps.
                continue
        try:
            yield FolderContent(folder, place)
        finally:
            lock.release()

    def digest(self, task_id: TaskId, like: TaskDigest) -> TaskDigest | None:
        try:
            place, folder = self._folders.find(task_id)
        except UnknownTask:
            return None
        return FolderContent(folder, place).digest(like.lines)

    def put(self, task_id: TaskId, content: TaskContent, expected: TaskDigest) -> None:
        folder = self._folders.at(content.place, task_id)
        # No task's name begins like this: the monitor removes what a crash leaves of it.
        unfinished = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
        try:
            _write_folder(unfinished, content)
            _verify(str(folder), FolderContent(unfinished, content.place).digest(), expected)
            os.rename(unfinished, folder)
            sync_folder(folder.parent)
        except BaseException as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            if isinstance(error, OSError):
                raise storage_error(folder, "make the folder of the task", error) from error
            raise


class _Rows(_End):
    def __init__(self, store: TableStore) -> None:
        self._database = store.database
        self._writer = store.writer
        self._rows = store.rows
        self._artifacts = store.artifacts

    def place(self) -> str:
        return self._database.name

    @contextmanager
    def opened(self, task_id: TaskId) -> Iterator[TaskContent]:
        # A transaction that reads sees nothing of what others write meanwhile; no lock is needed.
        with self._database.snapshot() as connection:
            yield self._content(connection, self._rows.at_rest(connection, task_id))

    def digest(self, task_id: TaskId, like: TaskDigest) -> TaskDigest | None:
        if not self._database.has_tables():
            return None
        with self._database.snapshot() as connection:
            try:
                row = self._rows.find(connection, task_id)
            except UnknownTask:
                return None
            return self._content(connection, row).digest(like.lines)

    def put(self, task_id: TaskId, content: TaskContent, expected: TaskDigest) -> None:
        def put(connection: SqlConnection) -> None:
            self._write(connection, task_id, content)
            row = self._rows.find(connection, task_id)
            _verify(self._database.name, self._content(connection, row).digest(), expected)

        self._writer.submit(put, durable=True).result()

    def _content(self, connection: SqlConnection, row: TaskRow) -> RowContent:
        return RowContent(connection, row, self._database.dialect, self._artifacts)

    def _write(self, connection: SqlConnection, task_id: TaskId, content: TaskContent) -> None:
        task = self._rows.insert(connection, task_id, content.place, content.metadata, content.state)
        if task is None:
            raise Conflict(
                f"The target got a task {task_id} in the meantime. Migrate again to compare them.", task=task_id
            )
        text = self._database.dialect.as_text
        kept: list[tuple[str, bytes]] = list(content.kept_files())
        for stream in STREAM_FILES:
            table, key = STREAM_TABLES[stream]
            connection.executemany(
                f"INSERT INTO {table} (task, {key}, record) VALUES ({task}, ?, {text})",  # noqa: S608 -- our own names and a number
                content.lines(stream),
            )
            kept += [(STREAM_FILES[stream], line.data) for line in content.damaged_lines(stream)]
        connection.executemany(
            f"INSERT INTO artifacts (task, name, size, data) VALUES ({task}, ?, ?, ?)",  # noqa: S608 -- a number
            ((name, len(data), data) for name, data in content.artifacts()),
        )
        connection.executemany(
            f"INSERT INTO set_aside (task, what, found_at, data) VALUES ({task}, ?, ?, ?)",  # noqa: S608 -- a number
            [(what, iso_time(), data) for what, data in kept],
        )


@singledispatch
def _end_of(store: object) -> _End:
    raise Unsupported(f"Tasks cannot be migrated from or to {type(store).__name__}. Use a store of open_store.")


_end_of.register(FileStore, _Files)
_end_of.register(TableStore, _Rows)


def _verify(path: str, written: TaskDigest, expected: TaskDigest) -> None:
    if written == expected:
        return
    wrong = [stream for stream in STREAM_FILES if written.streams[stream] != expected.streams[stream]]
    reason = ", ".join(wrong) if wrong else "its artifacts, metadata or state"
    raise StorageUnavailable(
        f"The copy in {path} differs from its source: {reason}. The copy was deleted, and the source was not changed. "
        "Check that disk, then migrate again.",
        path=path, action="verify", reason=reason,
    )  # fmt: skip


def _write_folder(folder: Path, content: TaskContent) -> None:
    make_private_folder(folder)
    make_private_folder(folder / ARTIFACTS)
    for stream, name in STREAM_FILES.items():
        with os.fdopen(open_private(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.writelines(line + b"\n" for _, line in content.lines(stream))
            file.flush()
            os.fsync(file.fileno())
        keep_aside(folder / name, content.damaged_lines(stream))
    wholes = [(METADATA, content.metadata), (STATE, content.state), *content.kept_files()]
    for name, data in wholes:
        if data:
            replace_file(folder / name, data)
    for name, data in content.artifacts():
        replace_file(folder / ARTIFACTS / name, data)
    sync_folder(folder)
