"""Models and servers that send what they should not: the task goes on, and nothing is lost, doubled or left hanging."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import TaskId
from hdsp_agent.providers import (
    ErrorClass,
    ModelError,
    Stop,
    TextDelta,
    ToolCallStart,
    UsageReport,
    call_tool,
    classify,
)
from hdsp_agent.providers._model import ToolCallDelta
from hdsp_agent.providers._scripted import Step, Turn
from hdsp_agent.tools import ToolRegistry, built_in_tools

from ._helpers.scripted_agent import Agent, running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_write=True, always_allow_read_only=True)


async def _left_open(agent: Agent, task_id: TaskId) -> list[str]:
    return [message.text or "" for message in await agent.ui(task_id) if message.partial]


@pytest.mark.parametrize("depth", [150, 300, 700, 50_000])
async def test_arguments_nested_too_deeply_go_back_as_a_mistake(depth: int, tmp_path: Path) -> None:
    deep = '{"text":' + "[" * depth + "]" * depth + "}"
    async with running_agent(tmp_path, [call_tool("look", deep), DONE]) as agent:
        task_id = await agent.finished()
        assert sorted(await agent.results(task_id)) == ["call_1", "end"]
        assert await agent.says(task_id, "error") == [] and await agent.asks(task_id, "api_req_failed") == []


async def test_line_breaks_within_the_strings_of_arguments_are_forgiven(tmp_path: Path) -> None:
    written = '{"path": "two.txt", "content": "one\ntwo\n"}'
    tools = ToolRegistry(built_in_tools(notebooks=False))
    async with running_agent(
        tmp_path, [call_tool("write_to_file", written), DONE], settings=AUTO, tools=tools
    ) as agent:
        task_id = await agent.finished()
        assert (agent.workspace / "two.txt").read_text() == "one\ntwo\n"
        assert await agent.says(task_id, "error") == []
        assert "invalid_arguments" not in str(agent.model.requests[1].messages)


async def test_arguments_of_nothing_but_space_are_none(tmp_path: Path) -> None:
    tools = ToolRegistry(built_in_tools(notebooks=False))
    async with running_agent(tmp_path, [call_tool("list_files", " \n"), DONE], settings=AUTO, tools=tools) as agent:
        task_id = await agent.finished()
        assert sorted(await agent.results(task_id)) == ["call_1", "end"]
        assert await agent.says(task_id, "error") == []


async def test_half_a_surrogate_pair_reaches_neither_screen_nor_model(tmp_path: Path) -> None:
    turn = [TextDelta("so \ud800 it"), *call_tool("write_note", '{"text": "half \\ud83d, whole \\ud83d\\ude00"}')]
    async with running_agent(tmp_path, [turn, DONE], settings=AUTO) as agent:
        task_id = await agent.finished()
        assert agent.notes() == ["half \ufffd, whole \U0001f600"]
        assert (await agent.says(task_id, "text"))[-1].text == "so \ufffd it"
        for message in agent.heard.shown[task_id].values():
            message.to_json()
        assert [(await agent.ui(task_id))[index].text for index in range(3)] == [
            message.text for message in list(agent.heard.shown[task_id].values())[:3]
        ]
        for sent in agent.model.requests[1].messages:
            sent.to_json()


async def test_an_error_with_half_a_surrogate_pair_is_an_error_like_any(tmp_path: Path) -> None:
    turn = [ModelError("Broken \ud800.", raw="\udfff")]
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert (ask.text or "").startswith("Broken \ufffd.")
        assert await agent.says(task_id, "error") == []


async def test_two_calls_of_one_id_are_both_made_and_answered(tmp_path: Path) -> None:
    turn = [
        *call_tool("write_note", {"text": "one"}, id="a", stop=False),
        *call_tool("write_note", {"text": "two"}, id="a", index=1),
    ]
    async with running_agent(tmp_path, [turn, DONE], settings=AUTO) as agent:
        task_id = await agent.finished()
        assert agent.notes() == ["one", "two"]
        results = await agent.results(task_id)
        assert len(results) == 3 and results["a"] == "wrote one"
        assert await _left_open(agent, task_id) == []


async def test_a_call_that_comes_twice_leaves_nothing_that_streams(tmp_path: Path) -> None:
    turn = [
        *call_tool("write_note", {"text": "one"}, id="a", stop=False),
        *call_tool("write_note", {"text": "one"}, id="a", index=1),
    ]
    async with running_agent(tmp_path, [turn, DONE], settings=AUTO) as agent:
        task_id = await agent.finished()
        assert agent.notes() == ["one"]
        assert await _left_open(agent, task_id) == []


async def test_a_call_that_never_ends_is_not_made_and_leaves_nothing_that_streams(tmp_path: Path) -> None:
    begun: list[Step] = [ToolCallStart(0, "a", "write_note"), ToolCallDelta(0, '{"text": "one"'), Stop("max_tokens")]
    turn: list[Step] = [TextDelta("Now "), UsageReport(input=1, output=1), *begun]
    async with running_agent(tmp_path, [turn, DONE], settings=AUTO) as agent:
        task_id = await agent.finished()
        assert agent.notes() == [] and list(await agent.results(task_id)) == ["end"]
        assert await _left_open(agent, task_id) == []


@pytest.mark.parametrize("kind", ["overflow", "network", "timeout", "tool_pairing", "broken_stream"])
async def test_a_failure_that_is_asked_about_does_not_say_that_the_agent_tries_again(
    kind: ErrorClass, tmp_path: Path
) -> None:
    settings = GlobalSettings(max_auto_retries=0)
    turn = [ModelError(ModelError("", kind=kind).remedy, kind=kind)]
    # What is remedied once is asked about the second time.
    async with running_agent(tmp_path, [turn, turn], settings=settings) as agent:
        task_id = await agent.start()
        text = (await agent.asked(task_id, "api_req_failed")).text or ""
        assert "agent" not in text and text.count(ModelError("", kind=kind).diagnosis) == 1


@pytest.mark.parametrize(
    ("status", "body", "parts"),
    [
        (401, "wrong key", {"status": 401, "raw": "wrong key"}),
        (418, "I am a teapot", {"status": 418, "particular": "I am a teapot"}),
    ],
)
async def test_a_failure_comes_in_parts_that_the_page_can_word(
    status: int, body: str, parts: dict[str, object], tmp_path: Path
) -> None:
    settings = GlobalSettings(max_auto_retries=0)
    async with running_agent(tmp_path, [[classify(status=status, body=body)]], settings=settings) as agent:
        failure = (await agent.asked(await agent.start(), "api_req_failed")).model_failure
        assert failure is not None and failure.parts is not None
        assert failure.parts.model_dump(exclude_none=True) == parts


async def test_a_retry_comes_in_parts_that_the_page_can_word(tmp_path: Path) -> None:
    broken = ModelError("", kind="overloaded")
    turns: list[Turn] = [[ModelError(broken.remedy, kind="overloaded", http_status=529)], DONE]
    async with running_agent(tmp_path, turns) as agent:
        [row] = await agent.says(await agent.finished(), "api_req_retry_delayed")
        assert row.model_failure is not None and row.model_failure.parts is not None
        assert row.model_failure.parts.model_dump(exclude_none=True) == {"status": 529}


async def test_a_broken_answer_is_explained_once(tmp_path: Path) -> None:
    settings = GlobalSettings(max_auto_retries=0)
    async with running_agent(tmp_path, [[TextDelta("Now ")], DONE], settings=settings) as agent:
        task_id = await agent.start()
        text = (await agent.asked(task_id, "api_req_failed")).text or ""
        assert text.count("\n\n") == 0 and "without saying why" in text


async def test_a_request_without_a_report_of_its_usage_does_not_empty_the_context(tmp_path: Path) -> None:
    silent: list[Step] = [
        step for step in call_tool("look", {"text": "b"}, id="2") if not isinstance(step, UsageReport)
    ]
    async with running_agent(tmp_path, [call_tool("look", {"text": "a"}, id="1"), silent, [60.0]]) as agent:
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 3)
        assert agent.task(task_id).state.usage.tokens().context_tokens == 15
