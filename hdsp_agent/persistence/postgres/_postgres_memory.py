"""The database of memory's jobs where tasks are in PostgreSQL: all servers of a person share it."""

from __future__ import annotations

from typing import Final, TypeVar

import psycopg

from ..tables._sql import SqlConnection, Work
from ._postgres_database import PostgresDatabase

__all__ = ["PostgresMemory"]

T = TypeVar("T")

_MOST_DEADLOCKS: Final = 5
_JOIN: Final = "INSERT INTO memory_people (owner) VALUES (?) ON CONFLICT (role, owner) DO NOTHING"
_HOLD: Final = "SELECT 1 FROM memory_people WHERE role = current_user AND owner = ? FOR NO KEY UPDATE"


class PostgresMemory:
    """Each transaction has a connection of its own, for there are few. ``database`` is closed by who made it."""

    generation: Final = 1
    for_update: Final = " FOR UPDATE"

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def read(self, work: Work[T], /) -> T:
        """Do the work against one unchanging view."""
        return await self._database.in_thread(self._database.read, work)

    async def write(self, work: Work[T], /) -> T:
        """Do the work in one transaction. It may be done again, so what it does besides must bear that."""
        return await self._database.in_thread(self._write, work)

    def now(self, connection: SqlConnection, /) -> int:
        """What time it is for the database, in seconds: the clocks of a person's servers may differ."""
        return int(connection.execute("SELECT extract(epoch FROM clock_timestamp())::bigint").fetchone()[0])

    def hold_person(self, connection: SqlConnection, owner: str, /) -> None:
        """Nobody else holds this person until the transaction ends."""
        connection.execute(_JOIN, (owner,))
        connection.execute(_HOLD, (owner,))

    def _write(self, work: Work[T]) -> T:
        try:
            connection = self._database.open_for_writing()
            try:
                deadlocks = 0
                while True:
                    try:
                        connection.execute("BEGIN")
                        result = work(connection)
                        connection.execute("COMMIT")
                        return result
                    except psycopg.errors.DeadlockDetected:
                        deadlocks += 1
                        if deadlocks > _MOST_DEADLOCKS:
                            raise
                        connection.execute("ROLLBACK")
            finally:
                # What was not committed goes with it.
                connection.close()
        except psycopg.Error as error:
            raise self._database.refusal(error) from error
