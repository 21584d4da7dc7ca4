"""Shows to all servers that this one lives, and hears what the others did: a session of its own, kept up by a thread.

The session holds an advisory lock, which PostgreSQL lets go of when the session ends, however it ends. The lock's key is
part of the token of each task that this process takes. Others may judge a task's holder by it: see ``SessionLockJudge``.
"""

from __future__ import annotations

import logging
import secrets
import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import psycopg

from ...errors import InvalidInput, StorageUnavailable
from ...messages import TaskId
from ..files._task_folders import checked_id
from ._connection import PostgresConnection, reconnect_pauses
from ._postgres_database import PostgresDatabase

__all__ = ["Presence"]

logger = logging.getLogger(__name__)

_HELD_SECONDS: Final = 10.0
_MAKE_CHANNEL: Final = "INSERT INTO channels DEFAULT VALUES ON CONFLICT (owner) DO NOTHING"
_CHANNEL: Final = "SELECT name FROM channels WHERE owner = current_user"


class Presence:
    """``on_change`` hears, in the thread, of each task that another session changed; None says that it may be any."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self.key: Final = secrets.randbits(62) + 1
        self.on_change: Callable[[TaskId | None], None] | None = None
        self.own_session: Callable[[], int | None] = lambda: None
        self._held = threading.Event()
        self._trouble: StorageUnavailable | None = None
        self._thread: threading.Thread | None = None
        self._waker: tuple[socket.socket, socket.socket] | None = None
        # Whoever waited for the start may have given up and stopped the store meanwhile.
        self._changing = threading.Lock()
        self._stopped = False

    def start(self) -> None:
        """Take the lock, and begin to listen, unless that was done before. Blocks."""
        with self._changing:
            if self._thread is not None or self._stopped:
                return
            try:
                connection = self._open()
            except psycopg.Error as error:
                raise self._database.refusal(error) from error
            self._waker = socket.socketpair()
            self._thread = threading.Thread(
                target=self._run, args=(connection,), name="hdsp-agent presence", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Let go of the lock. Blocks."""
        with self._changing:
            self._stopped = True
            if self._thread is None or self._waker is None:
                return
            self._waker[1].close()
            self._thread.join()
            self._waker[0].close()
            self._thread = None

    def check(self) -> None:
        """Raise why the database cannot be reached."""
        if self._trouble is not None:
            raise self._trouble

    def wait(self) -> None:
        """Return when the lock is held. Blocks."""
        if not self._held.wait(_HELD_SECONDS):
            self.check()
            raise self._database.address.unavailable("unreachable", "it does not answer", "Try again in a moment.")

    def _open(self) -> PostgresConnection:
        connection = self._database.address.connect()
        try:
            connection.execute("SELECT pg_advisory_lock(?)", (self.key,))
            connection.execute(_MAKE_CHANNEL)
            channel = connection.execute(_CHANNEL).fetchone()[0]
            connection.execute(f"LISTEN {channel}")
        except BaseException:
            connection.close()
            raise
        self._trouble = None
        self._held.set()
        return connection

    # What follows runs in the thread.

    def _run(self, connection: PostgresConnection) -> None:
        goes_on = True
        while goes_on:
            try:
                goes_on = self._listen(connection)
            except psycopg.Error as error:
                self._held.clear()
                self._trouble = self._database.refusal(error)
                logger.warning("The connection that shows that this server lives was lost: %s", self._trouble)
            connection.close()
            if goes_on:
                again = self._open_again()
                goes_on = again is not None
                connection = again or connection
        self._held.clear()

    def _listen(self, connection: PostgresConnection) -> bool:
        """Tell what comes until the end, and return False; or raise how the connection was lost."""
        assert self._waker is not None
        with connection.woken_by(self._waker[0]) as selector:
            while True:
                if any(key.fileobj is self._waker[0] for key, _ in selector.select()):
                    return False
                own = self.own_session()
                for said in {said for session, said in connection.notifications() if session != own}:
                    # Anybody who may log in can say anything here.
                    with suppress(InvalidInput):
                        checked_id(TaskId(said))
                        self._tell(TaskId(said))

    def _open_again(self) -> PostgresConnection | None:
        """A connection that holds the lock as before; None if it is not wanted any more."""
        assert self._waker is not None
        pauses = reconnect_pauses()
        with selectors.DefaultSelector() as selector:
            selector.register(self._waker[0], selectors.EVENT_READ)
            while not selector.select(next(pauses)):
                try:
                    connection = self._open()
                except psycopg.Error as error:
                    self._trouble = self._database.refusal(error)
                else:
                    logger.info("The database can be reached again")
                    # Nobody knows what was missed.
                    self._tell(None)
                    return connection
        return None

    def _tell(self, task_id: TaskId | None) -> None:
        if self.on_change is not None:
            self.on_change(task_id)
