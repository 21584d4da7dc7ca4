"""Opening an SQLite file of the service's. Everything here blocks."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from ..errors import StorageUnavailable

__all__ = ["connect", "open_sqlite_file"]

_BUSY_SECONDS: Final = 10.0


def open_sqlite_file(path: Path, schema: str, *, version: int, settings: tuple[str, ...]) -> sqlite3.Connection:
    """Open the file with these pragmas, or make it, for its owner alone. Raises StorageUnavailable if it is newer."""
    path.touch(mode=0o600)
    connection = connect(path)
    try:
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found > version:
            raise StorageUnavailable(
                f"{path} was written by a newer version. Install that version again.",
                path=str(path), action="use", reason="newer",
            )  # fmt: skip
        if found == 0:
            connection.executescript(f"BEGIN; {schema} PRAGMA user_version = {version}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """A connection that may be closed by another thread than its own. A change begins a transaction."""
    return sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
