"""Opening the files of the service: who may read them, newer versions, and making one that fails."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.hub.sqlite_file import connect, open_sqlite_file

SCHEMA = "CREATE TABLE notes (text TEXT);"


def opened(path: Path, schema: str = SCHEMA, version: int = 1) -> closing[sqlite3.Connection]:
    return closing(open_sqlite_file(path, schema, version=version, settings=("journal_mode = WAL",)))


def test_a_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with opened(path) as connection, connection:
        connection.execute("INSERT INTO notes VALUES ('one')")
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0
    with opened(path) as again, closing(connect(path)) as reader:
        for connection in (again, reader):
            assert connection.execute("SELECT text FROM notes").fetchall() == [("one",)]
        assert again.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with opened(path, version=2):
        pass
    before = path.read_bytes()
    with pytest.raises(StorageUnavailable, match="newer version"), opened(path):
        pass
    assert path.read_bytes() == before


def test_a_file_that_was_half_made_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with pytest.raises(sqlite3.OperationalError, match="already exists"), opened(path, SCHEMA * 2):
        pass
    with opened(path) as connection:
        assert connection.execute("SELECT * FROM notes").fetchall() == []
