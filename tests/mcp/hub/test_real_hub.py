"""A real JupyterHub, with its proxy in front and a person's server behind it: who gets in with which token."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp_types import TextContent

from tests._helpers.free_port import free_port
from tests._helpers.long_tests import rounds
from tests._helpers.parsed_json import ParsedJson, parsed
from tests.cli._helpers.homes import PROGRAM
from tests.mcp._helpers.http_programs import MODERN, Programs, modern_request

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long installs JupyterHub and its proxy"),
]

_HUB = Path(__file__).parents[3] / ".hub"
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
_SERVER = {
    "ServerApp": {"jpserver_extensions": {"hdsp_agent": True, "jupyter_server_terminals": False}},
    "HdspAgentApp": {
        "fixed_settings": {"mcpServerEnabled": True, "clientApprovals": {"Claude Code": "everything"}},
    },
}
_LIST = modern_request("tools/list")


class Hub:
    """Asked as an administrator's service asks it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def programs(self, token: str, person: str = "ada", **headers: str) -> Programs:
        """Other agents with this token, at a person's server."""
        return Programs(f"{self.url}/user/{person}/hdsp-agent/mcp", {"Authorization": f"Bearer {token}", **headers})

    async def ask(self, method: str, path: str, body: object = None) -> ParsedJson:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            answer = await http.request(method, f"{self.url}/hub/api/{path}", json=body, headers=_ADMIN)
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
                if (await http.get(f"{self.url}/user/{person}/hdsp-agent/mcp")).status_code != 404:
                    return
                await asyncio.sleep(0.1)
        raise AssertionError(f"the server of {person} did not start")

    async def environment(self, person: str) -> dict[str, str]:
        """What a terminal has that this person opens in their server."""
        state = (await self.ask("GET", f"users/{person}"))["servers"][""]["state"]
        lines = Path(f"/proc/{state['pid']}/environ").read_bytes().split(b"\0")
        return dict(line.decode().split("=", 1) for line in lines if line)


@asynccontextmanager
async def running_hub(tmp_path: Path) -> AsyncIterator[Hub]:
    port, hub_port, proxy_port = free_port(), free_port(), free_port()
    for person in ("ada", "bob"):
        (tmp_path / person / "project").mkdir(parents=True)
    (tmp_path / "jupyter_server_config.json").write_text(json.dumps(_SERVER))
    own = {
        "HOME": str(tmp_path),
        "HDSP_AGENT_HOME": str(tmp_path / "home"),
        "JUPYTER_CONFIG_DIR": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "PYTHONPATH": str(_HUB),
    }
    # The program itself: a script that starts it would be ended in its stead.
    node = subprocess.run(["node", "-p", "process.execPath"], capture_output=True, text=True, check=True).stdout.strip()
    proxy = [node, str(_HUB / "node_modules/configurable-http-proxy/bin/configurable-http-proxy")]
    (tmp_path / "jupyterhub_config.py").write_text(
        _CONFIG.format(
            port=port, hub_port=hub_port, proxy_port=proxy_port, folder=tmp_path, token=_TOKEN, python=sys.executable,
            proxy=proxy, environment={**own, "PATH": os.environ["PATH"]},
        )
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
        yield Hub(f"http://127.0.0.1:{port}")
    finally:
        # It ends its proxy and the servers it started.
        process.terminate()
        await process.wait()
        (tmp_path / "hub.log").write_bytes(await heard)


async def test_programs_come_to_a_server_of_a_hub(tmp_path: Path) -> None:
    async with running_hub(tmp_path) as hub:
        await asyncio.gather(hub.start("ada"), hub.start("bob"))
        token, _ = await hub.token("ada", "access:servers!user=ada")
        await _a_scoped_token_opens_the_server(hub, token)
        await _other_tokens_do_not(hub, token)
        await _the_page_says_what_the_hub_needs(hub, token)
        await _in_a_terminal_no_token_is_needed(hub, tmp_path / "ada/project")


async def _a_scoped_token_opens_the_server(hub: Hub, token: str) -> None:
    for mode in ("legacy", MODERN):
        # Behind a proxy that has a name of its own, too.
        async with hub.programs(token, Host="hub.example.org").connected(mode) as client:
            assert "edit_cells" in [tool.name for tool in (await client.list_tools()).tools]
            listed = await client.call_tool("list_notebooks")
            assert not listed.is_error and isinstance(listed.content[0], TextContent)


async def _other_tokens_do_not(hub: Hub, token: str) -> None:
    await hub.ask("POST", "users/eve")
    bobs, _ = await hub.token("bob", "access:servers!user=bob")
    eves, _ = await hub.token("eve", "self")
    taken_back, token_id = await hub.token("ada", "access:servers!user=ada")
    await hub.ask("DELETE", f"users/ada/tokens/{token_id}")
    for refused in [*(f"Bearer {other}" for other in (bobs, eves, taken_back, "none")), ""]:
        answer = await hub.programs(token).post(_LIST, {"Authorization": refused})
        assert answer.status_code in (401, 403), (refused, answer.status_code, answer.text)
    assert (await hub.programs(token, "bob").post(_LIST)).status_code in (401, 403)
    page = {"Origin": "https://elsewhere.example"}
    assert (await hub.programs(token).post(_LIST, page)).status_code == 403
    assert (await hub.programs(token).post(_LIST)).status_code == 200


async def _in_a_terminal_no_token_is_needed(hub: Hub, folder: Path) -> None:
    environment = await hub.environment("ada")
    report = await _tested(environment, folder)
    assert report["ok"] == True, report


async def _the_page_says_what_the_hub_needs(hub: Hub, token: str) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        answer = await http.get(
            f"{hub.url}/user/ada/hdsp-agent/api/mcp/server",
            params={"origin": "https://hub.example.org"},
            headers={"Authorization": f"Bearer {token}"},
        )
    assert answer.status_code == 200, answer.text
    told = parsed(answer.json())
    assert told["url"] == "https://hub.example.org/user/ada/hdsp-agent/mcp" and told["hub"] == True
    assert told["hubScope"] == "access:servers!user=ada"
    assert told["hubTokenUrl"] == "https://hub.example.org/hub/token"


async def _tested(environment: Mapping[str, str], folder: Path) -> ParsedJson:
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "mcp", "test", "--json", cwd=folder, env=dict(environment), stdin=DEVNULL, stdout=PIPE
    )
    out, _ = await process.communicate()
    return parsed(json.loads(out))
