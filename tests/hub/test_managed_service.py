"""A service that JupyterHub itself starts: it ends with its hub, however that ends, and makes room for the next one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx2
import psutil
import pytest
from filelock import FileLock

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.hub import HubAddresses, HubService

from .._helpers.free_port import free_port
from .._helpers.long_tests import rounds
from .._helpers.model_server import Reply, raw_server, sse_events
from .._helpers.real_hub import RealHub, running_hub
from .._helpers.timing import until
from ..cli._helpers.homes import PROGRAM, Home
from ._helpers.hub_surroundings import browser_of, log_in
from ._helpers.policy_files import ENVIRONMENT, KEY, SMALL, write
from ._helpers.running import ADMIN, USE, hub_of_tests

_SERVICE = "/services/hdsp-agent/"
_CONFIG = """
c.JupyterHub.custom_scopes = {{"{use}": {{"description": "Use"}}, "{admin}": {{"description": "See"}}}}
c.JupyterHub.load_roles += [
    {{"name": "user", "scopes": ["self", "{use}"]}},
    {{"name": "usage", "users": ["root"], "scopes": ["{admin}", "access:services!service=hdsp-agent"]}},
    {{"name": "look", "services": ["tests"], "scopes": ["read:services"]}},
]
c.JupyterHub.services += [{{
    "name": "hdsp-agent",
    "url": "http://127.0.0.1:{port}",
    "command": [{python!r}, "-m", "hdsp_agent.cli", "hub", "--policies", {policies!r}, "--data", {data!r}],
    "environment": {{"A_KEY": {key!r}}},
    "oauth_client_allowed_scopes": ["{admin}"],
    "oauth_no_confirm": True,
}}]
"""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


async def endlessly(reply: Reply) -> None:
    await reply.begin()
    await reply.send(sse_events({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}))
    await asyncio.Event().wait()


@pytest.mark.skipif(os.name != "posix", reason="who started a process is told by its number")
async def test_it_ends_with_the_hub_that_started_it(tmp_path: Path) -> None:
    start = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    async with hub_of_tests() as hub:
        parent = subprocess.Popen(
            [sys.executable, "-c", start, *PROGRAM, "hub", "--policies", write(tmp_path, SMALL)],
            env=Home(tmp_path).environment(
                A_KEY=KEY, JUPYTERHUB_API_URL=hub.url, JUPYTERHUB_SERVICE_URL="http://127.0.0.1:0",
                JUPYTERHUB_OAUTH_ACCESS_SCOPES="[]",
            ),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert parent.stdout is not None
        assert "listens on" in await asyncio.to_thread(parent.stdout.readline)
        [service] = psutil.Process(parent.pid).children()
        try:
            parent.kill()
            await until(lambda: has_ended(service.pid))
        finally:
            end(service.pid)
            await asyncio.to_thread(parent.communicate)


async def test_it_waits_until_its_predecessor_has_ended(tmp_path: Path) -> None:
    policies, folder = write(tmp_path, SMALL), tmp_path / "data"
    own, managed = [
        HubAddresses("", "/", "http://127.0.0.1:1/hub/api", None, is_managed) for is_managed in (False, True)
    ]
    folder.mkdir(mode=0o700)
    predecessor = FileLock(folder / "service.lock", mode=0o600)
    with predecessor:
        service = HubService(managed, policies, folder)
        starting = asyncio.create_task(service.start())
        # One that JupyterHub did not start has no predecessor. The other one has tried as well meanwhile.
        for _ in range(3):
            with pytest.raises(StorageUnavailable, match="Another hub service"):
                await HubService(own, policies, folder).start()
        assert not starting.done()
    await starting
    await service.stop()


def test_only_what_jupyterhub_sets_makes_a_service_its_own() -> None:
    by_a_unit = {
        "JUPYTERHUB_API_URL": "http://hub/api",
        "JUPYTERHUB_API_TOKEN": "t",
        "JUPYTERHUB_SERVICE_NAME": "agent",
    }
    assert not HubAddresses.of(by_a_unit).is_managed
    assert HubAddresses.of({**by_a_unit, "JUPYTERHUB_OAUTH_ACCESS_SCOPES": "[]"}).is_managed


@pytest.mark.slow
@pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long installs JupyterHub and its proxy")
async def test_a_killed_hub_that_comes_again_has_a_service_of_its_own(tmp_path: Path) -> None:
    port = free_port()
    direct = f"http://127.0.0.1:{port}{_SERVICE}"
    async with raw_server(endlessly) as model, httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        policies = write(tmp_path, SMALL.replace("http://vllm.example:8000", model.url))
        config = _CONFIG.format(
            use=USE, admin=ADMIN, port=port, python=sys.executable,
            policies=str(policies), data=str(tmp_path / "data"), key=KEY,
        )  # fmt: skip
        async with running_hub(tmp_path, {}, people=(), config=config) as hub:
            await hub.ask("POST", "users/ada")
            token, _ = await hub.token("ada", USE)
            first = await service_of(hub)
            body = {"model": "qwen3", "messages": [], "stream": True}
            # An answer under way keeps the old service for some seconds longer.
            async with http.stream(
                "POST", f"{direct}openai/v1/chat/completions", headers={"Authorization": f"Bearer {token}"}, json=body
            ) as answer:
                assert b"Hi" in await anext(answer.aiter_raw())
                await hub.kill()
                await hub.run()
                try:
                    await until(lambda: has_ended(first))
                finally:
                    end(first)
            await until(lambda: answers(http, f"{direct}health"))
            assert await service_of(hub) != first
            # The new one alone has the secret that the new hub knows it by.
            async with browser_of(hub.url) as browser:
                assert (await log_in(browser, _SERVICE, "root")).status_code == 200


async def service_of(hub: RealHub) -> int:
    """The process that the hub started."""
    return int(str((await hub.ask("GET", "services/hdsp-agent"))["pid"]))


def has_ended(process: int) -> bool:
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def end(process: int) -> None:
    with suppress(psutil.NoSuchProcess):
        psutil.Process(process).kill()


async def answers(http: httpx2.AsyncClient, address: str) -> bool:
    try:
        return (await http.get(address)).status_code == 200
    except httpx2.TransportError:
        return False
