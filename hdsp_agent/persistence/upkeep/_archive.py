"""The form of a backup: a gzipped tar whose last member has the sha256 of each other one, as ``sha256sum`` writes them.

Everything here blocks.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from ..._portable_names import is_portable
from ..._private_files import storage_error
from ...errors import InvalidInput

__all__ = [
    "FOLDERS",
    "HEAD",
    "ArchiveHead",
    "ArchiveWriter",
    "Member",
    "belongs_in_a_backup",
    "damaged",
    "is_safe_name",
    "members",
    "read_head",
]

FORMAT: Final = 1
HEAD: Final = "backup.json"
SUMS: Final = "SHA256SUMS"
FOLDERS: Final = ("contexts", "checkpoints", "memories")
FILES: Final = ("config.json", "history.jsonl")
_DATABASE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.db")
_PART: Final = re.compile(r"[^\\/:*?\"<>|\x00-\x1f]{1,255}")
_LEVEL: Final = 3
_BLOCK: Final = 1024 * 1024
_LARGEST_HEAD: Final = 64 * 1024
_ENDS_OF_READING: Final = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError, ValueError)


@dataclass(frozen=True)
class ArchiveHead:
    """What a backup says of itself."""

    created_at: str
    tasks: int
    format: int = FORMAT


@dataclass(frozen=True)
class Member:
    """A file of a backup, or a folder (``data`` is None). The name is safe to be joined to a folder of ours."""

    name: str
    modified: float
    size: int
    data: IO[bytes] | None


def belongs_in_a_backup(name: str) -> bool:
    """Whether a file or folder right below the home folder does. Keys never do, whatever their storage calls its files."""
    return name in FOLDERS or name in FILES or _DATABASE.fullmatch(name) is not None


def is_safe_name(part: str) -> bool:
    """Whether this may be the name of a file or folder in a backup, which may be restored on another system."""
    return _PART.fullmatch(part) is not None and is_portable(part)


class ArchiveWriter:
    """Writes a backup; it is whole after ``finish``."""

    def __init__(self, file: IO[bytes], head: ArchiveHead, scratch: Path) -> None:
        self._packed = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_LEVEL, mtime=0)
        self._tar = tarfile.open(fileobj=self._packed, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 -- finish
        self._sums = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 -- closed by finish and close
        self.files = 0
        self.bytes = 0
        data = json.dumps({"format": head.format, "created_at": head.created_at, "tasks": head.tasks}).encode()
        self.add_bytes(HEAD, data, 0)

    def add_bytes(self, name: str, data: bytes, modified: float) -> None:
        """Add a small file."""
        self.add(name, io.BytesIO(data), len(data), modified)

    def add(self, name: str, source: IO[bytes], size: int, modified: float, padding: bytes = b"\0") -> OSError | None:
        """Add this many bytes. Should there be fewer by now, the rest is padding: the size is written before them.

        Returns what the disk said if it did not give them all.
        """
        data = _Summed(source, size, padding)
        self._add(name, cast("IO[bytes]", data), size, modified)
        self._sums.write(f"{data.sum.hexdigest()}  {name}\n".encode())
        self.files += 1
        self.bytes += size
        return data.error

    def add_folder(self, name: str) -> None:
        """Add a folder that may be empty."""
        info = tarfile.TarInfo(name)
        info.type, info.mode = tarfile.DIRTYPE, 0o700
        self._tar.addfile(info)
        self._forget()

    def finish(self) -> None:
        """Add the sums and the end."""
        size = self._sums.tell()
        self._sums.seek(0)
        self._add(SUMS, self._sums, size, 0)
        self._sums.close()
        self._tar.close()
        self._packed.close()

    def close(self) -> None:
        """Let go of what is not finished; nobody will read it."""
        self._sums.close()
        with suppress(OSError):
            self._packed.close()

    def _add(self, name: str, data: IO[bytes], size: int, modified: float) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = size, int(modified), 0o600
        self._tar.addfile(info, data)
        self._forget()

    def _forget(self) -> None:
        # tarfile remembers every member it wrote.
        self._tar.members.clear()  # type: ignore[attr-defined]  # in no stub, in every version


class _Summed:
    """Bytes on their way, with their sum. With ``padding`` there are as many as was said, whatever the disk gives."""

    def __init__(self, source: IO[bytes], size: int, padding: bytes | None) -> None:
        self.sum = hashlib.sha256()
        self.error: OSError | None = None
        self._source = source
        self._left = size
        self._padding = padding

    def read(self, size: int) -> bytes:
        wanted = min(size, self._left)
        pieces: list[bytes] = []
        try:
            while wanted > 0 and self.error is None and (piece := self._source.read(wanted)):
                pieces.append(piece)
                wanted -= len(piece)
        except OSError as error:
            if self._padding is None:
                raise
            self.error = error
        data = b"".join((*pieces, (self._padding or b"") * wanted))
        self._left -= len(data)
        self.sum.update(data)
        return data


class _Read(_Summed):
    """Bytes of an archive; whoever reads them hears what is wrong with it."""

    def __init__(self, archive: Path, source: IO[bytes], size: int) -> None:
        super().__init__(source, size, None)
        self._archive = archive

    def read(self, size: int) -> bytes:
        with _reading(self._archive):
            return super().read(size)


def read_head(archive: Path) -> ArchiveHead:
    """What the backup says of itself, without reading the rest."""
    with _opened(archive) as tar:
        return _head(archive, tar)


def members(archive: Path) -> Iterator[Member]:
    """All files and folders of a backup in order; raises ``InvalidInput`` at the first thing that is wrong with it.

    Only what was read to the end is checked, so each member must be; that all is well is known when the iteration ends.
    """
    with _opened(archive) as tar:
        _head(archive, tar)
        sums = hashlib.sha256(_sum_line(tar.head_sum, HEAD))
        while True:
            info = tar.next()
            if info is None:
                raise damaged(archive, "its end is missing")
            if info.name == SUMS and info.isreg():
                break
            _check(archive, info)
            if info.isdir():
                yield Member(info.name.rstrip("/"), info.mtime, 0, None)
                continue
            data = _Read(archive, tar.data(info), info.size)
            yield Member(info.name, info.mtime, info.size, cast("IO[bytes]", data))
            while data.read(_BLOCK):
                pass
            sums.update(_sum_line(data.sum.hexdigest(), info.name))
        kept = hashlib.sha256()
        source = tar.data(info)
        while piece := source.read(_BLOCK):
            kept.update(piece)
        if kept.digest() != sums.digest():
            raise damaged(archive, "its checksums do not match")
        if tar.rest() > _BLOCK:
            raise damaged(archive, "there is something after its end")


def damaged(archive: Path, reason: str) -> InvalidInput:
    """The error that says that nothing can be restored from this file."""
    return InvalidInput(
        f"{archive} is not a backup that can be trusted: {reason}. Nothing was changed. Use another backup.",
        field="archive",
        path=str(archive),
        reason=reason,
    )


class _Tar:
    def __init__(self, tar: tarfile.TarFile, packed: gzip.GzipFile) -> None:
        self._tar = tar
        self._packed = packed
        self.head_sum = ""

    def rest(self) -> int:
        """Read what is left, so that gzip compares its own sum; only so much that it is clear whether it is padding."""
        return len(self._packed.read(2 * _BLOCK))

    def next(self) -> tarfile.TarInfo | None:
        info = self._tar.next()
        self._tar.members.clear()  # type: ignore[attr-defined]  # as above
        return info

    def data(self, info: tarfile.TarInfo) -> IO[bytes]:
        data = self._tar.extractfile(info)
        assert data is not None
        return data


@contextmanager
def _opened(archive: Path) -> Iterator[_Tar]:
    with _reading(archive), open(archive, "rb") as file, gzip.GzipFile(fileobj=file, mode="rb") as packed:
        bounded = cast("IO[bytes]", _Bounded(packed))
        with tarfile.open(fileobj=bounded, mode="r:") as tar:
            yield _Tar(tar, packed)


@contextmanager
def _reading(archive: Path) -> Iterator[None]:
    """Say what is wrong with an archive in words of ours."""
    try:
        yield
    except _ENDS_OF_READING as error:
        raise damaged(archive, str(error) or type(error).__name__) from error
    except OSError as error:
        raise storage_error(archive, "read", error) from error


class _Bounded:
    """Refuses to take more at once than any part of ours is long: tarfile reads a header as long as the file says."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= 4 * _BLOCK:
            raise tarfile.ReadError("one of its headers is too long")
        return self._packed.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._packed.seek(offset, whence)

    def tell(self) -> int:
        return self._packed.tell()


def _head(archive: Path, tar: _Tar) -> ArchiveHead:
    info = tar.next()
    if info is None or info.name != HEAD or not info.isreg() or info.size > _LARGEST_HEAD:
        raise damaged(archive, f"it does not begin with {HEAD}")
    data = tar.data(info).read()
    tar.head_sum = hashlib.sha256(data).hexdigest()
    read = json.loads(data)
    if not isinstance(read, dict) or not isinstance(read.get("created_at"), str):
        raise damaged(archive, f"{HEAD} is not ours")
    if read.get("format") != FORMAT:
        raise damaged(archive, f"it has format {read.get('format')}, this version reads {FORMAT}; update HDSP Agent")
    tasks = read.get("tasks")
    return ArchiveHead(read["created_at"], tasks if isinstance(tasks, int) else 0)


def _check(archive: Path, info: tarfile.TarInfo) -> None:
    parts = info.name.rstrip("/").split("/")
    if not all(is_safe_name(part) for part in parts):
        raise damaged(archive, f"{info.name[:200]!r} is not a file name of HDSP Agent")
    if not (info.isreg() or info.isdir()) or info.issparse():
        raise damaged(archive, f"{info.name[:200]!r} is a link or a device")
    is_folder = parts[0] in FOLDERS
    if not belongs_in_a_backup(parts[0]) or is_folder != (len(parts) > 1 or info.isdir()) or "\n" in info.name:
        raise damaged(archive, f"{info.name[:200]!r} does not belong in a backup")


def _sum_line(digest: str, name: str) -> bytes:
    return f"{digest}  {name}\n".encode()
