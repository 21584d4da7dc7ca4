"""Artifacts of PostgreSQL's tasks: in an object store, and in their rows as long as that is away or there is none."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import Final, ParamSpec, TypeVar
from urllib.parse import quote

from ...errors import ArtifactStoreUnavailable, NotFound
from ...messages import TaskId
from ..files._artifacts import unknown_artifact
from ..objects._object_store import ObjectMissing, ObjectStore
from ..tables._artifact_rows import ArtifactRows, TaskWrite, check_room
from ..tables._sql import SqlConnection
from ..tables._task_database import TaskDatabase

__all__ = ["StoredArtifacts", "find_folder", "leave_object", "own_folder"]

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)

_AT_ONCE: Final = 4
_AGAIN_SECONDS: Final = 5.0
_TRIES: Final = 2
_POINTS_ELSEWHERE: Final = "SELECT 1 FROM artifacts WHERE task = ? AND name = ? AND object IS DISTINCT FROM ?"
_FOLDER: Final = "SELECT owner, secret FROM artifact_folders WHERE owner = current_user"


@dataclass(frozen=True)
class _Object:
    key: str
    size: int


class StoredArtifacts(ArtifactRows):
    """See ``ArtifactRows`` for what it does. ``on_waiting`` hears when bytes wait in the database for the store."""

    def __init__(self, database: TaskDatabase, objects: ObjectStore | None) -> None:
        super().__init__(database)
        self.objects: Final = objects
        self.on_waiting: Callable[[], None] = lambda: None
        # Where they wait for the store, nobody else of the server should wait for a thread.
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="hdsp-agent artifacts")
        self._trouble: ArtifactStoreUnavailable | None = None
        self._next_try_at = 0.0

    @property
    def trouble(self) -> ArtifactStoreUnavailable | None:
        """Why the store could not be used the last time."""
        return self._trouble

    async def put(self, write: TaskWrite, task: int, name: str, data: bytes) -> None:
        if self.objects is None:
            await super().put(write, task, name, data)
            return

        def look(connection: SqlConnection) -> str | None:
            return own_folder(connection) if check_room(connection, task, name, len(data)) else None

        folder = await write(look)
        if folder is None:
            return
        try:
            key = await self.upload(folder, data)
        except ArtifactStoreUnavailable:
            await super().put(write, task, name, data)
            self.on_waiting()
            return

        def put(connection: SqlConnection) -> None:
            if check_room(connection, task, name, len(data)):
                connection.execute(
                    "INSERT INTO artifacts (task, name, size, object) VALUES (?, ?, ?, ?)", (task, name, len(data), key)
                )
            elif connection.execute(_POINTS_ELSEWHERE, (task, name, key)).fetchone() is not None:
                # Somebody was quicker.
                leave_object(connection, key)

        await write(put)

    async def read(self, task_id: TaskId, name: str) -> bytes:
        def read(connection: SqlConnection) -> bytes | _Object:
            found = connection.execute(
                "SELECT id, size, object FROM artifacts JOIN tasks ON number = task WHERE task_id = ? AND name = ?",
                (task_id, name),
            ).fetchone()
            if found is None:
                raise unknown_artifact(name)
            number, size, key = found
            return self._in_ranges(connection, number, size) if key is None else _Object(key, size)

        for _ in range(_TRIES):
            found = await self._database.in_thread(self._database.read, read)
            if isinstance(found, bytes):
                return found
            # One that is not there any more may be in the database now.
            with suppress(ObjectMissing):
                return await self.call(self._verified, self.known_store(), found, name)
        assert isinstance(found, _Object)
        raise self._lost(name)

    def of_task(self, connection: SqlConnection, task: int) -> Iterator[tuple[str, bytes | None]]:
        found = connection.execute(
            "SELECT name, id, size, object FROM artifacts WHERE task = ? ORDER BY name", (task,)
        ).fetchall()
        for name, number, size, key in found:
            if key is None:
                yield name, self._in_ranges(connection, number, size)
                continue
            try:
                data: bytes | None = self.known_store().read(key, size)
            except ObjectMissing:
                data = None
            yield name, data

    def of_row(self, connection: SqlConnection, number: int) -> bytes | None:
        """The bytes of an artifact that is in the database; None if it is there no more. Blocks."""
        found = connection.execute("SELECT length(data) FROM artifacts WHERE id = ?", (number,)).fetchone()
        return None if found is None or found[0] is None else self._in_ranges(connection, number, found[0])

    async def upload(self, folder: str, data: bytes) -> str:
        """Put the bytes into the store, and return their key. It is a new one: nobody deletes it for that of another."""
        key = f"{folder}/{secrets.token_hex(32)}"
        await self.call(self.known_store().put, key, data)
        return key

    async def call(self, call: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
        """Use the store, in one of the few threads for that. One that was away is left alone for a moment."""

        def attempt() -> T:
            # It may have been found away while this waited for a thread.
            self._leave_alone()
            try:
                result = call(*arguments, **named)
            except ArtifactStoreUnavailable as error:
                self._note_trouble(error)
                raise
            self._trouble = None
            return result

        self._leave_alone()
        try:
            return await asyncio.wrap_future(self._threads.submit(attempt))
        except ArtifactStoreUnavailable:
            self.on_waiting()
            raise

    def _leave_alone(self) -> None:
        """Raise if the store was away a moment ago."""
        trouble = self._trouble
        if trouble is not None and monotonic() < self._next_try_at:
            raise copy(trouble)

    def _note_trouble(self, error: ArtifactStoreUnavailable) -> None:
        self._next_try_at = monotonic() + _AGAIN_SECONDS
        # A copy has no traceback, which would keep the bytes of who asked.
        known, self._trouble = self._trouble, copy(error)
        if known is None:
            logger.warning("Artifacts are kept in the database for now: %s", error)

    def known_store(self) -> ObjectStore:
        """The store. Raises if none is named."""
        if self.objects is None:
            raise ArtifactStoreUnavailable(
                "This output is in an object store, and this server does not know in which. Ask your administrator to set "
                "artifact_store_url as it was.",
                store="", action="read", reason="not set",
            )  # fmt: skip
        return self.objects

    def close(self) -> None:
        """Let go of the threads; what they do they end."""
        self._threads.shutdown(wait=False)

    def _verified(self, objects: ObjectStore, found: _Object, name: str) -> bytes:
        data = objects.read(found.key, found.size)
        if hashlib.sha256(data).hexdigest() != name:
            raise self._lost(name)
        return data

    def _lost(self, name: str) -> NotFound:
        return NotFound(
            f"The artifact {name} is missing or damaged in {self.known_store().name}. Ask your administrator to restore it "
            "from a backup.",
            name=name,
        )


def own_folder(connection: SqlConnection) -> str:
    """What the keys of the person's objects begin with. Blocks."""
    folder = find_folder(connection)
    if folder is None:
        connection.execute("INSERT INTO artifact_folders DEFAULT VALUES ON CONFLICT (owner) DO NOTHING")
        folder = find_folder(connection)
    assert folder is not None
    return folder


def find_folder(connection: SqlConnection) -> str | None:
    """The same, if the person ever had any. Blocks."""
    found = connection.execute(_FOLDER).fetchone()
    if found is None:
        return None
    owner, secret = found
    name = quote(owner, safe="")
    # Dots alone would be no name of a folder.
    return f"{name if name.strip('.') else name.replace('.', '%2E')}/{secret}"


def leave_object(connection: SqlConnection, key: str) -> None:
    """Let the object be deleted soon: no row names it. Blocks."""
    connection.execute("INSERT INTO unused_objects (object) VALUES (?) ON CONFLICT DO NOTHING", (key,))
