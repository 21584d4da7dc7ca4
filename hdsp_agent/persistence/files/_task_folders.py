"""Where tasks are: ``contexts/running/<uuid>`` and ``contexts/completed/<uuid>``, made, moved and deleted as one step each.

Everything here blocks.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from ..._iso_time import iso_time
from ..._private_files import (
    make_private_folder,
    read_with_identity,
    replace_file,
    set_aside,
    storage_error,
    sync_folder,
)
from ..._private_open import open_private
from ...append_log.gzip_logs import PACKED, open_gzip
from ...errors import Conflict, InvalidInput, UnknownTask
from ...messages import TaskId
from .._records import STREAM_FILES, StoredTaskState, TaskMetadata
from ._task_locks import LOCK_NAME

__all__ = ["ARTIFACTS", "Place", "TaskFolders"]

R = TypeVar("R")

Place = Literal["running", "completed"]

ARTIFACTS: Final = "artifacts"
METADATA: Final = "metadata.json"
STATE: Final = "state.json"
_TASK_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_UNFINISHED: Final = "."
"""Begins the name of a folder that is being made or deleted: no task has such an id."""


class TaskFolders:
    """The folders of all tasks below ``<home>/contexts``."""

    def __init__(self, home: Path) -> None:
        self.root: Final = home / "contexts"

    def prepare(self) -> None:
        """Make the folders that hold the tasks."""
        make_private_folder(self.root.parent)
        for folder in (self.root, self.root / "running", self.root / "completed"):
            make_private_folder(folder)

    def at(self, place: Place, task_id: TaskId) -> Path:
        """Where this task's folder is while it is in that place."""
        return self.root / place / checked_id(task_id)

    def size(self, task_id: TaskId) -> int:
        """How many bytes the task's files have. Raises ``UnknownTask``."""
        return self.read(task_id, folder_size)

    def find(self, task_id: TaskId) -> tuple[Place, Path]:
        """Where the task is now. Raises ``UnknownTask``."""
        places: tuple[Place, ...] = ("running", "completed")
        # Twice: it may move between two looks.
        for place in (*places, *places):
            folder = self.at(place, task_id)
            if folder.is_dir():
                return place, folder
        raise unknown_task(task_id)

    def read(self, task_id: TaskId, read: Callable[[Path], R]) -> R:
        """What ``read`` finds in the task's folder; where the folder moved meanwhile, what it finds there."""
        while True:
            _, folder = self.find(task_id)
            found = read(folder)
            if folder.is_dir():
                return found

    def ids(self, place: Place) -> Iterator[TaskId]:
        """The tasks in a place, in no order."""
        try:
            with os.scandir(self.root / place) as entries:
                for entry in entries:
                    if _TASK_ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                        yield TaskId(entry.name)
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error(self.root / place, "read", error) from error

    def create(self, metadata: TaskMetadata, state: StoredTaskState, fill: Callable[[Path], None]) -> Path:
        """Make a task's folder with all its files; it appears only when it is complete."""
        folder = self.at("running", metadata.uuid)
        if folder.exists() or self.at("completed", metadata.uuid).exists():
            raise _taken(metadata.uuid)
        unfinished = folder.with_name(f"{_UNFINISHED}{folder.name}.{secrets.token_hex(4)}")
        try:
            make_private_folder(unfinished)
            make_private_folder(unfinished / ARTIFACTS)
            write_record(unfinished / METADATA, metadata)
            write_record(unfinished / STATE, state)
            for name in STREAM_FILES.values():
                os.close(open_private(unfinished / name, os.O_WRONLY | os.O_CREAT))
            fill(unfinished)
            os.rename(unfinished, folder)
            if self.at("completed", metadata.uuid).exists():
                # Another process made the same task and has ended it since we looked.
                os.rename(folder, unfinished)
                raise _taken(metadata.uuid)
            sync_folder(folder.parent)
        except BaseException as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            if isinstance(error, OSError):
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    raise _taken(metadata.uuid) from None
                raise storage_error(folder, "make the folder of the task", error) from error
            raise
        return folder

    def move(self, task_id: TaskId, to: Place) -> Path:
        """Move the task's folder; it is all right if that has happened already."""
        target = self.at(to, task_id)
        source = self.at("completed" if to == "running" else "running", task_id)
        try:
            os.rename(source, target)
        except FileNotFoundError:
            if not target.is_dir():
                raise unknown_task(task_id) from None
            return target
        except OSError as error:
            raise storage_error(source, f"move to {target.parent.name}", error) from error
        sync_folder(target.parent)
        sync_folder(source.parent)
        return target

    def delete(self, task_id: TaskId, folder: Path) -> Path:
        """Delete a task in this folder; a crash meanwhile leaves nothing that looks like one."""
        doomed = folder.with_name(f"{_UNFINISHED}{folder.name}.{secrets.token_hex(4)}")
        try:
            os.rename(folder, doomed)
        except FileNotFoundError:
            raise unknown_task(task_id) from None
        except OSError as error:
            raise storage_error(folder, "delete", error) from error
        shutil.rmtree(doomed, ignore_errors=True)
        return doomed

    def unfinished(self) -> Iterator[Path]:
        """Folders whose making or deleting did not end, or has not yet."""
        for place in ("running", "completed"):
            with suppress(OSError), os.scandir(self.root / place) as entries:
                for entry in entries:
                    if entry.name.startswith(_UNFINISHED) and entry.is_dir(follow_symlinks=False):
                        yield Path(entry.path)


def checked_id(task_id: TaskId) -> str:
    """The id as a folder's name; nothing else may become a path."""
    if not _TASK_ID.fullmatch(task_id):
        raise InvalidInput(f"{task_id!r} is not the id of a task. Use letters, digits, - and _.", field="taskId")
    return task_id


def unknown_task(task_id: TaskId) -> UnknownTask:
    """The error that says that there is no such task."""
    return UnknownTask(f"There is no task {task_id}. Look for its id in the history.", task=task_id)


def _taken(task_id: TaskId) -> Conflict:
    return Conflict(f"Task {task_id} already exists. Use another id.", task=task_id)


def write_record(path: Path, record: TaskMetadata | StoredTaskState) -> None:
    """Replace a whole-file record as one step."""
    replace_file(path, record_as_json(record, indent=2) + b"\n")


def record_as_json(record: TaskMetadata | StoredTaskState, *, indent: int | None = None) -> bytes:
    """The record as it is kept. Half a surrogate pair, which no file can hold, becomes a question mark as in the logs."""
    try:
        return record.model_dump_json(by_alias=True, indent=indent).encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        fields = record.model_dump(by_alias=True)
        return json.dumps(fields, ensure_ascii=False, indent=indent).encode("utf-8", "replace")


def read_state(folder: Path, *, repair: bool) -> StoredTaskState:
    """The task's state. One that cannot be read is set aside by whoever may (``repair``), and a failed one shown."""
    path = folder / STATE
    found = read_with_identity(path)
    if found is not None:
        with suppress(ValidationError):
            return StoredTaskState.model_validate_json(found[0])
        if repair:
            set_aside(path, iso_time().replace(":", ""))
    problem = "is missing" if found is None else "was damaged and set aside" if repair else "is damaged"
    return StoredTaskState(status="failed", updated_at=iso_time(), error=f"{STATE} {problem}.", resumable=True)


def read_metadata(folder: Path) -> TaskMetadata:
    """The task's metadata; if they cannot be read, what the folder itself tells."""
    found = read_with_identity(folder / METADATA)
    if found is not None:
        with suppress(ValidationError):
            return TaskMetadata.model_validate_json(found[0])
    return TaskMetadata(uuid=TaskId(folder.name), created_at=iso_time(), process_id=0, hostname="")


def folder_size(folder: Path) -> int:
    """How many bytes the files below a folder have; what is moved or deleted meanwhile counts nothing."""
    size, waiting = 0, [os.fspath(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
    return size


def unpack_streams(folder: Path) -> None:
    """Turn gzipped logs back into ones that can be appended to. A crash in between leaves the packed one."""
    for name in STREAM_FILES.values():
        packed, plain = folder / f"{name}{PACKED}", folder / name
        if not packed.exists():
            continue
        temporary = folder / f".{name}.unpacked"
        try:
            if not plain.exists():
                with open_gzip(open(packed, "rb")) as source, os.fdopen(_fresh(temporary), "wb") as target:
                    shutil.copyfileobj(source, target, 1024 * 1024)
                    target.flush()
                    os.fsync(target.fileno())
                os.replace(temporary, plain)
                sync_folder(folder)
            os.unlink(packed)
        except (OSError, EOFError, zlib.error) as error:
            failure = error if isinstance(error, OSError) else OSError(str(error))
            raise storage_error(packed, "unpack", failure) from error


def tidy(folder: Path) -> None:
    """Remove what processes that died while they took the task's lock have left."""
    for leftover in folder.glob(f"{LOCK_NAME}.*"):
        with suppress(OSError):
            leftover.unlink()


def _fresh(path: Path) -> int:
    with suppress(FileNotFoundError):
        os.unlink(path)
    return open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
