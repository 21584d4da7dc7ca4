"""The run that makes one memory of many: what it can reach, whom it asks, and what ends it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskManager
from hdsp_agent.agent.memory import LoopConsolidator, consolidator
from hdsp_agent.config import GlobalSettings
from hdsp_agent.memory import MemoryFolder
from hdsp_agent.memory.model_port import ConsolidationBrief, ConsolidationFailed, ModelNeededElsewhere
from hdsp_agent.memory.run_log import RunCost
from hdsp_agent.messages import JsonObject
from hdsp_agent.providers import ModelRequest, ScriptedModel, Stop, UsageReport, call_tool
from hdsp_agent.providers._scripted import Step, Turn

from ...memory._helpers.held_model import HeldModel
from ...memory._helpers.memory_home import AgentModels, OneModel

DONE = call_tool("attempt_completion", {"result": "Written."}, id="end")


@pytest.fixture
def folder(tmp_path: Path) -> MemoryFolder:
    """Where a run works: in a hidden folder of the person's memory."""
    staged = MemoryFolder(tmp_path / "memories" / ".staging-1")
    staged.make()
    return staged


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the run answered to questions that somebody would have been asked."""
    given: list[object] = []
    answer = TaskManager.answer

    async def noted(self: TaskManager, task_id: object, ask_ts: object, response: object) -> None:
        given.append(response)
        await answer(self, task_id, ask_ts, response)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(TaskManager, "answer", noted)
    return given


async def consolidate(
    folder: MemoryFolder,
    model: ScriptedModel,
    *,
    problem: Callable[[], str | None] = lambda: None,
    busy: Callable[[], bool] = lambda: False,
    most_cost: float | None = None,
) -> RunCost:
    run = LoopConsolidator(AgentModels(model), OneModel(model, busy), GlobalSettings, lambda: "default")
    brief = ConsolidationBrief(
        mode="init",
        changed={},
        codes={"aaaa": "rollout_summaries/one.md"},
        edits={},
        notes="",
        problem=problem,
        most_cost=most_cost,
    )
    return await run.consolidate(folder, brief)


def write(path: str, text: str = "STOLEN", *, id: str = "call_1") -> list[Step]:
    return call_tool("write_to_file", {"path": path, "content": text}, id=id)


def results(request: ModelRequest) -> dict[str, JsonObject]:
    """What the model was told its calls gave."""
    blocks = [block for message in request.messages if isinstance(message.content, list) for block in message.content]
    return {str(block["tool_use_id"]): block for block in blocks if block.get("type") == "tool_result"}


def files(place: Path) -> dict[str, str]:
    return {str(path.relative_to(place)): path.read_text() for path in place.rglob("*") if path.is_file()}


def outside(tmp_path: Path, folder: MemoryFolder) -> Path:
    """A folder elsewhere, with a file that links inside the run's folder lead to."""
    place = tmp_path / "outside"
    place.mkdir()
    (place / "old.md").write_text("SECRET")
    (folder.root / "linked").symlink_to(place, target_is_directory=True)
    (folder.root / "linked.md").symlink_to(place / "old.md")
    (folder.root / "dangling.md").symlink_to(place / "new.md")
    return place


PATHS = [
    "../x.md",
    "../MEMORY.md",
    "notes/../../x.md",
    "{tmp}/outside/x.md",
    "{tmp}/memories/x.md",
    "linked/x.md",
    "linked/old.md",
    "linked.md",
    "dangling.md",
    "linked/../x.md",
]


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_outside_the_folder_is_written(
    tmp_path: Path, folder: MemoryFolder, answers: list[object], path: str
) -> None:
    outside(tmp_path, folder)
    before = files(tmp_path)
    model = ScriptedModel([write(path.format(tmp=tmp_path)), DONE])
    await consolidate(folder, model)
    told = results(model.requests[1])["call_1"]
    assert told["is_error"] is True and "is outside the workspace" in str(told["content"])
    assert files(tmp_path) == before
    assert answers == [], "nobody was asked, nor answered in their place"


EDITS: list[tuple[str, dict[str, object]]] = [
    ("search_replace", {"path": "{path}", "old_string": "SECRET", "new_string": "STOLEN"}),
    ("apply_diff", {"path": "{path}", "diff": "<<<<<<< SEARCH\nSECRET\n=======\nSTOLEN\n>>>>>>> REPLACE"}),
]
LOOKS: list[tuple[str, dict[str, object]]] = [
    ("read_file", {"path": "{path}"}),
    ("search_files", {"path": "{folder}", "regex": "SEC"}),
    ("list_files", {"path": "{folder}", "recursive": True}),
]


@pytest.mark.parametrize("path", ["../../outside/old.md", "{tmp}/outside/old.md", "linked/old.md", "linked.md"])
@pytest.mark.parametrize(("tool", "arguments"), [*EDITS, *LOOKS], ids=[name for name, _ in [*EDITS, *LOOKS]])
async def test_nothing_outside_the_folder_is_changed_or_read(
    tmp_path: Path, folder: MemoryFolder, answers: list[object], tool: str, arguments: dict[str, object], path: str
) -> None:
    outside(tmp_path, folder)
    before = files(tmp_path)
    path = path.format(tmp=tmp_path)
    within = path.rpartition("/")[0] or path
    text = json.dumps(arguments).replace("{path}", path).replace("{folder}", within)
    model = ScriptedModel([call_tool(tool, text), DONE])
    await consolidate(folder, model)
    told = results(model.requests[1])["call_1"]
    assert told["is_error"] is True and "is outside the workspace" in str(told["content"])
    assert files(tmp_path) == before and answers == []
    assert "SECRET" not in str(told)


async def test_what_steers_an_agent_is_not_written_and_nobody_is_asked_for_it(
    folder: MemoryFolder, answers: list[object]
) -> None:
    model = ScriptedModel([write("AGENTS.md"), DONE])
    await consolidate(folder, model)
    assert "denied" in str(results(model.requests[1])["call_1"])
    assert answers == ["noButtonClicked"] and files(folder.root) == {}


async def test_it_has_tools_for_files_and_its_end_and_no_others(folder: MemoryFolder, answers: list[object]) -> None:
    turns = [
        call_tool("execute_command", {"command": "id"}),
        call_tool("ask_followup_question", {"question": "What now?", "follow_up": []}, id="call_2"),
        DONE,
    ]
    model = ScriptedModel(turns)
    await consolidate(folder, model)
    assert {tool.name for tool in model.requests[0].tools} == {
        "read_file", "list_files", "search_files", "write_to_file", "apply_diff", "search_replace", "attempt_completion",
    }  # fmt: skip
    told = results(model.requests[2])
    assert "There is no tool execute_command" in str(told["call_1"])
    assert "There is no tool ask_followup_question" in str(told["call_2"])
    assert answers == []


async def test_what_is_written_is_there_and_what_it_took_is_told(
    tmp_path: Path, folder: MemoryFolder, answers: list[object]
) -> None:
    model = ScriptedModel([write("MEMORY.md", "kept\n"), write("skills/clean/SKILL.md", "kept\n", id="call_2"), DONE])
    used = await consolidate(folder, model)
    assert files(tmp_path / "memories") == {
        ".staging-1/MEMORY.md": "kept\n", ".staging-1/skills/clean/SKILL.md": "kept\n"
    }  # fmt: skip
    assert (used.model, used.tokens_in, used.tokens_out) == ("scripted", 30, 15)
    assert answers == []


def writes(number: int) -> list[Turn]:
    return [write(f"note-{at}.md", id=f"call_{at}") for at in range(number)]


async def test_after_sixty_requests_it_ends(tmp_path: Path, folder: MemoryFolder) -> None:
    model = ScriptedModel(writes(70))
    with pytest.raises(ConsolidationFailed) as failed:
        await consolidate(folder, model)
    assert len(model.requests) == 60
    assert (failed.value.used.tokens_in, failed.value.used.tokens_out) == (600, 300)
    assert left_beside(folder) == []


def costly(number: int, tokens: int) -> list[Step]:
    """A request of so many tokens, at three dollars a million."""
    steps = write(f"note-{number}.md", id=f"call_{number}")
    return [*steps[:-2], UsageReport(input=tokens, output=0), Stop("tool_use")]


@pytest.mark.parametrize(("most_cost", "asked"), [(None, 3), (5.0, 3), (1.5, 2)])
async def test_after_two_dollars_or_what_is_left_of_the_day_it_ends(
    folder: MemoryFolder, most_cost: float | None, asked: int
) -> None:
    model = ScriptedModel([costly(1, 333_333), costly(2, 333_333), costly(3, 333_333), DONE])
    with pytest.raises(ConsolidationFailed) as failed:
        await consolidate(folder, model, most_cost=most_cost)
    assert len(model.requests) == asked
    assert failed.value.used.cost == pytest.approx(0.999999 * asked)
    assert left_beside(folder) == []


async def test_when_its_time_is_over_it_ends(folder: MemoryFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consolidator, "_MOST_SECONDS", 0.01)
    model = HeldModel([DONE])
    with pytest.raises(ConsolidationFailed, match="took longer than"):
        await consolidate(folder, model)
    assert model.at_work == 0 and left_beside(folder) == []


async def test_a_conversation_that_needs_the_model_ends_it(
    folder: MemoryFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consolidator, "_LOOK_SECONDS", 0.001)
    model = HeldModel([DONE])
    with pytest.raises(ModelNeededElsewhere):
        await consolidate(folder, model, busy=lambda: not model.held.empty())
    assert model.at_work == 0 and left_beside(folder) == []


async def test_who_stops_it_stops_its_task_too(folder: MemoryFolder) -> None:
    model = HeldModel([DONE])
    run = asyncio.create_task(consolidate(folder, model))
    await model.held.get()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert model.at_work == 0 and left_beside(folder) == []


async def test_it_is_told_what_is_wrong_and_may_finish_once_nothing_is(folder: MemoryFolder) -> None:
    def problem() -> str | None:
        return None if (folder.root / "MEMORY.md").exists() else "MEMORY.md was not written."

    model = ScriptedModel(
        [DONE, write("MEMORY.md", "kept\n"), call_tool("attempt_completion", {"result": "x"}, id="e2")]
    )
    await consolidate(folder, model, problem=problem)
    told = results(model.requests[1])["end"]
    assert told["is_error"] is True and told["content"] == "MEMORY.md was not written."
    assert len(model.requests) == 3


def left_beside(folder: MemoryFolder) -> list[str]:
    return [path.name for path in folder.root.parent.iterdir() if path != folder.root]
