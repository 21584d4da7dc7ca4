"""A task that is kept in the database, to look at, whoever works on it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from ...append_log.corrupt_lines import CorruptLine
from ...append_log.jsonl import LineForm
from .._damage_reports import DamageNotice
from .._records import StoredTaskState, Stream, TaskMetadata
from .._task_reader import TaskReader
from .._task_streams import Records
from .._trace import task_logger
from ..files._artifacts import check_artifact_name, check_artifact_size, unknown_artifact
from ._sql import STREAM_TABLES, Dialect, SqlConnection
from ._table_log import TableLog
from ._task_database import TaskDatabase
from ._task_rows import TaskRows

__all__ = ["TableTaskReader", "artifacts_of", "put_artifact"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


class TableTaskReader(TaskReader):
    """See ``TaskReader`` for what it does."""

    def __init__(
        self,
        database: TaskDatabase,
        rows: TaskRows,
        metadata: TaskMetadata,
        *,
        on_damage: Callable[[DamageNotice], None],
        remembered: int = 0,
    ) -> None:
        self._database = database
        self._rows = rows
        self._on_damage = on_damage
        self._logger = task_logger(logger, metadata.uuid)
        super().__init__(metadata, remembered=remembered)

    async def read_state(self) -> StoredTaskState:
        def read(connection: SqlConnection) -> StoredTaskState:
            return self._rows.find(connection, self.task_id).read_state()

        return await self._database.in_thread(self._database.read, read)

    async def read_artifact(self, name: str) -> bytes:
        check_artifact_name(name)

        def read(connection: SqlConnection) -> bytes:
            found = connection.execute(
                "SELECT id, length(data) FROM artifacts JOIN tasks ON number = task WHERE task_id = ? AND name = ?",
                (self.task_id, name),
            ).fetchone()
            if found is None:
                raise unknown_artifact(name)
            return _artifact(connection, self._database.dialect, *found)

        return await self._database.in_thread(self._database.read, read)

    def _records(self, stream: Stream, form: LineForm[T], remembered: int) -> Records[T]:
        log = TableLog(self._database, self.task_id, stream, form, partial(self._damaged, stream))
        return Records(log, remembered, self._database.in_thread)

    def _damaged(self, stream: Stream, line: CorruptLine) -> None:
        self._logger.warning(
            "Row %s of %s in %s cannot be read (%s, %s bytes); it stays where it is",
            line.offset, STREAM_TABLES[stream][0], self._database.name, line.damage, len(line.data),
        )  # fmt: skip
        self._on_damage(DamageNotice(self.task_id, stream, line.damage, line.offset, len(line.data)))


def artifacts_of(connection: SqlConnection, dialect: Dialect, task: int) -> Iterator[tuple[str, bytes]]:
    """The names and bytes of all artifacts, one after the other. Blocks."""
    found = connection.execute(
        "SELECT name, id, length(data) FROM artifacts WHERE task = ? ORDER BY name", (task,)
    ).fetchall()
    for name, number, size in found:
        yield name, _artifact(connection, dialect, number, size)


def _artifact(connection: SqlConnection, dialect: Dialect, number: int, size: int) -> bytes:
    """The bytes of a row, a range at a time."""
    most = dialect.artifact_bytes
    ranges = (
        connection.execute("SELECT substr(data, ?, ?) FROM artifacts WHERE id = ?", (start + 1, most, number))
        for start in range(0, size, most)
    )
    return b"".join(found.fetchone()[0] for found in ranges)


def put_artifact(connection: SqlConnection, task: int, name: str, data: bytes) -> None:
    """Keep the bytes under their name, unless the task has them already. Blocks."""
    if connection.execute("SELECT 1 FROM artifacts WHERE task = ? AND name = ?", (task, name)).fetchone():
        return
    total = connection.execute("SELECT COALESCE(SUM(size), 0) FROM artifacts WHERE task = ?", (task,)).fetchone()[0]
    check_artifact_size(len(data), total)
    connection.execute(
        "INSERT INTO artifacts (task, name, size, data) VALUES (?, ?, ?, ?)", (task, name, len(data), data)
    )
