"""A real JupyterHub, with its proxy in front and people's servers behind it. ``make test-long`` installs it into ``.hub``."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import httpx2

from .free_port import free_port
from .parsed_json import ParsedJson, parsed

__all__ = ["RealHub", "running_hub"]

ROOT: Final = Path(__file__).resolve().parents[2]
_HUB: Final = ROOT / ".hub"
_TOKEN = "a-token-of-the-tests"
_ADMIN = {"Authorization": f"token {_TOKEN}"}
_CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub_port}"
c.JupyterHub.db_url = "sqlite:///{folder}/hub.sqlite"
c.JupyterHub.cookie_secret_file = "{folder}/cookie_secret"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.ConfigurableHTTPProxy.pid_file = "{folder}/proxy.pid"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root"]
c.Spawner.notebook_dir = "{folder}/{{username}}"
c.Spawner.environment = {environment!r}
c.JupyterHub.services = [{{"name": "tests", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [
    {{"name": "tests", "services": ["tests"],
      "scopes": ["admin:users", "admin:servers", "admin:server_state", "tokens"]}},
]
"""


class RealHub:
    """Asked as an administrator's service asks it; it and its proxy can be killed."""

    def __init__(self, folder: Path, port: int, environment: Mapping[str, str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._folder = folder
        self._environment = environment
        self._process: Process | None = None
        self._servers: set[int] = set()
        self._was_killed = False

    async def run(self) -> None:
        """Start it, with a proxy of its own, and wait until both answer."""
        log = self._folder / "hub.log"
        with log.open("ab") as file:
            began = file.tell()
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "jupyterhub",
                cwd=self._folder, env={**os.environ, **self._environment}, stdin=DEVNULL, stderr=file,
            )  # fmt: skip
        while b"JupyterHub is now running" not in (said := log.read_bytes()[began:]):
            assert self._process.returncode is None, said.decode()
            await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """End it at once; its proxy and the servers that it started go on."""
        assert self._process is not None
        self._was_killed = True
        self._process.kill()
        await self._process.wait()

    def kill_proxy(self) -> None:
        """End its proxy at once; it starts another one when it notices."""
        self._was_killed = True
        os.kill(int((self._folder / "proxy.pid").read_text()), signal.SIGKILL)

    async def end(self) -> None:
        """End it with its proxy and the servers that it started."""
        assert self._process is not None
        if self._process.returncode is None and not self._was_killed:
            self._process.terminate()
            await self._process.wait()
            return
        # It would wait for servers that are no children of its own, and start its proxy again meanwhile.
        with suppress(ProcessLookupError):
            await self.kill()
        proxy = self._folder / "proxy.pid"
        for number in (*self._servers, *([int(proxy.read_text())] if proxy.exists() else [])):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    async def ask(self, method: str, path: str, body: object = None) -> ParsedJson:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            answer = await http.request(method, f"{self.url}/hub/api/{path}", json=body, headers=_ADMIN)
        if answer.status_code != 409:
            # Whoever is to be made may be there already.
            answer.raise_for_status()
        return parsed(answer.json() if answer.content else None)

    async def token(self, person: str, *scopes: str) -> tuple[str, str]:
        """A token as the page of the hub makes it, and its id."""
        made = await self.ask("POST", f"users/{person}/tokens", {"scopes": scopes})
        return str(made["token"]), str(made["id"])

    async def start(self, person: str) -> None:
        """Start a person's server, and wait until it answers."""
        await self.ask("POST", f"users/{person}")
        await self.ask("POST", f"users/{person}/server")
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=60) as http,
            http.stream("GET", f"{self.url}/hub/api/users/{person}/server/progress", headers=_ADMIN) as progress,
        ):
            async for line in progress.aiter_lines():
                if line.startswith("data:") and json.loads(line.removeprefix("data:")).get("ready"):
                    break
            # Ready is for the hub what answers; we are loaded a moment later.
            for _ in range(1_800):
                if (await http.get(f"{self.url}/user/{person}/hdsp-agent/api/health")).status_code != 404:
                    self._servers.add(await self._server(person))
                    return
                await asyncio.sleep(0.1)
        raise AssertionError(f"the server of {person} did not start")

    async def environment(self, person: str) -> dict[str, str]:
        """What a terminal has that this person opens in their server."""
        lines = Path(f"/proc/{await self._server(person)}/environ").read_bytes().split(b"\0")
        return dict(line.decode().split("=", 1) for line in lines if line)

    async def _server(self, person: str) -> int:
        state = (await self.ask("GET", f"users/{person}"))["servers"][""]["state"]
        return int(str(state["pid"]))


@asynccontextmanager
async def running_hub(
    tmp_path: Path,
    server: Mapping[str, object],
    *,
    people: Sequence[str] = ("ada", "bob"),
    config: str = "",
    hub_port: int | None = None,
) -> AsyncIterator[RealHub]:
    """A hub whose people's servers have this configuration; ``config`` is more of the hub's own."""
    port, proxy_port, hub_port = free_port(), free_port(), hub_port or free_port()
    for person in people:
        (tmp_path / person / "project").mkdir(parents=True)
    (tmp_path / "jupyter_server_config.json").write_text(json.dumps(server))
    own = {
        "HOME": str(tmp_path),
        "HDSP_AGENT_HOME": str(tmp_path / "home"),
        "JUPYTER_CONFIG_DIR": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "PYTHONPATH": f"{_HUB}{os.pathsep}{ROOT}",
    }
    # The program itself: a script that starts it would be ended in its stead.
    node = subprocess.run(["node", "-p", "process.execPath"], capture_output=True, text=True, check=True).stdout.strip()
    proxy = [node, str(_HUB / "node_modules/configurable-http-proxy/bin/configurable-http-proxy")]
    (tmp_path / "jupyterhub_config.py").write_text(
        _CONFIG.format(
            port=port, hub_port=hub_port, proxy_port=proxy_port, folder=tmp_path, token=_TOKEN, python=sys.executable,
            proxy=proxy, environment={**own, "PATH": os.environ["PATH"]},
        )
        + config
    )  # fmt: skip
    hub = RealHub(tmp_path, port, own)
    try:
        await hub.run()
        yield hub
    finally:
        await hub.end()
