"""Writing one pack and its index in git's format. Everything here blocks.

A pack appears whole or not at all: it is written under a temporary name, synced, and renamed, its index last, because git
and we find packs by their indexes. A ``.keep`` file beside it tells a person's ``git gc`` to leave it alone.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Final

from ..._private_files import storage_error, sync_folder
from ..._private_open import open_private
from .git_objects import ObjectId

__all__ = ["PackWriter", "compressed", "stored"]

_BUFFER_BYTES: Final = 1024 * 1024
_SAMPLE_BYTES: Final = 64 * 1024
_HARDLY_SMALLER: Final = 0.97
_FAR: Final = 0x80000000
TEMPORARY: Final = "tmp_pack_"
"""Git itself clears such names away when they are old."""


def stored(data: bytes) -> bytes:
    """The content as a pack has it, as it is: for what is small and half of it random, such as trees."""
    return zlib.compress(data, 0)


def compressed(data: bytes) -> bytes:
    """The content as a pack has it. What does not shrink (images, archives) is not tried at length."""
    if len(data) > _SAMPLE_BYTES:
        middle = len(data) // 2
        sample = data[middle : middle + _SAMPLE_BYTES]
        if len(zlib.compress(sample, 1)) > _HARDLY_SMALLER * len(sample):
            return zlib.compress(data, 0)
    return zlib.compress(data, 1)


class PackWriter:
    """One pack in the making. Nothing of it is seen before ``finish``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._temporary = folder / f"{TEMPORARY}{secrets.token_hex(8)}"
        self._descriptor: int | None = None
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._end = 0
        self._objects: dict[ObjectId, tuple[int, int]] = {}

    def __contains__(self, oid: ObjectId) -> bool:
        return oid in self._objects

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def size(self) -> int:
        """How many bytes it has so far."""
        return self._end

    def add(self, kind: int, oid: ObjectId, size: int, packed: bytes) -> None:
        """Add an object: its size, and its content compressed."""
        if oid not in self._objects:
            self.add_entry(oid, _entry_head(kind, size) + packed)

    def add_entry(self, oid: ObjectId, entry: bytes) -> None:
        """Add an object as another pack has it."""
        if oid in self._objects:
            return
        if self._end == 0:
            self._write(b"PACK" + struct.pack(">II", 2, 0))
        self._objects[oid] = (self._end, zlib.crc32(entry))
        self._write(entry)

    def finish(self) -> Path | None:
        """Put the pack in its place; None if it would be empty."""
        if not self._objects:
            return None
        try:
            checksum = self._seal()
            index = self._temporary.with_suffix(".idx")
            _write(index, _index(self._objects, checksum), synced=True)
            pack = self._folder / f"pack-{checksum.hex()}.pack"
            # That it is there is all it says, so nobody waits for its content.
            _write(pack.with_suffix(".keep"), b"HDSP Agent keeps what its checkpoints need\n", synced=False)
            os.replace(self._temporary, pack)
            os.replace(index, pack.with_suffix(".idx"))
            sync_folder(self._folder)
        except BaseException as error:
            self.abandon()
            if isinstance(error, OSError):
                raise storage_error(self._folder, "write a pack in", error) from error
            raise
        return pack

    def abandon(self) -> None:
        """Leave nothing behind. After ``finish`` this does nothing."""
        self._close()
        for name in (self._temporary, self._temporary.with_suffix(".idx")):
            with suppress(OSError):
                name.unlink()

    def _write(self, data: bytes) -> None:
        self._buffer.append(data)
        self._buffered += len(data)
        self._end += len(data)
        if self._buffered >= _BUFFER_BYTES:
            self._flush()

    def _flush(self) -> None:
        try:
            if self._descriptor is None:
                self._descriptor = open_private(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            _write_all(self._descriptor, b"".join(self._buffer))
        except OSError as error:
            self.abandon()
            raise storage_error(self._folder, "write a pack in", error) from error
        self._buffer, self._buffered = [], 0

    def _seal(self) -> bytes:
        """Write the number of objects into the head and the checksum to the end."""
        self._flush()
        descriptor = self._descriptor
        assert descriptor is not None
        os.lseek(descriptor, 8, os.SEEK_SET)
        _write_all(descriptor, struct.pack(">I", len(self._objects)))
        os.lseek(descriptor, 0, os.SEEK_SET)
        digest = hashlib.sha1(usedforsecurity=False)
        while block := os.read(descriptor, _BUFFER_BYTES):
            digest.update(block)
        _write_all(descriptor, digest.digest())
        os.fsync(descriptor)
        self._close()
        return digest.digest()

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _entry_head(kind: int, size: int) -> bytes:
    """Kind and size of an object, seven bits a byte after the first four."""
    head = bytearray()
    byte, size = (kind << 4) | (size & 15), size >> 4
    while size:
        head.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    head.append(byte)
    return bytes(head)


def _index(objects: dict[ObjectId, tuple[int, int]], checksum: bytes) -> bytes:
    ordered = sorted(objects)
    counts = [0] * 256
    for oid in ordered:
        counts[oid[0]] += 1
    near, far = _offsets([objects[oid][0] for oid in ordered])
    body = b"".join(
        (
            b"\377tOc",
            struct.pack(">I", 2),
            struct.pack(">256I", *accumulate(counts)),
            b"".join(ordered),
            struct.pack(f">{len(ordered)}I", *(objects[oid][1] for oid in ordered)),
            struct.pack(f">{len(near)}I", *near),
            struct.pack(f">{len(far)}Q", *far),
            checksum,
        )
    )
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _offsets(offsets: Sequence[int]) -> tuple[list[int], list[int]]:
    """Those that fit into 31 bits, and the table of those that do not."""
    near: list[int] = []
    far: list[int] = []
    for offset in offsets:
        if offset < _FAR:
            near.append(offset)
        else:
            near.append(_FAR | len(far))
            far.append(offset)
    return near, far


def _write(path: Path, data: bytes, *, synced: bool) -> None:
    descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        _write_all(descriptor, data)
        if synced:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
