"""Who looked at or changed which conversation: a line each, appended to one file, never a word of what was said."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from .._iso_time import iso_time
from .._private_files import locked, make_private_folder, storage_error

__all__ = ["AuditAction", "AuditEntry", "AuditLog"]

AuditAction = Literal["list", "read", "export", "begin", "change", "delete"]

_LARGEST_BYTES: Final = 10 * 1024 * 1024
_GENERATIONS: Final = 5
_LOCK_SECONDS: Final = 5.0
_LONGEST: Final = 256
"""Names and ids come from outside."""


@dataclass(frozen=True)
class AuditEntry:
    """One access. ``via`` is the request or command; ``conversation`` is None for a list of them."""

    time: str
    user: str
    action: AuditAction
    via: str
    conversation: str | None

    @classmethod
    def now(cls, user: str, action: AuditAction, via: str, conversation: str | None = None) -> AuditEntry:
        """An access of this moment."""
        return cls(iso_time(), user[:_LONGEST], action, via, None if conversation is None else conversation[:_LONGEST])

    def line(self) -> bytes:
        """As the file has it."""
        return (json.dumps(self.__dict__) + "\n").encode()


class AuditLog:
    """The file, which its owner alone may read, and those before it: ``.1`` is the newest. Everything here blocks.

    Several processes may append. A file that is full is renamed, and the oldest one deleted.
    """

    def __init__(self, path: Path, *, largest_bytes: int = _LARGEST_BYTES, generations: int = _GENERATIONS) -> None:
        self.path: Final = path
        self._largest_bytes = largest_bytes
        self._generations = generations

    def append(self, entries: Sequence[AuditEntry]) -> None:
        """Add these lines. Raises StorageUnavailable."""
        if not entries:
            return
        make_private_folder(self.path.parent)
        self._rotate()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        try:
            file = os.open(self.path, flags, 0o600)
            try:
                if os.name == "posix" and os.fstat(file).st_mode & 0o077:
                    os.fchmod(file, 0o600)
                _write_whole(file, b"".join(entry.line() for entry in entries))
            finally:
                os.close(file)
        except OSError as error:
            raise storage_error(self.path, "write", error) from error

    def _rotate(self) -> None:
        if not self._is_full():
            return
        with locked(self.path, _LOCK_SECONDS):
            # Another process may have been first.
            if not self._is_full():
                return
            for number in range(self._generations - 1, 0, -1):
                with suppress(FileNotFoundError):
                    os.replace(self._generation(number), self._generation(number + 1))
            with suppress(FileNotFoundError):
                os.replace(self.path, self._generation(1))

    def _is_full(self) -> bool:
        try:
            return self.path.stat().st_size >= self._largest_bytes
        except OSError:
            return False

    def _generation(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def _write_whole(file: int, lines: bytes) -> None:
    """In one write, so that lines of several processes do not mix. A disk that becomes full takes a part of it."""
    written = os.write(file, lines)
    if written == len(lines):
        return
    end = os.lseek(file, 0, os.SEEK_CUR)
    if os.fstat(file).st_size == end:
        # Nobody has written behind it: as if it had not been begun, so that all of it can be tried again.
        os.ftruncate(file, end - written)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
