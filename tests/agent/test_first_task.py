"""One task from its first word to its result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.providers import call_tool, say

from ._helpers.scripted_agent import running_agent

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")


async def test_a_task_runs_to_its_result(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        task_id = await agent.start("Say hello")
        last = await agent.completed(task_id)
        assert last.ask == "completion_result"
        ui = await agent.ui(task_id)
        assert [message.say or message.ask for message in ui] == [
            "text",
            "api_req_started",
            "completion_result",
            "completion_result",
        ]
        assert agent.heard.shown[task_id] == {message.ts: message for message in ui}
        assert agent.names()[:4] == ["taskCreated", "taskFocused", "taskActive", "taskStarted"]
        assert agent.names()[-2:] == ["taskCompleted", "taskIdle"]
        assert agent.history.items[task_id].status == "completed"
        assert agent.history.items[task_id].task == "Say hello"


async def test_a_task_that_another_one_takes_the_place_of_loses_the_focus(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "Which?"}, id="q")
    async with running_agent(tmp_path, [question, DONE]) as agent:
        first = await agent.start("Ask")
        await agent.asked(first, "followup")
        second = await agent.finished("Finish")
    focus = [event for event in agent.events if event.event_name in ("taskFocused", "taskUnfocused")]
    assert [(event.event_name, event.payload) for event in focus] == [
        ("taskFocused", (first,)), ("taskUnfocused", (first,)), ("taskFocused", (second,))
    ]  # fmt: skip


async def test_a_tool_runs_after_it_was_approved(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("write_note", {"text": "one"}), DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        assert agent.notes() == []
        assert agent.manager.tasks.status(task_id) == "interactive"
        assert "taskAskResponded" not in agent.names()
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert agent.names().count("taskAskResponded") == 1
        assert agent.notes() == ["one"]
        assert (await agent.results(task_id))["call_1"] == "wrote one"


async def test_what_the_settings_allow_is_not_asked(tmp_path: Path) -> None:
    settings = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
    async with running_agent(tmp_path, [call_tool("write_note", {"text": "one"}), DONE], settings=settings) as agent:
        task_id = await agent.finished()
        assert agent.notes() == ["one"]
        assert [ask.is_answered for ask in await agent.asks(task_id, "tool")] == [True]


async def test_text_streams_in_pieces(tmp_path: Path) -> None:
    words = "Here is a longer answer that comes in pieces"
    turn = [*say(words)[:-1], *call_tool("attempt_completion", {"result": "ok"})]
    async with running_agent(tmp_path, [turn]) as agent:
        task_id = await agent.finished()
        texts = await agent.says(task_id, "text")
        assert texts[-1].text == words
        assert texts[-1].partial is False
        assert sum(kind == "delta" for kind, *_ in agent.heard.log) > 3


async def test_the_metadata_say_where_a_task_came_from_and_what_it_began_with(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        task_id = await agent.manager.start(TaskRequest("Say hello", owner="kim", source="cli"))
        await agent.completed(task_id)
        metadata = (await agent.store.view(task_id)).metadata
        key = metadata.task_key
        assert (metadata.user, key.owner, key.task_source) == ("kim", "kim", "cli")
        assert (key.task_type, key.task_id, key.repo) == ("conversation", task_id, Path(metadata.workspace or "").name)
        assert set(metadata.config) == {"llm_provider", "model", "context_length", "compression_threshold"}
        assert (metadata.config["llm_provider"], metadata.config["compression_threshold"]) == ("fake-ai", 1.0)
        fork = await agent.manager.messages.fork(task_id, (await agent.ui(task_id))[0].ts)
        forked = (await agent.store.view(fork)).metadata
        assert forked.task_key.task_id == fork
        assert forked.config["llm_provider"] == "fake-ai"


async def test_the_log_has_a_line_with_the_tasks_id_for_each_thing_it_does(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "hdsp_agent")
    async with running_agent(tmp_path, [call_tool("write_note", {"text": "secret words"}), DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
    mark = f"[uuid:{task_id[:8]}] "
    lines = [record.message.removeprefix(mark) for record in caplog.records if record.message.startswith(mark)]
    kinds = [" ".join(re.split(r"[ #(:]+", line)[:2]) for line in lines]
    assert kinds == [
        "Task started", "Work begins", "Model call", "Tool write_note", "Model call", "Tool attempt_completion", "Work ended"
    ]  # fmt: skip
    assert not any("secret" in line for line in lines)


async def test_a_trusted_folder_sets_nothing_that_the_operator_has_fixed(tmp_path: Path) -> None:
    file = tmp_path / "work" / ".hdsp" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"maxWorkspaceFiles": 500, "includeCurrentTime": false}', encoding="utf-8")
    fixed = OperatorPolicy(fixed_settings={"maxWorkspaceFiles": 7})
    mine = GlobalSettings(max_workspace_files=7)
    turns = [call_tool("write_note", {"text": "x"})]
    async with running_agent(tmp_path, turns, settings=mine, policy=fixed, trusted=True) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "tool")
        settings = agent.manager.tasks.get(task_id).state.settings
        assert (settings.max_workspace_files, settings.include_current_time) == (7, False)
