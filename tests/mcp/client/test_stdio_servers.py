"""A real server over standard input and output, made with the SDK."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from hdsp_agent.errors import NotFound, Unavailable
from hdsp_agent.tools import McpImage

from ._helpers.hubs import ME, ROOT, hostile, processes, running_hub, sample, until


async def test_tools_are_offered_and_used(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        names = [tool.name for tool in tested.task.offer.tools]
        assert names[:3] == ["mcp--sample--add", "mcp--sample--echo", "mcp--sample--digest"]
        assert tested.tool("add").input_schema["required"] == ["a", "b"]
        assert '"total": 3' in await tested.said("add", {"a": 1, "b": 2})
        assert await tested.said("echo", {"text": "안녕"}) == "안녕"
        assert tested.state("sample").listing.instructions == "Use the tools with care."


async def test_a_picture_comes_as_a_picture(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        [picture] = (await tested.call("picture")).parts
        assert isinstance(picture, McpImage)
        assert (picture.media_type, picture.data[:4]) == ("image/png", b"\x89PNG")


async def test_a_tool_that_fails_says_so(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        assert (await tested.call("fail")).is_error
        wrong = await tested.call("add", {"a": "one"})
        assert wrong.is_error
        assert "b" in str(wrong.parts)


@pytest.mark.long
async def test_progress_is_told_and_keeps_a_call_alive(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample(timeout=1)}) as tested:
        assert await tested.said("slow", {"seconds": 3}) == "done"
        assert (tested.progress[0], tested.progress[-1]) == ("1/10 step 1", "10/10 step 10")


async def test_a_call_without_a_sign_of_life_ends(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample(timeout=1)}) as tested:
        with pytest.raises(Unavailable, match="did not answer within 1 seconds"):
            await tested.call("silent", {"seconds": 300})
        # The server is as good as before, however slow this machine is.
        await tested.hub.set_timeout(ME, tested.workspace, "sample", "global", 60)
        assert await tested.said("echo", {"text": "still here"}) == "still here"


async def test_a_cancelled_call_leaves_the_server_usable(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        call = asyncio.create_task(tested.call("slow", {"seconds": 300}))
        await until(lambda: tested.progress)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await tested.said("echo", {"text": "x"}) == "x"


async def test_calls_run_side_by_side(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        said = await asyncio.gather(*(tested.said("echo", {"text": str(number)}) for number in range(20)))
        assert said == [str(number) for number in range(20)]


async def test_it_gets_what_is_configured_and_none_of_our_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-api03-Zq8vT4mWb2LkP9xR7nYc")
    monkeypatch.setenv("JUPYTER_TOKEN", "a-token-of-the-server")
    monkeypatch.setenv("SOME_OTHER_SECRET", "nobody-else-needs-this")
    monkeypatch.setenv("FOR_SERVERS", "a value")
    entry = sample(env={"MINE": "${env:FOR_SERVERS}", "PORT": 8080, "ON": True})
    async with running_hub(tmp_path, {"sample": entry}) as tested:
        lines = (await tested.said("environment")).splitlines()
        values = dict(line.split("=", 1) for line in lines if "=" in line)
        assert (values["MINE"], values["PORT"], values["ON"]) == ("a value", "8080", "true")
        assert values["PATH"] == os.environ["PATH"]
        assert not {"ANTHROPIC_API_KEY", "JUPYTER_TOKEN", "SOME_OTHER_SECRET", "FOR_SERVERS"} & set(values)


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "JUPYTERHUB_API_TOKEN", "HDSP_AGENT_PASSPHRASE"])
async def test_our_own_keys_cannot_be_given_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "sk-ant-api03-Zq8vT4mWb2LkP9xR7nYc")
    async with running_hub(tmp_path, {"sample": sample(env={"X": f"${{env:{name}}}"})}) as tested:
        assert tested.connection("sample").error == f"The environment variable {name} is not given to MCP servers."


async def test_it_runs_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "work" / "inner").mkdir(parents=True)
    entry = sample(command=sys.executable, cwd="inner", env={"PYTHONPATH": str(ROOT)})
    async with running_hub(tmp_path, {"sample": entry}) as tested:
        assert (await tested.said("where")).startswith(str(tmp_path / "work" / "inner") + " ")


async def test_resources_and_prompts(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        assert [one.uri for one in tested.task.offer.resources] == ["sample://greeting", "sample://notes/{name}"]
        assert (await tested.task.read("sample", "sample://greeting")).parts == ("Hello from a resource.",)
        assert (await tested.task.read("sample", "sample://notes/one")).parts == ("The note one.",)
        with pytest.raises(Unavailable, match="answered with an error"):
            await tested.task.read("sample", "sample://nothing")
        [command] = tested.task.commands()
        assert (command.name, command.source, command.argument_hint) == ("mcp.sample.review", "global", "path [focus]")
        assert await tested.task.spoken("mcp.sample.review", "a.py speed and size") == (
            "Review a.py, above all speed and size."
        )
        assert await tested.task.spoken("mcp.sample.other", "") is None


async def test_a_changed_list_is_looked_at_again(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        await tested.call("add_tool", {"name": "later"})
        await tested.call("tell_change")
        await until(lambda: tested.task.offer.tool("sample", "later"))
        assert tested.task.offer is tested.task.offer, "it is made once"


async def test_it_ends_with_the_hub_and_is_started_once(tmp_path: Path) -> None:
    entry = sample(command=sys.executable, cwd=str(tmp_path / "work"), env={"PYTHONPATH": str(ROOT)})
    async with running_hub(tmp_path, {"sample": entry}) as tested:
        await asyncio.gather(*(tested.ready() for _ in range(5)))
        assert len(processes(tmp_path)) == 1


async def test_a_restart_is_another_process(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        before = (await tested.said("where")).split()[-1]
        await tested.hub.restart("somebody", tested.workspace, "sample", "global")
        assert (await tested.said("where")).split()[-1] != before
        with pytest.raises(NotFound):
            await tested.hub.restart("somebody", tested.workspace, "other", "global")


async def test_a_server_that_ends_at_an_unknown_question_is_taken_for_an_older_one(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"strict": hostile("strict")}) as tested:
        assert await tested.said("act", server="strict") == "done"
        assert "as an older server" in tested.log("strict")
