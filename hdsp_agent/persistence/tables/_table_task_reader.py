"""A task that is kept in the database, to look at, whoever works on it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from ...append_log.corrupt_lines import CorruptLine
from ...append_log.jsonl import LineForm
from .._damage_reports import DamageNotice
from .._records import StoredTaskState, Stream, TaskMetadata
from .._task_reader import TaskReader
from .._task_streams import Records
from .._trace import task_logger
from ..files._artifacts import check_artifact_name
from ._artifact_rows import ArtifactRows
from ._sql import STREAM_TABLES, SqlConnection
from ._table_log import TableLog
from ._task_database import TaskDatabase
from ._task_rows import TaskRows

__all__ = ["TableTaskReader"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


class TableTaskReader(TaskReader):
    """See ``TaskReader`` for what it does."""

    def __init__(
        self,
        database: TaskDatabase,
        rows: TaskRows,
        artifacts: ArtifactRows,
        metadata: TaskMetadata,
        *,
        on_damage: Callable[[DamageNotice], None],
        remembered: int = 0,
    ) -> None:
        self._database = database
        self._rows = rows
        self._artifacts = artifacts
        self._on_damage = on_damage
        self._logger = task_logger(logger, metadata.uuid)
        super().__init__(metadata, remembered=remembered)

    async def read_state(self) -> StoredTaskState:
        def read(connection: SqlConnection) -> StoredTaskState:
            return self._rows.find(connection, self.task_id).read_state()

        return await self._database.in_thread(self._database.read, read)

    async def read_artifact(self, name: str) -> bytes:
        check_artifact_name(name)
        return await self._artifacts.read(self.task_id, name)

    def _records(self, stream: Stream, form: LineForm[T], remembered: int) -> Records[T]:
        log = TableLog(self._database, self.task_id, stream, form, partial(self._damaged, stream))
        return Records(log, remembered, self._database.in_thread)

    def _damaged(self, stream: Stream, line: CorruptLine) -> None:
        self._logger.warning(
            "Row %s of %s in %s cannot be read (%s, %s bytes); it stays where it is",
            line.offset, STREAM_TABLES[stream][0], self._database.name, line.damage, len(line.data),
        )  # fmt: skip
        self._on_damage(DamageNotice(self.task_id, stream, line.damage, line.offset, len(line.data)))
