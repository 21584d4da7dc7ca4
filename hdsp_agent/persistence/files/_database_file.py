"""The file ``state.db``: made private, connected to, judged, set aside. Everything here blocks."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from ..._private_files import set_aside
from ...errors import StorageUnavailable

__all__ = [
    "FileConnection",
    "FileIdentity",
    "connect",
    "file_identity",
    "is_busy",
    "is_damage",
    "make_private_file",
    "refusal",
    "set_state_aside",
]

FileIdentity = tuple[int, int]
"""Device and inode: another file of the same name has another."""

_CACHE_KIB: Final = 16_384
_WAL_LIMIT_BYTES: Final = 16 * 1024 * 1024
_SQLITE_CORRUPT, _SQLITE_NOTADB = 11, 26
_DAMAGE: Final = ("malformed", "not a database", "no such table", "corrupt", "vtable constructor failed")
_ADVICE: Final = {
    "disk is full": "Free some space on that disk and try again.",
    "readonly": "Check who owns that folder and its permissions, or choose another with HDSP_AGENT_HOME.",
    "unable to open": "Check who owns that folder and its permissions, or choose another with HDSP_AGENT_HOME.",
}


def file_identity(path: Path) -> FileIdentity | None:
    """Which file bears the name now. Never opens it: closing it again would drop SQLite's locks in this process."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def make_private_file(path: Path) -> None:
    """Make the database's file if it is not there, readable by its owner only; SQLite gives its companions the same mode."""
    try:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            if not path.stat().st_mode & 0o077:
                return
        path.chmod(0o600)
    except OSError as error:
        raise StorageUnavailable(
            f"Could not make {path}: {error.strerror or error}. Nothing was changed. "
            "Check who owns that folder and its permissions, or choose another with HDSP_AGENT_HOME.",
            path=str(path),
            action="make",
            reason=error.strerror or str(error),
        ) from error


class FileConnection(sqlite3.Connection):
    """A connection of which whoever opened it may note to which file."""

    identity: FileIdentity | None = None


def connect(path: Path, *, busy_seconds: float, query_only: bool) -> FileConnection:
    """A connection in autocommit mode that may be closed by another thread than its own; never makes the file."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        factory=FileConnection,
    )
    try:
        if not query_only:
            connection.execute("PRAGMA journal_mode = WAL")
        # What is in here can be had again from the task folders: a power cut may cost the last entries, not the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
        connection.execute(f"PRAGMA query_only = {int(query_only)}")
    except BaseException:
        connection.close()
        raise
    return connection


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file's content is at fault, rather than the disk, a lock or the statement."""
    code = getattr(error, "sqlite_errorcode", None)  # Python 3.11 and newer
    if code is not None and code & 0xFF in (_SQLITE_CORRUPT, _SQLITE_NOTADB):
        return True
    return any(sign in str(error) for sign in _DAMAGE)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process has kept the database for too long."""
    return "locked" in str(error) or "busy" in str(error)


def refusal(path: Path, error: sqlite3.Error) -> StorageUnavailable:
    """The error a person reads when SQLite refuses for a reason outside of its file."""
    reason = str(error)
    if is_busy(error):
        return StorageUnavailable(
            f"Could not use {path}: another program keeps it locked. Nothing was changed. Try again when that program is "
            "done, or end it.",
            path=str(path), action="use", reason="locked",
        )  # fmt: skip
    advice = next((text for sign, text in _ADVICE.items() if sign in reason), "Check that disk and try again.")
    return StorageUnavailable(
        f"Could not use {path}: {reason}. Nothing was changed. {advice}", path=str(path), action="use", reason=reason
    )


def set_state_aside(path: Path) -> Path:
    """Rename a damaged database with its companions. The caller holds the file's lock."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    # The companions first: a new database must never meet the write-ahead log of an old one.
    for suffix in ("-wal", "-shm"):
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            set_aside(companion, stamp)
    return set_aside(path, stamp)
