"""The store that keeps all tasks of a person in a PostgreSQL database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import psycopg
from typing_extensions import Unpack

from ..._private_files import make_private_folder
from ...messages import TaskId
from .._abandoned_tasks import TaskRecovery
from .._kept_apart import spool_folder
from .._task_store import StoreOptions
from ..objects._store_address import open_object_store
from ..tables._table_store import TableStore
from ..tables._table_task_log import TableTaskLog
from ._artifact_upkeep import ArtifactUpkeep
from ._postgres_database import PostgresDatabase
from ._postgres_writer import PostgresWriter
from ._presence import Presence
from ._session_locks import SessionLockJudge
from ._spool import replay_left_behind
from ._stored_artifacts import StoredArtifacts

__all__ = ["PostgresStore"]

# Long after anybody can wait for what they wrote, or have kept something for them.
_FORGET_OLD_WRITERS: Final = "DELETE FROM writers WHERE wrote_at < now() - interval '90 days'"


class PostgresStore(TableStore):
    """See ``TaskStore`` for what it does. An empty ``url`` leaves all to libpq's environment.

    An empty ``artifact_store_url`` keeps artifacts in the database.
    """

    def __init__(self, home: Path, url: str, *, artifact_store_url: str = "", **options: Unpack[StoreOptions]) -> None:
        self._home = home
        self._spools = spool_folder(home)
        database = self.server = PostgresDatabase(url)
        self._presence = Presence(database)
        writer = PostgresWriter(database, self._spools)
        self._presence.own_session = lambda: writer.session
        objects = open_object_store(artifact_store_url) if artifact_store_url else None
        self._stored = StoredArtifacts(database, objects)
        self._upkeep = ArtifactUpkeep(database, writer, self._stored, objects) if objects is not None else None
        super().__init__(
            database,
            writer,
            SessionLockJudge(self._presence),
            home / ".tasks.postgres.clean.json",
            self._stored,
            **options,
        )

    def follow(self, on_change: Callable[[TaskId | None], None]) -> None:
        loop = asyncio.get_running_loop()

        def tell(task_id: TaskId | None) -> None:
            # A loop that was closed has nobody left who listens.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(on_change, task_id)

        self._presence.on_change = tell

    @property
    def artifact_upkeep(self) -> ArtifactUpkeep | None:
        return self._upkeep

    async def delete(self, task_id: TaskId) -> None:
        await super().delete(task_id)
        if self._upkeep is not None:
            self._upkeep.wake()

    async def check_usable(self) -> None:
        await super().check_usable()
        self._presence.check()

    async def _prepare(self) -> None:
        await asyncio.to_thread(make_private_folder, self._home)
        await super()._prepare()
        await asyncio.to_thread(self._presence.start)
        await self.server.in_thread(self._replay_left_behind)
        await self.writer.run(lambda connection: connection.execute(_FORGET_OLD_WRITERS))

    # What a server that died kept here comes before anything that judges or continues its tasks.

    async def _recover(self) -> Sequence[TaskRecovery]:
        await self.server.in_thread(self._replay_left_behind)
        return await super()._recover()

    async def _take(self, task_id: TaskId) -> TableTaskLog:
        await self.server.in_thread(self._replay_left_behind)
        return await super()._take(task_id)

    def _replay_left_behind(self) -> None:
        try:
            replay_left_behind(self._spools, self.server.open_for_writing)
        except psycopg.Error as error:
            raise self.server.refusal(error) from error

    async def _shut(self) -> None:
        if self._upkeep is not None:
            await self._upkeep.stop()
        await super()._shut()
        self._stored.close()
        await asyncio.to_thread(self._presence.stop)
