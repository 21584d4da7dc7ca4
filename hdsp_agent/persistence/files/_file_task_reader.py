"""A task that is kept in files, to look at: running or completed, gzipped or not, whoever works on it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from ...append_log.corrupt_lines import CorruptLine, keep_aside
from ...append_log.jsonl import JsonlLog, LineForm
from ...messages import TaskId
from .._damage_reports import DamageNotice
from .._records import STREAM_FILES, StoredTaskState, Stream, TaskMetadata
from .._task_reader import TaskReader
from .._task_streams import Records
from .._trace import TaskLogger, task_logger
from ._artifacts import Artifacts
from ._task_folders import TaskFolders, read_state

__all__ = ["FileTaskReader"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


class FileTaskReader(TaskReader):
    """See ``TaskReader`` for what it does. Whoever holds the task's lock (``owner``) also keeps damaged lines aside."""

    def __init__(
        self,
        folders: TaskFolders,
        metadata: TaskMetadata,
        *,
        on_damage: Callable[[DamageNotice], None],
        owner: bool = False,
        remembered: int = 0,
    ) -> None:
        self._folders = folders
        self._logger = task_logger(logger, metadata.uuid)
        # What the reader is made of does not refer to it: of thousands looked at, each goes when it is let go of.
        self._damages = _Damages(metadata.uuid, self._logger, on_damage, owner=owner)
        self._artifacts = Artifacts(partial(_folder_of, folders, metadata.uuid))
        super().__init__(metadata, remembered=remembered)

    async def read_state(self) -> StoredTaskState:
        return await asyncio.to_thread(self._folders.read, self.task_id, partial(read_state, repair=False))

    async def read_artifact(self, name: str) -> bytes:
        return await asyncio.to_thread(self._artifacts.read, name)

    def _folder(self) -> Path:
        return _folder_of(self._folders, self.task_id)

    def _records(self, stream: Stream, form: LineForm[T], remembered: int) -> Records[T]:
        name, folders, task_id = STREAM_FILES[stream], self._folders, self.task_id

        def paths() -> Sequence[Path]:
            return [folders.at(place, task_id) / name for place in ("running", "completed")]

        return Records(JsonlLog(paths, form, partial(self._damages.tell, stream)), remembered)


class _Damages:
    """Tells of lines that cannot be read, and keeps their bytes for whoever holds the task's lock."""

    def __init__(
        self, task_id: TaskId, log: TaskLogger, on_damage: Callable[[DamageNotice], None], *, owner: bool
    ) -> None:
        self._task_id = task_id
        self._log = log
        self._on_damage = on_damage
        self._owner = owner

    def tell(self, stream: Stream, path: Path, line: CorruptLine) -> None:
        notice = DamageNotice(self._task_id, stream, line.damage, line.offset, len(line.data))
        kept = ""
        if self._owner and line.damage == "corrupt":
            try:
                keep_aside(path, [line])
                kept = f"; its bytes were copied to {path.name}.corrupt"
            except OSError as error:
                kept = f"; its bytes stay where they are ({error})"
        self._log.warning(
            "Line at byte %s of %s cannot be read (%s, %s bytes)%s",
            line.offset,
            path,
            line.damage,
            len(line.data),
            kept,
        )
        self._on_damage(notice)


def _folder_of(folders: TaskFolders, task_id: TaskId) -> Path:
    return folders.find(task_id)[1]
