"""Reading objects from packs that ``PackWriter`` wrote. Everything here blocks."""

from __future__ import annotations

import hashlib
import logging
import os
import struct
import threading
import zlib
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from ..._private_files import storage_error
from ...errors import StorageUnavailable
from .git_objects import BLOB, COMMIT, TREE, ObjectId, object_id

__all__ = ["Packs"]

_logger = logging.getLogger(__name__)
_HEAD: Final = 8
_FAN_OUT: Final = 256 * 4
_NAMES: Final = _HEAD + _FAN_OUT
_KINDS: Final = frozenset((COMMIT, TREE, BLOB))
_FAR: Final = 0x80000000
_SMALL: Final = 1_000
"""Objects of a pack that are all remembered: a hundred bytes each."""
_RECENT_BYTES: Final = 8_000_000


@dataclass(frozen=True)
class _Place:
    start: int
    end: int


class _Pack:
    """One pack, found through its index, which is kept in memory: about 30 bytes an object."""

    def __init__(self, index: Path) -> None:
        self.path = index.with_suffix(".pack")
        self.size = self.path.stat().st_size
        data = index.read_bytes()
        if data[:_HEAD] != b"\377tOc\0\0\0\2" or len(data) < _NAMES + 40:
            raise _damaged(index, "it is no index of a pack")
        if hashlib.sha1(data[:-20], usedforsecurity=False).digest() != data[-20:]:
            raise _damaged(index, "it is not what was stored")
        self.is_whole = _ends_with(self.path, data[-40:-20])
        """Whether it ends as it was written. One that was cut may have some objects still, and is not relied on."""
        self._fan_out = struct.unpack(">256I", data[_HEAD:_NAMES])
        self.count: int = self._fan_out[255]
        self._names = data[_NAMES : _NAMES + 20 * self.count]
        near_at = _NAMES + 24 * self.count
        near = struct.unpack(f">{self.count}I", data[near_at : near_at + 4 * self.count])
        far_at = near_at + 4 * self.count
        far = struct.unpack(f">{(len(data) - 40 - far_at) // 8}Q", data[far_at : len(data) - 40])
        self._offsets = tuple(offset if offset < _FAR else far[offset ^ _FAR] for offset in near) if far else near
        self._ordered = sorted(self._offsets)
        self._opening = threading.Lock()
        self._descriptor: int | None = None

    def find(self, oid: ObjectId) -> _Place | None:
        first = oid[0]
        low, high = (self._fan_out[first - 1] if first else 0), self._fan_out[first]
        names = self._names
        at = bisect_left(range(high), oid, low, high, key=lambda number: names[20 * number : 20 * number + 20])
        if at == high or names[20 * at : 20 * at + 20] != oid:
            return None
        start = self._offsets[at]
        after = bisect_right(self._ordered, start)
        return _Place(start, self._ordered[after] if after < self.count else self.size - 20)

    def read(self, place: _Place) -> bytes:
        """What is there. The file stays open until ``close``."""
        if not hasattr(os, "pread"):
            with open(self.path, "rb") as file:
                file.seek(place.start)
                return file.read(place.end - place.start)
        with self._opening:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        data = os.pread(self._descriptor, place.end - place.start, place.start)
        while len(data) < place.end - place.start and (
            more := os.pread(self._descriptor, place.end - place.start - len(data), place.start + len(data))
        ):
            data += more
        return data

    def close(self) -> None:
        """Let go of the file."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def names(self) -> Iterator[ObjectId]:
        """All objects it has."""
        return (self._names[start : start + 20] for start in range(0, 20 * self.count, 20))

    def sizes(self) -> dict[ObjectId, int]:
        """All objects it has, and how many bytes they take."""
        ends = dict(pairwise((*self._ordered, self.size - 20)))
        return {
            self._names[20 * number : 20 * number + 20]: ends[start] - start
            for number, start in enumerate(self._offsets)
        }


class Packs:
    """All packs of a store. What another process added or replaced is noticed when an object is not found."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._packs: dict[str, _Pack] = {}
        self._small: dict[ObjectId, _Pack] = {}
        """Where the objects of small packs are: there are many of those, and to look into each takes longer."""
        self._large: list[_Pack] = []
        self._damaged: list[_Pack] = []
        self._unusable: set[str] = set()
        """Indexes that name nothing any more; what only their packs have counts as not there."""
        self._recent: OrderedDict[ObjectId, bytes] = OrderedDict()
        self._recent_bytes = 0

    def refresh(self) -> None:
        """Look at which packs there are."""
        try:
            found = {name for name in os.listdir(self._folder) if name.startswith("pack-") and name.endswith(".idx")}
            if self._packs.keys() - found:
                for name in self._packs.keys() - found:
                    self._packs.pop(name).close()
                self._small, self._large, self._damaged = {}, [], []
                for pack in self._packs.values():
                    self._list(pack)
            self._unusable &= found
            for name in sorted(found - self._packs.keys() - self._unusable):
                with suppress(FileNotFoundError):
                    self._open(name)
        except OSError as error:
            raise storage_error(self._folder, "read", error) from error

    def close(self) -> None:
        """Let go of all files; the next read opens what it needs."""
        for pack in self._packs.values():
            pack.close()

    def paths(self) -> list[Path]:
        """Where the packs are that were there at the last look."""
        return [pack.path for pack in self._packs.values()]

    def size(self) -> int:
        """How large they are together."""
        return sum(pack.size for pack in self._packs.values())

    def __contains__(self, oid: ObjectId) -> bool:
        return oid in self._small or any(pack.find(oid) is not None for pack in self._large)

    def read(self, oid: ObjectId) -> bytes:
        """An object's content, checked against its name."""
        recent = self._recent.get(oid)
        if recent is not None:
            self._recent.move_to_end(oid)
            return recent
        path, entry = self._entry(oid)
        kind, data = _content(path, oid, entry)
        if kind == BLOB:
            self.remember(oid, data)
        return data

    def remember(self, oid: ObjectId, data: bytes) -> None:
        """Keep the content of a small file at hand: what was just saved is what is looked at and restored next."""
        if len(data) > _RECENT_BYTES // 32 or oid in self._recent:
            return
        self._recent[oid] = data
        self._recent_bytes += len(data)
        while self._recent_bytes > _RECENT_BYTES:
            self._recent_bytes -= len(self._recent.popitem(last=False)[1])

    def entry(self, oid: ObjectId) -> tuple[int, bytes]:
        """An object's kind, and its entry as the pack has it, checked against its name."""
        path, entry = self._entry(oid)
        return _content(path, oid, entry)[0], entry

    def packed_size(self, oid: ObjectId) -> int:
        """How many bytes an object takes; 0 if it is not there."""
        return next((place.end - place.start for _, place in self._places(oid)), 0)

    def contents(self) -> Iterator[tuple[Path, dict[ObjectId, int]]]:
        """Of each pack that is whole, its objects and how many bytes they take."""
        for pack in list(self._packs.values()):
            if pack.is_whole:
                yield pack.path, pack.sizes()

    def _open(self, name: str) -> None:
        try:
            pack = self._packs[name] = _Pack(self._folder / name)
        except StorageUnavailable as error:
            # What is saved from here on does without it, and whoever needs what it names is refused.
            _logger.warning("%s", error)
            self._unusable.add(name)
            return
        self._list(pack)

    def _list(self, pack: _Pack) -> None:
        if not pack.is_whole:
            _logger.warning("the checkpoints in %s are damaged: it does not end as it was written", pack.path)
            self._damaged.append(pack)
        elif pack.count > _SMALL:
            self._large.append(pack)
        else:
            self._small.update(dict.fromkeys(pack.names(), pack))

    def _places(self, oid: ObjectId) -> Iterator[tuple[_Pack, _Place]]:
        small = self._small.get(oid)
        for pack in (*(() if small is None else (small,)), *self._large, *self._damaged):
            place = pack.find(oid)
            if place is not None:
                yield pack, place

    def _entry(self, oid: ObjectId) -> tuple[Path, bytes]:
        for attempt in range(2):
            for pack, place in self._places(oid):
                try:
                    return pack.path, pack.read(place)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise storage_error(pack.path, "read", error) from error
            if attempt == 0:
                self.refresh()
        raise _damaged(self._folder, f"the object {oid.hex()} is not there")


def _ends_with(path: Path, end: bytes) -> bool:
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - len(end)))
        return file.read() == end


def _content(path: Path, oid: ObjectId, entry: bytes) -> tuple[int, bytes]:
    try:
        kind, at = (entry[0] >> 4) & 7, 0
        while entry[at] & 0x80:
            at += 1
        data = zlib.decompress(memoryview(entry)[at + 1 :])
    except (IndexError, zlib.error) as error:
        raise _damaged(path, str(error)) from error
    if kind not in _KINDS or object_id(kind, data) != oid:
        raise _damaged(path, f"the object {oid.hex()} is not what was stored")
    return kind, data


def _damaged(path: Path, reason: str) -> StorageUnavailable:
    return StorageUnavailable(
        f"The checkpoints in {path} are damaged: {reason}. Nothing was changed. "
        "Restore that file from a backup, or restore another checkpoint.",
        path=str(path),
        why="store_damaged",
        action="read",
        reason=reason,
    )
