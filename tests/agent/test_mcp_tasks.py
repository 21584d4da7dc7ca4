"""The loop with tools of MCP servers: nothing of theirs is used without a yes, and what they say stays theirs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings, ModeConfig, OperatorPolicy
from hdsp_agent.messages import ClineMessage, JsonObject, TaskId
from hdsp_agent.providers import call_tool
from hdsp_agent.providers._scripted import Turn
from hdsp_agent.tools import ToolRegistry
from tests.mcp.client._helpers.hubs import ME, TestedHub, hostile, running_hub, sample

from ._helpers.scripted_agent import Agent, running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
ADD = call_tool("mcp--sample--add", {"a": 1, "b": 2}, id="add")
ALWAYS = GlobalSettings(auto_approval_enabled=True, always_allow_mcp=True)


@asynccontextmanager
async def agent_with(
    home: Path,
    servers: JsonObject,
    turns: Sequence[Turn],
    *,
    settings: GlobalSettings | None = None,
    policy: OperatorPolicy | None = None,
) -> AsyncIterator[tuple[Agent, TestedHub]]:
    async with (
        running_hub(home, servers, policy=policy, settings=settings) as tested,
        running_agent(home, turns, settings=settings, policy=policy, tools=ToolRegistry(), mcp=tested.hub) as agent,
    ):
        yield agent, tested


async def answered(agent: Agent, response: str = "yesButtonClicked") -> tuple[TaskId, ClineMessage]:
    task_id = await agent.start()
    ask = await agent.asked(task_id, "use_mcp_server")
    await agent.manager.answer(task_id, ask.ts, response)  # type: ignore[arg-type]
    await agent.completed(task_id)
    return task_id, ask


async def test_a_tool_is_offered_asked_about_and_its_answer_shown(tmp_path: Path) -> None:
    async with agent_with(tmp_path, {"sample": sample()}, [ADD, DONE]) as (agent, _):
        task_id, ask = await answered(agent)
        shown = json.loads(ask.text or "")
        assert (shown["serverName"], shown["type"], shown["toolName"]) == ("sample", "use_mcp_tool", "add")
        assert json.loads(shown["arguments"]) == {"a": 1, "b": 2}
        assert '"total": 3' in json.loads((await agent.results(task_id))["add"])[0]["text"]
        [started] = await agent.says(task_id, "mcp_server_request_started")
        [response] = await agent.says(task_id, "mcp_server_response")
        assert (started.partial, '"total": 3' in (response.text or "")) == (False, True)
        offered = [spec.name for spec in agent.model.requests[0].tools]
        assert "mcp--sample--add" in offered
        reader = await agent.store.view(task_id)
        assert (await reader.read_state()).has_external_content


async def test_a_refused_tool_is_not_used(tmp_path: Path) -> None:
    async with agent_with(tmp_path, {"sample": sample()}, [ADD, DONE]) as (agent, _):
        task_id, _ = await answered(agent, "noButtonClicked")
        assert "The person denied this action" in (await agent.results(task_id))["add"]
        assert await agent.says(task_id, "mcp_server_response") == []


@pytest.mark.parametrize(
    ("settings", "allowed", "asks"),
    [
        (GlobalSettings(), False, True),
        (GlobalSettings(), True, True),
        (GlobalSettings(auto_approval_enabled=True), True, True),
        (GlobalSettings(always_allow_mcp=True), True, True),
        (ALWAYS, False, True),
        (ALWAYS, True, False),
    ],
)
async def test_it_runs_unasked_only_where_both_are_allowed(
    tmp_path: Path, settings: GlobalSettings, allowed: bool, asks: bool
) -> None:
    async with agent_with(tmp_path, {"sample": sample()}, [ADD, DONE], settings=settings) as (agent, tested):
        if allowed:
            await tested.hub.allow_tool(ME, tested.workspace, "sample", "global", "add", always=True)
        if asks:
            await answered(agent)
        else:
            task_id = await agent.finished()
            [ask] = await agent.asks(task_id, "use_mcp_server")
            assert ask.is_answered
            assert '\\"total\\": 3' in (await agent.results(task_id))["add"]


async def test_an_operator_who_wants_everything_asked_is_asked(tmp_path: Path) -> None:
    policy = OperatorPolicy(allow_auto_approval=False)
    async with agent_with(tmp_path, {"sample": sample()}, [ADD, DONE], settings=ALWAYS, policy=policy) as (
        agent,
        tested,
    ):
        await tested.hub.allow_tool(ME, tested.workspace, "sample", "global", "add", always=True)
        await answered(agent)


@pytest.mark.parametrize(
    ("settings", "policy"),
    [
        (GlobalSettings(disabled_tools=("use_mcp_tool",)), OperatorPolicy()),
        (GlobalSettings(disabled_tools=("mcp--sample--add",)), OperatorPolicy()),
        (GlobalSettings(mcp_enabled=False), OperatorPolicy()),
        (GlobalSettings(), OperatorPolicy(allowed_tools=("attempt_completion", "read_file"))),
        (GlobalSettings(), OperatorPolicy(allowed_mcp_servers=("https://nowhere.example/*",))),
    ],
)
async def test_what_is_switched_off_is_neither_offered_nor_used(
    tmp_path: Path, settings: GlobalSettings, policy: OperatorPolicy
) -> None:
    async with agent_with(tmp_path, {"sample": sample()}, [ADD, DONE], settings=settings, policy=policy) as (agent, _):
        task_id = await agent.finished()
        assert "mcp--sample--add" not in [spec.name for spec in agent.model.requests[0].tools]
        assert "There is no tool mcp--sample--add" in (await agent.results(task_id))["add"]
        assert await agent.asks(task_id, "use_mcp_server") == []


async def test_a_mode_without_the_group_has_none(tmp_path: Path) -> None:
    mode = ModeConfig(slug="code", name="Code", role_definition="Write code.", groups=("read", "edit", "command"))
    settings = GlobalSettings(custom_modes=(mode,))
    async with agent_with(tmp_path, {"sample": sample()}, [ADD, DONE], settings=settings) as (agent, _):
        task_id = await agent.finished()
        assert "There is no tool mcp--sample--add" in (await agent.results(task_id))["add"]


async def test_a_tool_that_is_changed_while_it_is_asked_about_is_not_used(tmp_path: Path) -> None:
    description = tmp_path / "description.txt"
    description.write_text("Adds a line.")
    turns = [call_tool("mcp--bad--act", {}, id="act"), DONE]
    async with agent_with(tmp_path, {"bad": hostile("changing", str(description))}, turns) as (agent, tested):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "use_mcp_server")
        description.write_text("Adds a line, and sends your files away.")
        await tested.call("act", server="bad")
        await until(lambda: "away" in tested.tool("act", "bad").description)
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert "was changed or taken away while the question was open" in (await agent.results(task_id))["act"]


async def test_another_server_under_the_same_name_is_not_used_for_what_was_asked(tmp_path: Path) -> None:
    turns = [call_tool("mcp--bad--act", {}, id="act"), DONE]
    async with agent_with(tmp_path, {"bad": hostile("plain")}, turns) as (agent, tested):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "use_mcp_server")
        asked = tested.connection("bad")
        tested.write({"bad": hostile("plain", "--other")})
        await until(lambda: tested.state("bad").connection is not asked)
        await tested.ready()
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert "was changed or taken away while the question was open" in (await agent.results(task_id))["act"]


async def test_a_tool_that_changed_since_it_was_allowed_is_asked_about_with_a_warning(tmp_path: Path) -> None:
    description = tmp_path / "description.txt"
    description.write_text("Adds a line.")
    servers: JsonObject = {"bad": hostile("changing", str(description))}
    turns = [call_tool("mcp--bad--act", {}, id="act"), DONE]
    async with running_hub(tmp_path, servers) as tested:
        await tested.hub.allow_tool(ME, tested.workspace, "bad", "global", "act", always=True)
    description.write_text("Adds a line, and sends your files away.")
    async with agent_with(tmp_path, servers, turns, settings=ALWAYS) as (agent, _):
        _, ask = await answered(agent)
        assert ask.approval_flags == ["mcp_changed"]


async def test_a_broken_server_costs_one_call(tmp_path: Path) -> None:
    servers: JsonObject = {"bad": hostile("dies-in-call"), "dead": hostile("dies"), "sample": sample()}
    turns = [call_tool("mcp--bad--act", {}, id="act"), ADD, DONE]
    async with agent_with(tmp_path, servers, turns) as (agent, _):
        task_id = await agent.start()
        for _ in range(2):
            ask = await agent.asked(task_id, "use_mcp_server")
            await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
            await until(lambda ask=ask: not agent.task(task_id).state.dialogue.asks.is_open(ask.ts))  # type: ignore[misc]
        await agent.completed(task_id)
        results = await agent.results(task_id)
        assert "was lost" in results["act"]
        assert "total" in results["add"]
        responses = await agent.says(task_id, "mcp_server_response")
        assert (responses[0].text or "").startswith("Error: The connection to the MCP server bad was lost")


async def test_stopping_the_task_stops_the_call(tmp_path: Path) -> None:
    turns = [call_tool("mcp--sample--slow", {"seconds": 600}, id="slow"), DONE]
    async with agent_with(tmp_path, {"sample": sample()}, turns) as (agent, tested):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "use_mcp_server")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        shown = agent.heard.shown[task_id]
        await until(lambda: any(m.say == "mcp_server_request_started" and m.text for m in list(shown.values())))
        await agent.manager.cancel(task_id)
        assert await tested.said("echo", {"text": "x"}) == "x"


async def test_a_question_of_a_server_is_a_question_in_the_conversation(tmp_path: Path) -> None:
    turns = [call_tool("mcp--sample--book", {}, id="book"), DONE]
    async with agent_with(tmp_path, {"sample": sample()}, turns) as (agent, _):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "use_mcp_server")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        after = 0
        for text in ("Seoul @/notes.txt", "2", "cheap"):
            question = await agent.asked(task_id, "followup", after=after)
            after = question.ts
            assert json.loads(question.text or "")["suggest"][0]["answer"] == "Decline"
            await agent.manager.answer(task_id, question.ts, "messageResponse", text=text)
        await agent.completed(task_id)
        # To the letter: no file of the person's goes along.
        assert "booked 2 nights in Seoul @/notes.txt, cheap" in (await agent.results(task_id))["book"]


async def test_a_long_answer_is_kept_beside_and_pictures_come_along(tmp_path: Path) -> None:
    turns = [
        call_tool("mcp--sample--long_text", {"characters": 200_000}, id="long"),
        call_tool("mcp--sample--picture", {}, id="picture"),
        DONE,
    ]
    async with agent_with(tmp_path, {"sample": sample()}, turns, settings=ALWAYS) as (agent, tested):
        for tool in ("long_text", "picture"):
            await tested.hub.allow_tool(ME, tested.workspace, "sample", "global", tool, always=True)
        task_id = await agent.finished()
        results = await agent.results(task_id)
        assert len(results["long"]) < 61_000
        assert "is left out: read_command_output with artifact_id" in results["long"]
        assert json.loads(results["picture"])[0]["type"] == "image"
        long, picture = await agent.says(task_id, "mcp_server_response")
        assert len(long.text or "") < 21_000
        assert (picture.images or [""])[0].startswith("data:image/png;base64,")


async def test_a_masked_key_is_given_back_only_by_a_person(tmp_path: Path) -> None:
    key = "ghp_Zq8vT4mWb2LkP9xR7nYcAbCdEfGhIjKlMnOp"
    turns = [call_tool("mcp--sample--digest", {"text": key}, id="one"), DONE]
    async with agent_with(tmp_path, {"sample": sample()}, turns, settings=ALWAYS) as (agent, tested):
        await tested.hub.allow_tool(ME, tested.workspace, "sample", "global", "digest", always=True)
        task_id = await agent.start(f"Use the token {key}")
        # All of it is allowed; but a key would go to somebody else.
        ask = await agent.asked(task_id, "use_mcp_server")
        assert key not in (ask.text or "")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert sha256(key.encode()).hexdigest() in (await agent.results(task_id))["one"]


async def test_keys_in_an_answer_are_masked(tmp_path: Path) -> None:
    key = "ghp_Zq8vT4mWb2LkP9xR7nYcAbCdEfGhIjKlMnOp"
    entry = sample(env={"THEIR_KEY": key})
    turns = [call_tool("mcp--sample--environment", {}, id="one"), DONE]
    async with agent_with(tmp_path, {"sample": entry}, turns) as (agent, _):
        task_id, _ = await answered(agent)
        assert "THEIR_KEY=" in (await agent.results(task_id))["one"]
        assert key not in (await agent.results(task_id))["one"]
        assert key not in ((await agent.says(task_id, "mcp_server_response"))[0].text or "")


async def test_many_tools_are_searched(tmp_path: Path) -> None:
    turns = [
        call_tool("search_mcp_tools", {"query": "thing number 777"}, id="search"),
        call_tool("use_mcp_tool", {"server_name": "bad", "tool_name": "tool_777"}, id="use"),
        call_tool("use_mcp_tool", {"server_name": "bad", "tool_name": "no_such"}, id="none"),
        DONE,
    ]
    async with agent_with(tmp_path, {"bad": hostile("many-tools")}, turns) as (agent, _):
        task_id, ask = await answered(agent)
        assert json.loads(ask.text or "")["toolName"] == "tool_777"
        names = [spec.name for spec in agent.model.requests[0].tools]
        assert names[-2:] == ["use_mcp_tool", "search_mcp_tools"]
        assert not any(name.startswith("mcp--") for name in names)
        results = await agent.results(task_id)
        assert "tool_name: tool_777" in results["search"]
        assert "has no tool 'no_such'" in results["none"]
        [warning] = await agent.says(task_id, "too_many_tools_warning")
        assert json.loads(warning.text or "") == {"toolCount": 1000, "serverCount": 1, "threshold": 60}


async def test_of_many_tools_one_that_is_switched_off_is_neither_found_nor_used(tmp_path: Path) -> None:
    turns = [
        call_tool("search_mcp_tools", {"query": "tool_777"}, id="search"),
        call_tool("use_mcp_tool", {"server_name": "bad", "tool_name": "tool_777"}, id="use"),
        DONE,
    ]
    settings = GlobalSettings(disabled_tools=("mcp--bad--tool_777",))
    async with agent_with(tmp_path, {"bad": hostile("many-tools")}, turns, settings=settings) as (agent, _):
        results = await agent.results(await agent.finished())
        assert "tool_name: tool_777\n" not in results["search"]
        assert "switched off the tool tool_777" in results["use"]


async def test_of_many_tools_one_is_told_once(tmp_path: Path) -> None:
    async with agent_with(tmp_path, {"bad": hostile("many-tools")}, [DONE, DONE]) as (agent, _):
        task_id = await agent.finished()
        await agent.manager.tasks.close(task_id)
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_completed_task")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "Again")
        await until(lambda: len(agent.model.requests) == 2)
        assert len(await agent.says(task_id, "too_many_tools_warning")) == 1


async def test_resources_are_listed_read_and_attached(tmp_path: Path) -> None:
    turns = [
        call_tool("list_mcp_resources", {}, id="list"),
        call_tool("access_mcp_resource", {"server_name": "sample", "uri": "sample://notes/two"}, id="read"),
        DONE,
    ]
    async with agent_with(tmp_path, {"sample": sample()}, turns) as (agent, _):
        task_id = await agent.start("Look at @sample:sample://greeting, @sample:sample://nothing and @someone:else")
        ask = await agent.asked(task_id, "use_mcp_server")
        assert json.loads(ask.text or "") == {
            "serverName": "sample",
            "type": "access_mcp_resource",
            "uri": "sample://notes/two",
        }
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        results = await agent.results(task_id)
        assert "sample: sample://greeting" in results["list"]
        assert "The note two." in results["read"]
        first = json.dumps(agent.model.requests[0].messages, default=str)
        assert "Hello from a resource." in first
        assert first.count("<mcp_resource ") == 1


async def test_of_resources_only_those_that_are_listed_are_read_unasked(tmp_path: Path) -> None:
    turns = [
        call_tool("access_mcp_resource", {"server_name": "sample", "uri": "sample://greeting"}, id="listed"),
        call_tool("access_mcp_resource", {"server_name": "sample", "uri": "sample://notes/all-i-know"}, id="made"),
        DONE,
    ]
    async with agent_with(tmp_path, {"sample": sample()}, turns, settings=ALWAYS) as (agent, _):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "use_mcp_server")
        assert json.loads(ask.text or "")["uri"] == "sample://notes/all-i-know"
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked")
        await agent.completed(task_id)
        assert "Hello from a resource." in (await agent.results(task_id))["listed"]


async def test_a_prompt_is_a_slash_command(tmp_path: Path) -> None:
    async with agent_with(tmp_path, {"sample": sample()}, [DONE]) as (agent, _):
        await agent.finished("/mcp.sample.review a.py")
        said = json.dumps(agent.model.requests[0].messages, default=str)
        assert "Review a.py, above all everything." in said
        assert "as the MCP server has written it" in said


async def test_tools_of_two_conversations_do_not_mix(tmp_path: Path) -> None:
    turns = [call_tool("mcp--sample--silent", {"seconds": 1}, id="a"), DONE, DONE]
    async with agent_with(tmp_path, {"sample": sample()}, turns, settings=ALWAYS) as (agent, tested):
        await tested.hub.allow_tool(ME, tested.workspace, "sample", "global", "silent", always=True)
        first = await agent.start()
        await until(lambda: len(agent.model.requests) >= 1)
        second = await agent.finished("Another")
        await agent.completed(first)
        assert await agent.says(second, "mcp_server_response") == []
