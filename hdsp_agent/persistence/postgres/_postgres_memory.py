"""The database of memory where tasks are in PostgreSQL: all servers of a person share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import psycopg

from .._shared_memory import SharedFile, SharedState
from ..tables._sql import SqlConnection, Work
from ._postgres_database import PostgresDatabase

__all__ = ["PostgresMemory"]

T = TypeVar("T")

_MOST_DEADLOCKS: Final = 5
_JOIN: Final = "INSERT INTO memory_people (owner) VALUES (?) ON CONFLICT (role, owner) DO NOTHING"
_HOLD: Final = "SELECT 1 FROM memory_people WHERE role = current_user AND owner = ? FOR NO KEY UPDATE"
_STATE: Final = "SELECT place, change FROM memory_people WHERE role = current_user AND owner = ?"
_SINCE: Final = (
    "SELECT DISTINCT ON (path) path, version, content FROM memory_files "
    "WHERE role = current_user AND owner = ? AND version > ? ORDER BY path, version DESC"
)
_THESE: Final = (
    "SELECT DISTINCT ON (path) path, version, content FROM memory_files "
    "WHERE role = current_user AND owner = ? AND path = ANY(?) ORDER BY path, version DESC"
)
_PUSHED: Final = "SELECT change FROM memory_servers WHERE role = current_user AND owner = ? AND server = ?"
_NEXT: Final = "UPDATE memory_people SET change = change + 1 WHERE role = current_user AND owner = ? RETURNING change"
_ADD: Final = "INSERT INTO memory_files (owner, path, version, content, server) VALUES (?, ?, ?, ?, ?)"
_DELETE_OLDER: Final = "DELETE FROM memory_files WHERE role = current_user AND owner = ? AND path = ? AND version < ?"
_OLDEST: Final = (
    "SELECT version FROM memory_files WHERE role = current_user AND owner = ? AND path = ? "
    "ORDER BY version DESC LIMIT 1 OFFSET ?"
)
_NOTE: Final = (
    "INSERT INTO memory_servers (owner, server, change) VALUES (?, ?, ?) "
    "ON CONFLICT (role, owner, server) DO UPDATE SET change = excluded.change, written_at = now()"
)
_MOST_VERSIONS: Final = 10
# Whoever was away longer looks at all files.
_FORGET_OLD: Final = (
    (
        "DELETE FROM memory_files WHERE role = current_user AND owner = ? AND content IS NULL"
        " AND written_at < now() - interval '90 days'"
    ),
    ("DELETE FROM memory_servers WHERE role = current_user AND owner = ? AND written_at < now() - interval '90 days'"),
)


class PostgresMemory:
    """Each transaction that writes has a connection of its own, for there are few. ``database`` is closed by who made it."""

    generation: Final = 1
    for_update: Final = " FOR UPDATE"

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def read(self, work: Work[T], /) -> T:
        """Do the work against one unchanging view."""
        return await self._database.in_thread(self.read_now, work)

    async def write(self, work: Work[T], /) -> T:
        """Do the work in one transaction. It may be done again, so what it does besides must bear that."""
        return await self._database.in_thread(self.write_now, work)

    def read_now(self, work: Work[T], /) -> T:
        """The same in this thread, which waits."""
        return self._database.read(work)

    def now(self, connection: SqlConnection, /) -> int:
        """What time it is for the database, in seconds: the clocks of a person's servers may differ."""
        return int(connection.execute("SELECT extract(epoch FROM clock_timestamp())::bigint").fetchone()[0])

    def hold_person(self, connection: SqlConnection, owner: str, /) -> None:
        """Nobody else holds this person until the transaction ends."""
        connection.execute(_JOIN, (owner,))
        connection.execute(_HOLD, (owner,))

    def follow(self, on_change: Callable[[bool], None], /) -> None:
        """Have this called when something may be new, in the thread that hears of the history."""
        self._database.on_memory_change = on_change

    def state(self, connection: SqlConnection, owner: str, /) -> SharedState | None:
        """How the files of a person stand; None if there never were any."""
        found = connection.execute(_STATE, (owner,)).fetchone()
        return None if found is None else SharedState(*found)

    def files_since(self, connection: SqlConnection, owner: str, change: int, /) -> list[SharedFile]:
        """The newest versions of the files that were changed after this one."""
        return [SharedFile(*row) for row in connection.execute(_SINCE, (owner, change))]

    def files(self, connection: SqlConnection, owner: str, paths: Sequence[str], /) -> list[SharedFile]:
        """The newest versions of these files, as far as there are any."""
        return [SharedFile(*row) for row in connection.execute(_THESE, (owner, list(paths)))]

    def pushed(self, connection: SqlConnection, owner: str, server: str, /) -> int:
        """The last change that this server wrote; 0 if there is none."""
        found = connection.execute(_PUSHED, (owner, server)).fetchone()
        return 0 if found is None else int(found[0])

    def add_versions(
        self, connection: SqlConnection, owner: str, server: str, files: Iterable[tuple[SharedFile, bool]], /
    ) -> None:
        """Add versions as the next change; the person is held. Of those with True older ones are deleted."""
        change = int(connection.execute(_NEXT, (owner,)).fetchone()[0])
        for file, is_alone in files:
            connection.execute(_ADD, (owner, file.path, change, file.content, server))
            oldest = connection.execute(_OLDEST, (owner, file.path, 0 if is_alone else _MOST_VERSIONS - 1)).fetchone()
            if oldest is not None:
                connection.execute(_DELETE_OLDER, (owner, file.path, oldest[0]))
        connection.execute(_NOTE, (owner, server, change))
        for old in _FORGET_OLD:
            connection.execute(old, (owner,))

    def write_now(self, work: Work[T], /) -> T:
        """Do the work in one transaction, in this thread, which waits."""
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
