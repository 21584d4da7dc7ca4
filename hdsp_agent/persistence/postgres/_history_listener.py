"""Hears when another server of the person changed the history or memory: a session of its own, kept up by a thread."""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from collections.abc import Callable
from typing import Final

import psycopg

from ._connection import PostgresConnection, reconnect_pauses
from ._postgres_database import PostgresDatabase

__all__ = ["HistoryListener"]

logger = logging.getLogger(__name__)

_OF_MEMORY: Final = "memory"
_MAKE_CHANNEL: Final = "INSERT INTO channels DEFAULT VALUES ON CONFLICT (owner) DO NOTHING"
_CHANNEL: Final = "SELECT name || '_history' FROM channels WHERE owner = current_user"


class HistoryListener:
    """``on_change`` is called, in the thread, when a session that is not ``own_session`` may have changed something."""

    def __init__(
        self, database: PostgresDatabase, on_change: Callable[[], None], own_session: Callable[[], int | None]
    ) -> None:
        self._database = database
        self._on_change = on_change
        self._own_session = own_session
        self._wakened, self._waker = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="hdsp-agent history", daemon=True)

    def start(self) -> None:
        """Begin to listen, as soon as the database can be reached."""
        self._thread.start()

    def stop(self) -> None:
        """Let go of the session. Blocks."""
        self._waker.close()
        if self._thread.ident is not None:
            self._thread.join()
        self._wakened.close()

    # What follows runs in the thread.

    def _run(self) -> None:
        lost = False
        pauses = reconnect_pauses()
        while True:
            try:
                connection = self._open()
                try:
                    # Nobody knows what was missed.
                    self._on_change()
                    self._database.on_memory_change(True)
                    lost = False
                    pauses = reconnect_pauses()
                    self._listen(connection)
                    return
                finally:
                    connection.close()
            except psycopg.Error as error:
                self._database.on_memory_change(False)
                if not lost:
                    logger.warning("The history of other servers cannot be followed: %s", self._database.refusal(error))
                lost = True
            with selectors.DefaultSelector() as selector:
                selector.register(self._wakened, selectors.EVENT_READ)
                if selector.select(next(pauses)):
                    return

    def _open(self) -> PostgresConnection:
        connection = self._database.address.connect()
        try:
            connection.execute(_MAKE_CHANNEL)
            connection.execute(f"LISTEN {connection.execute(_CHANNEL).fetchone()[0]}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _listen(self, connection: PostgresConnection) -> None:
        """Tell what comes until the end, or raise how the connection was lost."""
        with connection.woken_by(self._wakened) as selector:
            while not any(key.fileobj is self._wakened for key, _ in selector.select()):
                own = self._own_session()
                told = connection.notifications()
                if any(session != own for session, what in told if what != _OF_MEMORY):
                    self._on_change()
                if any(what == _OF_MEMORY for _, what in told):
                    self._database.on_memory_change(True)
