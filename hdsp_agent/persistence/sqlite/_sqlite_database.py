"""One SQLite file of tasks: opened, and judged when it refuses. Everything here blocks."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from ..._private_files import locked, make_private_folder, sync_folder
from ...errors import StorageUnavailable, Unsupported
from ..files._artifacts import MAX_ARTIFACT_BYTES
from ..files._database_file import FileConnection, connect, file_identity, is_damage, make_private_file, refusal
from ..tables._sql import Dialect, SqlConnection
from ..tables._task_database import TaskDatabase
from ._task_schema import OLDEST_SQLITE, check_schema, migrate_schema

__all__ = ["BUSY_SECONDS", "SQLITE", "SqliteDatabase"]

BUSY_SECONDS: Final = 5.0
_LOCK_SECONDS: Final = 30.0
_MAX_PAGES_GIVEN_BACK: Final = 20_000


def _give_back_space(connection: SqlConnection) -> None:
    """Let the file shrink at the next checkpoint; of very much, the rest waits for the next deletion."""
    free = int(connection.execute("PRAGMA freelist_count").fetchone()[0])
    for _ in range(min(free, _MAX_PAGES_GIVEN_BACK)):
        # One by one, for Python's driver takes only the first step of this statement.
        connection.execute("PRAGMA incremental_vacuum(1)")


SQLITE: Final = Dialect(
    error=sqlite3.Error,
    as_bytes="CAST({} AS BLOB)",
    as_text="CAST(? AS TEXT)",
    length="LENGTH(CAST({} AS BLOB))",
    for_update="",
    begin_reading="BEGIN",
    try_writing="UPDATE barrier SET passed = passed + 1",
    rows=lambda connection, query, parameters: iter(connection.execute(query, parameters)),
    # Of a range it would read all that comes before.
    artifact_bytes=MAX_ARTIFACT_BYTES,
    task_key="task_id",
    give_back_space=_give_back_space,
)


class SqliteDatabase(TaskDatabase):
    """See ``TaskDatabase`` for what it does."""

    dialect = SQLITE

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        super().__init__()
        self.path = path
        self._busy_seconds = busy_seconds

    @property
    def name(self) -> str:
        return str(self.path)

    def open_for_writing(self) -> FileConnection:
        """A connection that may write, to a file with this version's tables."""
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise Unsupported(
                f"Keeping tasks in a database needs SQLite 3.35 or newer; this Python has {sqlite3.sqlite_version}. "
                "Use a newer Python, or keep the tasks in files.",
                version=sqlite3.sqlite_version,
            )
        make_private_folder(self.path.parent)
        # Two processes that switch one new file to WAL at the same time would get in each other's way.
        with locked(self.path, _LOCK_SECONDS):
            make_private_file(self.path)
            try:
                connection = connect(self.path, busy_seconds=self._busy_seconds, query_only=False)
                try:
                    connection.execute("PRAGMA foreign_keys = ON")
                    _let_it_shrink(connection)
                    migrate_schema(connection, self.path)
                except BaseException:
                    connection.close()
                    raise
            except sqlite3.Error as error:
                raise self.refusal(error) from error
            sync_folder(self.path.parent)
        connection.identity = file_identity(self.path)
        return connection

    def refusal(self, error: Exception) -> StorageUnavailable:
        assert isinstance(error, sqlite3.Error)
        if not is_damage(error):
            return refusal(self.path, error)
        # A damaged file is never replaced: nothing else has what is in it.
        return StorageUnavailable(
            f"{self.path} is damaged ({error}). Nothing was changed. Restore it from a backup, or save what can be "
            "read of it with the .recover command of SQLite.",
            path=str(self.path), action="use", reason=str(error),
        )  # fmt: skip

    def problems(self, connection: SqlConnection) -> list[str]:
        return [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]

    def check_there(self) -> None:
        """Raise if no file bears the name."""
        if file_identity(self.path) is None:
            raise self.gone()

    def gone(self) -> StorageUnavailable:
        """The error when another file, or none, bears the name."""
        return StorageUnavailable(
            f"Could not use {self.path}: it was moved, replaced or deleted while it was in use. Nothing was recorded. "
            "Put it back, or start the server again.",
            path=str(self.path), action="use", reason="replaced",
        )  # fmt: skip

    def is_of_use(self, connection: FileConnection) -> bool:
        """Whether the connection leads to the file that bears the name now."""
        return connection.identity == file_identity(self.path)

    def _is_of_use(self, reader: SqlConnection) -> bool:
        return isinstance(reader, FileConnection) and self.is_of_use(reader)

    def _connect_reader(self) -> FileConnection:
        identity = file_identity(self.path)
        if identity is None:
            raise self.gone()
        connection = connect(self.path, busy_seconds=self._busy_seconds, query_only=True)
        try:
            check_schema(connection, self.path)
        except BaseException:
            connection.close()
            raise
        connection.identity = identity
        return connection


def _let_it_shrink(connection: sqlite3.Connection) -> None:
    """Make a new database one that gives space back; later that would mean to write it all again."""
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("VACUUM")
