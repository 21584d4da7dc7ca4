"""``hdsp-agent hub`` as JupyterHub starts it: a process with what it needs in its environment."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from .._helpers.model_server import Reply, raw_server, sse_events
from ..cli._helpers.homes import Home
from ._helpers.policy_files import KEY, SMALL, write
from ._helpers.running import HubOfTests, hub_of_tests

PIECE = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}


@asynccontextmanager
async def command(home: Home, policies: Path, hub: HubOfTests) -> AsyncIterator[tuple[subprocess.Popen[str], str]]:
    process = home.start(
        "hub", "--policies", str(policies),
        A_KEY=KEY, JUPYTERHUB_API_URL=hub.url, JUPYTERHUB_SERVICE_URL="http://127.0.0.1:0", JUPYTERHUB_SERVICE_PREFIX="/services/agent/",
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    try:
        line = await asyncio.to_thread(process.stdout.readline)
        found = re.fullmatch(r"The hub service listens on (http://127\.0\.0\.1:[1-9]\d*/services/agent/)\n", line)
        assert found is not None, process.stderr.read()
        yield process, found[1]
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.communicate)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
async def test_a_kill_in_the_middle_of_a_stream_loses_nothing_that_was_reserved(tmp_path: Path) -> None:
    home = Home(tmp_path)

    async def endlessly(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events(PIECE))
        await asyncio.Event().wait()

    async with raw_server(endlessly) as server, hub_of_tests() as hub, httpx2.AsyncClient(trust_env=False) as http:
        hub.add("ada-token", "ada")
        policies = write(tmp_path, SMALL.replace("http://vllm.example:8000", server.url))
        login = {"Authorization": "Bearer ada-token"}
        body = {
            "model": "qwen3",
            "messages": [{"role": "user", "content": "Hello"}],
            "max_tokens": 30_000,
            "stream": True,
        }
        async with command(home, policies, hub) as (process, url):
            async with http.stream("POST", f"{url}openai/v1/chat/completions", headers=login, json=body) as answer:
                pieces = answer.aiter_raw()
                assert b"Hi" in await anext(pieces)
                process.kill()
                with pytest.raises(httpx2.RemoteProtocolError):
                    await anext(pieces)
            assert await asyncio.to_thread(process.wait) == -signal.SIGKILL
        async with command(home, policies, hub) as (process, url):
            [budget, _] = (await http.get(f"{url}api/usage", headers=login)).json()["budgets"]
            assert 30_000 < budget["used"] < 30_100 and budget["reserved"] == 0
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait) == 0


@pytest.mark.skipif(os.name != "posix", reason="signals")
async def test_a_hangup_reads_the_policies_again(tmp_path: Path) -> None:
    home, policies = Home(tmp_path), write(tmp_path, SMALL)
    async with hub_of_tests() as hub, httpx2.AsyncClient(trust_env=False) as http:
        hub.add("ada-token", "ada")
        async with command(home, policies, hub) as (process, url):
            write(tmp_path, SMALL.replace("tokens: 100000", "tokens: 7"))
            process.send_signal(signal.SIGHUP)
            assert process.stderr is not None
            assert "are in force" in await asyncio.to_thread(process.stderr.readline)
            answer = await http.get(f"{url}api/usage", headers={"Authorization": "Bearer ada-token"})
            assert answer.json()["budgets"][0]["limit"] == 7


@pytest.mark.skipif(os.name != "posix", reason="signals")
async def test_two_services_never_count_in_one_folder(tmp_path: Path) -> None:
    home, policies = Home(tmp_path), write(tmp_path, SMALL)
    async with hub_of_tests() as hub, command(home, policies, hub):
        more = {
            "A_KEY": KEY,
            "JUPYTERHUB_API_URL": hub.url,
            "JUPYTERHUB_SERVICE_URL": "http://127.0.0.1:0",
        }
        ran = await asyncio.to_thread(home.run, "hub", "--policies", str(policies), env=more)
        assert ran.code == 1 and "Another hub service uses" in ran.err


def test_without_a_hub_it_says_what_is_missing(tmp_path: Path) -> None:
    ran = Home(tmp_path).run("hub", env={"JUPYTERHUB_API_URL": ""})
    assert ran.code == 2 and "JUPYTERHUB_API_URL is not set." in ran.err


def test_mistakes_in_the_policies_keep_it_from_starting(tmp_path: Path) -> None:
    policies = write(tmp_path, SMALL)
    ran = Home(tmp_path).run("hub", "--policies", str(policies), env={"JUPYTERHUB_API_URL": "http://hub/api"})
    assert ran.code == 2 and "line 5: providers.anthropic.key_env" in ran.err
