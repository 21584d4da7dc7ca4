"""A real MariaDB for tests: a server of its own, which ends with them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .free_port import free_port

_MISSING = "There is no MariaDB here; on Debian `make test-python` installs it."
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])


@contextmanager
def mariadb_server() -> Iterator[str]:
    """The address of a server on loopback that lets anybody in, with a database ``test``. Skips where there is none."""
    program = shutil.which("mariadbd", path=_PATH)
    if program is None:
        pytest.skip(_MISSING)
    with tempfile.TemporaryDirectory(prefix="hdsp-mariadb-", dir="/tmp") as name:
        folder, port = Path(name), free_port()
        (folder / "data").mkdir()
        (folder / "first.sql").write_text("create database test;\n")
        # Without tables of who may do what, which take seconds to make.
        options = ["--no-defaults", "--skip-grant-tables", "--innodb-log-file-size=4M", "--innodb-flush-method=nosync"]
        options += [
            f"--port={port}",
            "--bind-address=127.0.0.1",
            f"--datadir={folder}/data",
            f"--socket={folder}/socket",
        ]
        options += [f"--pid-file={folder}/pid", f"--init-file={folder}/first.sql"]
        options += ["--user=root"] if os.geteuid() == 0 else []
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen([program, *options], stderr=log)
        try:
            _wait_for(server, port)
            yield f"127.0.0.1:{port}"
        finally:
            server.kill()
            server.wait()


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            assert server.poll() is None, "it ended"
            time.sleep(0.05)
        else:
            return
