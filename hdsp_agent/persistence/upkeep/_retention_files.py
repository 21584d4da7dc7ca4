"""Packing and deleting tasks that are kept in files. Everything here blocks.

Each step is done under the task's lock and leaves nothing half done: logs are packed in a folder of their own and put in
place beside the ones that can be appended to, which go last; a task is deleted by taking its name away first.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from ..._private_files import Identity, identity_of, make_private_folder, storage_error, sync_folder
from ...append_log.gzip_logs import PACKED, open_packed, write_packed
from ...errors import HdspAgentError
from ...messages import TaskId
from .._records import COMPLETED_STATUSES, STREAM_FILES, StoredTaskState, Stream
from ..files._file_store import FileStore
from ..files._task_folders import TaskFolders, folder_size, read_state
from ..files._task_locks import TaskLock
from ._compaction import compacted_ui_lines
from ._finished_tasks import FinishedTasks, changed_meanwhile

__all__ = ["FinishedFolders"]

_LEDGER: Final = ".clean.json"
_BLOCK: Final = 256 * 1024


class FinishedFolders(FinishedTasks):
    """Those of a ``FileStore``."""

    def __init__(self, store: FileStore) -> None:
        self._folders: Final[TaskFolders] = store.folders

    @property
    def executions(self) -> Path:
        return self._folders.root / _LEDGER

    def ids(self) -> list[TaskId]:
        return sorted(self._folders.ids("completed"))

    def has(self, task_id: TaskId) -> bool:
        try:
            self._folders.find(task_id)
        except HdspAgentError:
            return False
        return True

    def state(self, task_id: TaskId) -> StoredTaskState:
        return read_state(self._folder(task_id), repair=False)

    def changes(self, task_id: TaskId) -> list[datetime]:
        return list(_changes(self._folder(task_id)))

    def size(self, task_id: TaskId) -> int:
        return folder_size(self._folder(task_id))

    def delete(self, task_id: TaskId, is_due: Callable[[StoredTaskState], bool]) -> None:
        folder = self._folder(task_id)
        lock = TaskLock.acquire(folder)
        try:
            if not is_due(read_state(folder, repair=False)):
                raise changed_meanwhile(task_id)
            lock.moved(self._folders.delete(task_id, folder))
        finally:
            lock.release()

    def can_be_packed(self, task_id: TaskId) -> bool:
        return bool(_plain_logs(self._folder(task_id)))

    def pack(self, task_id: TaskId) -> bool:
        return _pack(self._folder(task_id))

    def _folder(self, task_id: TaskId) -> Path:
        return self._folders.at("completed", task_id)


def _changes(folder: Path) -> Iterator[datetime]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ".jsonl" in entry.name:
                yield datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, tz=UTC)


def _plain_logs(folder: Path) -> list[tuple[Stream, Path, Identity]]:
    """The logs that have something to pack."""
    logs: list[tuple[Stream, Path, Identity]] = []
    for stream, name in STREAM_FILES.items():
        identity = identity_of(folder / name)
        if identity is not None and identity[1] > 0:
            logs.append((stream, folder / name, identity))
    return logs


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
            raise storage_error(folder, "compress the logs of", error) from error
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
            raise OSError(f"{length} bytes were compressed, {unpacked} came out")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise storage_error(path, "pack", error) from error


def _pieces(log: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left > 0 and (piece := log.read(min(_BLOCK, left))):
        yield piece
        left -= len(piece)
