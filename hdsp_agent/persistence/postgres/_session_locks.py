"""Whether the server that took a row lock lives, as PostgreSQL tells: while it does, its session holds an advisory lock.

A session may be lost while the server lives, as when the database restarts or another one takes over; the server then
takes its lock again. So unless it can be seen on this machine that the process has ended, a holder is called dead only when
its lock was seen free twice, some seconds apart. What was seen long ago counts no more: it need not be one absence.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from typing import Final

from .._records import LockRecord
from ..files._processes import is_gone
from ..tables._row_locks import LockJudge
from ..tables._sql import SqlConnection
from ._presence import Presence

__all__ = ["SessionLockJudge"]

_SETTLED_SECONDS: Final = 10.0
"""How far apart the two looks are: in that time a server that lives connects again."""
_FORGOTTEN_AFTER: Final = 3
"""So many times that."""


class SessionLockJudge(LockJudge):
    """Judges by sessions; ``presence`` is ours."""

    def __init__(self, presence: Presence, *, settled_seconds: float = _SETTLED_SECONDS) -> None:
        self._presence = presence
        self._settled_seconds = settled_seconds
        self._free_since: dict[str, float] = {}

    def token(self) -> str:
        self._presence.wait()
        return f"{self._presence.key:x}-{super().token()}"

    def forget_all_but(self, locks: Sequence[LockRecord]) -> None:
        tokens = {lock.token for lock in locks}
        for token in list(self._free_since):
            if token not in tokens:
                self._free_since.pop(token, None)

    def _has_ended(self, connection: SqlConnection, lock: LockRecord) -> bool:
        key = _key_in(lock.token)
        if key == self._presence.key:
            return True
        # Shared, so that several who look at once do not take each other for the holder.
        if not connection.execute("SELECT pg_try_advisory_xact_lock_shared(?)", (key,)).fetchone()[0]:
            self._free_since.pop(lock.token, None)
            return False
        if lock.hostname == socket.gethostname() and is_gone(lock.process_id, lock.process_started):
            return True
        now = time.monotonic()
        if now - self._free_since.get(lock.token, now) > _FORGOTTEN_AFTER * self._settled_seconds:
            del self._free_since[lock.token]
        return now - self._free_since.setdefault(lock.token, now) >= self._settled_seconds


def _key_in(token: str) -> int:
    """The key of the session that took a lock with this token; of one that is no token, a key that no session has."""
    try:
        return int(token.partition("-")[0], 16)
    except ValueError:
        return 0
