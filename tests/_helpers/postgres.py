"""A real PostgreSQL for tests: a cluster of its own, which ends with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from uuid import uuid4

import pytest

from .free_port import free_port

if TYPE_CHECKING:
    from hdsp_agent.persistence.postgres._connection import PostgresConnection

_MISSING = "There is no PostgreSQL here; on Debian `make test-python` installs it."
_TEMPLATE: Final = "tasks"
_LARGE: Final = 4 * 1024**3
ROLES: Final = ("ada", "bob")
"""Those who may log in besides the superuser ``postgres``."""


@dataclass(frozen=True)
class PostgresCluster:
    """A server on loopback whose users need no passwords."""

    place: str
    _data: Path
    _programs: Path

    def stop(self, how: Literal["immediate", "fast"]) -> None:
        """End the server, at once or after it ended all sessions."""
        _run(self._programs / "pg_ctl", "-D", self._data, "-m", how, "-w", "stop")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        _run(self._programs / "pg_ctl", "-D", self._data, "-l", self._data.parent / "log", "-w", "-t", "120", "start")

    def url(self, database: str, role: str) -> str:
        """An address of storage_url's."""
        return f"postgresql://{role}@{self.place}/{database}"

    def connect(self, database: str = "postgres", role: str = "postgres") -> PostgresConnection:
        """A connection as somebody else's program has it."""
        from hdsp_agent.persistence.postgres._connection import Address

        return Address(self.url(database, role)).connect()

    @contextmanager
    def database(self) -> Iterator[TasksDatabase]:
        """A new database that has our tables."""
        name = f"t{uuid4().hex}"
        admin = self.connect()
        if admin.execute("SELECT 1 FROM pg_database WHERE datname = ?", (_TEMPLATE,)).fetchone() is None:
            self._make_template(admin)
        try:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
            yield TasksDatabase(self, name)
        finally:
            if not admin.is_quiet:
                admin.close()
                admin = self.connect()
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            admin.close()

    @contextmanager
    def restored(self, database: TasksDatabase) -> Iterator[TasksDatabase]:
        """A database into which the other one was restored from a dump."""
        with self.database() as copy, copy.connect() as connection:
            connection.execute("DROP SCHEMA hdsp_agent CASCADE")
            dump = subprocess.run(
                [self._programs / "pg_dump", "--schema=hdsp_agent", self.url(database.name, "postgres")],
                check=True, capture_output=True,
            )  # fmt: skip
            subprocess.run(
                [self._programs / "psql", "--quiet", "--set=ON_ERROR_STOP=1", self.url(copy.name, "postgres")],
                check=True, input=dump.stdout, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            yield copy

    def _make_template(self, admin: PostgresConnection) -> None:
        from hdsp_agent.persistence.postgres._connection import Address
        from hdsp_agent.persistence.postgres._task_schema import migrate_schema

        for role in ROLES:
            admin.execute(f"CREATE ROLE {role} LOGIN")
        admin.execute(f"CREATE DATABASE {_TEMPLATE}")
        connection = self.connect(_TEMPLATE)
        migrate_schema(connection, Address(""))
        connection.close()


@dataclass(frozen=True)
class TasksDatabase:
    """A database for tasks of its own."""

    cluster: PostgresCluster
    name: str

    def url(self, role: str = "ada") -> str:
        """How this person's server reaches it."""
        return self.cluster.url(self.name, role)

    def let_in(self, whether: bool) -> None:
        """Let everybody in, or nobody: those who are in are thrown out."""
        admin = self.cluster.connect()
        admin.execute(f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS {whether}")
        if not whether:
            self.end_sessions()
        admin.close()

    def end_sessions(self) -> None:
        """Let the server end everybody's connection to the database; all are gone when this returns."""
        admin = self.cluster.connect()
        ending = admin.execute(
            "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ?", (self.name,)
        )
        ended = [session for session, _ in ending.fetchall()]
        while admin.execute("SELECT pg_sleep(0.01) FROM pg_stat_activity WHERE pid = ANY(?)", (ended,)).fetchall():
            pass
        admin.close()

    @contextmanager
    def connect(self, role: str = "postgres") -> Iterator[PostgresConnection]:
        """The database as somebody else's program has it."""
        connection = self.cluster.connect(self.name, role)
        try:
            yield connection
        finally:
            connection.close()


def new_postgres_database(server: str, name: str) -> None:
    """Make an empty database on the server of this address."""
    host, _, port = server.partition(":")
    programs = _programs()
    assert programs is not None
    _run(programs / "createdb", "-h", host, "-p", port, "-U", "postgres", name)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a server on loopback whose user ``postgres`` needs no password. Skips where there is none."""
    with postgres_cluster() as cluster:
        yield cluster.place


@contextmanager
def postgres_cluster(place: Path = Path("/tmp")) -> Iterator[PostgresCluster]:
    """The same, to be stopped and started, with its files in this place. Skips where there is none."""
    programs = _programs()
    if programs is None:
        pytest.skip(_MISSING)
    # It does not run as root, and whoever runs it must reach its folder.
    folder = Path(tempfile.mkdtemp(prefix="hdsp-postgres-", dir=place))
    data, port = folder / "data", free_port()
    cluster = PostgresCluster(f"127.0.0.1:{port}", data, programs)
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        _run(programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        options = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": folder, "fsync": "off"}
        with (data / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in options.items())
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop("immediate")
    finally:
        shutil.rmtree(folder)


def quick_place() -> Path:
    """Where a test's database is made soonest. In memory, if there is enough of it: each copies the hundreds of files of a database."""
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free > _LARGE:
        return memory
    return Path("/tmp")


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    named = shutil.which("initdb")
    return None if named is None else Path(named).parent


def _run(*command: str | Path) -> None:
    before = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*before, *map(str, command)], check=True, cwd="/", stdout=subprocess.DEVNULL)
