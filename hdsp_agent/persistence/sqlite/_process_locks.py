"""Whether the process that took a row lock lives, as the system it runs on tells.

Within a machine the process itself is asked for, by its id and its start. A row of another host is judged by its
heartbeat alone: best by our own clock, which must have seen it stand still for a minute.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from .._records import LockRecord
from ..files._processes import is_gone
from ..files._task_locks import LockWatch
from ..tables._row_locks import LockJudge
from ..tables._sql import SqlConnection

__all__ = ["ProcessLockJudge"]


class ProcessLockJudge(LockJudge):
    """Judges the locks in the database of this path; ``patient`` takes a second look at those of other hosts."""

    def __init__(self, path: Path, *, patient: bool = True) -> None:
        self._path = path
        self._watch = LockWatch(patient=patient)

    def forget_all_but(self, locks: Sequence[LockRecord]) -> None:
        self._watch.forget_all_but(locks)

    def _has_ended(self, connection: SqlConnection, lock: LockRecord) -> bool:
        if lock.hostname != socket.gethostname():
            return self._watch.stands_still(self._path, lock)
        return lock.process_id == os.getpid() or is_gone(lock.process_id, lock.process_started)
