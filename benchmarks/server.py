"""A real Jupyter Server for measurements, with the scripted agent that publishes what a test asks for."""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TOKEN = "bench"
ROOT = Path(__file__).resolve().parent.parent
UI_TESTS = ROOT / "ui-tests"


@dataclass(frozen=True)
class Server:
    """Where it listens, and its process."""

    url: str
    process: subprocess.Popen[bytes]

    def get(self, path: str) -> bytes:
        """GET with the token."""
        return self._send(urllib.request.Request(self.url + path))

    def post(self, path: str, body: object, *, patience: float = 30) -> bytes:
        """POST JSON with the token."""
        data = json.dumps(body).encode()
        return self._send(urllib.request.Request(self.url + path, data=data, method="POST"), patience)

    def patch(self, path: str, body: object) -> bytes:
        """PATCH JSON with the token."""
        return self._send(urllib.request.Request(self.url + path, data=json.dumps(body).encode(), method="PATCH"))

    def _send(self, request: urllib.request.Request, patience: float = 30) -> bytes:
        request.add_header("Authorization", f"token {TOKEN}")
        with urllib.request.urlopen(request, timeout=patience) as answer:
            body: bytes = answer.read()
            return body

    def memory_mb(self) -> float:
        """Resident memory of the server's process."""
        if platform.system() == "Linux":
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        said = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, check=True)
        return int(said.stdout) / 1e3


def free_port() -> int:
    """A port nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(url: str) -> bool:
    """Whether something is there and willing."""
    request = urllib.request.Request(url, headers={"Authorization": f"token {TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=2):
            return True
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


@contextmanager
def jupyter_server(
    *,
    lab: bool = True,
    extensions: tuple[str, ...] = ("hdsp_agent",),
    wait_for: str = "/hdsp-agent/api/health",
    prepare: Callable[[Path], None] = lambda home: None,
    environment: Mapping[str, str] | None = None,
    config: Mapping[str, Mapping[str, object]] | None = None,
) -> Iterator[Server]:
    """Run a server below a folder of its own, from when it answers ``wait_for``; it is gone afterwards.

    ``prepare`` is called with the extension's own folder before anything runs; ``config`` is Jupyter's, beside our own.
    """
    with tempfile.TemporaryDirectory(prefix="hdsp-bench-") as folder:
        port = free_port()
        wanted = {"hdsp_agent": False, "scripted_agent": False} | dict.fromkeys(extensions, True)
        options = dict(config or {})
        options["ServerApp"] = {"root_dir": folder, **options.get("ServerApp", {}), "jpserver_extensions": wanted}
        configured = Path(folder, ".jupyter")
        configured.mkdir()
        (configured / "jupyter_server_config.json").write_text(json.dumps(options), encoding="utf-8")
        command = [
            sys.executable, "-m", "jupyterlab" if lab else "jupyter_server", "--allow-root", "--no-browser",
            f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={TOKEN}",
        ]  # fmt: skip
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(UI_TESTS), str(ROOT))),
            "JUPYTER_CONFIG_DIR": str(configured),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "HDSP_AGENT_HOME": f"{folder}/.hdsp",
            # A person's own embedded models are neither used nor deleted.
            "HDSP_AGENT_MODELS": f"{folder}/.models",
            "JUPYTERLAB_WORKSPACES_DIR": f"{folder}/.workspaces",
            **(environment or {}),
        }
        prepare(Path(folder, ".hdsp"))
        with Path(folder, "server.log").open("wb") as log:
            process = subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            deadline = time.monotonic() + 180
            while not answers(url + wait_for):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(Path(folder, "server.log").read_text(encoding="utf-8"))
                time.sleep(0.02)
            yield Server(url, process)
        finally:
            process.terminate()
            process.wait(timeout=30)
