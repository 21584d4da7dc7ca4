"""A real JupyterHub, with its proxy in front and people's servers behind it. ``make test-long`` installs it into ``.hub``."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
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
    """Asked as an administrator's service asks it."""

    def __init__(self, url: str) -> None:
        self.url = url

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
            for _ in range(600):
                if (await http.get(f"{self.url}/user/{person}/hdsp-agent/api/health")).status_code != 404:
                    return
                await asyncio.sleep(0.1)
        raise AssertionError(f"the server of {person} did not start")

    async def environment(self, person: str) -> dict[str, str]:
        """What a terminal has that this person opens in their server."""
        state = (await self.ask("GET", f"users/{person}"))["servers"][""]["state"]
        lines = Path(f"/proc/{state['pid']}/environ").read_bytes().split(b"\0")
        return dict(line.decode().split("=", 1) for line in lines if line)


@asynccontextmanager
async def running_hub(
    tmp_path: Path, server: Mapping[str, object], *, people: Sequence[str] = ("ada", "bob"), config: str = ""
) -> AsyncIterator[RealHub]:
    """A hub whose people's servers have this configuration; ``config`` is more of the hub's own."""
    port, hub_port, proxy_port = free_port(), free_port(), free_port()
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
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "jupyterhub",
        cwd=tmp_path, env={**os.environ, **own}, stdin=DEVNULL, stderr=PIPE, limit=10_000_000,
    )  # fmt: skip
    assert process.stderr is not None
    said: list[str] = []
    while b"JupyterHub is now running" not in (line := await process.stderr.readline()):
        said.append(line.decode())
        assert line, "".join(said)
    heard = asyncio.create_task(process.stderr.read())
    try:
        yield RealHub(f"http://127.0.0.1:{port}")
    finally:
        # It ends its proxy and the servers it started.
        process.terminate()
        await process.wait()
        (tmp_path / "hub.log").write_bytes(await heard)
