"""The rows of ``tasks``: made, taken, ended, changed and deleted as one transaction each. Everything here blocks."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from pydantic import ValidationError

from ..._iso_time import iso_time
from ...errors import Conflict
from ...messages import ClineMessage, TaskId
from .._abandoned_tasks import TaskRecovery, settled_status, taken_up
from .._records import LockRecord, Outcome, Place, StoredTaskState, TaskMetadata
from .._task_streams import UI_FORM
from ..files._task_folders import METADATA, STATE, checked_id, record_as_json, unknown_task
from ..files._task_locks import LockWatch, held_by
from ._row_locks import RowLock, read_row_lock, row_is_dead
from ._task_schema import STREAM_TABLES

__all__ = ["TaskRow", "TaskRows"]

R = TypeVar("R", TaskMetadata, StoredTaskState)

_MAX_PAGES_GIVEN_BACK: Final = 20_000
_SIZES_REMEMBERED: Final = 1_000
_SET_STATE: Final = "UPDATE tasks SET state = ? WHERE number = ?"


@dataclass(frozen=True)
class TaskRow:
    """A task as the table has it."""

    number: int
    task_id: TaskId
    place: Place
    metadata: bytes
    state: bytes

    def read_metadata(self) -> TaskMetadata:
        """Its metadata; if they cannot be read, what the row itself tells."""
        return _parsed(TaskMetadata, self.metadata) or TaskMetadata(
            uuid=self.task_id, created_at=iso_time(), process_id=0, hostname=""
        )

    def read_state(self) -> StoredTaskState:
        """Its state; one that cannot be read shows as a failed one."""
        return _parsed(StoredTaskState, self.state) or StoredTaskState(
            status="failed", updated_at=iso_time(), error="The state of the task is damaged.", resumable=True
        )


class TaskRows:
    """What is done to tasks, each within the caller's transaction. ``watch`` judges the locks of other hosts."""

    def __init__(self, database: Path, watch: LockWatch) -> None:
        self._database = database
        self._watch = watch
        self._guard = threading.Lock()
        self._sizes: dict[tuple[TaskId, int, str], tuple[int, int]] = {}

    def find(self, connection: sqlite3.Connection, task_id: TaskId) -> TaskRow:
        """The task's row. Raises ``UnknownTask``."""
        found = connection.execute(
            "SELECT number, place, CAST(metadata AS BLOB), CAST(state AS BLOB) FROM tasks WHERE task_id = ?",
            (checked_id(task_id),),
        ).fetchone()
        if found is None:
            raise unknown_task(task_id)
        number, place, metadata, state = found
        return TaskRow(number, task_id, place, metadata, state)

    def ids(self, connection: sqlite3.Connection, place: Place | None) -> list[TaskId]:
        """The tasks in a place, in the order they were made."""
        places = ("running", "completed") if place is None else (place, place)
        rows = connection.execute("SELECT task_id FROM tasks WHERE place IN (?, ?) ORDER BY number", places).fetchall()
        return [TaskId(row[0]) for row in rows]

    def create(
        self, connection: sqlite3.Connection, metadata: TaskMetadata, state: StoredTaskState, lock: RowLock
    ) -> None:
        """Make a running task, which the lock's holder works on."""
        if connection.execute("SELECT 1 FROM tasks WHERE task_id = ?", (metadata.uuid,)).fetchone():
            raise Conflict(f"Task {metadata.uuid} already exists. Use another id.", task=metadata.uuid)
        made = connection.execute(
            "INSERT INTO tasks (task_id, place, metadata, state) VALUES (?, 'running', ?, ?)",
            (metadata.uuid, as_json(metadata), as_json(state)),
        )
        assert made.lastrowid is not None
        lock.take(connection, made.lastrowid, self._watch, self._database)

    def take(
        self, connection: sqlite3.Connection, task_id: TaskId, lock: RowLock
    ) -> tuple[TaskMetadata, StoredTaskState]:
        """Take a task that nobody works on, wherever it is, to work on it again."""
        row = self.find(connection, task_id)
        lock.take(connection, row.number, self._watch, self._database)
        self._keep_damaged(connection, row)
        state = taken_up(row.read_state())
        connection.execute(
            "UPDATE tasks SET place = 'running', state = ? WHERE number = ?", (as_json(state), row.number)
        )
        return row.read_metadata(), state

    def save_state(self, connection: sqlite3.Connection, lock: RowLock, state: StoredTaskState) -> None:
        """Write the state, and beat."""
        lock.beat(connection)
        connection.execute(_SET_STATE, (as_json(state), lock.number))

    def end(self, connection: sqlite3.Connection, lock: RowLock, state: StoredTaskState, outcome: Outcome) -> None:
        """Move a task that this process works on to the completed ones."""
        lock.beat(connection)
        _complete(connection, lock.number, state, outcome)

    def amend(
        self, connection: sqlite3.Connection, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]
    ) -> StoredTaskState:
        """Change the state of a task nobody works on."""
        row = self.at_rest(connection, task_id)
        self._keep_damaged(connection, row)
        state = change(row.read_state())
        connection.execute(_SET_STATE, (as_json(state), row.number))
        return state

    def delete(self, connection: sqlite3.Connection, task_id: TaskId) -> None:
        """Delete a task nobody works on, with all its rows."""
        connection.execute("DELETE FROM tasks WHERE number = ?", (self.at_rest(connection, task_id).number,))
        _give_back_space(connection)

    def size(self, connection: sqlite3.Connection, task_id: TaskId) -> int:
        """How many bytes its records and artifacts have."""
        row = self.find(connection, task_id)
        total = len(row.metadata) + len(row.state)
        for table, _ in STREAM_TABLES.values():
            total += self._size_of_rows(connection, table, row)
        artifacts = connection.execute("SELECT COALESCE(SUM(size), 0) FROM artifacts WHERE task = ?", (row.number,))
        return total + int(artifacts.fetchone()[0])

    def _size_of_rows(self, connection: sqlite3.Connection, table: str, row: TaskRow) -> int:
        """Rows never change, so only those are read that were not counted yet."""
        key = row.task_id, row.number, table
        with self._guard:
            counted, total = self._sizes.pop(key, (0, 0))
        added = connection.execute(
            f"SELECT MAX(id), SUM(LENGTH(CAST(record AS BLOB))) FROM {table} WHERE task = ? AND id > ?",  # noqa: S608 -- our own names
            (row.number, counted),
        ).fetchone()
        if added[0] is not None:
            counted, total = added[0], total + added[1]
        with self._guard:
            self._sizes[key] = counted, total
            if len(self._sizes) > _SIZES_REMEMBERED:
                del self._sizes[next(iter(self._sizes))]
        return total

    def left_behind(self, connection: sqlite3.Connection) -> list[tuple[TaskId, LockRecord | None]]:
        """The running tasks that nobody works on any more, or never were ended or paused."""
        rows = connection.execute(
            "SELECT number, task_id, CASE WHEN json_valid(state) THEN json_extract(state, '$.status') END"
            " FROM tasks WHERE place = 'running'"
        ).fetchall()
        found = [(TaskId(task_id), read_row_lock(connection, number), status) for number, task_id, status in rows]
        left = [
            (task_id, lock)
            for task_id, lock, status in found
            if (status != "paused" if lock is None else row_is_dead(lock, self._watch, self._database))
        ]
        self._watch.forget_all_but([lock for _, lock, _ in found if lock is not None])
        return left

    def recover(self, connection: sqlite3.Connection, task_id: TaskId) -> TaskRecovery | None:
        """Give a task that was left behind the state it is in; None if somebody works on it again, or has ended it."""
        row = self.find(connection, task_id)
        lock = read_row_lock(connection, row.number)
        if row.place != "running" or (lock is not None and not row_is_dead(lock, self._watch, self._database)):
            return None
        self._keep_damaged(connection, row)
        state = row.read_state()
        settled = settled_status(
            state, died=lock is not None, holder=lock, newest=_newest_message(connection, row.number)
        )
        if settled.status == "paused":
            paused = state.model_copy(update={"status": "paused"})
            connection.execute(_SET_STATE, (as_json(paused), row.number))
            connection.execute("DELETE FROM locks WHERE task = ?", (row.number,))
        else:
            if settled.status == "failed":
                state = state.model_copy(update={"error": settled.reason, "resumable": True})
            _complete(connection, row.number, state, outcome=settled.status)
        return TaskRecovery(task_id, settled.status, settled.reason)

    def at_rest(self, connection: sqlite3.Connection, task_id: TaskId) -> TaskRow:
        """The row of a task nobody works on. A ``Conflict`` says who does."""
        row = self.find(connection, task_id)
        lock = read_row_lock(connection, row.number)
        if lock is not None and not row_is_dead(lock, self._watch, self._database):
            raise held_by(task_id, lock)
        return row

    def mend(self, connection: sqlite3.Connection, task_id: TaskId) -> None:
        """Set aside what cannot be read of the task's metadata and state, and write what stands for it."""
        row = self.at_rest(connection, task_id)
        self._keep_damaged(connection, row)
        metadata = row.read_metadata()
        if _parsed(TaskMetadata, row.metadata) is None:
            _set_aside(connection, row.number, METADATA, row.metadata)
        connection.execute(
            "UPDATE tasks SET metadata = ?, state = ? WHERE number = ?",
            (as_json(metadata), as_json(row.read_state()), row.number),
        )

    def _keep_damaged(self, connection: sqlite3.Connection, row: TaskRow) -> None:
        if _parsed(StoredTaskState, row.state) is None:
            _set_aside(connection, row.number, STATE, row.state)


def as_json(record: TaskMetadata | StoredTaskState) -> str:
    """A record as its column holds it."""
    return record_as_json(record).decode()


def _set_aside(connection: sqlite3.Connection, number: int, name: str, data: bytes) -> None:
    now = iso_time()
    connection.execute(
        "INSERT INTO set_aside (task, what, found_at, data) VALUES (?, ?, ?, ?)",
        (number, f"{name}.corrupt-{now.replace(':', '')}", now, data),
    )


def _complete(connection: sqlite3.Connection, number: int, state: StoredTaskState, outcome: Outcome) -> None:
    now = iso_time()
    ended = state.model_copy(
        update={
            "status": outcome,
            "outcome": None,
            "updated_at": now,
            "completed_at": state.completed_at or now,
        }
    )
    connection.execute("UPDATE tasks SET place = 'completed', state = ? WHERE number = ?", (as_json(ended), number))
    connection.execute("DELETE FROM locks WHERE task = ?", (number,))


def _give_back_space(connection: sqlite3.Connection) -> None:
    """Let the file shrink at the next checkpoint; of very much, the rest waits for the next deletion."""
    free = int(connection.execute("PRAGMA freelist_count").fetchone()[0])
    for _ in range(min(free, _MAX_PAGES_GIVEN_BACK)):
        # One by one, for Python's driver takes only the first step of this statement.
        connection.execute("PRAGMA incremental_vacuum(1)")


def _parsed(kind: type[R], data: bytes) -> R | None:
    try:
        return kind.model_validate_json(data)
    except ValidationError:
        return None


def _newest_message(connection: sqlite3.Connection, number: int) -> ClineMessage | None:
    """The last message that the person saw."""
    table = STREAM_TABLES["ui"][0]
    found = connection.execute(
        f"SELECT CAST(record AS BLOB) FROM {table} WHERE task = ? ORDER BY ts DESC, id DESC LIMIT 1",  # noqa: S608
        (number,),
    ).fetchone()
    try:
        return None if found is None else UI_FORM.parse(found[0])
    except ValueError:
        return None
