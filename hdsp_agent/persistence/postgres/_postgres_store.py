"""The store that keeps all tasks of a person in a PostgreSQL database."""

from __future__ import annotations

import asyncio
from pathlib import Path

from typing_extensions import Unpack

from .._task_store import StoreOptions
from ..tables._table_store import TableStore
from ._postgres_database import PostgresDatabase
from ._postgres_writer import PostgresWriter
from ._presence import Presence
from ._session_locks import SessionLockJudge

__all__ = ["PostgresStore"]


class PostgresStore(TableStore):
    """See ``TaskStore`` for what it does. An empty ``url`` leaves all to libpq's environment."""

    def __init__(self, home: Path, url: str, **options: Unpack[StoreOptions]) -> None:
        database = PostgresDatabase(url)
        self._presence = Presence(database)
        writer = PostgresWriter(database)
        self._presence.own_sessions = lambda: writer.sessions
        super().__init__(
            database, writer, SessionLockJudge(self._presence), home / ".tasks.postgres.clean.json", **options
        )

    async def check_usable(self) -> None:
        self._presence.check()
        await super().check_usable()

    async def _prepare(self) -> None:
        await super()._prepare()
        await asyncio.to_thread(self._presence.start)

    async def _shut(self) -> None:
        await super()._shut()
        await asyncio.to_thread(self._presence.stop)
