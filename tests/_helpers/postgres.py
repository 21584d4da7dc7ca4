"""A real PostgreSQL for tests: a cluster of its own, which ends with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .free_port import free_port

_MISSING = "There is no PostgreSQL here; on Debian `make test-python` installs it."


def new_postgres_database(server: str, name: str) -> None:
    """Make an empty database on the server of this address."""
    host, _, port = server.partition(":")
    programs = _programs()
    assert programs is not None
    _run(programs / "createdb", "-h", host, "-p", port, "-U", "postgres", name)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a server on loopback whose user ``postgres`` needs no password. Skips where there is none."""
    programs = _programs()
    if programs is None:
        pytest.skip(_MISSING)
    # It does not run as root, and whoever runs it must reach its folder.
    folder = Path(tempfile.mkdtemp(prefix="hdsp-postgres-", dir="/tmp"))
    data, port = folder / "data", free_port()
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        _run(programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder} -c fsync=off"
        _run(programs / "pg_ctl", "-D", data, "-l", folder / "log", "-w", "-t", "120", "-o", options, "start")
        try:
            yield f"127.0.0.1:{port}"
        finally:
            _run(programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder)


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    named = shutil.which("initdb")
    return None if named is None else Path(named).parent


def _run(*command: str | Path) -> None:
    before = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*before, *map(str, command)], check=True, cwd="/", stdout=subprocess.DEVNULL)
