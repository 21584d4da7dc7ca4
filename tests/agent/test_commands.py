"""The commands of programs outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.errors import ForbiddenByOperator, InvalidInput, NotFound
from hdsp_agent.messages import (
    CancelTaskCommand,
    CloseTaskCommand,
    DeleteQueuedMessageCommand,
    GetCommandsCommand,
    GetModelsCommand,
    GetModesCommand,
    ModesResponse,
    ResumeTaskCommand,
    SendMessageCommand,
    SendMessageData,
    StartNewTaskCommand,
    StartNewTaskData,
)
from hdsp_agent.providers import call_tool

from .scripted_agent import running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
WRITE = call_tool("write_note", {"text": "one"})


def start(text: str, **configuration: object) -> StartNewTaskCommand:
    return StartNewTaskCommand(data=StartNewTaskData.model_validate({"configuration": configuration, "text": text}))


async def test_a_task_is_started_with_settings_of_its_own(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        await agent.manager.command(
            start("Go", autoApprovalEnabled=True, alwaysAllowWrite=True, mode="debug", apiKey="k")
        )
        task_id = agent.manager.current
        assert task_id is not None
        await agent.completed(task_id)
        assert agent.notes() == ["one"]
        assert agent.history.items[task_id].mode == "debug"
        metadata = (await agent.store.view(task_id)).metadata
        assert metadata.config == {"settings": {"autoApprovalEnabled": True, "alwaysAllowWrite": True, "mode": "debug"}}


async def test_the_operator_has_the_last_word_on_settings(tmp_path: Path) -> None:
    policy = OperatorPolicy(allow_auto_approval=False)
    async with running_agent(tmp_path, [WRITE, DONE], policy=policy) as agent:
        await agent.manager.command(start("Go", autoApprovalEnabled=True, alwaysAllowWrite=True))
        assert agent.manager.current is not None
        await agent.asked(agent.manager.current, "tool")
        assert agent.notes() == []


async def test_a_mode_the_operator_forbids_is_refused(tmp_path: Path) -> None:
    policy = OperatorPolicy(allowed_modes=("ask",))
    async with running_agent(tmp_path, policy=policy, settings=GlobalSettings(mode="ask")) as agent:
        with pytest.raises(ForbiddenByOperator):
            await agent.manager.command(start("Go", mode="code"))


async def test_settings_that_cannot_be_are_refused_before_a_task_exists(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        with pytest.raises(InvalidInput):
            await agent.manager.command(start("Go", allowedMaxRequests="many"))
        assert await agent.store.tasks() == []


async def test_words_queue_while_an_approval_waits(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        await agent.manager.command(start("Go"))
        task_id = agent.manager.current
        assert task_id is not None
        await agent.asked(task_id, "tool")
        await agent.manager.command(SendMessageCommand(data=SendMessageData(text="yes")))
        [queued] = agent.task(task_id).queue.messages
        await agent.manager.command(DeleteQueuedMessageCommand(data=queued.id))
        assert agent.task(task_id).queue.messages == []
        assert agent.notes() == []


async def test_cancel_close_and_resume_mean_the_current_task(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], DONE]) as agent:
        await agent.manager.command(start("Go"))
        task_id = agent.manager.current
        assert task_id is not None
        await until(lambda: agent.model.requests or None)
        await agent.manager.command(CancelTaskCommand())
        await agent.asked(task_id, "resume_task")
        await agent.manager.command(CloseTaskCommand())
        assert agent.manager.open == [] and agent.manager.current is None
        with pytest.raises(NotFound):
            await agent.manager.command(CancelTaskCommand())
        await agent.manager.command(ResumeTaskCommand(data=task_id))
        await agent.asked(task_id, "resume_task")
        await agent.manager.command(SendMessageCommand(data=SendMessageData(text="go on")))
        await agent.completed(task_id)


async def test_questions_are_answered_to_the_asking_client(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        modes = await agent.manager.command(GetModesCommand())
        assert isinstance(modes, ModesResponse)
        assert {"code", "ask", "architect"} <= {mode.slug for mode in modes.payload[0]}
        assert await agent.manager.command(GetCommandsCommand()) is not None
        assert await agent.manager.command(GetModelsCommand()) is not None


async def test_a_task_without_words_is_refused(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        with pytest.raises(InvalidInput):
            await agent.manager.command(start("  "))
