"""A real kernel gateway: a program of its own that runs kernels for servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .free_port import free_port
from .parsed_json import ParsedJson, parsed

__all__ = ["GATEWAY_TOKEN", "KernelGateway", "running_gateway"]

GATEWAY_TOKEN: Final = "gateway-secret"
_KERNEL_GATEWAY: Final = (sys.executable, "-m", "kernel_gateway")


class KernelGateway:
    """One that is being run."""

    def __init__(self, folder: Path, program: Sequence[str], app: str) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._command = [
            *(*program, f"--{app}.ip=127.0.0.1", f"--{app}.port={self.port}"),
            *(f"--{app}.port_retries=0", f"--{app}.auth_token={GATEWAY_TOKEN}"),
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin, and wait until it answers."""
        log = self._folder / "gateway.log"
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                self._command, stdout=file, stderr=file, cwd=self._folder, env=dict(os.environ)
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
        self.process.wait(timeout=60)

    def ask(self, method: str, path: str) -> ParsedJson:
        """Ask it as its operator would."""
        request = urllib.request.Request(
            f"{self.address}/api/{path}", method=method, headers={"Authorization": f"token {GATEWAY_TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
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
def running_gateway(
    folder: Path, program: Sequence[str] = _KERNEL_GATEWAY, app: str = "KernelGatewayApp"
) -> Iterator[KernelGateway]:
    """One with a token, ended with the block."""
    gateway = KernelGateway(folder, program, app)
    try:
        gateway.start()
        yield gateway
    finally:
        if gateway.process is not None:
            gateway.stop()
