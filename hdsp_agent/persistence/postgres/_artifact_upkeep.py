"""Looks after the objects of a person: moves bytes that wait in the database, and deletes what no conversation names."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Final, Literal

from ...errors import ArtifactStoreUnavailable, HdspAgentError, StorageUnavailable
from ..objects._object_store import ObjectMissing, ObjectStore, StoredObject
from ..tables._sql import SqlConnection
from ..tables._table_writer import TableWriter
from ..tables._task_database import TaskDatabase
from ._stored_artifacts import StoredArtifacts, find_folder, leave_object, own_folder

__all__ = ["ArtifactMoves", "ArtifactUpkeep"]

logger = logging.getLogger(__name__)

_AT_ONCE: Final = 20
_DELETED_AT_ONCE: Final = 500
_MOST_DELETED: Final = 50_000
_MOST_LISTED: Final = 100_000
_UNNAMED_AFTER: Final = timedelta(days=1)
"""Much longer than anybody takes from putting an object to naming it."""
_LOOK_SECONDS: Final = 900.0
_AGAIN_SECONDS: Final = 5.0
_LONGEST_PAUSE_SECONDS: Final = 60.0

_IN_ROWS: Final = """
SELECT id, name, size, object FROM artifacts JOIN tasks ON number = task
WHERE owner = current_user AND object IS NULL AND id > ? ORDER BY id LIMIT ?"""
_IN_STORE: Final = _IN_ROWS.replace("IS NULL", "IS NOT NULL")
_TO_STORE: Final = "UPDATE artifacts SET data = NULL, object = ? WHERE id = ? AND object IS NULL"
_POINTS_TO: Final = "SELECT 1 FROM artifacts WHERE id = ? AND object = ?"
_TO_ROW: Final = "UPDATE artifacts SET data = ?, object = NULL WHERE id = ? AND object = ?"
_UNUSED: Final = "SELECT object FROM unused_objects WHERE owner = current_user ORDER BY object LIMIT ?"
_FORGET_UNUSED: Final = "DELETE FROM unused_objects WHERE owner = current_user AND object = ANY(?)"
_NAMED: Final = (
    "SELECT object FROM artifacts JOIN tasks ON number = task WHERE owner = current_user AND object IS NOT NULL"
)


@dataclass(frozen=True)
class _Artifact:
    number: int
    name: str
    size: int
    key: str | None


@dataclass
class ArtifactMoves:
    """What was moved. ``damaged`` are the names of those that are not what their names say, and stay where they are."""

    moved: int = 0
    bytes: int = 0
    damaged: list[str] = field(default_factory=list)

    def count(self, artifact: _Artifact, *, is_whole: bool) -> None:
        """Count one of them."""
        if is_whole:
            self.moved += 1
            self.bytes += artifact.size
        else:
            self.damaged.append(artifact.name)


class ArtifactUpkeep:
    """Several servers of a person may do the same at once: nothing is lost or moved twice by that."""

    def __init__(
        self, database: TaskDatabase, writer: TableWriter, artifacts: StoredArtifacts, objects: ObjectStore
    ) -> None:
        self._database = database
        self._writer = writer
        self._artifacts = artifacts
        self._objects = objects
        self._something_waits = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._damaged: set[int] = set()

    def start(self) -> None:
        """Begin to do it in the background."""
        self._artifacts.on_waiting = self.wake
        self._running = asyncio.create_task(self._run(), name="hdsp-agent artifacts")

    @property
    def trouble(self) -> ArtifactStoreUnavailable | None:
        """Why the store could not be used the last time."""
        return self._artifacts.trouble

    async def stop(self) -> None:
        """End it; what is left waits for the next server."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def wake(self) -> None:
        """There may be something to do."""
        self._something_waits.set()

    async def move(self, to: Literal["store", "database"]) -> ArtifactMoves:
        """Move all artifacts of the person. Raises ``StorageUnavailable``; those moved by then are."""
        moves = ArtifactMoves()
        after = 0
        while some := await self._read(_IN_ROWS if to == "store" else _IN_STORE, after, _AT_ONCE):
            for artifact in some:
                is_whole = await (self._to_store(artifact) if to == "store" else self._to_row(artifact))
                moves.count(artifact, is_whole=is_whole)
            after = some[-1].number
        return moves

    async def delete_unused(self) -> int:
        """Delete the objects of conversations that were deleted; how many."""
        deleted = 0
        while deleted < _MOST_DELETED:
            keys = await self._database.in_thread(self._database.read, _unused)
            if not keys:
                break
            await self._artifacts.call(self._objects.delete, keys)
            await self._writer.run(partial(_forget_unused, keys=keys))
            deleted += len(keys)
        return deleted

    async def unnamed(self) -> Sequence[StoredObject]:
        """The objects of the person that no conversation names, such as those of a server that was killed."""
        found = await self._database.in_thread(self._database.read, _folder_and_time)
        if found is None:
            return ()
        folder, now = found
        listed = await self._artifacts.call(lambda: list(islice(self._objects.listed(folder), _MOST_LISTED)))
        # After the listing: what was put into the store before is named by now, if it ever will be.
        named = await self._database.in_thread(self._database.read, _named)
        return [each for each in listed if each.key not in named and now - each.modified > _UNNAMED_AFTER]

    async def delete_unnamed(self, unnamed: Sequence[StoredObject]) -> None:
        """Delete them. No key is used twice, so none of them is named meanwhile."""
        for start in range(0, len(unnamed), _DELETED_AT_ONCE):
            keys = [each.key for each in unnamed[start : start + _DELETED_AT_ONCE]]
            await self._artifacts.call(self._objects.delete, keys)

    async def _run(self) -> None:
        pause = _AGAIN_SECONDS
        while True:
            self._something_waits.clear()
            try:
                await self._try_store()
                # Before the moves, which end at the first artifact that the store does not take.
                await self.delete_unused()
                await self.move("store")
            except StorageUnavailable:
                # Told by whoever has to do with it.
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
                continue
            except HdspAgentError as error:
                logger.warning("The artifacts could not be looked after: %s", error)
            except Exception:
                logger.exception("The artifacts could not be looked after")
            pause = _AGAIN_SECONDS
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._something_waits.wait()
            except TimeoutError:
                continue

    async def _try_store(self) -> None:
        """Find out whether a store that was away is back, though nothing may wait for it."""
        if self._artifacts.trouble is not None:
            folder = await self._writer.run(own_folder)
            key = await self._artifacts.upload(folder, b"")
            await self._writer.run(lambda connection: leave_object(connection, key))

    async def _to_store(self, artifact: _Artifact) -> bool:
        if artifact.number in self._damaged:
            return False
        data = await self._database.in_thread(
            self._database.read, lambda connection: self._artifacts.of_row(connection, artifact.number)
        )
        if data is None:
            # Deleted or moved meanwhile.
            return True
        if not await _is_whole(data, artifact.name):
            self._damaged.add(artifact.number)
            return False
        key = await self._artifacts.upload(await self._writer.run(own_folder), data)

        def point(connection: SqlConnection) -> None:
            moved = connection.execute(_TO_STORE, (key, artifact.number)).rowcount > 0
            if not moved and connection.execute(_POINTS_TO, (artifact.number, key)).fetchone() is None:
                leave_object(connection, key)

        await self._writer.run(point, durable=True)
        return True

    async def _to_row(self, artifact: _Artifact) -> bool:
        key = artifact.key
        assert key is not None
        try:
            data = await self._artifacts.call(self._objects.read, key, artifact.size)
        except ObjectMissing:
            return False
        if not await _is_whole(data, artifact.name):
            return False
        await self._writer.run(
            lambda connection: connection.execute(_TO_ROW, (data, artifact.number, key)), durable=True
        )
        return True

    async def _read(self, query: str, after: int, most: int) -> list[_Artifact]:
        def read(connection: SqlConnection) -> list[_Artifact]:
            return [_Artifact(*row) for row in connection.execute(query, (after, most)).fetchall()]

        return await self._database.in_thread(self._database.read, read)


async def _is_whole(data: bytes, name: str) -> bool:
    return await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest()) == name


def _folder_and_time(connection: SqlConnection) -> tuple[str, datetime] | None:
    folder = find_folder(connection)
    return None if folder is None else (folder, connection.execute("SELECT now()").fetchone()[0])


def _unused(connection: SqlConnection) -> list[str]:
    return [row[0] for row in connection.execute(_UNUSED, (_DELETED_AT_ONCE,)).fetchall()]


def _forget_unused(connection: SqlConnection, keys: Sequence[str]) -> None:
    connection.execute(_FORGET_UNUSED, (list(keys),))


def _named(connection: SqlConnection) -> set[str]:
    return {row[0] for row in connection.execute(_NAMED).fetchall()}
