"""Servers with a web address, made with the SDK and misbehaving."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hdsp_agent.errors import Unavailable
from hdsp_agent.messages import JsonObject
from tests._helpers.free_port import free_port
from tests._helpers.loop_stalls import measured

from ._helpers.http_servers import answering_server, sample_http_server
from ._helpers.hubs import running_hub, until

TOKEN = "ghp_Zq8vT4mWb2LkP9xR7nYcAbCdEfGh"


async def test_everything_works_over_the_web_too(tmp_path: Path) -> None:
    async with sample_http_server() as url, running_hub(tmp_path, {"sample": {"url": url}}) as tested:
        assert '"total": 3' in await tested.said("add", {"a": 1, "b": 2})
        assert await tested.said("slow", {"seconds": 0.5}) == "done"
        assert tested.progress[-1] == "10/10 step 10"
        assert (await tested.task.read("sample", "sample://greeting")).parts == ("Hello from a resource.",)
        tested.answers = ["Seoul", "3", "quiet"]
        assert await tested.said("book") == "booked 3 nights in Seoul, quiet"
        await tested.call("add_tool", {"name": "later"})
        await tested.call("tell_change")
        await until(lambda: tested.task.offer.tool("sample", "later"))


async def test_a_cancelled_call_ends_at_once(tmp_path: Path) -> None:
    async with sample_http_server() as url, running_hub(tmp_path, {"sample": {"url": url}}) as tested:
        call = asyncio.create_task(tested.call("slow", {"seconds": 300}))
        await until(lambda: tested.progress)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await tested.said("echo", {"text": "x"}) == "x"


async def test_one_that_is_gone_says_so_and_comes_back(tmp_path: Path) -> None:
    port = free_port()
    async with running_hub(tmp_path, {"sample": {"url": f"http://127.0.0.1:{port}/mcp"}}) as tested:
        assert tested.connection("sample").error == "Nothing answers at its address."
        async with sample_http_server(port):
            await tested.hub.restart("somebody", tested.workspace, "sample", "global")
            await tested.ready()
            assert await tested.said("echo", {"text": "x"}) == "x"
        with pytest.raises(Unavailable, match="sample"):
            await tested.call("echo", {"text": "x"})
        async with sample_http_server(port):
            await tested.hub.restart("somebody", tested.workspace, "sample", "global")
            assert await tested.said("echo", {"text": "y"}) == "y"


async def test_headers_are_sent_and_shown_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    with answering_server("plain") as (url, seen):
        entry: JsonObject = {"url": url, "headers": {"Authorization": "Bearer ${env:MY_TOKEN}", "X-Team": "data"}}
        async with running_hub(tmp_path, {"one": entry}) as tested:
            assert await tested.said("act", server="one") == "done"
            assert all(headers["Authorization"] == f"Bearer {TOKEN}" for headers in seen)
            assert all((headers["X-Team"], headers["Accept-Encoding"]) == ("data", "identity") for headers in seen)
            tested.connection("one").log.server(f"I was sent {TOKEN}")
            assert TOKEN not in tested.log("one")
            assert TOKEN not in str(tested.state("one").config.shown())


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("no-log-in", "This server wants you to log in."),
        ("forbidden", "This server refuses access. Check its key."),
        ("web-page", "Unexpected content type: text/html."),
        ("elsewhere", "Redirect to http://127.0.0.2:9/mcp not followed"),
    ],
)
async def test_why_there_is_no_connection(tmp_path: Path, kind: str, error: str) -> None:
    with answering_server(kind) as (url, _):
        async with running_hub(tmp_path, {"one": {"url": url}}) as tested:
            assert (tested.connection("one").error or "").startswith(error)
            assert tested.connection("one").wants_login is (kind == "no-log-in")


@pytest.mark.parametrize("kind", ["packed", "endless", "one-event", "broken-off"])
async def test_answers_without_end_cost_one_call(tmp_path: Path, kind: str) -> None:
    with answering_server(kind) as (url, _):
        async with running_hub(tmp_path, {"one": {"url": url, "timeout": 20}}) as tested:
            async with measured() as cost:
                with pytest.raises(Unavailable):
                    await tested.call("act", server="one")
            assert cost.memory_mb < 150


async def test_one_that_does_not_answer_costs_its_time_limit(tmp_path: Path) -> None:
    with answering_server("silent") as (url, _):
        async with running_hub(tmp_path, {"one": {"url": url, "timeout": 1}}) as tested:
            with pytest.raises(Unavailable, match="did not answer within 1 seconds"):
                await tested.call("act", server="one")
