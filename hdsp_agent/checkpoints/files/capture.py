"""From a walk to objects in the store: reads what may have changed, and stores what is new. Everything here blocks."""

from __future__ import annotations

import stat
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from .file_limits import FileLimits
from .folders import FileEntry, Folder, FolderLoader, Key, store_folder
from .git_objects import BLOB, ObjectId, object_id
from .pack_writer import compressed
from .repository import ObjectWriter
from .stable_read import NotCaptured, read_link, read_stable
from .workspace_walk import Pending

__all__ = ["capture"]

_THREADS: Final = 2
"""Compressing lets go of the interpreter's lock; more threads would take it from the server."""
_INLINE: Final = 8
_BATCH_FILES: Final = 128
_BATCH_BYTES: Final = 4_000_000
_NEVER: Final = -1


@dataclass(frozen=True)
class _Fresh:
    """A content that the store has not."""

    oid: ObjectId
    data: bytes


@dataclass(frozen=True)
class _Packed:
    oid: ObjectId
    size: int
    packed: bytes


def capture(
    root: Folder,
    pending: Iterable[Pending],
    writer: ObjectWriter,
    loader: FolderLoader,
    *,
    quiet_before: int,
    limits: FileLimits,
) -> None:
    """Store what the walk found. What changed at ``quiet_before`` (ns) or later is read again next time: a change within
    the same tick of the file system's clock would not show."""
    pending = list(pending)
    fresh = _read_all(pending, writer, quiet_before=quiet_before, limits=limits)
    if len(pending) <= _INLINE:
        _add_all(writer, map(_pack, fresh))
    else:
        _pack_in_threads(fresh, writer)
    _store(root, writer, loader)


def _remembered(key: Key, quiet_before: int) -> Key:
    mode, size, mtime, ctime, inode = key
    return (mode, size, mtime, _NEVER, inode) if max(mtime, ctime) >= quiet_before else key


def _store(folder: Folder, writer: ObjectWriter, loader: FolderLoader) -> None:
    for below in folder.folders.values():
        if isinstance(below, Folder) and not below.tree:
            _store(below, writer, loader)
    if not folder.tree:
        store_folder(folder, writer)
        loader.learn(folder)


def _pack_in_threads(fresh: Iterable[_Fresh], writer: ObjectWriter) -> None:
    """Read in this thread and compress in others: threads that do both wait for each other more than they work."""
    waiting: deque[Future[list[_Packed]]] = deque()
    with ThreadPoolExecutor(_THREADS, "hdsp-agent checkpoint") as pool:
        try:
            for batch in _batches(fresh):
                waiting.append(pool.submit(_pack_all, batch))
                # What was read waits in memory, so no more than this is read ahead.
                if len(waiting) > 2 * _THREADS:
                    _add_all(writer, waiting.popleft().result())
            while waiting:
                _add_all(writer, waiting.popleft().result())
        finally:
            for future in waiting:
                future.cancel()


def _batches(fresh: Iterable[_Fresh]) -> Iterator[list[_Fresh]]:
    batch: list[_Fresh] = []
    size = 0
    for content in fresh:
        batch.append(content)
        size += len(content.data)
        if len(batch) == _BATCH_FILES or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _pack_all(batch: list[_Fresh]) -> list[_Packed]:
    return [_pack(content) for content in batch]


def _pack(content: _Fresh) -> _Packed:
    return _Packed(content.oid, len(content.data), compressed(content.data))


def _add_all(writer: ObjectWriter, contents: Iterable[_Packed]) -> None:
    for content in contents:
        writer.pack.add(BLOB, content.oid, content.size, content.packed)


def _read_all(
    pending: Iterable[Pending], writer: ObjectWriter, *, quiet_before: int, limits: FileLimits
) -> Iterator[_Fresh]:
    """Note in each folder what was read; what the store has not yet comes out, each content once."""
    seen: set[ObjectId] = set()
    for place in pending:
        files = place.folder.files
        try:
            if stat.S_ISLNK(files[place.name].mode):
                key, data = read_link(place.path)
            elif files[place.name].size > limits.file_bytes:
                largest = max(limits.cloned_bytes, limits.touched_file_bytes)
                key, content = writer.large.keep(place.path, largest, limits.touched_file_bytes)
                files[place.name] = FileEntry(_remembered(key, quiet_before), content)
                continue
            else:
                key, data = read_stable(place.path, limits.file_bytes)
        except NotCaptured as refusal:
            del files[place.name]
            place.folder.skips[place.name] = refusal.reason
            continue
        oid = object_id(BLOB, data)
        files[place.name] = FileEntry(_remembered(key, quiet_before), oid)
        if oid not in seen and not writer.has(oid):
            seen.add(oid)
            writer.remember(oid, data)
            yield _Fresh(oid, data)
