"""Who works on a task: its row in ``locks``, taken and judged within one transaction, so nobody can come in between.

Within a machine the process itself is asked whether it lives, by its id and its start; a row of this very process
counts while one of its stores holds the token. A row of another host is judged by its heartbeat alone, and only after
it was seen to stand still for a minute by our own clock.
"""

from __future__ import annotations

import os
import socket
import sqlite3
from pathlib import Path
from typing import Final

from ..._iso_time import iso_time
from ...messages import TaskId
from .._records import LockRecord
from ..files._processes import is_gone
from ..files._task_locks import LockWatch, held_by, own_record

__all__ = ["RowLock", "read_row_lock", "row_is_dead"]

_COLUMNS: Final = "process_id, process_started, hostname, acquired_at, heartbeat_at, token, beats"
_held_here: set[str] = set()
"""The tokens of this process."""


class RowLock:
    """A task's lock, which this process holds from before its row is written until ``forget``."""

    def __init__(self, task_id: TaskId) -> None:
        self._record = own_record()
        self.task_id: Final = task_id
        self.token: Final = self._record.token
        self.number = 0
        _held_here.add(self.token)

    def take(self, connection: sqlite3.Connection, number: int, watch: LockWatch, database: Path) -> None:
        """Write the row, in the place of a dead one if need be. A ``Conflict`` says who holds the task."""
        there = read_row_lock(connection, number)
        if there is not None and not row_is_dead(there, watch, database):
            raise held_by(self.task_id, there)
        connection.execute("DELETE FROM locks WHERE task = ?", (number,))
        record = self._record
        connection.execute(
            f"INSERT INTO locks (task, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 -- our own names
            (
                number, record.process_id, record.process_started, record.hostname, record.acquired_at,
                record.heartbeat_at, record.token, record.beats,
            ),
        )  # fmt: skip
        self.number = number

    def beat(self, connection: sqlite3.Connection) -> None:
        """Show that the holder lives. A ``Conflict`` says that somebody else took the task meanwhile."""
        beaten = connection.execute(
            "UPDATE locks SET heartbeat_at = ?, beats = beats + 1 WHERE task = ? AND token = ?",
            (iso_time(), self.number, self.token),
        )
        if beaten.rowcount == 0:
            raise held_by(self.task_id, read_row_lock(connection, self.number))

    def release(self, connection: sqlite3.Connection) -> None:
        """Remove the row, if it is still ours."""
        connection.execute("DELETE FROM locks WHERE task = ? AND token = ?", (self.number, self.token))

    def forget(self) -> None:
        """Hold the task no more; a row that could not be removed counts as a dead one's from now on."""
        _held_here.discard(self.token)


def read_row_lock(connection: sqlite3.Connection, number: int) -> LockRecord | None:
    """What the task's lock says; None if there is none."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM locks WHERE task = ?", (number,)).fetchone()  # noqa: S608
    if row is None:
        return None
    process_id, started, hostname, acquired_at, heartbeat_at, token, beats = row
    return LockRecord(
        process_id=process_id, hostname=hostname, acquired_at=acquired_at, heartbeat_at=heartbeat_at,
        process_started=started, token=token, beats=beats,
    )  # fmt: skip


def row_is_dead(record: LockRecord, watch: LockWatch, database: Path) -> bool:
    """Whether whoever took this lock works on the task no more."""
    if record.hostname != socket.gethostname():
        return watch.stands_still(database, record)
    if is_gone(record.process_id, record.process_started):
        return True
    return record.process_id == os.getpid() and record.token not in _held_here
