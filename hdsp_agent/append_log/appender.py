"""A log file as the writer's thread sees it: it ends where what was acknowledged ends, or is cut back to there.

Everything here blocks.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from .._private_files import storage_error
from .._private_open import open_private
from .log_tail import repair_tail

__all__ = ["Appender", "append_durably"]

_MAX_WRITE_BYTES: Final = 1024 * 1024


class Appender:
    """Appends whole lines. ``confirm`` says how much of what was written is acknowledged; ``take_back`` cuts the rest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._acknowledged: int | None = None
        self._end = 0
        self._longer_than_end = False
        self._unsynced = False

    @property
    def is_open(self) -> bool:
        """Whether a descriptor is held."""
        return self._descriptor is not None

    def write(self, lines: Sequence[bytes]) -> tuple[int, OSError | None]:
        """Give the lines to the OS. Returns how many whole lines it has, and what it said if not all."""
        try:
            descriptor = self._ready()
        except OSError as error:
            self.close()
            return 0, error
        start = self._end
        refusal: OSError | None = None
        try:
            for portion in _portions(lines):
                self._write_portion(descriptor, portion)
            if os.fstat(descriptor).st_nlink == 0:
                # Its folder was deleted under our hands: what is written to it now nobody will find.
                self._acknowledged = None
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        except OSError as error:
            refusal = error
        self._unsynced = True
        if refusal is None:
            return len(lines), None
        if self._acknowledged is None:
            self.close()
            return 0, refusal
        whole, size = _whole_lines(lines, self._end - start)
        self._cut_to(start + size)
        return whole, refusal

    def confirm(self, size: int) -> None:
        """The next ``size`` bytes count as acknowledged."""
        assert self._acknowledged is not None
        self._acknowledged += size

    def sync(self) -> None:
        """Wait until the disk has what was written."""
        assert self._descriptor is not None
        # Before: what is written meanwhile may come too late for this time.
        self._unsynced = False
        try:
            _sync(self._descriptor)
        except OSError:
            self._unsynced = True
            raise

    def take_back(self) -> None:
        """Cut off what is not acknowledged, now or before the next line."""
        if self._acknowledged is not None:
            self._cut_to(self._acknowledged)
        self.close()

    def close(self) -> None:
        """Let go of the descriptor; the OS has what was written."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)

    def finish(self) -> None:
        """Let go of the file for good, with everything on the disk unless that refuses: nobody waits for it any more."""
        with suppress(OSError):
            if self._unsynced:
                self._ready()
                self.sync()
        self.close()

    def _ready(self) -> int:
        if self._descriptor is None:
            self._descriptor = open_private(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            if self._acknowledged is None:
                self._end = self._acknowledged = repair_tail(self.path, self._descriptor)
        if self._longer_than_end:
            os.ftruncate(self._descriptor, self._end)
            self._longer_than_end = False
        return self._descriptor

    def _write_portion(self, descriptor: int, portion: bytes) -> None:
        rest = memoryview(portion)
        while rest:
            written = os.write(descriptor, rest)
            self._end += written
            rest = rest[written:]

    def _cut_to(self, size: int) -> None:
        # Always: a file system over the network may have taken part of a line and still say that it took nothing.
        self._end = size
        self._longer_than_end = True
        with suppress(OSError):
            if self._descriptor is not None:
                os.ftruncate(self._descriptor, size)
                self._longer_than_end = False


def append_durably(path: Path, line: bytes) -> None:
    """Append one line to a log that is locked. It is on the disk when this returns; StorageUnavailable if it is not there."""
    appender = Appender(path)
    try:
        _, refusal = appender.write([line])
        if refusal is None:
            try:
                appender.sync()
            except OSError as error:
                refusal = error
        if refusal is not None:
            appender.take_back()
            raise storage_error(path, "write", refusal) from refusal
    finally:
        appender.close()


def _portions(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Lines that wait for the same file go to it in as few calls as their size allows."""
    if len(lines) == 1:
        yield lines[0]
        return
    portion: list[bytes] = []
    size = 0
    for line in lines:
        if portion and size + len(line) > _MAX_WRITE_BYTES:
            yield b"".join(portion)
            portion, size = [], 0
        portion.append(line)
        size += len(line)
    if portion:
        yield b"".join(portion)


def _whole_lines(lines: Sequence[bytes], written: int) -> tuple[int, int]:
    size = 0
    for count, line in enumerate(lines):
        if size + len(line) > written:
            return count, size
        size += len(line)
    return len(lines), size


def _sync(descriptor: int) -> None:
    # Of what the file system knows about a log, its size must survive a power cut, its time of change need not.
    getattr(os, "fdatasync", os.fsync)(descriptor)
