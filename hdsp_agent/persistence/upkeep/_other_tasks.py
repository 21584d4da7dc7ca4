"""Which tasks of a home folder have no folder of their own because a database keeps them. Blocks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from .._backends import DATABASE_NAME

__all__ = ["tasks_without_folder"]

_BUSY_SECONDS: Final = 10.0


def tasks_without_folder(home: Path) -> set[str] | None:
    """Their ids; None if nobody can tell, so that no task is taken for one that is gone."""
    path = home / DATABASE_NAME
    if not path.exists():
        return set()
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA query_only = 1")
            return {str(row[0]) for row in connection.execute("SELECT task_id FROM tasks")}
    except sqlite3.Error:
        return None
