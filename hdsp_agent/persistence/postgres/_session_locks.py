"""Whether the server that took a row lock lives, as PostgreSQL tells: while it does, its session holds an advisory lock.

After a restart of the database nobody's session is there yet. So unless it can be seen on this machine that the process
has ended, nobody is called dead in the database's first minute, in which those who live take their locks again.
"""

from __future__ import annotations

import socket
from typing import Final

from .._records import LockRecord
from ..files._processes import is_gone
from ..tables._row_locks import LockJudge
from ..tables._sql import SqlConnection
from ._presence import Presence

__all__ = ["SessionLockJudge"]

_LOOK: Final = (
    "SELECT pg_try_advisory_xact_lock_shared(?), pg_postmaster_start_time() < clock_timestamp() - interval '60 seconds'"
)


class SessionLockJudge(LockJudge):
    """Judges by sessions; ``presence`` is ours."""

    def __init__(self, presence: Presence) -> None:
        self._presence = presence

    def token(self) -> str:
        self._presence.wait()
        return f"{self._presence.key:x}-{super().token()}"

    def _has_ended(self, connection: SqlConnection, lock: LockRecord) -> bool:
        key = _key_in(lock.token)
        if key == self._presence.key:
            return True
        # Shared, so that several who look at once do not take each other for the holder.
        is_free, is_settled = connection.execute(_LOOK, (key,)).fetchone()
        if not is_free:
            return False
        return is_settled or (lock.hostname == socket.gethostname() and is_gone(lock.process_id, lock.process_started))


def _key_in(token: str) -> int:
    """The key of the session that took a lock with this token; of one that is no token, a key that no session has."""
    try:
        return int(token.partition("-")[0], 16)
    except ValueError:
        return 0
