"""The store that keeps all tasks of a person in a PostgreSQL database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from typing_extensions import Unpack

from ..._private_files import make_private_folder
from ...messages import TaskId
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
        self._home = home
        database = self.server = PostgresDatabase(url)
        self._presence = Presence(database)
        writer = PostgresWriter(database)
        self._presence.own_session = lambda: writer.session
        super().__init__(
            database, writer, SessionLockJudge(self._presence), home / ".tasks.postgres.clean.json", **options
        )

    def follow(self, on_change: Callable[[TaskId | None], None]) -> None:
        loop = asyncio.get_running_loop()

        def tell(task_id: TaskId | None) -> None:
            # A loop that was closed has nobody left who listens.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(on_change, task_id)

        self._presence.on_change = tell

    async def check_usable(self) -> None:
        self._presence.check()
        await super().check_usable()

    async def _prepare(self) -> None:
        await asyncio.to_thread(make_private_folder, self._home)
        await super()._prepare()
        await asyncio.to_thread(self._presence.start)

    async def _shut(self) -> None:
        await super()._shut()
        await asyncio.to_thread(self._presence.stop)
