"""Everything there is of a task at rest, as bytes: what one backend hands to another. Everything here blocks.

A line is handed over as it was written, forms of a message that were replaced and a newer version's fields included. What
is not a record with a key goes the way of damaged lines: it is told and kept aside.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..._private_files import read_with_identity, storage_error
from ...append_log.corrupt_lines import CorruptLine, kept_aside
from ...append_log.gzip_logs import open_gzip
from ...append_log.log_tail import is_record
from .._records import STREAM_FILES, Place, Stream
from ..files._artifacts import ARTIFACT_NAME
from ..files._task_folders import ARTIFACTS, METADATA, STATE
from ..tables._artifact_rows import ArtifactRows
from ..tables._sql import STREAM_TABLES, Dialect, SqlConnection
from ..tables._task_rows import TaskRow

__all__ = ["FolderContent", "RowContent", "StreamDigest", "TaskContent", "TaskDigest", "key_of"]

_KEY_FIRST: Final = {
    stream: re.compile(rb'\{"' + key.encode() + rb'":(-?\d+)[,}]') for stream, (_, key) in STREAM_TABLES.items()
}


@dataclass(frozen=True)
class StreamDigest:
    """How many lines a stream has, and the sha256 of them all."""

    lines: int
    sha256: str


@dataclass(frozen=True)
class TaskDigest:
    """By what two copies of a task are compared."""

    streams: Mapping[Stream, StreamDigest]
    artifacts: frozenset[str]
    metadata: str
    state: str

    def begins(self, other: TaskDigest) -> bool:
        """Whether the other, read as far as this one goes, is the same; what a task is called and its state may differ."""
        return self.streams == other.streams and self.artifacts <= other.artifacts

    @property
    def lines(self) -> Mapping[Stream, int]:
        """How far each stream goes."""
        return {stream: digest.lines for stream, digest in self.streams.items()}


class TaskContent(ABC):
    """One task. ``damage`` collects what was met and is no record, while the lines are read."""

    place: Place
    metadata: bytes
    state: bytes

    def __init__(self) -> None:
        self.damage: dict[tuple[Stream, int], CorruptLine] = {}
        self.damaged_artifacts: set[str] = set()

    @abstractmethod
    def raw_lines(self, stream: Stream) -> Iterator[tuple[int, bytes]]:
        """Each line without its end, and where it is."""

    @abstractmethod
    def raw_artifacts(self) -> Iterator[tuple[str, bytes | None]]:
        """Each artifact's name and bytes, or None if these are lost."""

    @abstractmethod
    def kept_lines(self, stream: Stream) -> list[CorruptLine]:
        """Damaged lines that were kept aside before."""

    @abstractmethod
    def kept_files(self) -> Iterator[tuple[str, bytes]]:
        """Whole files that were damaged and kept aside, under the names they have."""

    def lines(self, stream: Stream) -> Iterator[tuple[int, bytes]]:
        """The key and the bytes of each line that is a record."""
        for offset, line in self.raw_lines(stream):
            key = key_of(stream, line)
            if key is not None:
                yield key, line
            elif line:
                self.damage[stream, offset] = CorruptLine(offset, line, "corrupt")

    def artifacts(self) -> Iterator[tuple[str, bytes]]:
        """The artifacts that are what their names say."""
        for name, data in self.raw_artifacts():
            if data is not None and hashlib.sha256(data).hexdigest() == name:
                yield name, data
            else:
                self.damaged_artifacts.add(name)

    def damaged_lines(self, stream: Stream) -> list[CorruptLine]:
        """What was met while the lines were read, and what was kept aside before, once each."""
        kept = self.kept_lines(stream)
        known = {(line.offset, line.data) for line in kept}
        met = [line for (of, _), line in self.damage.items() if of == stream]
        return kept + [line for line in met if (line.offset, line.data) not in known]

    def digest(self, limits: Mapping[Stream, int] | None = None) -> TaskDigest:
        """Read everything, or of each stream as many lines as ``limits`` says."""
        streams = {stream: self._stream_digest(stream, limits) for stream in STREAM_FILES}
        names = frozenset(name for name, _ in self.artifacts())
        return TaskDigest(
            streams, names, hashlib.sha256(self.metadata).hexdigest(), hashlib.sha256(self.state).hexdigest()
        )

    def _stream_digest(self, stream: Stream, limits: Mapping[Stream, int] | None) -> StreamDigest:
        limit = None if limits is None else limits[stream]
        hashed, count = hashlib.sha256(), 0
        for _, line in self.lines(stream):
            if count == limit:
                break
            hashed.update(line + b"\n")
            count += 1
        return StreamDigest(count, hashed.hexdigest())


class FolderContent(TaskContent):
    """A task in a folder; its logs may be gzipped."""

    def __init__(self, folder: Path, place: Place) -> None:
        super().__init__()
        self._folder = folder
        self.place = place
        self.metadata, self.state = (
            found[0] if (found := read_with_identity(folder / name)) else b"" for name in (METADATA, STATE)
        )

    def raw_lines(self, stream: Stream) -> Iterator[tuple[int, bytes]]:
        path = self._folder / STREAM_FILES[stream]
        packed = path.with_name(path.name + ".gz")
        offset = 0
        try:
            # Both are there if a crash interrupted the packing: the plain one is whole until the very end of it.
            with open(path, "rb") if path.exists() or not packed.exists() else open_gzip(open(packed, "rb")) as file:
                for line in file:
                    yield offset, line.rstrip(b"\n")
                    offset += len(line)
        except FileNotFoundError:
            return
        except (OSError, EOFError, zlib.error) as error:
            failure = error if isinstance(error, OSError) else OSError(str(error))
            raise storage_error(path, "read", failure) from error

    def raw_artifacts(self) -> Iterator[tuple[str, bytes]]:
        folder = self._folder / ARTIFACTS
        try:
            names = sorted(path.name for path in folder.iterdir() if ARTIFACT_NAME.fullmatch(path.name))
            for name in names:
                yield name, (folder / name).read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error(folder, "read", error) from error

    def kept_lines(self, stream: Stream) -> list[CorruptLine]:
        return kept_aside(self._folder / STREAM_FILES[stream])

    def kept_files(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self._folder.glob("*.corrupt-*")):
            with suppress(FileNotFoundError):
                yield path.name, path.read_bytes()


class RowContent(TaskContent):
    """A task in a database, as the connection's transaction sees it."""

    def __init__(self, connection: SqlConnection, row: TaskRow, dialect: Dialect, artifacts: ArtifactRows) -> None:
        super().__init__()
        self._dialect = dialect
        self._artifacts = artifacts
        self._connection = connection
        self._number = row.number
        self.place = row.place
        self.metadata, self.state = row.metadata, row.state

    def raw_lines(self, stream: Stream) -> Iterator[tuple[int, bytes]]:
        table, _ = STREAM_TABLES[stream]
        record = self._dialect.as_bytes.format("record")
        yield from self._rows(f"SELECT id, {record} FROM {table} WHERE task = ? ORDER BY id")  # noqa: S608 -- our own names

    def raw_artifacts(self) -> Iterator[tuple[str, bytes | None]]:
        return self._artifacts.of_task(self._connection, self._number)

    def kept_lines(self, stream: Stream) -> list[CorruptLine]:
        rows = self._connection.execute(
            "SELECT id, data FROM set_aside WHERE task = ? AND what = ? ORDER BY id",
            (self._number, STREAM_FILES[stream]),
        )
        return [CorruptLine(number, data, "corrupt") for number, data in rows]

    def kept_files(self) -> Iterator[tuple[str, bytes]]:
        yield from self._rows("SELECT what, data FROM set_aside WHERE task = ? AND what LIKE '%.corrupt-%' ORDER BY id")

    def _rows(self, query: str) -> Iterator[tuple[Any, bytes]]:
        return self._dialect.rows(self._connection, query, (self._number,))


def key_of(stream: Stream, line: bytes) -> int | None:
    """The key of a line; None if the line is no record or has none."""
    if not is_record(line):
        return None
    found = _KEY_FIRST[stream].match(line)
    key = int(found[1]) if found is not None else json.loads(line).get(STREAM_TABLES[stream][1])
    return key if isinstance(key, int) and not isinstance(key, bool) and abs(key) < 2**62 else None
