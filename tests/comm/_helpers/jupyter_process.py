"""A real Jupyter Server in a process of its own, that can be killed, and started again on the same folders."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from hdsp_agent._version import __version__
from tests._helpers.free_port import free_port
from tests.comm.channel._helpers.channel_panel import Panel

__all__ = ["JupyterProcess"]

_TOKEN = "restarts"
_START_SECONDS = 180.0


class JupyterProcess:
    """``folder`` holds everything of it; it serves ``root``. ``config`` and ``environment`` are beside its own, where None takes one away."""

    def __init__(
        self,
        folder: Path,
        *,
        config: Mapping[str, object] | None = None,
        environment: Mapping[str, str | None] | None = None,
    ) -> None:
        self.root = folder / "root"
        self.home = folder / "home"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "server.log"
        self._port = free_port()
        for place in (self.root, folder / "config"):
            place.mkdir(parents=True)
        extensions = {"hdsp_agent": True, "jupyterlab": False, "jupyter_server_terminals": False}
        written = {"ServerApp": {"jpserver_extensions": extensions}, **(config or {})}
        (folder / "config" / "jupyter_server_config.json").write_text(json.dumps(written))
        self._environment = dict(environment or {})

    async def start(self) -> None:
        """Start it, and wait until the extension answers."""
        command = [
            sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser", "--ServerApp.port_retries=0",
            f"--ServerApp.port={self._port}", f"--ServerApp.root_dir={self.root}", f"--IdentityProvider.token={_TOKEN}",
        ]  # fmt: skip
        environ = {
            **os.environ,
            "HOME": str(self._folder),
            "HDSP_AGENT_HOME": str(self.home),
            "JUPYTER_CONFIG_DIR": str(self._folder / "config"),
            "JUPYTER_RUNTIME_DIR": str(self._folder / "runtime"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            **self._environment,
        }
        known = {name: value for name, value in environ.items() if value is not None}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, env=known, cwd=self._folder, stdout=log, stderr=log)
        deadline = asyncio.get_running_loop().time() + _START_SECONDS
        while not await self._answers():
            assert self._process.poll() is None and asyncio.get_running_loop().time() < deadline, self.log
            await asyncio.sleep(0.05)

    async def end(self, number: signal.Signals) -> None:
        """End it with this signal, and wait until it is gone."""
        assert self._process is not None
        self._process.send_signal(number)
        await asyncio.to_thread(self._process.wait, 120)

    def kill(self) -> None:
        """See that nothing is left of it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._port}/"

    @property
    def address(self) -> str:
        """Where its WebSockets are."""
        return f"ws://127.0.0.1:{self._port}/"

    @property
    def credentials(self) -> dict[str, str]:
        """What lets a request in."""
        return {"Authorization": f"token {_TOKEN}"}

    @property
    def log(self) -> str:
        """What it wrote."""
        return self._log.read_text("utf-8", "replace")

    async def call(self, method: str, path: str, body: object = None) -> Any:
        """A request of the extension's REST."""
        return await self.jupyter(method, f"hdsp-agent/api/{path}", body)

    async def jupyter(self, method: str, path: str, body: object = None) -> Any:
        """A request of Jupyter's REST."""
        return await asyncio.to_thread(self._call, method, path, body)

    @asynccontextmanager
    async def page(self, client_id: str | None = None) -> AsyncIterator[Panel]:
        """A page that has been told the state."""
        url = f"ws://127.0.0.1:{self._port}/hdsp-agent/comm"
        socket_ = await websocket_connect(HTTPRequest(url, headers={"Authorization": f"token {_TOKEN}"}))
        panel = Panel(socket_, client_id)
        try:
            await panel.open(version=__version__)
            await panel.until(lambda: [frame for frame in panel.of("msg") if frame["data"]["type"] == "state"])
            yield panel
        finally:
            await panel.leave()

    async def _answers(self) -> bool:
        with suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            await self.call("GET", "health")
            return True
        return False

    def _call(self, method: str, path: str, body: object) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"token {_TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")
