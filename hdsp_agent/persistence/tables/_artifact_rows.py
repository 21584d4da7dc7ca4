"""The artifacts of tasks: bytes in the rows that name them."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from typing import Protocol, TypeVar

from ...messages import TaskId
from ..files._artifacts import check_artifact_size, unknown_artifact
from ._sql import SqlConnection, Work
from ._task_database import TaskDatabase

__all__ = ["ArtifactRows", "TaskWrite", "check_room"]

T = TypeVar("T")


class TaskWrite(Protocol):
    """Does work in a transaction, as whoever holds the task's lock."""

    def __call__(self, work: Work[T], /) -> Awaitable[T]: ...


class ArtifactRows:
    """The artifacts of all tasks of a database. A backend that keeps bytes elsewhere derives from it."""

    def __init__(self, database: TaskDatabase) -> None:
        self._database = database

    async def put(self, write: TaskWrite, task: int, name: str, data: bytes) -> None:
        """Keep the bytes under their name, unless the task has them already."""

        def put(connection: SqlConnection) -> None:
            if check_room(connection, task, name, len(data)):
                connection.execute(
                    "INSERT INTO artifacts (task, name, size, data) VALUES (?, ?, ?, ?)", (task, name, len(data), data)
                )

        await write(put)

    async def read(self, task_id: TaskId, name: str) -> bytes:
        """The bytes that the task keeps under this name. Raises ``NotFound``."""

        def read(connection: SqlConnection) -> bytes:
            found = connection.execute(
                "SELECT id, length(data) FROM artifacts JOIN tasks ON number = task WHERE task_id = ? AND name = ?",
                (task_id, name),
            ).fetchone()
            if found is None:
                raise unknown_artifact(name)
            return self._in_ranges(connection, *found)

        return await self._database.in_thread(self._database.read, read)

    def of_task(self, connection: SqlConnection, task: int) -> Iterator[tuple[str, bytes | None]]:
        """The names and bytes of all artifacts, one after the other; None if the bytes are lost. Blocks."""
        found = connection.execute(
            "SELECT name, id, length(data) FROM artifacts WHERE task = ? ORDER BY name", (task,)
        ).fetchall()
        for name, number, size in found:
            yield name, self._in_ranges(connection, number, size)

    def _in_ranges(self, connection: SqlConnection, number: int, size: int) -> bytes:
        """The bytes of a row, a range at a time."""
        most = self._database.dialect.artifact_bytes
        ranges = (
            connection.execute("SELECT substr(data, ?, ?) FROM artifacts WHERE id = ?", (start + 1, most, number))
            for start in range(0, size, most)
        )
        return b"".join(found.fetchone()[0] for found in ranges)


def check_room(connection: SqlConnection, task: int, name: str, size: int) -> bool:
    """Whether the task has nothing under this name yet. Raises ``InvalidInput`` for what is too large. Blocks."""
    if connection.execute("SELECT 1 FROM artifacts WHERE task = ? AND name = ?", (task, name)).fetchone():
        return False
    total = connection.execute("SELECT COALESCE(SUM(size), 0) FROM artifacts WHERE task = ?", (task,)).fetchone()[0]
    check_artifact_size(size, total)
    return True
