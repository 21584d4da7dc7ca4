"""A connection to PostgreSQL: how it is made, and what a person reads when the database refuses. Everything here blocks."""

from __future__ import annotations

import random
import re
import selectors
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ...config import keys_in_use
from ...errors import InvalidSetting, StorageUnavailable
from ..tables._sql import SqlCursor

__all__ = ["SCHEMA", "Address", "PostgresConnection", "reconnect_pauses"]

SCHEMA: Final = "hdsp_agent"

_DEFAULTS: Final[Mapping[str, str | int]] = {
    "application_name": "hdsp-agent",
    "connect_timeout": 10,
    # After a failover, the address may lead to a server that only reads.
    "target_session_attrs": "read-write",
    # A connection that leads nowhere is noticed within half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
_PREPARE: Final = """
SELECT set_config('search_path', ?, false),
       set_config('client_min_messages', 'warning', false),
       set_config('lock_timeout', '10s', false),
       set_config('statement_timeout', '60s', false),
       set_config('tcp_keepalives_idle', '10', false),
       set_config('tcp_keepalives_interval', '5', false),
       set_config('tcp_keepalives_count', '3', false),
       CASE WHEN current_setting('server_version_num')::int >= 140000
            THEN set_config('idle_session_timeout', '0', false) END,
       CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END
"""
_PASSWORD: Final = re.compile(r"//[^/@:]*:([^/@]+)@")
_ROWS_AT_ONCE: Final = 200
_AGAIN_SECONDS: Final = 0.5
# Much less than others take before they call this server dead.
_LONGEST_PAUSE_SECONDS: Final = 2.0
_DISK_FULL, _NO_PRIVILEGE, _READ_ONLY = "53100", "42501", "25006"
_BUSY: Final = frozenset({"55P03", "57014"})
_UNREACHABLE: Final = frozenset({"57P01", "57P02", "57P03"})


def reconnect_pauses() -> Iterator[float]:
    """How many seconds to wait before each attempt to connect again. All servers of a hub lose the database together."""
    pause = _AGAIN_SECONDS
    while True:
        yield pause * random.uniform(0.5, 1)  # noqa: S311 -- no secret
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


class Address:
    """Where the database is: an address of libpq's, which its environment, service and password files complete."""

    def __init__(self, url: str) -> None:
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error:
            # What libpq says of it may quote the password.
            raise InvalidSetting(
                "storage_url is not an address of a PostgreSQL database. Write it as "
                "postgresql://user@host:5432/database, or leave it empty to use libpq's own environment variables.",
                field="storage_url",
            ) from None
        # As it is, and as it stands in the address.
        keys = [given.get("password"), given.get("sslpassword"), _PASSWORD.search(url)]
        keys_in_use.add(*(key[1] if isinstance(key, re.Match) else str(key) for key in keys if key))
        self._parameters: dict[str, Any] = {**_DEFAULTS, **given, "client_encoding": "utf8"}
        told = {name: str(given[name]) for name in ("host", "port", "dbname", "user", "service") if given.get(name)}
        self._label: Final = " ".join(f"{name}={value}" for name, value in told.items()) or "of libpq's environment"
        self.name: Final = f"the PostgreSQL database {self._label}"

    def connect(self) -> PostgresConnection:
        """A new connection."""
        connection = PostgresConnection(psycopg.connect(**self._parameters, autocommit=True))
        try:
            connection.execute(_PREPARE, (SCHEMA,))
        except BaseException:
            connection.close()
            raise
        return connection

    def kept_here(self, error: StorageUnavailable) -> StorageUnavailable:
        """The same for whoever may go on: what is recorded meanwhile is kept on this machine."""
        reason = str(error.params.get("reason"))
        return StorageUnavailable(
            f"{self.name[0].upper()}{self.name[1:]} is away ({reason}). What you do meanwhile is kept on this server and "
            "saved when the database is back. Until then you cannot start or finish conversations, and longer work may stop.",
            path=self.name, database=self._label, action="use", reason=reason, kept="here",
        )  # fmt: skip

    def refusal(self, error: Exception) -> StorageUnavailable:
        """What a person reads when the driver raises this."""
        assert isinstance(error, psycopg.Error)
        state = error.sqlstate or ""
        lines = (error.diag.message_primary or str(error)).strip().splitlines()
        said = lines[0] if lines else type(error).__name__
        if state in _BUSY:
            return self.unavailable("busy", "something else keeps it busy", "Try again when that is done.")
        if state == _DISK_FULL:
            return self.unavailable(
                "No space left on device", "its disk is full", "Ask its administrator to free some space."
            )
        if state in (_NO_PRIVILEGE, _READ_ONLY):
            return self.unavailable("permission denied", said, "Ask its administrator what this log-in may do.")
        if (
            state in _UNREACHABLE
            or state.startswith("08")
            or (not state and isinstance(error, psycopg.OperationalError))
        ):
            return self.unavailable("unreachable", said, "Check that the database runs and that storage_url is right.")
        return self.unavailable(said, said, "The server's log and the database's own say more.")

    def unavailable(self, reason: str, said: str, advice: str) -> StorageUnavailable:
        """The error when the database cannot be used."""
        return StorageUnavailable(
            f"Could not use {self.name}: {said.rstrip('.')}. What was saved before is safe. {advice}",
            path=self.name, database=self._label, action="use", reason=reason,
        )  # fmt: skip


class PostgresConnection:
    """A connection in autocommit mode, as the shared code wants it: parameters go where a ``?`` is."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[object] = (), /) -> SqlCursor:
        """Run one statement."""
        return self._connection.execute(_translated(statement), parameters)

    def executemany(self, statement: str, parameters: Iterable[Sequence[object]], /) -> None:
        """Run a statement for each of these, without waiting for each answer."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(statement), parameters)

    def rows(self, query: str, parameters: Sequence[object]) -> Iterator[Any]:
        """What a query finds, some rows at a time. Within a transaction."""
        with self._connection.cursor(name="hdsp_agent_rows") as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            cursor.execute(_translated(query), parameters)
            yield from cursor

    def together(self) -> AbstractContextManager[object]:
        """Within the block statements are sent without waiting; what a cursor says is known after it."""
        return self._connection.pipeline()

    @contextmanager
    def woken_by(self, waker: socket.socket) -> Iterator[selectors.BaseSelector]:
        """Waits for what the server sends unasked, or for something to be read from the socket."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection.fileno(), selectors.EVENT_READ)
            selector.register(waker, selectors.EVENT_READ)
            yield selector

    def notifications(self) -> list[tuple[int, str]]:
        """What came by ``LISTEN`` so far: the number of the session that said it, and what it said."""
        return [(told.pid, told.payload) for told in self._connection.notifies(timeout=0)]

    @property
    def number(self) -> int:
        """The session's number on the server."""
        return self._connection.info.backend_pid

    @property
    def is_lost(self) -> bool:
        """Whether it leads nowhere any more, as far as is known."""
        return self._connection.closed

    @property
    def is_quiet(self) -> bool:
        """Whether the server has said nothing unasked, such as that it ends."""
        if self.is_lost:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection.fileno(), selectors.EVENT_READ)
            return not selector.select(0)

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()


@lru_cache(maxsize=256)
def _translated(statement: str) -> bytes:
    return statement.replace("%", "%%").replace("?", "%s").encode()
