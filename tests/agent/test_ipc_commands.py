"""The commands of programs outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.agent import AskNotOpen, IpcCommandSession, TaskManager, TaskRequest
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.errors import Conflict, ForbiddenByOperator, InvalidInput, NotFound, UnknownProfile
from hdsp_agent.messages import (
    AnswerAskCommand,
    AnswerAskData,
    CancelTaskCommand,
    CloseTaskCommand,
    CommandsResponse,
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
    TaskToolFailed,
)
from hdsp_agent.providers import call_tool

from ._helpers.scripted_agent import running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
WRITE = call_tool("write_note", {"text": "one"})


def start(text: str, **configuration: object) -> StartNewTaskCommand:
    return StartNewTaskCommand(data=StartNewTaskData.model_validate({"configuration": configuration, "text": text}))


async def test_a_task_is_started_with_settings_of_its_own(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        program = IpcCommandSession.of(agent.manager)
        await program.command(
            start("Go", autoApprovalEnabled=True, alwaysAllowWrite=True, mode="debug", apiProvider="fake-ai")
        )
        task_id = agent.manager.tasks.current
        assert task_id is not None
        await agent.completed(task_id)
        assert agent.notes() == ["one"]
        assert agent.history.items[task_id].mode == "debug"
        metadata = (await agent.store.view(task_id)).metadata
        assert metadata.config["settings"] == {"autoApprovalEnabled": True, "alwaysAllowWrite": True, "mode": "debug"}


async def test_the_operator_has_the_last_word_on_settings(tmp_path: Path) -> None:
    policy = OperatorPolicy(allow_auto_approval=False)
    async with running_agent(tmp_path, [WRITE, DONE], policy=policy) as agent:
        program = IpcCommandSession.of(agent.manager)
        await program.command(start("Go", autoApprovalEnabled=True, alwaysAllowWrite=True))
        assert agent.manager.tasks.current is not None
        await agent.asked(agent.manager.tasks.current, "tool")
        assert agent.notes() == []


async def test_a_mode_the_operator_forbids_is_refused(tmp_path: Path) -> None:
    policy = OperatorPolicy(allowed_modes=("ask",))
    async with running_agent(tmp_path, policy=policy, settings=GlobalSettings(mode="ask")) as agent:
        program = IpcCommandSession.of(agent.manager)
        with pytest.raises(ForbiddenByOperator):
            await program.command(start("Go", mode="code"))


async def test_settings_that_cannot_be_are_refused_before_a_task_exists(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        program = IpcCommandSession.of(agent.manager)
        with pytest.raises(InvalidInput):
            await program.command(start("Go", allowedMaxRequests="many"))
        assert await agent.store.tasks() == []


async def test_words_queue_while_an_approval_waits(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        program = IpcCommandSession.of(agent.manager)
        await program.command(start("Go"))
        task_id = agent.manager.tasks.current
        assert task_id is not None
        await agent.asked(task_id, "tool")
        await program.command(SendMessageCommand(data=SendMessageData(text="yes")))
        [queued] = agent.task(task_id).state.queue.messages
        await program.command(DeleteQueuedMessageCommand(data=queued.id))
        assert agent.task(task_id).state.queue.messages == []
        assert agent.notes() == []


async def test_cancel_close_and_resume_mean_the_current_task(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], DONE]) as agent:
        program = IpcCommandSession.of(agent.manager)
        await program.command(start("Go"))
        task_id = agent.manager.tasks.current
        assert task_id is not None
        await until(lambda: agent.model.requests or None)
        await program.command(CancelTaskCommand())
        await agent.asked(task_id, "resume_task")
        await program.command(CloseTaskCommand())
        assert agent.manager.tasks.open == [] and agent.manager.tasks.current is None
        with pytest.raises(NotFound):
            await program.command(CancelTaskCommand())
        await program.command(ResumeTaskCommand(data=task_id))
        await agent.asked(task_id, "resume_task")
        await program.command(SendMessageCommand(data=SendMessageData(text="go on")))
        await agent.completed(task_id)


async def test_questions_are_answered_to_the_asking_client(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        program = IpcCommandSession.of(agent.manager)
        modes = await program.command(GetModesCommand())
        assert isinstance(modes, ModesResponse)
        assert {"code", "ask", "architect"} <= {mode.slug for mode in modes.payload[0]}
        commands = await program.command(GetCommandsCommand())
        assert isinstance(commands, CommandsResponse)
        assert {"explain", "fix"} <= {command.name for command in commands.payload[0]}
        assert await program.command(GetModelsCommand()) is not None


async def test_a_task_without_words_is_refused(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        program = IpcCommandSession.of(agent.manager)
        with pytest.raises(InvalidInput):
            await program.command(start("  "))


# ---- which task is meant


async def test_each_program_means_the_task_it_began(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], [60.0]]) as agent:
        one, two = IpcCommandSession.of(agent.manager), IpcCommandSession.of(agent.manager)
        await one.command(start("First"))
        await two.command(start("Second"))
        first, second = one.task, two.task
        assert first is not None and second is not None
        await until(lambda: len(agent.model.requests) == 2)
        await one.command(CancelTaskCommand())
        await agent.asked(first, "resume_task")
        assert agent.task(second).state.dialogue.asks.open == []
        await two.command(CloseTaskCommand())
        assert agent.manager.tasks.open == [first]


async def test_a_program_that_named_none_means_the_only_task_at_work(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], [60.0]]) as agent:
        begun = IpcCommandSession.of(agent.manager)
        await begun.command(start("First"))
        first = begun.task
        assert first is not None
        await IpcCommandSession.of(agent.manager).command(SendMessageCommand(data=SendMessageData(text="hello")))
        assert [message.text for message in agent.task(first).state.queue.messages] == ["hello"]
        await begun.command(start("Second"))
        guess = IpcCommandSession.of(agent.manager)
        with pytest.raises(Conflict, match=first):
            await guess.command(CloseTaskCommand())
        assert len(agent.manager.tasks.open) == 2
        await guess.command(SendMessageCommand(task_id=first, data=SendMessageData(text="again")))
        # From then on it is meant.
        await guess.command(CloseTaskCommand())
        assert agent.manager.tasks.open == [begun.task]


async def test_a_program_never_means_another_persons_task_unless_it_names_it(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0]]) as agent:
        task_id = await agent.manager.start(TaskRequest("Hers", owner="her"))

        async def manager() -> TaskManager:
            return agent.manager

        program = IpcCommandSession(manager, "me")
        with pytest.raises(NotFound):
            await program.command(CancelTaskCommand())
        await program.command(CloseTaskCommand(task_id=task_id))
        assert agent.manager.tasks.open == []


async def test_a_subtask_acts_for_the_task_that_waits_for_it(tmp_path: Path) -> None:
    auto = GlobalSettings(auto_approval_enabled=True, always_allow_subtasks=True)
    begin = call_tool("new_task", {"mode": "ask", "message": "Find it"}, id="sub")
    async with running_agent(tmp_path, [begin, [60.0], DONE, DONE], settings=auto) as agent:
        program = IpcCommandSession.of(agent.manager)
        await program.command(start("Go"))
        parent = program.task
        await until(lambda: len(agent.model.requests) == 2)
        [child] = agent.manager.tasks.open
        assert child != parent
        await program.command(CancelTaskCommand())
        await agent.asked(child, "resume_task")
        await program.command(SendMessageCommand(data=SendMessageData(text="go on")))
        await until(lambda: not agent.manager.tasks.open)
        assert program.task == parent
        assert "go on" in str(agent.model.requests[2].messages)


# ---- answering


async def test_a_question_is_approved_by_its_time_and_only_once(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        program = IpcCommandSession.of(agent.manager)
        await program.command(start("Go"))
        assert program.task is not None
        ask = await agent.asked(program.task, "tool")
        yes = AnswerAskData(message_ts=ask.ts, ask_response="yesButtonClicked", text="and be brief")
        with pytest.raises(AskNotOpen):
            await program.command(AnswerAskCommand(data=yes.model_copy(update={"message_ts": ask.ts + 1})))
        assert agent.notes() == []
        await program.command(AnswerAskCommand(data=yes))
        await agent.completed(program.task)
        assert agent.notes() == ["one"]
        with pytest.raises(AskNotOpen):
            await program.command(AnswerAskCommand(data=yes))


async def test_programs_hear_of_a_failure_without_its_secrets(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "x1Y2" * 20
    broken = call_tool("broken", {"text": f"refused the key {secret}"})
    async with running_agent(tmp_path, [broken, DONE]) as agent:
        program = IpcCommandSession.of(agent.manager)
        await program.command(start("Go"))
        assert program.task is not None
        await agent.completed(program.task)
        [failed] = [event for event in agent.events if isinstance(event, TaskToolFailed)]
        assert "refused the key" in failed.payload[2]
        assert secret not in failed.payload[2]
        assert (failed.payload[1], failed.tool) == ("custom_tool", "broken")


# ---- the settings of one task


@pytest.mark.parametrize(
    "foreign",
    [
        {"apiKey": "sk-ant-secret"},
        {"apiProvider": "anthropic", "apiModelId": "claude"},
        {"openRouterApiKey": "sk-or-secret", "currentApiConfigName": "code-profile"},
    ],
)
async def test_another_model_or_key_is_refused_by_name_and_nothing_is_kept(
    foreign: dict[str, str], tmp_path: Path
) -> None:
    async with running_agent(tmp_path) as agent:
        program = IpcCommandSession.of(agent.manager)
        with pytest.raises(InvalidInput, match=next(iter(foreign))) as refused:
            await program.command(start("Go", **foreign))
        assert "secret" not in refused.value.message
        assert await agent.store.tasks() == []


async def test_a_profile_is_chosen_by_its_name(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        program = IpcCommandSession.of(agent.manager)
        with pytest.raises(UnknownProfile):
            await program.command(start("Go", currentApiConfigName="nobody's"))
        with pytest.raises(InvalidInput):
            await program.command(start("Go", currentApiConfigName=7))
        await program.command(start("Go", currentApiConfigName="other-profile", apiProvider="fake-ai"))
        assert program.task is not None
        await agent.completed(program.task)
        assert agent.history.items[program.task].api_config_name == "other-profile"
