"""Packed logs: ordinary gzip files of many blocks, so that any part can be read without what is before it.

Each block is a gzip member of its own, and the last member is empty and has the blocks' sizes in its extra field: every
gzip reads such a file, and ours finds the newest page of a long conversation by unpacking one block. Everything here
blocks.
"""

from __future__ import annotations

import gzip
import io
import os
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from .._private_open import open_private

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["PACKED", "open_gzip", "open_packed", "unpacked_size", "write_packed"]

PACKED: Final = ".gz"
"""Follows the name of a log that is packed."""

_BLOCK_BYTES: Final = 256 * 1024
_LEVEL: Final = 6
_GZIP: Final = 31
"""zlib's name for gzip's frame with its checksum."""
_HEADER: Final = b"\x1f\x8b\x08\x04\x00\x00\x00\x00\x02\xff"
_EMPTY: Final = b"\x03\x00" + bytes(8)
_FIELD_NAME: Final = b"HD"
_SIZES: Final = struct.Struct("<II")
_END: Final = struct.Struct("<I8s")
_MAGIC: Final = b"HDSPblk1"
_MOST_TIMES: Final = 100
_ALWAYS_ALLOWED: Final = 64 * 1024 * 1024
_MOST_BLOCKS: Final = (0xFFFF - 4 - _END.size) // _SIZES.size


def write_packed(path: Path, lines: Iterable[bytes], expected_bytes: int) -> int:
    """Pack these pieces into a new file that is on the disk then, and return how many bytes they were."""
    # The table of blocks has room for a few thousand: a very long log has larger ones.
    block_bytes = max(_BLOCK_BYTES, expected_bytes // (_MOST_BLOCKS // 2))
    table: list[tuple[int, int]] = []
    with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        pending: list[bytes] = []
        size = 0

        def flush() -> None:
            data = b"".join(pending)
            pack = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
            block = pack.compress(data) + pack.flush()
            file.write(block)
            table.append((len(block), len(data)))
            pending.clear()

        for line in lines:
            pending.append(line)
            size += len(line)
            if size >= block_bytes:
                flush()
                size = 0
        if pending:
            flush()
        if len(table) <= _MOST_BLOCKS:
            file.write(_index_member(table))
        file.flush()
        os.fsync(file.fileno())
    return sum(length for _, length in table)


def open_packed(raw: IO[bytes], *, lenient: bool = False) -> tuple[IO[bytes], int | None]:
    """What was packed, to read, and its size if that is known. Closing it closes ``raw``.

    ``lenient`` reads a block that is damaged as one line that is: whoever reads lines hears of it and gets the others.
    """
    table = _read_index(raw)
    raw.seek(0)
    if table is None:
        return open_gzip(raw), None
    blocks = _Blocks(raw, table, lenient=lenient)
    return cast("IO[bytes]", blocks), blocks.size


def open_gzip(file: IO[bytes]) -> IO[bytes]:
    """What any gzip file holds, to read. Closing it closes ``file``. Raises BadGzipFile where it swells beyond measure."""
    return cast("IO[bytes]", io.BufferedReader(_Bounded(file)))


def unpacked_size(path: Path) -> int:
    """How many bytes a packed log has when it is not: without unpacking one of ours, by the last four bytes of another."""
    with open(path, "rb", buffering=0) as raw:
        table = _read_index(raw)
        if table is not None:
            return sum(length for _, length in table)
        if raw.seek(0, os.SEEK_END) < 4:
            return 0
        raw.seek(-4, os.SEEK_END)
        return int.from_bytes(raw.read(4), "little")


def _index_member(table: list[tuple[int, int]]) -> bytes:
    field = b"".join(_SIZES.pack(*sizes) for sizes in table) + _END.pack(len(table), _MAGIC)
    extra = _FIELD_NAME + struct.pack("<H", len(field)) + field
    return _HEADER + struct.pack("<H", len(extra)) + extra + _EMPTY


def _read_index(raw: IO[bytes]) -> list[tuple[int, int]] | None:
    """The sizes of the blocks, packed and not; None if this file has no such table, or it is not whole."""
    size = raw.seek(0, os.SEEK_END)
    tail = len(_EMPTY) + _END.size
    if size < tail:
        return None
    raw.seek(size - tail)
    count, magic = _END.unpack(_read(raw, _END.size))
    start = size - tail - count * _SIZES.size
    if magic != _MAGIC or count > _MOST_BLOCKS or start < 0:
        return None
    raw.seek(start)
    table = list(_SIZES.iter_unpack(_read(raw, count * _SIZES.size)))
    # Whatever else ends like this is no file of ours.
    if sum(packed for packed, _ in table) + len(_index_member(table)) != size:
        return None
    return table


def _read(raw: IO[bytes], size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := raw.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


class _Bounded(io.RawIOBase):
    """What a gzip file holds, as long as it is not far more than a log of that size can hold."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._unpacked = gzip.GzipFile(fileobj=file, mode="rb")
        self._most = _ALWAYS_ALLOWED + _MOST_TIMES * file.seek(0, os.SEEK_END)
        file.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._unpacked.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_END:
            return self._unpacked.seek(offset, whence)
        # Its end is known only by reading it, and only so far.
        while self.readinto(bytearray(1 << 20)):
            pass
        return self.tell()

    def readinto(self, buffer: Buffer) -> int:
        data = self._unpacked.read(len(memoryview(buffer)))
        if self._unpacked.tell() > self._most:
            raise gzip.BadGzipFile(
                f"it holds more than {_MOST_TIMES} times as much as it takes up, which no log of a conversation does"
            )
        memoryview(buffer)[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._unpacked.close()
        self._file.close()
        super().close()


class _Blocks(io.RawIOBase):
    """A log that we packed: seeking costs nothing, reading unpacks the block it meets."""

    def __init__(self, raw: IO[bytes], table: list[tuple[int, int]], *, lenient: bool) -> None:
        self._raw = raw
        self._lenient = lenient
        self._table = table
        self._packed_at = [0, *accumulate(packed for packed, _ in table)]
        self._at = [0, *accumulate(length for _, length in table)]
        self.size: Final = self._at[-1]
        self._position = 0
        self._current = -1
        self._data = b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            size = max(0, self.size - self._position)
        pieces: list[bytes] = []
        while size > 0 and self._position < self.size:
            number = bisect_right(self._at, self._position) - 1
            start = self._position - self._at[number]
            piece = self._block(number)[start : start + size]
            pieces.append(piece)
            self._position += len(piece)
            size -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        self._raw.close()
        super().close()

    def _block(self, number: int) -> bytes:
        if number != self._current:
            packed, length = self._table[number]
            self._raw.seek(self._packed_at[number])
            try:
                data = zlib.decompress(_read(self._raw, packed), _GZIP, length)
                if len(data) != length:
                    raise EOFError(f"block {number} has {len(data)} bytes instead of {length}")
            except (EOFError, zlib.error):
                if not self._lenient:
                    raise
                # A block is whole lines, so the ones before and after it stay whole.
                data = bytes(length - 1) + b"\n"
            self._current, self._data = number, data
        return self._data
