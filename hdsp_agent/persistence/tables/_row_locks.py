"""Who works on a task: its row in ``locks``, taken and judged within one transaction, so nobody can come in between.

A row of this very process counts while one of its stores holds the token. Whether others live, a backend finds out.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Final

from ..._iso_time import iso_time
from ...messages import TaskId
from .._records import LockRecord
from ..files._task_locks import held_by, own_record
from ._sql import SqlConnection

__all__ = ["LOCK_COLUMNS", "LockJudge", "RowLock", "lock_of", "read_row_lock"]

LOCK_COLUMNS: Final = "process_id, process_started, hostname, acquired_at, heartbeat_at, token, beats"
_held_here: set[str] = set()
"""The tokens of this process."""


class LockJudge(ABC):
    """Says whether whoever took a lock works on the task still."""

    def token(self) -> str:
        """What a new lock of ours is known by. Blocks."""
        return secrets.token_hex(8)

    def is_dead(self, connection: SqlConnection, lock: LockRecord) -> bool:
        """Whether nobody works on the task any more."""
        return lock.token not in _held_here and self._has_ended(connection, lock)

    def forget_all_but(self, locks: Sequence[LockRecord]) -> None:  # noqa: B027 -- a judge need not remember
        """Remember only what was seen of these locks."""

    @abstractmethod
    def _has_ended(self, connection: SqlConnection, lock: LockRecord) -> bool:
        """The same of a lock that is not held here."""


class RowLock:
    """A task's lock, which this process holds from before its row is written until ``forget``."""

    def __init__(self, task_id: TaskId, judge: LockJudge) -> None:
        self._judge = judge
        self._record = own_record().model_copy(update={"token": judge.token()})
        self.task_id: Final = task_id
        self.token: Final = self._record.token
        self.number = 0
        _held_here.add(self.token)

    def take(self, connection: SqlConnection, number: int) -> None:
        """Write the row, in the place of a dead one if need be. A ``Conflict`` says who holds the task."""
        there = read_row_lock(connection, number)
        if there is not None and not self._judge.is_dead(connection, there):
            raise held_by(self.task_id, there)
        connection.execute("DELETE FROM locks WHERE task = ?", (number,))
        record = self._record
        connection.execute(
            f"INSERT INTO locks (task, {LOCK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 -- our own names
            (
                number, record.process_id, record.process_started, record.hostname, record.acquired_at,
                record.heartbeat_at, record.token, record.beats,
            ),
        )  # fmt: skip
        self.number = number

    def beat(self, connection: SqlConnection) -> None:
        """Show that the holder lives. A ``Conflict`` says that somebody else took the task meanwhile."""
        beaten = connection.execute(
            "UPDATE locks SET heartbeat_at = ?, beats = beats + 1 WHERE task = ? AND token = ?",
            (iso_time(), self.number, self.token),
        )
        if beaten.rowcount == 0:
            raise held_by(self.task_id, read_row_lock(connection, self.number))

    def release(self, connection: SqlConnection) -> None:
        """Remove the row, if it is still ours."""
        connection.execute("DELETE FROM locks WHERE task = ? AND token = ?", (self.number, self.token))

    def forget(self) -> None:
        """Hold the task no more; a row that could not be removed counts as a dead one's from now on."""
        _held_here.discard(self.token)


def read_row_lock(connection: SqlConnection, number: int) -> LockRecord | None:
    """What the task's lock says; None if there is none."""
    row = connection.execute(f"SELECT {LOCK_COLUMNS} FROM locks WHERE task = ?", (number,)).fetchone()  # noqa: S608
    return None if row is None else lock_of(row)


def lock_of(row: Iterable[object]) -> LockRecord:
    """The lock that a row of the ``LOCK_COLUMNS`` says."""
    return LockRecord.model_validate(dict(zip(LOCK_COLUMNS.split(", "), row, strict=True)))
