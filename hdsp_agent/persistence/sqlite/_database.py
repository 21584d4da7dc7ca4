"""One database file of tasks: opened, read through a few connections, judged when it refuses. Everything here blocks."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from ..._private_files import locked, make_private_folder, sync_folder
from ...errors import StorageUnavailable, Unsupported
from ..files._database_file import FileIdentity, connect, file_identity, is_damage, make_private_file, refusal
from ._task_schema import OLDEST_SQLITE, check_schema, migrate_schema

__all__ = ["BUSY_SECONDS", "TaskDatabase", "Work"]

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

BUSY_SECONDS: Final = 5.0
_LOCK_SECONDS: Final = 30.0
_IDLE_READERS: Final = 4


class TaskDatabase:
    """The file and those who read it; the one who writes it is ``TaskRowWriter``."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._idle: list[tuple[sqlite3.Connection, FileIdentity | None]] = []
        self._guard = threading.Lock()
        self._closed = False

    def open_for_writing(self) -> tuple[sqlite3.Connection, FileIdentity | None]:
        """A connection that may write, to a file with this version's tables; and which file that is."""
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
        return connection, file_identity(self.path)

    def read(self, work: Work[T]) -> T:
        """Do the work against one unchanging view of the tasks."""
        with self.snapshot() as connection:
            return work(connection)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """One unchanging view of the tasks; no writer holds it up."""
        connection, identity = self._reader()
        try:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise self.refusal(error) from error
        finally:
            self._put_back(connection, identity)

    def refusal(self, error: sqlite3.Error) -> StorageUnavailable:
        """The error a person reads. A damaged file is never replaced: nothing else has what is in it."""
        if not is_damage(error):
            return refusal(self.path, error)
        return StorageUnavailable(
            f"{self.path} is damaged ({error}). Nothing was changed. Restore it from a backup, or save what can be "
            "read of it with the .recover command of SQLite.",
            path=str(self.path), action="use", reason=str(error),
        )  # fmt: skip

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

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _reader(self) -> tuple[sqlite3.Connection, FileIdentity | None]:
        identity = file_identity(self.path)
        while True:
            with self._guard:
                if self._closed:
                    raise StorageUnavailable(
                        f"{self.path} is closed because the store was stopped. Nothing was changed.",
                        path=str(self.path), action="use", reason="stopped",
                    )  # fmt: skip
                if not self._idle:
                    break
                connection, known = self._idle.pop()
            if known == identity:
                return connection, known
            connection.close()
        if identity is None:
            raise self.gone()
        try:
            connection = connect(self.path, busy_seconds=self._busy_seconds, query_only=True)
            try:
                check_schema(connection, self.path)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise self.refusal(error) from error
        return connection, identity

    def _put_back(self, connection: sqlite3.Connection, identity: FileIdentity | None) -> None:
        with self._guard:
            if not self._closed and len(self._idle) < _IDLE_READERS:
                self._idle.append((connection, identity))
                return
        connection.close()


def _let_it_shrink(connection: sqlite3.Connection) -> None:
    """Make a new database one that gives space back; later that would mean to write it all again."""
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("VACUUM")
