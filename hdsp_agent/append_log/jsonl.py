"""Reading an append-only log of JSON lines: from its end without looking at the rest, or by page through an index.

The index is built when something else than the newest is first asked for, and takes 24 bytes a record. An unfinished
last line is not there yet. Everything here blocks.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import threading
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Final, Generic, TypeVar

from .._private_files import storage_error
from ..errors import StorageUnavailable
from .corrupt_lines import CorruptLine
from .gzip_logs import PACKED, open_packed
from .log_tail import is_record

__all__ = ["REPLACES", "JsonlLog", "LineForm", "LogEntry"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

REPLACES: Final = b'"replaces":true'
"""Follows the key of a line that replaces an earlier one: reading from the end knows a record's first line by its absence."""

_TAIL_BLOCK: Final = 64 * 1024
_SCAN_BLOCK: Final = 1024 * 1024


@dataclass(frozen=True)
class LineForm(Generic[T_co]):
    """What a log's lines look like: the name of their rising key, how one is read, whether a later one replaces."""

    key: str
    parse: Callable[[bytes], T_co]
    latest_wins: bool = False

    def key_pattern(self) -> re.Pattern[bytes]:
        """Finds the key where our own lines have it."""
        return re.compile(rb'\{"' + self.key.encode() + rb'":(\d+)(,' + REPLACES + rb")?[,}]")


@dataclass(frozen=True)
class LogEntry(Generic[T]):
    """A record and its key."""

    key: int
    record: T


class _Index:
    """Where each record is; of those with one key, the last."""

    def __init__(self, identity: tuple[int, int, bool], latest_wins: bool) -> None:
        self.identity = identity
        self.scanned_to = 0
        self.keys = array("q")
        self._offsets = array("q")
        self._lengths = array("q")
        self._latest_wins = latest_wins

    def add(self, key: int, offset: int, length: int) -> None:
        if not self.keys or key > self.keys[-1]:
            self.keys.append(key)
            self._offsets.append(offset)
            self._lengths.append(length)
            return
        place = bisect_left(self.keys, key)
        if self._latest_wins and self.keys[place] == key:
            self._offsets[place], self._lengths[place] = offset, length
            return
        place = bisect_right(self.keys, key)
        self.keys.insert(place, key)
        self._offsets.insert(place, offset)
        self._lengths.insert(place, length)

    def places(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        return zip(self.keys[start:stop], self._offsets[start:stop], self._lengths[start:stop], strict=True)


class JsonlLog(Generic[T]):
    """One log. ``paths`` says where it may be just now, best guess first; each may be gzipped, with ``.gz`` added.

    ``on_damage`` hears of each line that no record could be made of, once.
    """

    def __init__(
        self,
        paths: Callable[[], Sequence[Path]],
        form: LineForm[T],
        on_damage: Callable[[Path, CorruptLine], None],
    ) -> None:
        self._paths = paths
        self._form = form
        self._pattern = form.key_pattern()
        self._on_damage = on_damage
        self._index: _Index | None = None
        self._damaged: set[int] = set()
        self._lock = threading.Lock()

    def newest(self, limit: int) -> list[LogEntry[T]]:
        """The last records, oldest first."""
        with self._lock, self._opened() as source:
            if source is None or limit <= 0:
                return []
            # Of a log that another program packed, each step backwards would unpack it from its beginning.
            if self._index is None and source.size is not None:
                entries = self._from_tail(source, source.size, limit)
                if entries is not None:
                    return entries
            return self._read(source, lambda index: (max(0, len(index.keys) - limit), len(index.keys)))

    def first(self, limit: int) -> list[T]:
        """The records of the first lines, without an index."""
        with self._lock, self._opened() as source:
            if source is None:
                return []
            lines = islice(_forwards(source.file, 0, _TAIL_BLOCK), limit)
            records = [self._parse(source, offset, line) for offset, line in lines]
        return [record for record in records if record is not None]

    def between(self, first: int, last: int, limit: int, *, newest: bool) -> list[LogEntry[T]]:
        """At most ``limit`` records whose keys are in this span, ends included: the newest of them, or the oldest."""

        def span(index: _Index) -> tuple[int, int]:
            start, stop = bisect_left(index.keys, first), bisect_right(index.keys, last)
            return (max(start, stop - limit), stop) if newest else (start, min(stop, start + limit))

        with self._lock, self._opened() as source:
            return [] if source is None else self._read(source, span)

    def count(self) -> int:
        """How many records there are."""
        with self._lock, self._opened() as source:
            return 0 if source is None else len(self._indexed(source).keys)

    @contextmanager
    def _opened(self) -> Iterator[_Source | None]:
        source = self._find()
        if source is None:
            yield None
            return
        try:
            with source.file:
                yield source
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise StorageUnavailable(
                f"Could not read {source.path}: the compressed log is damaged ({error}). Restore it from a backup.",
                path=str(source.path),
                action="read",
                reason=str(error),
            ) from error
        except OSError as error:
            raise storage_error(source.path, "read", error) from error

    def _find(self) -> _Source | None:
        # Twice, because it may be moved or compressed between two looks.
        for path in (*self._paths(), *self._paths()):
            for candidate, packed in ((path, False), (path.with_name(path.name + PACKED), True)):
                try:
                    raw = open(candidate, "rb", buffering=0)  # noqa: SIM115 -- closed by _opened
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise storage_error(candidate, "read", error) from error
                status = os.fstat(raw.fileno())
                identity = (status.st_dev, status.st_ino, packed)
                if not packed:
                    return _Source(candidate, raw, status.st_size, identity)
                try:
                    return _Source(candidate, *open_packed(raw, lenient=True), identity)
                except OSError as error:
                    raw.close()
                    raise storage_error(candidate, "read", error) from error
        return None

    def _from_tail(self, source: _Source, size: int, limit: int) -> list[LogEntry[T]] | None:
        """The newest without an index; None if only an index can tell."""
        firsts: list[int] = []
        seen: dict[int, T] = {}
        for offset, line in _backwards(source.file, size):
            match = self._pattern.match(line)
            if match is None:
                if self._form.latest_wins or self._parse(source, offset, line) is not None:
                    return None
                continue
            key = int(match[1])
            if key not in seen:
                record = self._parse(source, offset, line)
                if record is None and self._form.latest_wins:
                    return None
                if record is None:
                    continue
                seen[key] = record
            if match[2]:
                continue
            if firsts and key >= firsts[-1]:
                return None
            firsts.append(key)
            if len(firsts) == limit:
                break
        at_start = len(firsts) < limit
        if any(at_start or key > firsts[-1] for key in seen.keys() - set(firsts)):
            return None
        return [LogEntry(key, seen[key]) for key in reversed(firsts)]

    def _read(self, source: _Source, span: Callable[[_Index], tuple[int, int]]) -> list[LogEntry[T]]:
        while True:
            index = self._indexed(source)
            entries: list[LogEntry[T]] = []
            damaged = False
            for key, offset, line in _runs(source.file, index.places(*span(index))):
                match = self._pattern.match(line)
                if match is not None and int(match[1]) != key:
                    # What was indexed was never acknowledged and has been cut off since.
                    damaged = True
                    break
                record = self._parse(source, offset, line)
                if record is None:
                    damaged = True
                else:
                    entries.append(LogEntry(key, record))
            if not damaged:
                return entries
            # Without the damaged lines, an earlier line may hold the record.
            self._index = None

    def _indexed(self, source: _Source) -> _Index:
        index = self._index
        if index is None or index.identity != source.identity or (source.size or index.scanned_to) < index.scanned_to:
            if index is not None and index.identity != source.identity:
                self._damaged.clear()
            index = self._index = _Index(source.identity, self._form.latest_wins)
        if source.size is None or source.size > index.scanned_to:
            for offset, line in _forwards(source.file, index.scanned_to):
                index.scanned_to = offset + len(line) + 1
                if offset in self._damaged or not line:
                    continue
                key = self._key(source, offset, line)
                if key is not None:
                    index.add(key, offset, len(line))
        return index

    def _key(self, source: _Source, offset: int, line: bytes) -> int | None:
        match = self._pattern.match(line)
        if match is not None and line.endswith(b"}"):
            return int(match[1])
        if self._parse(source, offset, line) is None:
            return None
        key = json.loads(line).get(self._form.key)
        if isinstance(key, int):
            return key
        self._damage(source, offset, line)
        return None

    def _parse(self, source: _Source, offset: int, line: bytes) -> T | None:
        try:
            return self._form.parse(line)
        except (ValueError, RecursionError):
            if line:
                self._damage(source, offset, line)
            return None

    def _damage(self, source: _Source, offset: int, line: bytes) -> None:
        if offset not in self._damaged:
            self._damaged.add(offset)
            self._on_damage(source.path, CorruptLine(offset, line, "unknown" if is_record(line) else "corrupt"))


@dataclass
class _Source:
    path: Path
    file: IO[bytes]
    size: int | None
    """None of a log that another program packed: it is known only by reading it."""
    identity: tuple[int, int, bool]


def _backwards(file: IO[bytes], end: int) -> Iterator[tuple[int, bytes]]:
    """The finished lines with their offsets, last first."""
    pieces: list[bytes] = []
    finished = False
    position = end
    while position > 0:
        start = max(0, position - _TAIL_BLOCK)
        block = _exactly(file, start, position - start)
        position, stop = start, len(block)
        while (cut := block.rfind(b"\n", 0, stop)) >= 0:
            if finished:
                yield start + cut + 1, b"".join((block[cut + 1 : stop], *reversed(pieces)))
            finished, pieces, stop = True, [], cut
        pieces.append(block[:stop])
    if finished:
        yield 0, b"".join(reversed(pieces))


def _forwards(file: IO[bytes], start: int, block_size: int = _SCAN_BLOCK) -> Iterator[tuple[int, bytes]]:
    """The finished lines with their offsets from ``start`` on."""
    file.seek(start)
    offset = start
    pieces: list[bytes] = []
    while block := file.read(block_size):
        *lines, rest = block.split(b"\n")
        for line in lines:
            whole = b"".join((*pieces, line)) if pieces else line
            pieces = []
            yield offset, whole
            offset += len(whole) + 1
        pieces.append(rest)


def _runs(file: IO[bytes], places: Iterator[tuple[int, int, int]]) -> Iterator[tuple[int, int, bytes]]:
    """The lines at these places, neighbours read together."""
    run: list[tuple[int, int, int]] = []
    size = 0
    for place in places:
        if run and (place[1] != run[-1][1] + run[-1][2] + 1 or size > _SCAN_BLOCK):
            yield from _run(file, run)
            run, size = [], 0
        run.append(place)
        size += place[2] + 1
    yield from _run(file, run)


def _run(file: IO[bytes], run: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, bytes]]:
    if not run:
        return
    start = run[0][1]
    data = _exactly(file, start, run[-1][1] + run[-1][2] - start)
    for key, offset, length in run:
        yield key, offset, data[offset - start : offset - start + length]


def _exactly(file: IO[bytes], start: int, length: int) -> bytes:
    file.seek(start)
    data = file.read(length)
    while len(data) < length and (more := file.read(length - len(data))):
        data += more
    return data
