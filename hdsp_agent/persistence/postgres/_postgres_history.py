"""The history index in the PostgreSQL database of the tasks, where all servers of a person share it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, TypeVar

import psycopg
from typing_extensions import Unpack

from ...errors import StorageUnavailable
from ..history._index import HistoryIndex, HistoryOptions
from ..tables._sql import Work
from ._connection import PostgresConnection
from ._history_listener import HistoryListener
from ._postgres_database import PostgresDatabase
from ._postgres_dialect import PostgresDialect

__all__ = ["PostgresHistory", "PostgresHistoryIndex"]

logger = logging.getLogger(__name__)
T = TypeVar("T")

_AGAIN_SECONDS: Final = 2.0
_JOIN: Final = "INSERT INTO history_people DEFAULT VALUES ON CONFLICT (role) DO NOTHING"
_NUMBER: Final = "SELECT number FROM history_people WHERE role = current_user"
_HOLD: Final = f"{_NUMBER} FOR NO KEY UPDATE"


class PostgresHistory:
    """One writer's thread with a connection of its own; what is read goes through the connections of the tasks."""

    generation: Final = 1

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="hdsp-history-writer")
        self._connection: PostgresConnection | None = None
        self._session: int | None = None
        self._listeners: list[Callable[[], Awaitable[None]]] = []
        self._told = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None
        self._others: HistoryListener | None = None
        self._closed = False

    def listen(self, listener: Callable[[], Awaitable[None]], /) -> None:
        """Await this whenever another server of the person may have changed something."""
        self._listeners.append(listener)

    async def join(self) -> int:
        """The number of who logs in, who gets one if need be."""
        await self.write(lambda connection: connection.execute(_JOIN))
        return await self.read(lambda connection: int(connection.execute(_NUMBER).fetchone()[0]))

    def follow(self) -> None:
        """Begin to hear what other servers do."""
        loop = asyncio.get_running_loop()

        def hear() -> None:
            # A loop that was closed has nobody left who listens.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._told.set)

        self._others = HistoryListener(self._database, hear, lambda: self._session)
        self._others.start()
        self._telling = asyncio.create_task(self._tell(), name="hdsp-agent history elsewhere")

    async def read(self, work: Work[T], /) -> T:
        """Do the work against one unchanging view."""
        return await self._database.in_thread(self._database.read, work)

    async def in_thread(self, call: Callable[[], T], /) -> T:
        """Call what reads tasks, in one of the threads for that."""
        return await self._database.in_thread(call)

    async def write(self, work: Work[T], /) -> T:
        """Do the work in one transaction, while no other server of this person writes to the history."""
        if self._closed:
            raise StorageUnavailable(
                f"{self._database.name} is closed because the server is stopping. Nothing was changed.",
                path=self._database.name, action="use", reason="closed",
            )  # fmt: skip
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._write, work)

    async def close(self) -> None:
        """Finish what is under way and let go of the connection."""
        self._closed = True
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)
        if self._others is not None:
            await asyncio.to_thread(self._others.stop)
        await asyncio.to_thread(self._release)

    async def _tell(self) -> None:
        while True:
            await self._told.wait()
            self._told.clear()
            try:
                for listener in self._listeners:
                    await listener()
            except StorageUnavailable as error:
                logger.warning("What another server did to the history could not be read: %s", error)
                await asyncio.sleep(_AGAIN_SECONDS)
                self._told.set()
            except Exception:
                logger.exception("What another server did to the history could not be read")

    # What follows runs in the writer's thread.

    def _write(self, work: Work[T]) -> T:
        for last in (False, True):
            connection: PostgresConnection | None = None
            is_ending = False
            try:
                connection = self._current()
                try:
                    connection.execute("BEGIN")
                    connection.execute(_HOLD)
                    result = work(connection)
                    is_ending = True
                    connection.execute("COMMIT")
                    return result
                except BaseException:
                    if not connection.is_lost:
                        connection.execute("ROLLBACK")
                    raise
            except psycopg.Error as error:
                # What was lost before its end took no place, and is done again with another connection.
                if last or is_ending or connection is None or not connection.is_lost:
                    raise self._database.refusal(error) from error
        raise AssertionError("The second attempt returns or raises")

    def _current(self) -> PostgresConnection:
        # A server that was restarted has ended the connection while nothing was written.
        if self._connection is not None and not self._connection.is_quiet:
            self._connection.close()
            self._connection = None
        if self._connection is None:
            self._connection = self._database.open_for_writing()
            self._session = self._connection.number
        return self._connection

    def _release(self) -> None:
        self._writer.shutdown()
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class PostgresHistoryIndex(HistoryIndex):
    """See ``HistoryIndex`` for what it does. ``database`` is that of the tasks; it is closed by who made it."""

    is_shared = True

    def __init__(self, database: PostgresDatabase, **options: Unpack[HistoryOptions]) -> None:
        self._history = PostgresHistory(database)
        self._texts = PostgresDialect()
        super().__init__(self._history, dialect=self._texts, **options)

    async def start(self) -> None:
        self._texts.person = await self._history.join()
        await super().start()
        self._history.follow()

    async def stop(self) -> None:
        await super().stop()
        await self._history.close()
