"""Opening and replacing files so that neither a pipe, a swapped link nor a crash does harm. Everything here blocks."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final, NoReturn

from ._path_policy import CheckedPath, kind_of
from ._tool_failed import ToolFailed

__all__ = ["Stamp", "open_file", "read_whole", "replace", "stamp_of"]

Stamp = tuple[int, int, int]
"""By which a file is known to be as it was: change time in nanoseconds, size, inode."""

_BINARY: Final = getattr(os, "O_BINARY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0)


def open_file(place: CheckedPath) -> BufferedReader:
    """Open an ordinary file for reading. Anything else is refused without waiting for it."""
    flags = _NO_LINK | _NO_WAITING | _BINARY | os.O_RDONLY
    try:
        # Opening some devices has effects, so look first; then again at what was really opened.
        _refuse_kinds(os.lstat(place.path).st_mode, place.shown)
        descriptor = os.open(place.path, flags)
    except OSError as error:
        raise_failure(error, place.shown, "read")
    try:
        _refuse_kinds(os.fstat(descriptor).st_mode, place.shown)
        if sys.platform == "linux":
            opened = os.readlink(f"/proc/self/fd/{descriptor}")
            if opened != str(place.path):
                raise ToolFailed(f"{place.shown} was moved or replaced just now. Try again.")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_whole(place: CheckedPath, *, most: int, stop: Callable[[], bool] = lambda: False) -> tuple[bytes, Stamp]:
    """All bytes of a file that has at most so many, and its stamp."""
    with open_file(place) as file:
        stamp = stamp_of(os.fstat(file.fileno()))
        if stamp[1] > most:
            raise ToolFailed(
                f"{place.shown} has {stamp[1]:,} bytes; a file of more than {most:,} bytes is not edited as a whole. "
                "Change it with a command or a script."
            )
        pieces: list[bytes] = []
        left = most
        while not stop() and (piece := file.read(min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces), stamp


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a file that was looked at."""
    return found.st_mtime_ns, found.st_size, found.st_ino


def replace(place: CheckedPath, data: bytes) -> Stamp:
    """Make this the file's content: all of it or nothing of it, even if the machine stops now.

    Keeps the mode and group. Missing folders are made.
    """
    path = place.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        old = _old(path, place.shown)
        return _by_rename(path, data, old, place.shown)
    except PermissionError as error:
        # A file may be writable in a folder that is not, and one of somebody else's would change hands by a rename.
        if not os.access(path, os.W_OK) or not path.is_file():
            raise_failure(error, place.shown, "written")
        return _in_place(path, data, place.shown)
    except OSError as error:
        raise_failure(error, place.shown, "written")


def raise_failure(error: OSError, shown: str, verb: str) -> NoReturn:
    """Say in words why a file cannot be read or written."""
    if isinstance(error, FileNotFoundError):
        raise ToolFailed(
            f"{shown} does not exist. Use list_files to see what there is; paths are relative to the workspace."
        ) from error
    if isinstance(error, PermissionError):
        raise ToolFailed(f"{shown} cannot be {verb}: permission denied.") from error
    raise ToolFailed(f"{shown} cannot be {verb}: {error.strerror or error}.") from error


def _refuse_kinds(mode: int, shown: str) -> None:
    if stat.S_ISDIR(mode):
        raise ToolFailed(f"{shown} is a directory. Use list_files to see what is in it.")
    kind = kind_of(mode)
    if kind is not None:
        raise ToolFailed(f"{shown} is {kind}, not a file: reading it could wait forever or change something.")
    if stat.S_ISLNK(mode):
        raise ToolFailed(f"{shown} became a symbolic link just now. Try again.")


def _old(path: Path, shown: str) -> os.stat_result | None:
    try:
        old = os.lstat(path)
    except FileNotFoundError:
        return None
    _refuse_kinds(old.st_mode, shown)
    if os.name == "posix" and old.st_uid != os.geteuid():
        raise PermissionError
    if not os.access(path, os.W_OK):
        raise ToolFailed(f"{shown} is read-only. If it is to be changed the person must make it writable.")
    return old


def _by_rename(path: Path, data: bytes, old: os.stat_result | None, shown: str) -> Stamp:
    with _folder_of(path, shown) as folder:
        return _renamed_into(folder, path, data, old)


@contextlib.contextmanager
def _folder_of(path: Path, shown: str) -> Iterator[int | None]:
    """The folder held open, so that what is put in its place from now on is not written to; None where that cannot be."""
    if sys.platform != "linux":
        yield None
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.readlink(f"/proc/self/fd/{folder}") != str(path.parent):
            raise ToolFailed(f"The folder of {shown} was moved or replaced just now. Nothing was written. Try again.")
        yield folder
    finally:
        os.close(folder)


def _renamed_into(folder: int | None, path: Path, data: bytes, old: os.stat_result | None) -> Stamp:
    name = f".{path.name[:100]}.{secrets.token_hex(6)}.tmp"
    temporary, final = (path.with_name(name), path) if folder is None else (Path(name), Path(path.name))
    flags = _BINARY | os.O_WRONLY | os.O_CREAT | os.O_EXCL
    descriptor = os.open(temporary, flags, 0o666 if old is None else 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if old is not None and os.name == "posix":
                if os.fstat(file.fileno()).st_gid != old.st_gid:
                    with contextlib.suppress(OSError):
                        os.chown(file.fileno(), -1, old.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
            file.flush()
            os.fsync(file.fileno())
            stamp = stamp_of(os.fstat(file.fileno()))
        os.replace(temporary, final, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    return stamp


def _in_place(path: Path, data: bytes, shown: str) -> Stamp:
    try:
        descriptor = os.open(path, _BINARY | os.O_WRONLY | _NO_LINK)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
            return stamp_of(os.fstat(file.fileno()))
    except OSError as error:
        raise_failure(error, shown, "written")
