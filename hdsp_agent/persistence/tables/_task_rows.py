"""The rows of ``tasks``: made, taken, ended, changed and deleted as one transaction each. Everything here blocks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import ValidationError

from ..._iso_time import iso_time
from ...errors import Conflict
from ...messages import ClineMessage, TaskId
from .._abandoned_tasks import TaskRecovery, settled_status, taken_up
from .._records import LockRecord, Outcome, Place, StoredTaskState, TaskMetadata
from .._task_streams import UI_FORM
from ..files._task_folders import METADATA, STATE, checked_id, record_as_json, unknown_task
from ..files._task_locks import held_by
from ._row_locks import LOCK_COLUMNS, LockJudge, RowLock, lock_of, read_row_lock
from ._sql import STREAM_TABLES, Dialect, SqlConnection

__all__ = ["TaskRow", "TaskRows"]

R = TypeVar("R", TaskMetadata, StoredTaskState)

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
    """What is done to tasks, each within the caller's transaction."""

    def __init__(self, dialect: Dialect, judge: LockJudge) -> None:
        self._dialect = dialect
        self._judge = judge
        self._guard = threading.Lock()
        self._sizes: dict[tuple[TaskId, int, str], tuple[int, int]] = {}

    def find(self, connection: SqlConnection, task_id: TaskId, *, for_update: bool = False) -> TaskRow:
        """The task's row. Raises ``UnknownTask``."""
        metadata, state = map(self._dialect.as_bytes.format, ("metadata", "state"))
        query = f"SELECT number, place, {metadata}, {state} FROM tasks WHERE task_id = ?"  # noqa: S608 -- our own names
        found = connection.execute(
            query + self._dialect.for_update if for_update else query, (checked_id(task_id),)
        ).fetchone()
        if found is None:
            raise unknown_task(task_id)
        number, place, metadata, state = found
        return TaskRow(number, task_id, place, metadata, state)

    def ids(self, connection: SqlConnection, place: Place | None) -> list[TaskId]:
        """The tasks in a place, in the order they were made."""
        places = ("running", "completed") if place is None else (place, place)
        rows = connection.execute("SELECT task_id FROM tasks WHERE place IN (?, ?) ORDER BY number", places).fetchall()
        return [TaskId(row[0]) for row in rows]

    def insert(
        self, connection: SqlConnection, task_id: TaskId, place: Place, metadata: bytes, state: bytes
    ) -> int | None:
        """Make a task's row, and return its number; None if the id is another task's."""
        text = self._dialect.as_text
        made = connection.execute(
            f"INSERT INTO tasks (task_id, place, metadata, state) VALUES (?, ?, {text}, {text})"  # noqa: S608 -- our own names
            f" ON CONFLICT ({self._dialect.task_key}) DO NOTHING RETURNING number",
            (task_id, place, metadata, state),
        ).fetchone()
        return None if made is None else int(made[0])

    def create(self, connection: SqlConnection, metadata: TaskMetadata, state: StoredTaskState, lock: RowLock) -> None:
        """Make a running task, which the lock's holder works on."""
        number = self.insert(connection, metadata.uuid, "running", record_as_json(metadata), record_as_json(state))
        if number is None:
            raise Conflict(f"Task {metadata.uuid} already exists. Use another id.", task=metadata.uuid)
        lock.take(connection, number)

    def take(self, connection: SqlConnection, task_id: TaskId, lock: RowLock) -> tuple[TaskMetadata, StoredTaskState]:
        """Take a task that nobody works on, wherever it is, to work on it again."""
        row = self.find(connection, task_id, for_update=True)
        lock.take(connection, row.number)
        self._keep_damaged(connection, row)
        state = taken_up(row.read_state())
        connection.execute(
            "UPDATE tasks SET place = 'running', state = ? WHERE number = ?", (as_json(state), row.number)
        )
        return row.read_metadata(), state

    def save_state(self, connection: SqlConnection, lock: RowLock, state: StoredTaskState) -> None:
        """Write the state, and beat."""
        lock.beat(connection)
        connection.execute(_SET_STATE, (as_json(state), lock.number))

    def end(self, connection: SqlConnection, lock: RowLock, state: StoredTaskState, outcome: Outcome) -> None:
        """Move a task that this process works on to the completed ones."""
        lock.beat(connection)
        _complete(connection, lock.number, state, outcome)

    def amend(
        self, connection: SqlConnection, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]
    ) -> StoredTaskState:
        """Change the state of a task nobody works on."""
        row = self.at_rest(connection, task_id, for_update=True)
        self._keep_damaged(connection, row)
        state = change(row.read_state())
        connection.execute(_SET_STATE, (as_json(state), row.number))
        return state

    def delete(self, connection: SqlConnection, task_id: TaskId) -> None:
        """Delete a task nobody works on, with all its rows."""
        row = self.at_rest(connection, task_id, for_update=True)
        connection.execute("DELETE FROM tasks WHERE number = ?", (row.number,))
        self._dialect.give_back_space(connection)

    def size(self, connection: SqlConnection, task_id: TaskId) -> int:
        """How many bytes its records and artifacts have."""
        row = self.find(connection, task_id)
        total = len(row.metadata) + len(row.state)
        for table, _ in STREAM_TABLES.values():
            total += self._size_of_rows(connection, table, row)
        artifacts = connection.execute("SELECT COALESCE(SUM(size), 0) FROM artifacts WHERE task = ?", (row.number,))
        return total + int(artifacts.fetchone()[0])

    def _size_of_rows(self, connection: SqlConnection, table: str, row: TaskRow) -> int:
        """Rows never change, so only those are read that were not counted yet."""
        key = row.task_id, row.number, table
        with self._guard:
            counted, total = self._sizes.pop(key, (0, 0))
        added = connection.execute(
            f"SELECT MAX(id), SUM({self._dialect.length.format('record')}) FROM {table} WHERE task = ? AND id > ?",  # noqa: S608 -- our own names
            (row.number, counted),
        ).fetchone()
        if added[0] is not None:
            counted, total = added[0], total + int(added[1])
        with self._guard:
            self._sizes[key] = counted, total
            if len(self._sizes) > _SIZES_REMEMBERED:
                del self._sizes[next(iter(self._sizes))]
        return total

    def left_behind(self, connection: SqlConnection) -> list[tuple[TaskId, LockRecord | None]]:
        """The running tasks that nobody works on any more, or never were ended or paused."""
        rows = connection.execute(
            f"SELECT task_id, {self._dialect.as_bytes.format('state')}, task, {LOCK_COLUMNS}"  # noqa: S608 -- our own names
            " FROM tasks LEFT JOIN locks ON task = number WHERE place = 'running' ORDER BY number"
        ).fetchall()
        found = [
            (TaskId(task_id), None if number is None else lock_of(lock), state)
            for task_id, state, number, *lock in rows
        ]
        left = [
            (task_id, lock)
            for task_id, lock, state in found
            if (_status(state) != "paused" if lock is None else self._judge.is_dead(connection, lock))
        ]
        self._judge.forget_all_but([lock for _, lock, _ in found if lock is not None])
        return left

    def recover(self, connection: SqlConnection, task_id: TaskId) -> TaskRecovery | None:
        """Give a task that was left behind the state it is in; None if somebody works on it again, or has ended it."""
        row = self.find(connection, task_id, for_update=True)
        lock = read_row_lock(connection, row.number)
        if row.place != "running" or (lock is not None and not self._judge.is_dead(connection, lock)):
            return None
        self._keep_damaged(connection, row)
        state = row.read_state()
        settled = settled_status(
            state, died=lock is not None, holder=lock, newest=self._newest_message(connection, row.number)
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

    def at_rest(self, connection: SqlConnection, task_id: TaskId, *, for_update: bool = False) -> TaskRow:
        """The row of a task nobody works on. A ``Conflict`` says who does."""
        row = self.find(connection, task_id, for_update=for_update)
        lock = read_row_lock(connection, row.number)
        if lock is not None and not self._judge.is_dead(connection, lock):
            raise held_by(task_id, lock)
        return row

    def mend(self, connection: SqlConnection, task_id: TaskId) -> None:
        """Set aside what cannot be read of the task's metadata and state, and write what stands for it."""
        row = self.at_rest(connection, task_id, for_update=True)
        self._keep_damaged(connection, row)
        metadata = row.read_metadata()
        if _parsed(TaskMetadata, row.metadata) is None:
            _set_aside(connection, row.number, METADATA, row.metadata)
        connection.execute(
            "UPDATE tasks SET metadata = ?, state = ? WHERE number = ?",
            (as_json(metadata), as_json(row.read_state()), row.number),
        )

    def _newest_message(self, connection: SqlConnection, number: int) -> ClineMessage | None:
        """The last message that the person saw."""
        found = connection.execute(
            f"SELECT {self._dialect.as_bytes.format('record')} FROM {STREAM_TABLES['ui'][0]}"  # noqa: S608 -- our own names
            " WHERE task = ? ORDER BY ts DESC, id DESC LIMIT 1",
            (number,),
        ).fetchone()
        try:
            return None if found is None else UI_FORM.parse(found[0])
        except ValueError:
            return None

    def _keep_damaged(self, connection: SqlConnection, row: TaskRow) -> None:
        if _parsed(StoredTaskState, row.state) is None:
            _set_aside(connection, row.number, STATE, row.state)


def as_json(record: TaskMetadata | StoredTaskState) -> str:
    """A record as its column holds it."""
    return record_as_json(record).decode()


def _set_aside(connection: SqlConnection, number: int, name: str, data: bytes) -> None:
    now = iso_time()
    connection.execute(
        "INSERT INTO set_aside (task, what, found_at, data) VALUES (?, ?, ?, ?)",
        (number, f"{name}.corrupt-{now.replace(':', '')}", now, data),
    )


def _complete(connection: SqlConnection, number: int, state: StoredTaskState, outcome: Outcome) -> None:
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


def _parsed(kind: type[R], data: bytes) -> R | None:
    try:
        return kind.model_validate_json(data)
    except ValidationError:
        return None


def _status(state: bytes) -> object:
    try:
        found = json.loads(state)
    except ValueError:
        return None
    return found.get("status") if isinstance(found, dict) else None
