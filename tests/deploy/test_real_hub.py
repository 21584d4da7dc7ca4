"""The configuration and the unit of ``deploy``, with a real JupyterHub and its proxy; only folders and ports are others."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL
from pathlib import Path

import httpx2
import pytest

from .._helpers.free_port import free_port
from .._helpers.long_tests import rounds
from .._helpers.real_hub import RealHub, running_hub
from ..cli._helpers.homes import PROGRAM, Home
from ..hub._helpers.hub_surroundings import browser_of, log_in
from ._files import DEPLOY, Unit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long installs JupyterHub and its proxy"),
]

ADMIN = "custom:hdsp-agent:admin"
_SERVICE = "/services/hdsp-agent/"


async def test_the_hub_the_unit_and_peoples_servers_find_each_other(tmp_path: Path) -> None:
    unit, home, port = Unit("hdsp-agent-hub.service"), Home(tmp_path), free_port()
    token = tmp_path / "hub.env"
    token.write_text(f"JUPYTERHUB_API_TOKEN={'0' * 32}\n")
    config = (DEPLOY / "jupyterhub_config.py").read_text(encoding="utf-8")
    config = config.replace(":10101", f":{port}").replace("/etc/hdsp-agent/hub.env", str(token))
    config += '\nc.JupyterHub.load_groups = {"staff": {"users": ["root"]}, "teachers": {"users": ["ada"]}}\n'
    settings = {"ServerApp": {"jpserver_extensions": {"hdsp_agent": True, "jupyter_server_terminals": False}}}
    async with (
        running_hub(tmp_path, settings, people=("ada",), config=config) as hub,
        httpx2.AsyncClient(trust_env=False, timeout=60) as http,
    ):
        environment = {
            **unit.environment(),
            **dict(line.split("=", 1) for line in token.read_text().splitlines()),
            "JUPYTERHUB_API_URL": f"{hub.url}/hub/api",
            "JUPYTERHUB_SERVICE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_KEY": "sk-of-the-team",
        }
        service = await asyncio.create_subprocess_exec(
            sys.executable, *PROGRAM[1:], "hub",
            "--policies", DEPLOY / "hub-policies.yml", "--data", tmp_path / "data",
            env=home.environment(**environment), stdin=DEVNULL, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            assert service.stdout is not None and b"listens on" in await service.stdout.readline()
            await hub.start("ada")
            own, _ = await hub.token("ada", "access:servers!user=ada")
            told = await http.get(
                f"{hub.url}/user/ada/hdsp-agent/api/models?profile=default", headers={"Authorization": f"token {own}"}
            )
            assert [model["id"] for model in told.json()["models"]] == ["claude-sonnet-5-5"]
            root, _ = await hub.token("root", ADMIN)
            for person, status in ((root, 200), (own, 403)):
                answer = await http.get(
                    f"{hub.url}{_SERVICE}api/admin/usage", headers={"Authorization": f"token {person}"}
                )
                assert answer.status_code == status
            await _everybody_opens_a_link(hub, http, (await hub.environment("ada"))["JUPYTERHUB_API_TOKEN"])
        finally:
            service.terminate()
            await service.communicate()


async def _everybody_opens_a_link(hub: RealHub, http: httpx2.AsyncClient, token: str) -> None:
    shared = {
        "conversation": {
            "title": "Sales",
            "asOf": 1_700_000_000_000,
            "messages": [{"ts": 1_700_000_000_000, "by": "agent", "text": "The mean is 4."}],
        },
        "audience": {"everybody": True},
    }
    made = await http.post(
        f"{hub.url}{_SERVICE}api/shared", headers={"Authorization": f"token {token}"}, content=json.dumps(shared)
    )
    assert made.status_code == 201, made.text
    # Tess is in no group, and has no server.
    async with browser_of(hub.url) as browser:
        seen = await log_in(browser, made.json()["url"], "tess")
        assert seen.status_code == 200 and "The mean is 4." in seen.text
        assert (await browser.get(f"{_SERVICE}shared")).status_code == 200
        assert (await browser.get(_SERVICE)).status_code == 403
