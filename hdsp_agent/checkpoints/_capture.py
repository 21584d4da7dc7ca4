"""From a walk to objects in the store: reads what may have changed, and stores what is new. Everything here blocks."""

from __future__ import annotations

import stat
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from ._folders import FileEntry, Folder, FolderLoader, Key, store_folder
from ._git_objects import BLOB, ObjectId, object_id
from ._pack_writer import compressed
from ._reading import NotCaptured, read_link, read_stable
from ._repository import ObjectWriter
from ._walk import Pending

__all__ = ["capture"]

_THREADS: Final = 2
"""Reading, hashing and compressing let go of the interpreter's lock; more threads would take it from the server."""
_INLINE: Final = 8
_BATCH_FILES: Final = 64
_BATCH_BYTES: Final = 4_000_000
_NEVER: Final = -1


@dataclass(frozen=True)
class _Read:
    key: Key
    oid: ObjectId
    size: int
    packed: bytes | None
    """None if the store has it already."""


_Batch = list[tuple[Pending, _Read | NotCaptured]]


def capture(
    root: Folder,
    pending: Iterable[Pending],
    writer: ObjectWriter,
    loader: FolderLoader,
    *,
    quiet_before: int,
    largest: int,
) -> None:
    """Store what the walk found. What changed at ``quiet_before`` (ns) or later is read again next time: a change within
    the same tick of the file system's clock would not show."""
    for batch in _batches(list(pending), writer, largest):
        for place, read in batch:
            if isinstance(read, NotCaptured):
                del place.folder.files[place.name]
                place.folder.skips[place.name] = read.reason
                continue
            if read.packed is not None:
                writer.pack.add(BLOB, read.oid, read.size, read.packed)
            place.folder.files[place.name] = FileEntry(_remembered(read.key, quiet_before), read.oid)
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


def _batches(pending: list[Pending], writer: ObjectWriter, largest: int) -> Iterator[_Batch]:
    if len(pending) <= _INLINE:
        yield _read_all(pending, writer, largest)
        return
    waiting: deque[Future[_Batch]] = deque()
    with ThreadPoolExecutor(_THREADS, "hdsp-agent checkpoint") as pool:
        try:
            for portion in _portions(pending):
                waiting.append(pool.submit(_read_all, portion, writer, largest))
                # What was read waits in memory, so no more than this is read ahead.
                if len(waiting) > 2 * _THREADS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _portions(pending: list[Pending]) -> Iterator[list[Pending]]:
    portion: list[Pending] = []
    size = 0
    for place in pending:
        portion.append(place)
        size += place.folder.files[place.name].size
        if len(portion) == _BATCH_FILES or size > _BATCH_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _read_all(pending: list[Pending], writer: ObjectWriter, largest: int) -> _Batch:
    return [(place, _read(place, writer, largest)) for place in pending]


def _read(place: Pending, writer: ObjectWriter, largest: int) -> _Read | NotCaptured:
    try:
        if stat.S_ISLNK(place.folder.files[place.name].mode):
            key, data = read_link(place.path)
        else:
            key, data = read_stable(place.path, largest)
    except NotCaptured as refusal:
        return refusal
    oid = object_id(BLOB, data)
    return _Read(key, oid, len(data), None if writer.has(oid) else compressed(data))
