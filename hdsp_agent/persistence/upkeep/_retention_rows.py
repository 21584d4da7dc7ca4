"""Deleting tasks that are kept in a database, each as one transaction. Everything here blocks.

None is packed: the rows of a log are never changed, and what a deleted task took is given back to the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...errors import UnknownTask
from ...messages import TaskId
from .._records import StoredTaskState
from ..tables._sql import SqlConnection
from ..tables._table_store import TableStore
from ._finished_tasks import FinishedTasks, changed_meanwhile

__all__ = ["FinishedRows"]


class FinishedRows(FinishedTasks):
    """Those of a ``TableStore``."""

    def __init__(self, store: TableStore) -> None:
        self._database = store.database
        self._writer = store.writer
        self._rows = store.rows
        self._clock_notes = store.clock_notes

    @property
    def executions(self) -> Path:
        return self._clock_notes

    def ids(self) -> list[TaskId]:
        return sorted(self._database.read(lambda connection: self._rows.ids(connection, "completed")))

    def has(self, task_id: TaskId) -> bool:
        try:
            self._database.read(lambda connection: self._rows.find(connection, task_id))
        except UnknownTask:
            return False
        return True

    def state(self, task_id: TaskId) -> StoredTaskState:
        return self._database.read(lambda connection: self._rows.find(connection, task_id).read_state())

    def size(self, task_id: TaskId) -> int:
        return self._database.read(lambda connection: self._rows.size(connection, task_id))

    def delete(self, task_id: TaskId, is_due: Callable[[StoredTaskState], bool]) -> None:
        def delete(connection: SqlConnection) -> None:
            if not is_due(self._rows.find(connection, task_id).read_state()):
                raise changed_meanwhile(task_id)
            self._rows.delete(connection, task_id)

        self._writer.submit(delete, task_id=task_id, durable=True).result()
