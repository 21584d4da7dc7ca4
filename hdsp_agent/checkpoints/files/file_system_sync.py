"""Bringing all that was written to a file system to the disk in one call, instead of an fsync for each of many files.

Only where that call is known to be as good: on Linux's own file systems, whose errors it tells since 5.8. On others, such as
those of a network or of FUSE, it may return before the other end has anything. Everything here blocks.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import TracebackType
from typing import Final, Self

__all__ = ["FileSystemSync"]

_KNOWN: Final = frozenset(
    (
        0xEF53,  # ext4
        0x58465342,  # XFS
        0x9123683E,  # Btrfs
        0xF2F52010,  # F2FS
        0x01021994,  # tmpfs
    )
)
_TELLS_ERRORS: Final = (5, 8)
_MOST_DIRTY_KILOBYTES: Final = 64 * 1024
"""What others wrote is waited for, too: with more of it than this, each of our files is synced for itself."""
_STATFS_BYTES: Final = 512


class FileSystemSync:
    """The file system of a folder. It is opened before anything is written, for it tells of errors since then."""

    def __init__(self, folder: bytes) -> None:
        self._call = _syncfs()
        self._descriptor = None
        if self._call is not None and _is_known(folder):
            # Too many open files, for one: then each file is synced for itself.
            with suppress(OSError):
                self._descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        self._device = None if self._descriptor is None else os.fstat(self._descriptor).st_dev

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def covers(self, device: int) -> bool:
        """Whether what is on this device is meant."""
        return device == self._device

    def run(self) -> bool:
        """Whether the disk has all of it. If not, or if it is not to be had now, each file has to be synced for itself."""
        if self._call is None or self._descriptor is None or _dirty_kilobytes() > _MOST_DIRTY_KILOBYTES:
            return False
        # An error may be about a file of somebody else's.
        return self._call(self._descriptor) == 0


@cache
def _syncfs() -> Callable[[int], int] | None:
    if sys.platform != "linux" or _kernel() < _TELLS_ERRORS:
        return None
    import ctypes

    try:
        call = ctypes.CDLL(None).syncfs
    except (AttributeError, OSError):
        return None
    call.argtypes, call.restype = [ctypes.c_int], ctypes.c_int
    return lambda descriptor: int(call(descriptor))


def _kernel() -> tuple[int, int]:
    major, _, rest = platform.release().partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


def _is_known(folder: bytes) -> bool:
    """Whether a folder's file system is one of those; its kind is the first thing that Linux tells of it."""
    import ctypes

    told = ctypes.create_string_buffer(_STATFS_BYTES)
    if ctypes.CDLL(None).statfs(folder, told) != 0:
        return False
    return int.from_bytes(told.raw[: ctypes.sizeof(ctypes.c_long)], sys.byteorder) in _KNOWN


def _dirty_kilobytes() -> int:
    """How much waits to be written, of all file systems."""
    with suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        facts = dict(line.split(":", 1) for line in file)
        return sum(int(facts[name].split()[0]) for name in ("Dirty", "Writeback") if name in facts)
    return _MOST_DIRTY_KILOBYTES + 1
