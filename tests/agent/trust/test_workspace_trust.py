"""A whole agent in a folder: what the folder brings is in no request before it is trusted, and in those that follow."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from hdsp_agent.agent import IpcCommandSession, TaskRequest
from hdsp_agent.config import OperatorPolicy, TrustedFolders
from hdsp_agent.errors import InvalidInput
from hdsp_agent.messages import (
    CommandsResponse,
    GetCommandsCommand,
    GetModesCommand,
    ModesResponse,
    StartNewTaskCommand,
    StartNewTaskData,
    TaskId,
)
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import ToolRegistry

from ..._helpers.model_gateway import gateway
from ..._helpers.model_server import ModelServer
from .._helpers.provider_agent import ProviderAgent, agent_behind, call, completion, sent_by, turn
from .._helpers.scripted_agent import running_agent, until

MARKS = ("rule of the folder", "agents file of the folder", "folder's mode", "Folder mode", "pattern of the folder")
QUESTION: dict[str, JsonValue] = {"question": "Go on?", "follow_up": [{"text": "Yes"}]}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def fill(work: Path) -> None:
    """A folder that tries everything."""
    modes = [
        {
            "slug": "own",
            "name": "Folder mode",
            "roleDefinition": "folder's mode",
            "groups": ["read", "edit", "command"],
        },
        {
            "slug": "code",
            "name": "Code",
            "roleDefinition": "folder's mode",
            "groups": ["read", "edit", "command", "mcp"],
        },
    ]
    write(work / ".hdspmodes", json.dumps({"customModes": modes}))
    write(work / ".hdsp/rules/a.md", "rule of the folder")
    write(work / ".hdsp/rules-code/b.md", "rule of the folder")
    write(work / "AGENTS.md", "agents file of the folder")
    write(work / ".hdspignore", "# pattern of the folder\nsecret.txt\n")
    write(work / ".hdsp/commands/ship.md", "rule of the folder")
    write(work / "secret.txt", "hidden")


def found_in(body: dict[str, Any]) -> set[str]:
    return {mark for mark in MARKS if mark in json.dumps(body)}


async def answer(agent: ProviderAgent, task_id: TaskId, text: str) -> None:
    question = await agent.asked(task_id, "followup")
    await agent.manager.answer(task_id, question.ts, "messageResponse", text)


async def test_nothing_of_a_folder_is_told_until_it_is_trusted_and_none_after_that_ended(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.answer(
        turn(0, call("read_file", "call_0", path="secret.txt")),
        *(turn(number, call("ask_followup_question", f"call_{number}", **QUESTION)) for number in (1, 2, 3)),
        completion(4),
    )
    async with agent_behind(gateway(model_server), home=tmp_path, protocol="anthropic") as (server, agent):
        fill(agent.workspace)
        folders, names = agent.config.trusted_folders, agent.manager.services.modes.names
        task_id = await agent.start("Do it")
        await agent.asked(task_id, "followup")
        assert "own" not in [mode.slug for mode in await names(str(agent.workspace))]
        await asyncio.to_thread(folders.decide, agent.workspace, True)
        await answer(agent, task_id, "/ship")
        await until(lambda: len(sent_by(server.requests)) == 3)
        assert "own" in [mode.slug for mode in await names(str(agent.workspace))]
        await agent.asked(task_id, "followup")
        await asyncio.to_thread(folders.decide, agent.workspace, False)
        await answer(agent, task_id, "/ship")
        await until(lambda: len(sent_by(server.requests)) == 4)
        await answer(agent, task_id, "and now")
        await agent.ended(task_id)
    first, told, trusted, distrusted, _ = bodies = sent_by(server.requests)
    assert found_in(first) == found_in(told) == set()
    # What only narrows holds without trust.
    assert "keeps some files from you" in json.dumps(first["system"])
    assert "hidden from you by .hdspignore" in json.dumps(told["messages"])
    assert found_in(trusted) == set(MARKS)
    # The prompt is made anew without it, and told that what it said before counts no more; what was said stays said.
    assert found_in(distrusted["system"]) == set()
    assert "/ship" in json.dumps(distrusted["messages"][-1])
    assert found_in({"last": distrusted["messages"][-1]}) == set()
    assert len(bodies) == 5


async def test_a_conversation_that_was_begun_in_trust_is_taken_up_without(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.answer(turn(0, call("ask_followup_question", "call_0", **QUESTION)), completion(1))
    async with agent_behind(gateway(model_server), home=tmp_path, protocol="anthropic", trusted=True) as (
        server,
        agent,
    ):
        fill(agent.workspace)
        task_id = await agent.start("Do it")
        question = await agent.asked(task_id, "followup")
        await agent.manager.tasks.close(task_id)
        await asyncio.to_thread(agent.config.trusted_folders.decide, agent.workspace, None)
        await agent.manager.answer(task_id, question.ts, "messageResponse", "Go on")
        await agent.ended(task_id)
    before, after = sent_by(server.requests)
    assert found_in(before["system"]) == set(MARKS)
    assert found_in(after["system"]) == set()


async def test_programs_outside_get_only_what_the_person_trusted_before(tmp_path: Path) -> None:
    fill(tmp_path / "work")
    done = call_tool("attempt_completion", {"result": "All done"}, id="end")
    async with running_agent(tmp_path, [done], tools=ToolRegistry()) as agent:
        program = IpcCommandSession.of(agent.manager)

        async def offered() -> set[str]:
            modes = await program.command(GetModesCommand())
            commands = await program.command(GetCommandsCommand())
            assert isinstance(modes, ModesResponse) and isinstance(commands, CommandsResponse)
            return {"own", "ship"} & {
                *(mode.slug for mode in modes.payload[0]),
                *(command.name for command in commands.payload[0]),
            }

        assert await offered() == set()
        wanted = StartNewTaskData(text="Do it", configuration={"mode": "own"})
        with pytest.raises(InvalidInput, match="no mode own"):
            await program.command(StartNewTaskCommand(data=wanted))
        folders = TrustedFolders(tmp_path / "home", OperatorPolicy)
        await asyncio.to_thread(folders.decide, agent.workspace, True)
        assert await offered() == {"own", "ship"}


async def test_a_conversation_in_a_folders_mode_goes_on_in_its_own_when_the_trust_ends(tmp_path: Path) -> None:
    fill(tmp_path / "work")
    ask = call_tool("ask_followup_question", QUESTION, id="q")
    done = call_tool("attempt_completion", {"result": "All done"}, id="end")
    async with running_agent(tmp_path, [ask, done], tools=ToolRegistry(), trusted=True) as agent:
        task_id = await agent.manager.start(TaskRequest("Do it", mode="own"))
        question = await agent.asked(task_id, "followup")
        assert agent.manager.tasks.get(task_id).state.mode.slug == "own"
        # By another program of the same person, as far as this one knows.
        other = TrustedFolders(tmp_path / "home", OperatorPolicy)
        await asyncio.to_thread(other.decide, agent.workspace, False)
        await agent.manager.answer(task_id, question.ts, "messageResponse", "Go on")
        await agent.completed(task_id)
        assert agent.history.items[task_id].mode == "code"
        with pytest.raises(InvalidInput, match="no mode own"):
            await agent.manager.start(TaskRequest("Do it", mode="own"))
