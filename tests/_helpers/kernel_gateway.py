"""A real kernel gateway: a program of its own that runs kernels for servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .free_port import free_port
from .parsed_json import ParsedJson, parsed

__all__ = ["ENTERPRISE_GATEWAY", "GATEWAY_TOKEN", "KernelGateway", "running_gateway"]

GATEWAY_TOKEN: Final = "gateway-secret"
ENTERPRISE_GATEWAY: Final = Path(__file__).resolve().parents[2] / ".gateway" / "bin" / "python"
"""An environment of its own, with its own kernel: ``make test-long`` installs it."""


_WITHOUT: Final = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && cd / && exec "$@"')
"""Runs a program that does not see what is in a folder."""


class KernelGateway:
    """One that is being run: Jupyter Kernel Gateway, or ``enterprise`` Enterprise Gateway. Neither it nor its kernels see what is
    in the folder ``unseen``, which only root can have so.
    """

    def __init__(self, folder: Path, *, enterprise: bool, unseen: Path | None) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._environment = dict(os.environ)
        if enterprise:
            program, app = (str(ENTERPRISE_GATEWAY), "-m", "enterprise_gateway"), "EnterpriseGatewayApp"
            for name in [name for name in self._environment if name.startswith(("PYTHON", "JUPYTER"))]:
                del self._environment[name]
        else:
            program, app = (sys.executable, "-m", "kernel_gateway"), "KernelGatewayApp"
        hiding = () if unseen is None else (*_WITHOUT, str(unseen))
        self._command = [
            *(*hiding, *program, f"--{app}.ip=127.0.0.1", f"--{app}.port={self.port}"),
            *(f"--{app}.port_retries=0", f"--{app}.auth_token={GATEWAY_TOKEN}"),
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin, and wait until it answers."""
        log = self._folder / "gateway.log"
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                self._command, stdout=file, stderr=file, cwd=self._folder, env=self._environment
            )
        end = time.monotonic() + 180
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.1)

    def stop(self, *, kill: bool = False) -> None:
        """End it; killed, it leaves its kernels behind."""
        assert self.process is not None
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.wait(timeout=20)

    def ask(self, method: str, path: str) -> ParsedJson:
        """Ask it as its operator would."""
        request = urllib.request.Request(
            f"{self.address}/api/{path}", method=method, headers={"Authorization": f"token {GATEWAY_TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return parsed(json.loads(answer.read() or "null"))

    def _answers(self) -> bool:
        try:
            self.ask("GET", "")
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True


@contextmanager
def running_gateway(folder: Path, *, enterprise: bool = False, unseen: Path | None = None) -> Iterator[KernelGateway]:
    """One with a token, ended with the block."""
    gateway = KernelGateway(folder, enterprise=enterprise, unseen=unseen)
    try:
        gateway.start()
        yield gateway
    finally:
        if gateway.process is not None:
            try:
                gateway.stop()
            except subprocess.TimeoutExpired:
                # Kernel Gateway may wait for ever for a kernel that it is just restarting.
                gateway.stop(kill=True)
