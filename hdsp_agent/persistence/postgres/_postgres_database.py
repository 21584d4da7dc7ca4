"""A PostgreSQL database of tasks, and the few connections that it is read through. Everything here blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import psycopg

from ...errors import StorageUnavailable
from ..tables._sql import Dialect, SqlConnection
from ..tables._task_database import TaskDatabase
from ._connection import Address, PostgresConnection
from ._task_schema import check_schema, has_schema, migrate_schema, prepare_schema

__all__ = ["PostgresDatabase"]

_MOST_READERS: Final = 4
_SEES_ALL: Final = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_PATIENCE_SECONDS: Final = 30.0
_REPLAY_SECONDS: Final = 10.0


def _rows(connection: SqlConnection, query: str, parameters: Sequence[object]) -> Iterator[Any]:
    assert isinstance(connection, PostgresConnection)
    return connection.rows(query, parameters)


class PostgresDatabase(TaskDatabase):
    """See ``TaskDatabase`` for what it does."""

    dialect = Dialect(
        error=psycopg.Error,
        as_bytes="convert_to({}, 'UTF8')",
        as_text="convert_from(?, 'UTF8')",
        length="octet_length({})",
        for_update=" FOR NO KEY UPDATE",
        begin_reading="BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        # What is written here is nothing but a line in the write-ahead log.
        try_writing="SELECT pg_logical_emit_message(true, 'hdsp_agent', '')",
        rows=_rows,
        # It is kept in pieces outside of its row, uncompressed, and only those in the range are looked up.
        artifact_bytes=4 * 1024 * 1024,
        task_key="owner, task_id",
        # The server's autovacuum does.
        give_back_space=lambda connection: None,
    )

    # Thousands of servers may share what the database can have open.
    idle_readers = 1

    def __init__(self, url: str) -> None:
        super().__init__()
        self.address: Final = Address(url)
        self._room = threading.BoundedSemaphore(_MOST_READERS)
        self._is_checked = False
        self.is_complete: Final = threading.Event()
        """Not set while something acknowledged is kept here and not in the database yet."""
        self.is_complete.set()
        self.on_memory_change: Callable[[bool], None] = lambda is_followed: None
        """Hears, in a listener's thread, that memory may have changed, and whether later changes will be told."""

    @property
    def name(self) -> str:
        return self.address.name

    def refusal(self, error: Exception) -> StorageUnavailable:
        return self.address.refusal(error)

    def problems(self, connection: SqlConnection) -> list[str]:
        # Whoever looks after the server has pg_amcheck.
        return []

    def open_for_writing(self) -> PostgresConnection:
        """A connection that may write, to a database with this version's tables."""
        return self._open(self._check_role, prepare_schema)

    def has_tables(self) -> bool:
        if self._is_checked:
            return True
        try:
            connection = self._open()
            try:
                return has_schema(connection, self.address)
            finally:
                connection.close()
        except psycopg.Error as error:
            raise self.refusal(error) from error

    def create_tables(self) -> None:
        """Bring the database to this version's tables."""
        try:
            self._open(migrate_schema).close()
        except psycopg.Error as error:
            raise self.refusal(error) from error

    def _reader(self) -> SqlConnection:
        if not self._room.acquire(timeout=_PATIENCE_SECONDS):
            raise self.address.unavailable("busy", "too much is being read", "Try again in a moment.")
        try:
            reader = super()._reader()
            if not self.is_complete.wait(_REPLAY_SECONDS):
                reader.close()
                raise self.address.unavailable(
                    "busy", "what was kept here while it was away is not saved there yet", "Try again in a moment."
                )
        except BaseException:
            self._room.release()
            raise
        return reader

    def _put_back(self, reader: SqlConnection) -> None:
        try:
            super()._put_back(reader)
        finally:
            self._room.release()

    def _connect_reader(self) -> PostgresConnection:
        if self._is_checked:
            return self.address.connect()
        connection = self._open(self._check_role, check_schema)
        self._is_checked = True
        return connection

    def _open(self, *steps: Callable[[PostgresConnection, Address], None]) -> PostgresConnection:
        connection = self.address.connect()
        try:
            for step in steps:
                step(connection, self.address)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_role(self, connection: PostgresConnection, address: Address) -> None:
        """Raise if row-level security does not hold for who logs in: that one would see everybody's tasks as theirs."""
        if connection.execute(_SEES_ALL).fetchone()[0]:
            raise address.unavailable(
                "permission denied", "this log-in may see everybody's conversations, as a superuser does",
                "Log in with a role of the person's own.",
            )  # fmt: skip

    def _is_of_use(self, reader: SqlConnection) -> bool:
        return isinstance(reader, PostgresConnection) and reader.is_quiet
