"""Large files, kept whole beside the packs: to compress them would take longer than anybody waits. Everything here blocks.

Each content is named by its SHA-256 and lies where git-lfs looks for it; in git's trees stands git-lfs' pointer to it. Where
the file system lets files share their blocks (Btrfs, XFS), keeping one and bringing it back takes no space of its own.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from ..._private_files import make_private_folder, storage_error, sync_folder
from ..._private_open import open_private
from ...errors import StorageUnavailable
from .folders import Key
from .git_objects import LargeId, ObjectId
from .reflinks import clone
from .stable_read import NotCaptured, open_source, take_stable

__all__ = ["LargeFiles"]

T = TypeVar("T")
_BLOCK_BYTES: Final = 1024 * 1024
_TEMPORARY: Final = "tmp"


class LargeFiles:
    """The contents of one store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clones: bool | None = None
        """Whether the workspace's files can be cloned here; None until one was tried."""

    def may_clone(self, path: bytes) -> bool:
        """Whether files are cloned here; where that is not known yet, it is tried with this one."""
        if self.clones is None:
            with suppress(OSError):
                source = open_source(path)
                try:
                    temporary, target = self._temporary()
                    try:
                        self._clone(source, target)
                    finally:
                        os.close(target)
                        temporary.unlink()
                finally:
                    os.close(source)
        return self.clones is not False

    def keep(self, path: bytes, largest: int, copied: int) -> tuple[Key, LargeId]:
        """Keep a file as it is at one moment; returns its key and its content's name.

        Where it cannot be cloned it is copied, if it has no more than ``copied`` bytes. Raises ``NotCaptured``.
        """

        def fill(target: int) -> tuple[Key, LargeId]:
            key, _ = take_stable(path, largest, lambda source, size: self._take(source, target, size, copied))
            return key, _digest(target)

        return self._add(fill)

    def fill(self, oid: ObjectId, target: int) -> None:
        """Write a content into an open and empty file. Raises OSError if that one's disk refuses."""
        source = self.open(oid)
        try:
            if _digest(source) != oid:
                raise self.damaged(oid, "it is not what was stored")
            if not self._clone(source, target):
                os.lseek(source, 0, os.SEEK_SET)
                while block := os.read(source, _BLOCK_BYTES):
                    _write_all(target, block)
        finally:
            os.close(source)

    def read(self, oid: ObjectId) -> bytes:
        """A content as a whole, checked against its name."""
        data = b"".join(self.blocks(oid))
        if hashlib.sha256(data).digest() != oid:
            raise self.damaged(oid, "it is not what was stored")
        return data

    def blocks(self, oid: ObjectId) -> Iterator[bytes]:
        """A content piece by piece, not checked."""
        source = self.open(oid)
        try:
            while block := os.read(source, _BLOCK_BYTES):
                yield block
        except OSError as error:
            raise storage_error(self._place(oid), "read", error) from error
        finally:
            os.close(source)

    def open(self, oid: ObjectId) -> int:
        """A descriptor to read a content from."""
        try:
            return os.open(self._place(oid), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        except FileNotFoundError as error:
            raise self.damaged(oid, "it is not there") from error
        except OSError as error:
            raise storage_error(self._place(oid), "read", error) from error

    def contents(self) -> Iterator[tuple[LargeId, int]]:
        """All that there is, with the bytes it would take if nothing shared them."""
        for path in (self.folder / "objects").glob("??/??/*"):
            with suppress(OSError, ValueError):
                yield bytes.fromhex(path.name), path.stat().st_size

    def size_of(self, oid: ObjectId) -> int:
        """How large one is; 0 if it is not there."""
        try:
            return self._place(oid).stat().st_size
        except OSError:
            return 0

    def size(self) -> int:
        """How large they are together."""
        return sum(size for _, size in self.contents())

    def drop_others(self, needed: Collection[ObjectId]) -> None:
        """Remove what no checkpoint needs any more. The caller holds the store's lock."""
        for oid, _ in list(self.contents()):
            if oid not in needed:
                # What is in use on Windows goes next time.
                with suppress(OSError):
                    self._place(oid).unlink()

    def take_from(self, other: LargeFiles, oid: ObjectId) -> None:
        """Have a content of another store too."""

        def fill(target: int) -> tuple[None, ObjectId]:
            other.fill(oid, target)
            return None, oid

        self._add(fill)

    def clear_leftovers(self) -> None:
        """Remove what a process that died left half written. The caller holds the store's lock."""
        with suppress(OSError):
            for leftover in list((self.folder / _TEMPORARY).iterdir()):
                leftover.unlink()

    def _place(self, oid: ObjectId) -> Path:
        name = oid.hex()
        return self.folder / "objects" / name[:2] / name[2:4] / name

    def _temporary(self) -> tuple[Path, int]:
        for folder in (self.folder, self.folder / _TEMPORARY):
            make_private_folder(folder)
        path = self.folder / _TEMPORARY / secrets.token_hex(8)
        try:
            return path, open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except OSError as error:
            raise storage_error(path, "write", error) from error

    def _take(self, source: int, target: int, size: int, copied: int) -> bool | None:
        """Get the content; None if it changes meanwhile."""
        try:
            os.ftruncate(target, 0)
            os.lseek(target, 0, os.SEEK_SET)
            if self._clone(source, target):
                return True if os.fstat(target).st_size == size else None
        except OSError as error:
            raise storage_error(self.folder, "keep a large file in", error) from error
        if size > copied:
            raise NotCaptured("too_large")
        left = size
        while block := os.read(source, _BLOCK_BYTES):
            left -= len(block)
            if left < 0:
                return None
            try:
                _write_all(target, block)
            except OSError as error:
                raise storage_error(self.folder, "keep a large file in", error) from error
        return True if left == 0 else None

    def _clone(self, source: int, target: int) -> bool:
        if self.clones is False:
            return False
        done = clone(source, target)
        if done != "not_this_file":
            self.clones = done == "cloned"
        return done == "cloned"

    def _add(self, fill: Callable[[int], tuple[T, LargeId]]) -> tuple[T, LargeId]:
        """Have a file filled, and put it in the place of its content unless that is there already."""
        temporary, target = self._temporary()
        try:
            try:
                what, oid = fill(target)
                place = self._place(oid)
                if not place.exists():
                    os.fsync(target)
            finally:
                os.close(target)
            if not place.exists():
                self._put(temporary, place)
        except OSError as error:
            raise storage_error(self.folder, "keep a large file in", error) from error
        finally:
            with suppress(OSError):
                temporary.unlink()
        return what, oid

    def _put(self, temporary: Path, place: Path) -> None:
        folders = (place.parents[2], place.parents[1], place.parent)
        for folder in folders:
            make_private_folder(folder)
        os.replace(temporary, place)
        for folder in reversed(folders):
            sync_folder(folder)

    def damaged(self, oid: ObjectId, reason: str) -> StorageUnavailable:
        """The error of a content that cannot be used."""
        return StorageUnavailable(
            f"The large file {self._place(oid)} of the checkpoints is damaged: {reason}. Nothing was changed. "
            "Restore that file from a backup, or restore another checkpoint.",
            path=str(self._place(oid)),
            why="store_damaged",
            action="read",
            reason=reason,
        )


def _digest(descriptor: int) -> LargeId:
    os.lseek(descriptor, 0, os.SEEK_SET)
    digest = hashlib.sha256()
    while block := os.read(descriptor, _BLOCK_BYTES):
        digest.update(block)
    return digest.digest()


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
