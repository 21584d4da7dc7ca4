"""``state.db``: what can be asked for quickly because it is kept twice. SQLite in threads, shared by several processes."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from ..._private_files import locked, make_private_folder
from ...errors import StorageUnavailable, Unsupported
from ..files._database_file import (
    FileIdentity,
    connect,
    file_identity,
    is_damage,
    make_private_file,
    refusal,
    set_state_aside,
)

__all__ = ["Schema", "StateDatabase"]

logger = logging.getLogger(__name__)
T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_OLDEST_SQLITE: Final = (3, 35, 0)
_LOCK_SECONDS: Final = 30.0
# A file that is damaged again so soon is not the file's fault; setting it aside once more would only pile up copies.
_SECONDS_BETWEEN_RESCUES: Final = 10.0


@dataclass(frozen=True)
class Schema:
    """The tables one part of the package keeps: its migrations, oldest first, and what is to be seen to at each opening."""

    name: str
    migrations: tuple[tuple[str, ...], ...]
    prepare: Callable[[sqlite3.Connection], None] | None = None


class _Damaged(Exception):
    """The content of the file as of this generation cannot be understood."""

    def __init__(self, generation: int, reason: str) -> None:
        super().__init__(reason)
        self.generation = generation
        self.reason = reason


class StateDatabase:
    """One writer thread, a few readers, and a look every half second at what other processes did.

    A damaged file is set aside and made anew; ``generation`` then rises and the listeners fill it again.
    """

    def __init__(self, path: Path, *, readers: int = 2, busy_seconds: float = 10.0, poll_seconds: float = 0.5) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._poll_seconds = poll_seconds
        self._schemas: list[Schema] = []
        self._listeners: list[Callable[[], Awaitable[None]]] = []
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="hdsp-state-writer")
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="hdsp-state-reader")
        self._connection: sqlite3.Connection | None = None
        self._identity: FileIdentity | None = None
        self._generation = 0
        self._rescued_at = float("-inf")
        self._reading: set[_Reader] = set()
        self._local = threading.local()
        self._poll: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def generation(self) -> int:
        """Rises each time another file takes the place of the one in use."""
        return self._generation

    def add(self, schema: Schema) -> None:
        """Keep these tables too. Before ``start``."""
        self._schemas.append(schema)

    def listen(self, listener: Callable[[], Awaitable[None]]) -> None:
        """Await this whenever another process changed something, or the file is another one."""
        self._listeners.append(listener)

    async def start(self) -> None:
        """Open the file, making or rescuing it as needed."""
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise Unsupported(
                f"The task history needs SQLite 3.35 or newer; this Python has {sqlite3.sqlite_version}. "
                "Use a newer Python.",
                version=sqlite3.sqlite_version,
            )
        seen = await self._in_writer(self._look)
        self._poll = asyncio.create_task(self._watch(seen))

    async def close(self) -> None:
        """Finish what is under way and let go of the file."""
        if self._poll is not None:
            self._poll.cancel()
            await asyncio.gather(self._poll, return_exceptions=True)
            self._poll = None
        self._closed = True
        await asyncio.to_thread(self._release)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def write(self, work: Work[T]) -> T:
        """Do the work in one transaction. It is done again if the file is replaced meanwhile, so what it does besides must
        bear that.
        """
        return await self._in_writer(lambda: self._write(work))

    async def in_thread(self, call: Callable[[], T]) -> T:
        """Call what reads task folders."""
        return await asyncio.to_thread(call)

    async def read(self, work: Work[T]) -> T:
        """Do the work against one unchanging view of the file; any number of writers does not hold it up."""
        self._check_open()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._readers, self._read, work)
        except _Damaged as caught:
            damage = caught
        await self._in_writer(lambda: self._rescue(damage))
        try:
            return await loop.run_in_executor(self._readers, self._read, work)
        except _Damaged as again:
            raise self._beyond_rescue(again) from again

    async def _in_writer(self, work: Callable[[], T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    def _check_open(self) -> None:
        if self._closed:
            raise StorageUnavailable(
                f"{self.path} is closed because the server is stopping. Nothing was changed.",
                path=str(self.path), action="use", reason="closed",
            )  # fmt: skip

    async def _watch(self, seen: tuple[int, int]) -> None:
        failing = False
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                now = await self._in_writer(self._look)
                if now != seen:
                    for listener in self._listeners:
                        await listener()
                seen, failing = now, False
            except Exception:
                # The task goes on: the next look may find the disk in order again. Said once, not twice a second.
                if not failing:
                    logger.exception("Could not check %s for changes", self.path)
                failing = True

    # What follows runs in the writer's thread.

    def _look(self) -> tuple[int, int]:
        try:
            version = self._current().execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error as error:
            raise refusal(self.path, error) from error
        return self._generation, version

    def _write(self, work: Work[T]) -> T:
        rescued = False
        while True:
            try:
                result = self._transaction(self._current(), work)
            except _Damaged as damage:
                if rescued:
                    raise self._beyond_rescue(damage) from damage
                self._rescue(damage)
                rescued = True
                continue
            # Another process may have set the file aside between the look and the commit; then this went with it.
            if file_identity(self.path) == self._identity:
                return result

    def _transaction(self, connection: sqlite3.Connection, work: Work[T]) -> T:
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
                return result
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            if is_damage(error):
                raise _Damaged(self._generation, str(error)) from error
            raise refusal(self.path, error) from error

    def _current(self) -> sqlite3.Connection:
        """The writer's connection to the file that bears the name now."""
        if self._connection is not None and file_identity(self.path) == self._identity:
            return self._connection
        self._drop_connection()
        make_private_folder(self.path.parent)
        with locked(self.path, _LOCK_SECONDS):
            try:
                self._connection = self._open()
            except _Damaged as damage:
                self._set_aside(damage.reason)
                try:
                    self._connection = self._open()
                except _Damaged as again:
                    raise self._beyond_rescue(again) from again
        self._identity = file_identity(self.path)
        self._generation += 1
        return self._connection

    def _open(self) -> sqlite3.Connection:
        if self.path.exists() and not self.path.is_file():
            raise _Damaged(self._generation, "it is not a file")
        make_private_file(self.path)
        try:
            connection = connect(self.path, busy_seconds=self._busy_seconds, query_only=False)
        except sqlite3.Error as error:
            if is_damage(error):
                raise _Damaged(self._generation, str(error)) from error
            raise refusal(self.path, error) from error
        try:
            self._transaction(connection, self._migrate)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE IF NOT EXISTS schemas (name TEXT PRIMARY KEY, version INTEGER NOT NULL)")
        for schema in self._schemas:
            row = connection.execute("SELECT version FROM schemas WHERE name = ?", (schema.name,)).fetchone()
            version, newest = row[0] if row else 0, len(schema.migrations)
            if version > newest:
                raise StorageUnavailable(
                    f"{self.path} was written by a newer version of HDSP Agent ({schema.name} is at {version}, this "
                    f"version knows {newest}). Nothing was changed. Update HDSP Agent, or choose another folder with "
                    "HDSP_AGENT_HOME.",
                    path=str(self.path), action="open", reason="newer",
                )  # fmt: skip
            for statements in schema.migrations[version:]:
                for statement in statements:
                    connection.execute(statement)
            connection.execute("INSERT OR REPLACE INTO schemas VALUES (?, ?)", (schema.name, newest))
            if schema.prepare is not None:
                schema.prepare(connection)

    def _rescue(self, damage: _Damaged) -> None:
        if damage.generation != self._generation:
            return
        with locked(self.path, _LOCK_SECONDS):
            # If another process was first, its new file bears the name already.
            if file_identity(self.path) == self._identity:
                self._set_aside(damage.reason)
        self._drop_connection()
        self._current()

    def _set_aside(self, reason: str) -> None:
        if time.monotonic() - self._rescued_at < _SECONDS_BETWEEN_RESCUES:
            raise self._beyond_rescue(_Damaged(self._generation, reason))
        self._rescued_at = time.monotonic()
        aside = set_state_aside(self.path)
        logger.error("%s is damaged (%s); kept as %s and rebuilt from the task folders", self.path, reason, aside)

    def _beyond_rescue(self, damage: _Damaged) -> StorageUnavailable:
        return StorageUnavailable(
            f"{self.path} is damaged ({damage.reason}) and so is its replacement. The tasks themselves are "
            "safe in their folders. Check that disk, then start the server again.",
            path=str(self.path), action="repair", reason=damage.reason,
        )  # fmt: skip

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._identity = None

    # What follows runs in a reader's thread.

    def _read(self, work: Work[T]) -> T:
        reader = self._own_reader()
        try:
            reader.connection.execute("BEGIN")
            try:
                return work(reader.connection)
            finally:
                if reader.connection.in_transaction:
                    reader.connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            if is_damage(error):
                raise _Damaged(reader.generation, str(error)) from error
            raise refusal(self.path, error) from error

    def _own_reader(self) -> _Reader:
        reader: _Reader | None = getattr(self._local, "reader", None)
        identity = file_identity(self.path)
        if reader is not None and identity == reader.identity:
            return reader
        if reader is not None:
            self._reading.discard(reader)
            reader.connection.close()
            self._local.reader = None
        generation = self._generation
        if identity is None or identity != self._identity:
            raise _Damaged(generation, "the file was replaced")
        try:
            connection = connect(self.path, busy_seconds=self._busy_seconds, query_only=True)
        except sqlite3.Error as error:
            if is_damage(error):
                raise _Damaged(generation, str(error)) from error
            raise refusal(self.path, error) from error
        reader = self._local.reader = _Reader(connection, identity, generation)
        self._reading.add(reader)
        return reader

    def _release(self) -> None:
        self._readers.shutdown()
        self._writer.shutdown()
        for reader in self._reading:
            reader.connection.close()
        self._reading.clear()
        self._drop_connection()


@dataclass(frozen=True, eq=False)
class _Reader:
    connection: sqlite3.Connection
    identity: FileIdentity
    generation: int
