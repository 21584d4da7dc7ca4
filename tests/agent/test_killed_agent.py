"""Killed without warning at the worst moments: the next process goes on, and nothing runs twice."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import TaskId
from hdsp_agent.providers import call_tool
from tests._helpers.forked_python import forked_python

from ._helpers.scripted_agent import running_agent, until

ROOT = Path(__file__).parents[2]
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_write=True, always_allow_subtasks=True)


async def killed(home: Path, scenario: str) -> TaskId:
    """Let an agent work until the moment of the scenario, at which it is killed."""
    process = await asyncio.create_subprocess_exec(
        forked_python(),
        "-m",
        "tests.agent._helpers.killed_agent",
        str(home),
        scenario,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == -signal.SIGKILL
    return TaskId(out.decode().strip())


@pytest.mark.each_backend
async def test_while_an_approval_waits(tmp_path: Path) -> None:
    task_id = await killed(tmp_path, "approval")
    async with running_agent(tmp_path, [DONE]) as agent:
        assert agent.notes() == []
        [ask] = await agent.asks(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == ["one"]
        assert len(await agent.asks(task_id, "tool")) == 1


@pytest.mark.parametrize("settings", [GlobalSettings(), AUTO], ids=["asking", "approving"])
async def test_while_a_tool_runs(tmp_path: Path, settings: GlobalSettings) -> None:
    task_id = await killed(tmp_path, "tool")
    async with running_agent(tmp_path, [DONE], settings=settings) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        results = await agent.results(task_id)
        assert results["w"] == "wrote one" and "interrupted" in results["s"]
        assert agent.notes() == ["one"]
        assert (agent.workspace / "slow.txt").read_text() == "began\n"


@pytest.mark.each_backend
async def test_while_the_model_streams(tmp_path: Path) -> None:
    task_id = await killed(tmp_path, "stream")
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        _, text = await agent.says(task_id, "text")
        assert (text.text or "").startswith("Half an answer") and text.partial is False
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        said = [str(message.content) for message in agent.model.requests[0].messages if message.role == "assistant"]
        assert len(said) == 1 and (text.text or "x") in said[0] and "interrupted" in said[0]


async def test_while_a_subtask_works(tmp_path: Path) -> None:
    parent = await killed(tmp_path, "subtask")
    child_done = call_tool("attempt_completion", {"result": "It is 42"}, id="child-end")
    async with running_agent(tmp_path, [child_done, DONE], settings=AUTO) as agent:
        state = await (await agent.store.view(parent)).read_state()
        assert state.history_item is not None
        child = TaskId(state.history_item.awaiting_child_id or "")
        await agent.manager.resume(child)
        ask = await agent.asked(child, "resume_task")
        await agent.manager.answer(child, ask.ts, "yesButtonClicked")
        await until(lambda: len(agent.model.requests) == 2 and not agent.manager.tasks.open)
        assert "It is 42" in (await agent.results(parent))["sub"]


@pytest.mark.each_backend
async def test_with_messages_in_the_queue(tmp_path: Path) -> None:
    task_id = await killed(tmp_path, "queue")
    async with running_agent(tmp_path, [DONE]) as agent:
        task = await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "tool")
        assert [message.text for message in task.state.queue.messages] == ["and then that"]
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == []
        assert [message.text for message in await agent.says(task_id, "user_feedback")] == ["and then that"]
