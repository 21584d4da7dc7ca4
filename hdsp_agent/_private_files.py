"""Files only their owner can read, replaced as a whole under a lock. Everything here blocks: call it in a thread."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from ._regular_files import open_regular_file
from .errors import StorageUnavailable

__all__ = [
    "Identity",
    "identity_of",
    "locked",
    "make_missing_folders",
    "make_private_folder",
    "read_with_identity",
    "replace_file",
    "set_aside",
    "sync_folder",
    "tighten_folder",
]

Identity = tuple[int, int, int]
"""Tells two versions of a file apart: inode, size and time of change."""

_LOCK_POLL_SECONDS: Final = 0.01
_LARGEST_FILE: Final = 64 * 1024 * 1024
"""No file of ours comes near it, and one that does would take the server's memory."""
_TOO_MANY_OPEN: Final = "Too many files are open; raise the limit (ulimit -n) or restart the server, then try again."
_ADVICE: Final = {
    errno.EMFILE: _TOO_MANY_OPEN,
    errno.ENFILE: _TOO_MANY_OPEN,
    errno.ENOSPC: "Free some space on that disk and try again.",
    errno.EDQUOT: "Your quota on that disk is used up; free some space and try again.",
    errno.EROFS: "That disk is mounted read-only; choose another folder with HDSP_AGENT_HOME.",
    errno.EACCES: "Check who owns that folder and its permissions, or choose another with HDSP_AGENT_HOME.",
    errno.EPERM: "Check who owns that folder and its permissions, or choose another with HDSP_AGENT_HOME.",
}


def storage_error(path: Path, action: str, error: OSError) -> StorageUnavailable:
    """The error a person reads when the disk refuses: what, where, why and what next."""
    reason = error.strerror or str(error)
    advice = _ADVICE.get(error.errno or 0, "Check that disk and that folder, then try again.")
    return StorageUnavailable(
        f"Could not {action} {path}: {reason}. Nothing was changed. {advice}",
        path=str(path),
        action=action,
        reason=reason,
    )


def make_private_folder(folder: Path) -> None:
    """Make the folder and the parents that are missing, readable by nobody else whatever the umask.

    A folder that is there already is tightened only if it is evidently ours: a person may have named ``/tmp``.
    """
    try:
        make_missing_folders(folder.parent)
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            if not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
            if not (folder / "config.json").is_file():
                return
        if folder.stat().st_mode & 0o077:
            with suppress(PermissionError):
                folder.chmod(0o700)
    except OSError as error:
        raise storage_error(folder, "create the folder", error) from error


def make_missing_folders(folder: Path) -> None:
    """Make the folder and its parents as far as they are missing, private as above. Raises OSError."""
    missing: list[Path] = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        # Another process may have made it meanwhile.
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)


def tighten_folder(folder: Path) -> None:
    """Keep others out of a folder that is there and that we alone use: an earlier version made some that all could read.

    One of another user, or one that all may write into, such as ``/tmp``, is nothing we alone use.
    """
    if sys.platform == "win32":
        return
    with suppress(OSError):
        status = os.lstat(folder)
        is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
        if is_ours and status.st_mode & 0o077 and not status.st_mode & stat.S_ISVTX:
            os.chmod(folder, 0o700)


@contextmanager
def locked(path: Path, timeout: float, give_up: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Keep other processes of this person from changing the file meanwhile.

    Waits for them until the time is over, or until ``give_up`` says so.
    """
    import filelock  # 20 ms, and only writers need it

    lock_path = path.with_name(path.name + ".lock")
    lock = filelock.FileLock(str(lock_path), mode=0o600)
    began = monotonic()
    try:
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except filelock.Timeout:
                if give_up() or monotonic() - began >= timeout:
                    raise
                sleep(_LOCK_POLL_SECONDS)
    except filelock.Timeout as error:
        raise StorageUnavailable(
            f"Could not change {path}: another process has held {lock_path} for {monotonic() - began:.1f} seconds. "
            "Nothing was changed. Try again, or end the other process.",
            path=str(path),
            action="change",
            reason="locked",
        ) from error
    except OSError as error:
        raise storage_error(lock_path, "lock", error) from error
    try:
        yield
    finally:
        lock.release()


def read_with_identity(path: Path) -> tuple[bytes, Identity] | None:
    """The file's bytes and which version of it they are; None if there is no file."""
    try:
        with open_regular_file(path) as file:
            # Asked before reading: a change during the read then shows as another identity at the next look.
            status = os.fstat(file.fileno())
            if status.st_size > _LARGEST_FILE:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
            return file.read(), _identity(status)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise storage_error(path, "read", error) from error


def identity_of(path: Path) -> Identity | None:
    """Which version of the file is there now."""
    try:
        return _identity(path.stat())
    except OSError:
        return None


def replace_file(path: Path, data: bytes) -> Identity:
    """Put the data in the file's place as one step that survives a crash. The caller holds the lock."""
    target = Path(os.path.realpath(path))
    try:
        _remove_leftovers(target)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
        try:
            identity = _write_synced(temporary, data)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(target.parent)
    except OSError as error:
        raise storage_error(path, "write", error) from error
    return identity


def set_aside(path: Path, stamp: str) -> Path:
    """Rename a file that cannot be understood, so that nothing ever overwrites it."""
    for attempt in range(1000):
        suffix = f".corrupt-{stamp}" + (f"-{attempt}" if attempt else "")
        aside = path.with_name(path.name + suffix)
        if not aside.exists():
            break
    try:
        os.replace(path, aside)
        sync_folder(path.parent)
    except OSError as error:
        raise storage_error(path, "set aside", error) from error
    return aside


def _identity(status: os.stat_result) -> Identity:
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _write_synced(path: Path, data: bytes) -> Identity:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if sys.platform != "win32":
            os.fchmod(file.fileno(), 0o600)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        return _identity(os.fstat(file.fileno()))


def _remove_leftovers(target: Path) -> None:
    # Only the holder of the lock writes temporary files, so any that is there was left by a process that died.
    for leftover in target.parent.glob(f".{target.name}.*.tmp"):
        with suppress(OSError):
            leftover.unlink()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where folders can be synced."""
    if sys.platform == "win32":
        return
    # Some network file systems refuse this; the file itself is in place by now, so it is no failure.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
