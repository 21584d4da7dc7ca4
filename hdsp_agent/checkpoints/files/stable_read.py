"""Reading a file as it was at one moment, or not at all. Everything here blocks."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable
from typing import Final, TypeVar

from .folders import Key, SkipReason

__all__ = ["NotCaptured", "key_of", "open_source", "read_link", "read_stable", "seconds_until_settled", "take_stable"]

T = TypeVar("T")

_PAUSES: Final = (0.0, 0.01, 0.03, 0.06, 0.1)
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_RECENT_SECONDS: Final = 10.0
_PARSED_BYTES: Final = 20_000_000
"""A larger notebook is looked at only where it begins and ends."""
_ABANDONED_SECONDS: Final = 30.0
"""A save of Jupyter's takes less; one that left its copy behind for longer has died."""


class NotCaptured(Exception):
    """The file cannot be part of this checkpoint."""

    def __init__(self, reason: SkipReason) -> None:
        super().__init__(reason)
        self.reason: SkipReason = reason


def key_of(status: os.stat_result) -> Key:
    """What tells two states of a file apart without reading it."""
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def open_source(path: bytes) -> int:
    """A descriptor to read a file from: not what a link leads to, and without waiting for whoever may write into a pipe."""
    return os.open(path, _FLAGS)


def read_stable(path: bytes, largest: int) -> tuple[Key, bytes]:
    """The file's content and the key it had before and after it was read."""
    return take_stable(path, largest, _read_whole)


def take_stable(path: bytes, largest: int, take: Callable[[int, int], T | None]) -> tuple[Key, T]:
    """What ``take`` gets of an open file and its size, and the key it had before and after that. None is that it changes."""
    for pause in _PAUSES:
        if pause:
            time.sleep(pause)
        try:
            taken = _take_once(path, largest, take)
        except FileNotFoundError:
            raise NotCaptured("changing") from None
        except OSError:
            raise NotCaptured("unreadable") from None
        if taken is not None:
            return taken
    raise NotCaptured("changing")


def read_link(path: bytes) -> tuple[Key, bytes]:
    """Where a link leads, and its key."""
    try:
        key = key_of(os.lstat(path))
        target = os.readlink(path)
        if key == key_of(os.lstat(path)):
            return key, target
    except OSError:
        raise NotCaptured("unreadable") from None
    raise NotCaptured("changing")


def _take_once(path: bytes, largest: int, take: Callable[[int, int], T | None]) -> tuple[Key, T] | None:
    descriptor = open_source(path)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise NotCaptured("special")
        if before.st_size > largest:
            raise NotCaptured("too_large")
        copy = _copy_of_a_save(path, before.st_ctime)
        if copy is not None and _is_under_way(copy):
            return None
        if path.endswith(b".ipynb") and _is_half_written(descriptor, before):
            return None
        taken = take(descriptor, before.st_size)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if taken is None or key_of(before) != key_of(after) or (copy is not None and _is_under_way(copy)):
        return None
    return key_of(after), taken


def _read_whole(descriptor: int, size: int) -> bytes | None:
    # One byte more than there should be tells that it grows.
    data = _read(descriptor, size + 1)
    return data if len(data) == size else None


def _read(descriptor: int, limit: int) -> bytes:
    data = os.read(descriptor, limit)
    while len(data) < limit and (more := os.read(descriptor, limit - len(data))):
        data += more
    return data


def _copy_of_a_save(path: bytes, changed: float) -> bytes | None:
    """Where Jupyter keeps a copy of the file while it empties it and fills it again; None if that is long ago."""
    if changed < time.time() - _RECENT_SECONDS and not path.endswith(b".ipynb"):
        return None
    folder, _, name = path.rpartition(b"/")
    return folder + b"/.~" + name


def _is_half_written(descriptor: int, status: os.stat_result) -> bool:
    """Whether a notebook that was written just now has no whole text: under a new name it is saved without a copy."""
    if status.st_ctime < time.time() - _RECENT_SECONDS:
        return False
    try:
        if status.st_size > _PARSED_BYTES:
            os.lseek(descriptor, -2, os.SEEK_END)
            return not _read(descriptor, 2).rstrip().endswith(b"}")
        text = _read(descriptor, _PARSED_BYTES).strip()
        if text and not text.startswith(b"{"):
            # Somebody keeps something else under that name.
            return False
        json.loads(text)
        return False
    except ValueError:
        return True
    finally:
        os.lseek(descriptor, 0, os.SEEK_SET)


def seconds_until_settled(path: str | os.PathLike[str]) -> float:
    """How long a file may still count as one that somebody is writing."""
    try:
        return max(0.0, os.stat(path).st_ctime + _RECENT_SECONDS - time.time())
    except OSError:
        return 0.0


def _is_under_way(copy: bytes) -> bool:
    try:
        return os.lstat(copy).st_ctime > time.time() - _ABANDONED_SECONDS
    except OSError:
        return False
