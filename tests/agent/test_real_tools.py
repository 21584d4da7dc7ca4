"""The loop with the real tools: files, the shell, the plan, and questions."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import TodoItem
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import ToolContext, ToolRegistry

from ._helpers.scripted_agent import running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
AUTO = GlobalSettings(
    auto_approval_enabled=True,
    always_allow_read_only=True,
    always_allow_write=True,
    always_allow_execute=True,
    allowed_commands=("*",),
)


async def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    turns = [
        call_tool("write_to_file", {"path": "a.txt", "content": "hello\n"}, id="w"),
        call_tool("read_file", {"path": "a.txt"}, id="r"),
        DONE,
    ]
    async with running_agent(tmp_path, turns, settings=AUTO, tools=ToolRegistry()) as agent:
        task_id = await agent.finished()
        assert (agent.workspace / "a.txt").read_text() == "hello\n"
        assert "hello" in (await agent.results(task_id))["r"]


async def test_a_command_runs_only_when_allowed(tmp_path: Path) -> None:
    turns = [call_tool("execute_command", {"command": "touch made"}, id="c"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "command")
        assert ask.text == "touch made"
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked")
        await agent.completed(task_id)
        assert not (agent.workspace / "made").exists()
        [ask] = await agent.asks(task_id, "command")
        assert (ask.is_answered, ask.denied, ask.failure) == (False, True, None)


async def test_a_call_that_fails_before_it_is_asked_about_is_shown_whole(tmp_path: Path) -> None:
    turns = [call_tool("read_file", {"path": "not-there.txt"}, id="r"), DONE]
    async with running_agent(tmp_path, turns, settings=AUTO, tools=ToolRegistry()) as agent:
        task_id = await agent.finished()
        assert "not-there.txt" in (await agent.results(task_id))["r"]
        [ask] = await agent.asks(task_id, "tool")
        assert (json.loads(ask.text or "")["path"], ask.partial, ask.is_answered) == ("not-there.txt", False, False)
        assert ask.denied is None
        assert "not-there.txt" in (ask.failure or "")


async def test_a_call_that_fails_after_it_was_approved_says_so_where_it_was_asked_about(tmp_path: Path) -> None:
    turns = [call_tool("write_to_file", {"path": "notes/a.txt", "content": "hello\n"}, id="w"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        (agent.workspace / "notes").write_text("in its way")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        [ask] = await agent.asks(task_id, "tool")
        assert (ask.is_answered, ask.denied) == (True, None)
        assert ask.failure
        assert ask.failure in (await agent.results(task_id))["w"]


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_a_command_that_is_killed_is_told_of_once(tmp_path: Path) -> None:
    turns = [call_tool("execute_command", {"command": "kill -9 $$"}, id="c"), DONE]
    async with running_agent(tmp_path, turns, settings=AUTO, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "command")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        [ask] = await agent.asks(task_id, "command")
        assert (ask.is_answered, ask.failure) == (True, None)


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_how_a_command_ended_is_known_after_a_restart_too(tmp_path: Path) -> None:
    turns = [call_tool("execute_command", {"command": "exit 3"}, id="c"), DONE]
    async with running_agent(tmp_path, turns, settings=AUTO, tools=ToolRegistry()) as agent:
        task_id = await agent.finished()
        [output] = await agent.says(task_id, "command_output")
        assert output.command_run is not None
        assert (output.text, output.partial) == ("", False)
        assert (output.command_run.state, output.command_run.exit_code) == ("exited", 3)
        assert output.command_run.duration_ms is not None


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_a_cancel_ends_a_running_command(tmp_path: Path) -> None:
    turns = [call_tool("execute_command", {"command": "echo $$ > pid; exec sleep 600"}, id="c"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "command")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        pid_file = agent.workspace / "pid"
        await until(lambda: pid_file.exists() and pid_file.read_text().strip())
        pid = int(pid_file.read_text())
        await agent.manager.cancel(task_id)
        await agent.asked(task_id, "resume_task")

        def gone() -> bool:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return True
            return False

        await until(gone)


async def test_the_plan_is_kept_and_comes_back(tmp_path: Path) -> None:
    turns = [
        call_tool("update_todo_list", {"todos": "[x] one\n[-] two\n[ ] three"}, id="t"),
        call_tool("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "This"}]}, id="q"),
    ]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        task = await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "followup")
        assert [todo.status for todo in task.state.todos] == ["completed", "in_progress", "pending"]
        await agent.manager.update_todos(task_id, [TodoItem(id="1", content="only this", status="pending")])
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "This")
        await agent.completed(task_id)
        assert "only this" in str(agent.model.requests[0].messages)


async def test_a_suggested_answer_is_taken_after_a_while_if_so_set(tmp_path: Path) -> None:
    settings = AUTO.model_copy(update={"always_allow_followup_questions": True})
    turns = [
        call_tool("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "This one"}]}, id="q"),
        DONE,
    ]
    async with running_agent(tmp_path, turns, settings=settings, tools=ToolRegistry()) as agent:
        task_id = await agent.finished()
        assert agent.slept == [60.0]
        assert "This one" in (await agent.results(task_id))["q"]


async def test_typing_stops_the_answer_that_would_be_taken(tmp_path: Path) -> None:
    settings = AUTO.model_copy(update={"always_allow_followup_questions": True})
    turns = [
        call_tool("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "This one"}]}, id="q"),
        DONE,
    ]
    async with running_agent(tmp_path, turns, settings=settings, tools=ToolRegistry()) as agent:

        async def long(seconds: float) -> None:
            await asyncio.sleep(0.1)

        object.__setattr__(agent.manager.services, "sleep", long)
        task_id = await agent.start()
        ask = await agent.asked(task_id, "followup")
        agent.manager.tasks.get(task_id).auto_answer.cancel()
        await asyncio.sleep(0.2)
        assert agent.task(task_id).state.dialogue.asks.is_open(ask.ts)


def test_what_a_task_gives_its_tools_is_what_they_ask_for() -> None:
    from hdsp_agent.agent.task.task_state import TaskState
    from hdsp_agent.agent.task.tool_context import CallContext, CallParts

    def context(state: TaskState, parts: CallParts) -> ToolContext:
        return CallContext(state, parts)

    assert callable(context)
