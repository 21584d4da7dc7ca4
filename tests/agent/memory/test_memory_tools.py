"""The agent remembers, forgets, searches and reads, and asks before it changes what later conversations are told."""

from __future__ import annotations

import json
from pathlib import Path

from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.memory import Memories
from hdsp_agent.providers import call_tool
from hdsp_agent.providers._scripted import Step
from hdsp_agent.tools import ToolRegistry

from .._helpers.scripted_agent import Agent, running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
UNASKED = GlobalSettings(auto_approval_enabled=True, always_allow_write=True, always_allow_read_only=True)


def remember(text: str, **more: object) -> list[Step]:
    return call_tool("remember", {"text": text, **more})


def notes_of(home: Path) -> list[str]:
    memories = Memories(home / "home", "", lambda folder: None)
    return [note.text for note in memories.notes(None).person().read().notes]


async def answered(agent: Agent, response: str = "yesButtonClicked", **more: object) -> str:
    """Start a task, answer its question, and give what the model was told."""
    task_id = await agent.start("Please remember that")
    ask = await agent.asked(task_id, "tool")
    await agent.manager.answer(task_id, ask.ts, response, **more)  # type: ignore[arg-type]  # passed on
    await agent.completed(task_id)
    return (await agent.results(task_id))["call_1"]


async def test_a_note_is_asked_about_also_where_edits_are_not(tmp_path: Path) -> None:
    turns = [remember("Always use polars"), DONE]
    async with running_agent(tmp_path, turns, settings=UNASKED, tools=ToolRegistry()) as agent:
        told = await answered(agent)
        assert "Always use polars" in told and notes_of(tmp_path) == ["Always use polars"]


async def test_what_was_denied_is_not_kept(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [remember("x"), DONE], tools=ToolRegistry()) as agent:
        assert "denied" in await answered(agent, "noButtonClicked")
        assert notes_of(tmp_path) == []


async def test_a_person_may_edit_the_note_first(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [remember("Use pandas"), DONE], tools=ToolRegistry()) as agent:
        told = await answered(agent, edited=("Use polars",))
        assert notes_of(tmp_path) == ["Use polars"] and "Use polars" in told


async def test_a_secret_is_not_kept(tmp_path: Path) -> None:
    key = "sk-" + "ant-api03-" + "Zz9" * 30
    async with running_agent(tmp_path, [remember(f"The key is {key}"), DONE], tools=ToolRegistry()) as agent:
        await answered(agent)
        [note] = notes_of(tmp_path)
        assert key not in note and "[REDACTED_SECRET]" in note


async def test_a_note_takes_the_place_of_another_and_can_be_forgotten(tmp_path: Path) -> None:
    memories = Memories(tmp_path / "home", "", lambda folder: None)
    note = memories.notes(None).person().add("Use pandas", day="2026-01-01")
    turns = [
        remember("Use polars", replaces=note.id),
        [*call_tool("forget", {"ids": [note.id]}, id="call_2")],
        [*call_tool("forget", {"ids": [note.id]}, id="call_3")],
        DONE,
    ]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.start("Decide anew")
        ask = await agent.asked(task_id, "tool")
        shown = json.loads(ask.text or "")
        assert (shown["content"], shown["originalContent"]) == ("Use polars", "Use pandas")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        ask = await agent.asked(task_id, "tool", after=ask.ts)
        assert notes_of(tmp_path) == ["Use polars"]
        assert json.loads(ask.text or "") == {"tool": "forget", "content": "- Use polars"}
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        results = await agent.results(task_id)
        assert notes_of(tmp_path) == [] and "There is no note" in results["call_3"]


async def test_what_is_remembered_is_found_and_read_without_asking(tmp_path: Path) -> None:
    memories = Memories(tmp_path / "home", "", lambda folder: None)
    memories.notes(None).person().add("컬럼 이름은 snake_case로 쓴다", day="2026-01-01")
    folder = memories.folder(None)
    folder.write("MEMORY.md", "# Task Group: churn\n\n## Task 1: clean\n### learnings\n- ages are in months [aaaa]\n")
    folder.write("rollout_summaries/2026-01-01T00-00-00-aaaa-churn.md", "churn.csv has 12 columns\n")
    turns = [
        call_tool("search_memory", {"query": "ages of churn"}),
        call_tool("search_memory", {"query": "snake_case 컬럼"}, id="call_2"),
        call_tool("read_memory", {"path": "rollout_summaries/2026-01-01T00-00-00-aaaa-churn.md"}, id="call_3"),
        call_tool("search_memory", {"query": "kubernetes"}, id="call_4"),
        call_tool("read_memory", {"path": "../profile.md"}, id="call_5"),
        call_tool("read_memory", {"path": "extracted/x.json"}, id="call_6"),
        DONE,
    ]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.finished("Look")
        results = await agent.results(task_id)
    assert results["call_1"].startswith("MEMORY.md:") and "ages are in months" in results["call_1"]
    assert "snake_case" in results["call_2"]
    assert "12 columns" in results["call_3"]
    assert "Nothing that is remembered" in results["call_4"]
    assert "is no name of a memory file" in results["call_5"] and "There is no memory file" in results["call_6"]


async def test_the_operator_can_take_the_tools_away(tmp_path: Path) -> None:
    policy = OperatorPolicy(allowed_tools=("attempt_completion",))
    async with running_agent(tmp_path, [remember("x"), DONE], tools=ToolRegistry(), policy=policy) as agent:
        task_id = await agent.finished("Remember")
        assert "no tool remember" in (await agent.results(task_id))["call_1"]
        assert notes_of(tmp_path) == []


async def test_what_is_remembered_is_told_once_and_again_when_it_is_different(tmp_path: Path) -> None:
    memories = Memories(tmp_path / "home", "", lambda folder: None)
    memories.notes(None).person().add("Use polars", day="2026-01-01")
    turns = [
        call_tool("list_files", {"path": "."}, id="call_0"),
        remember("Plots have a title"),
        DONE,
        DONE,
    ]
    async with running_agent(tmp_path, turns, settings=UNASKED, tools=ToolRegistry()) as agent:
        task_id = await agent.start("Please remember that")
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        await agent.manager.send(task_id, "Go on")
        await until(lambda: len(agent.model.requests) == 4)
        await agent.completed(task_id)
        told = [str(request.messages) for request in agent.model.requests]
    # What the agent itself remembered it knows; all is told when the person speaks the next time.
    assert [text.count("Use polars") for text in told] == [1, 1, 1, 2]
    assert "In place of what it said before" in told[3] and "Plots have a title (" in told[3]
