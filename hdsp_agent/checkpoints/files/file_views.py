"""Looking at what there is: lists, differences, single files, exports. Everything here blocks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from ...errors import InvalidInput, NotFound
from ...messages import TaskId
from .checkpoint_store import CheckpointStore
from .diff import CheckpointDiff, diff_states
from .export import export_repository, export_zip
from .file_names import from_text
from .folders import Folder
from .records import CheckpointRecord, OperationRecord

__all__ = ["CheckpointViews"]

_LARGEST_SHOWN: Final = 200_000_000


class CheckpointViews:
    """What one workspace's checkpoints show."""

    def __init__(self, store: CheckpointStore, root: bytes) -> None:
        self._store = store
        self._root = root

    def checkpoints(self, *, task_id: TaskId | None = None, limit: int | None = None) -> list[CheckpointRecord]:
        """The checkpoints, newest first."""
        with self._store.reading():
            records = self._store.log.checkpoints.values()
            return [record for record in records if task_id is None or record.task_id == task_id][::-1][:limit]

    def checkpoint(self, wanted: str) -> CheckpointRecord:
        """The checkpoint with this id, or the newest with this commit."""
        with self._store.reading():
            return self._store.log.checkpoint(wanted)

    def operations(self, limit: int | None = None) -> list[OperationRecord]:
        """Everything that was done, newest first."""
        with self._store.reading():
            return list(self._store.log.operations)[::-1][:limit]

    def head(self) -> CheckpointRecord | None:
        """The state the workspace was last known to be in."""
        with self._store.reading():
            return self._store.log.head

    def diff(self, old: str, new: str, only: Sequence[str] | None, with_content: bool) -> CheckpointDiff:
        """What differs between two checkpoints; ``beginning`` is the oldest there is."""
        with self._store.reading():
            after = self._store.log.checkpoint(new)
            oldest = next(iter(self._store.log.checkpoints.values()))
            before = oldest if old == "beginning" else self._store.log.checkpoint(old)
            return self._diff(before, after, only, with_content)

    def changes(self, checkpoint: str, *, with_content: bool = True) -> CheckpointDiff:
        """What differs between a checkpoint and the one before it."""
        with self._store.reading():
            record = self._store.log.checkpoint(checkpoint)
            records = list(self._store.log.checkpoints.values())
            at = next(number for number, one in enumerate(records) if one is record)
            return self._diff(records[at - 1] if at else None, record, None, with_content)

    def content(self, checkpoint: str, path: str) -> bytes:
        """A file as a checkpoint has it."""
        with self._store.reading():
            loader = self._store.loader
            record = self._store.log.checkpoint(checkpoint)
            *parents, name = from_text(path, self._root).split(b"/")
            folder = loader.folder(self._store.node(record))
            for part in parents:
                below = folder.folders.get(part)
                folder = loader.folder(below) if below is not None else Folder(0)
            entry = folder.files.get(name)
            if entry is None:
                raise NotFound(f"The checkpoint {record.id} has no file {path}.", path=path, why="no_such_file")
            if entry.size > _LARGEST_SHOWN:
                raise InvalidInput(
                    f"{path} has {entry.size:,} bytes, which is too large to show. Restore that file alone, or export "
                    "the checkpoint.",
                    path=path,
                    size=entry.size,
                    why="file_too_large",
                )
            return self._store.repository.read(entry.oid)

    def export(self, checkpoint: str, target: Path, kind: Literal["zip", "git"] = "zip") -> None:
        """Write a checkpoint to a place where nothing is yet. Others go on meanwhile, however long it takes."""
        store = self._store.another()
        with store.reading():
            record = store.log.checkpoint(checkpoint)
            write = export_zip if kind == "zip" else export_repository
            write(store, record, target)

    def _diff(
        self, before: CheckpointRecord | None, after: CheckpointRecord, only: Sequence[str] | None, with_content: bool
    ) -> CheckpointDiff:
        loader, read = self._store.loader, self._store.repository.read
        chosen = None if only is None else {from_text(path, self._root) for path in only}
        old = Folder(loader.folder(self._store.node(after)).mode) if before is None else self._store.node(before)
        files = diff_states(old, self._store.node(after), loader, read, only=chosen, with_content=with_content)
        return CheckpointDiff(old=before.id if before else None, new=after.id, files=tuple(files))
