"""Stores in a real PostgreSQL, and connections that are lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from typing_extensions import Unpack

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.persistence import TaskLog, TaskStore
from hdsp_agent.persistence._task_store import StoreOptions
from hdsp_agent.persistence.tables._sql import SqlConnection

from ..._helpers.postgres import TasksDatabase
from ..._helpers.timing import PATIENCE
from .table_contract import TableContract

if TYPE_CHECKING:
    from psycopg import Connection

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres import _postgres_database, _postgres_writer
from hdsp_agent.persistence.postgres._connection import PostgresConnection
from hdsp_agent.persistence.postgres._postgres_store import PostgresStore


class PostgresStores:
    """Stores in a PostgreSQL database of the test's own, which may be away."""

    @pytest.fixture(autouse=True)
    def new_database(self, postgres_database: TasksDatabase) -> None:
        self.tasks = postgres_database

    def make_store(self, home: Path, **options: Unpack[StoreOptions]) -> TaskStore:
        return PostgresStore(home, self.tasks.url(), **options)

    def refuse_poison(self, connection: SqlConnection) -> None:
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN IF NEW.record LIKE '%poison%' THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$"
        )
        connection.execute("CREATE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION refuse()")

    @asynccontextmanager
    async def store(self, home: Path) -> AsyncIterator[TaskStore]:
        """A started store."""
        store = self.make_store(home)
        await store.start()
        try:
            yield store
        finally:
            await store.stop()

    @pytest.fixture
    def patient_readers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let readers wait as long as a replay takes, which begins soon after the database is back."""
        monkeypatch.setattr(_postgres_database, "_REPLAY_SECONDS", PATIENCE)
        monkeypatch.setattr(_postgres_writer, "_LONGEST_PAUSE_SECONDS", 0.05)

    @pytest.fixture
    def quickly_away(self, monkeypatch: pytest.MonkeyPatch, patient_readers: None) -> None:
        """Let no server wait long for a database that is away."""
        monkeypatch.setattr(_postgres_writer, "_PAUSE_SECONDS", 0.01)
        monkeypatch.setattr(_postgres_writer, "_SPOOL_AFTER_SECONDS", 0.0)
        monkeypatch.setattr(_postgres_writer, "_PATIENCE_SECONDS", 1.0)


class PostgresContract(PostgresStores, TableContract):
    """What every store must do, in PostgreSQL."""

    def database(self, home: Path) -> AbstractContextManager[SqlConnection]:
        return self.tasks.connect()

    def let_rows_change(self, connection: SqlConnection, table: str) -> None:
        connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")

    def place_on_disk(self, home: Path) -> Path:
        pytest.skip("It is no place of this machine's")


async def recorded(store: TaskStore, log: TaskLog) -> list[object]:
    """What the model was told in a task, as the database has it."""
    return [record.content async for record in (await store.view(log.task_id)).api.iterate()]


async def is_usable(store: TaskStore) -> bool:
    try:
        await store.check_usable()
    except StorageUnavailable:
        return False
    return True


def lose_at_commit(
    monkeypatch: pytest.MonkeyPatch,
    how: Literal["committed", "ended", "hanging"],
    then: Callable[[], None] = lambda: None,
) -> Sequence[Connection[tuple[object, ...]]]:
    """Let the connection be lost at the next commit: after it, before it, or so that the server waits for it; which it was."""
    lost: list[Connection[tuple[object, ...]]] = []
    execute = PostgresConnection.execute

    def lose(self: PostgresConnection, statement: str, parameters: Sequence[object] = (), /) -> object:
        if statement != "COMMIT" or lost:
            return execute(self, statement, parameters)
        if how == "committed":
            execute(self, statement, parameters)
        session = self._connection
        lost.append(session)
        if how == "hanging":
            self._connection = psycopg.connect(session.info.dsn)
        self.close()
        then()
        raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(PostgresConnection, "execute", lose)
    return lost
