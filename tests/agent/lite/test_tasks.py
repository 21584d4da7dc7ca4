"""Whole tasks of a weak model: the real loop, store, tools and kernels, and a model that plays a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

from hdsp_agent.agent import TaskManager, TaskRequest, headless_agent
from hdsp_agent.config import OperatorPolicy
from hdsp_agent.messages import CellExecuted, CellId, ClineMessage, Ending, EndingCheck, NotebookRef, TaskId
from hdsp_agent.persistence import TaskStore
from hdsp_agent.providers import ModelRequest, ScriptedModel, Stop, call_tool
from hdsp_agent.providers._scripted import Turn

from .._helpers.scripted_agent import until

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

ALLOWED: dict[str, JsonValue] = {
    "autoApprovalEnabled": True, "alwaysAllowReadOnly": True, "alwaysAllowWrite": True, "alwaysAllowRunCells": True
}  # fmt: skip


@dataclass
class Weak:
    """An agent whose model is given the compound tools."""

    manager: TaskManager
    store: TaskStore
    model: ScriptedModel
    workspace: Path

    async def done(self, words: str, *, at: str | None = None) -> TaskId:
        """A task about the notebook that runs to its end, perhaps asked for ``at`` a cell."""
        notebook = NotebookRef(path="a.ipynb", cell_id=None if at is None else CellId(at))
        may_edit = None if at is None else notebook
        task_id = await self.manager.start(TaskRequest(words, notebook=notebook), may_edit=may_edit)
        await self.ended(task_id)
        return task_id

    async def ended(self, task_id: TaskId) -> None:
        await until(lambda: self.manager.tasks.opened(task_id) is None or None, 120)

    async def shown(self, task_id: TaskId, say: str) -> list[ClineMessage]:
        reader = await self.store.view(task_id)
        return [message async for message in reader.ui.iterate() if message.say == say]

    async def ending(self, task_id: TaskId) -> Ending:
        """How the request ended, as the message with the result says."""
        ending = (await self.shown(task_id, "completion_result"))[-1].ending
        assert ending is not None
        return ending

    async def answer(self, task_id: TaskId) -> str:
        return (await self.shown(task_id, "completion_result"))[-1].text or ""

    async def states(self, task_id: TaskId) -> list[tuple[int | None, str]]:
        rows = [CellExecuted.model_validate_json(row.text or "") for row in await self.shown(task_id, "cell_executed")]
        return [(row.number, row.state) for row in rows]

    async def sources(self) -> list[str]:
        # Jupyter writes in place, and the last save may come after the task's end.
        while True:
            try:
                cells = json.loads((self.workspace / "a.ipynb").read_text())["cells"]
            except ValueError:
                await asyncio.sleep(0.01)
            else:
                return ["".join(cell["source"]) for cell in cells]

    def offered(self, at: int) -> list[str]:
        return [tool.name for tool in self.model.requests[at].tools]


@asynccontextmanager
async def weak_agent(home: Path, turns: Sequence[Turn], *sources: str, **settings: JsonValue) -> AsyncIterator[Weak]:
    workspace = home / "work"
    workspace.mkdir(parents=True, exist_ok=True)
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "id": f"c{at}", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for at, source in enumerate(sources, 1)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (workspace / "a.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    async with headless_agent(
        home / "home", OperatorPolicy(), workspace=workspace, overrides=ALLOWED | settings
    ) as agent:
        await agent.config.profiles.update("default", {"apiProvider": "fake-ai", "toolSet": "compound"})
        model = await agent.manager.services.models.client("default")
        assert isinstance(model, ScriptedModel)
        model.turns = turns
        yield Weak(agent.manager, agent.store, model, workspace)


def said(request: ModelRequest) -> str:
    """All that a request says to the model, results too."""
    return "\n".join(json.dumps(message.content, ensure_ascii=False) for message in request.messages)


async def test_a_cell_is_added_run_and_told_of(tmp_path: Path) -> None:
    turns = [
        call_tool("add_cell", {"code": "```python\nsum(rows)\n```"}, id="one"),
        call_tool("answer", {"text": "The sum is 6."}, id="two"),
    ]
    async with weak_agent(tmp_path, turns, "rows = [1, 2, 3]") as agent:
        task_id = await agent.done("What is the sum of rows?")
        assert await agent.answer(task_id) == "The sum is 6."
        assert await agent.sources() == ["rows = [1, 2, 3]", "sum(rows)"]
        assert await agent.states(task_id) == [(1, "ok"), (2, "ok")]
        first = agent.model.requests[0]
        assert len(first.system) < 2_400 and len(said(first)) < 6_000 and first.max_output
        assert "Cell 1 (not run):" in said(first) and "Person: What is the sum of rows?" in said(first)
        assert agent.offered(0)[0] == "add_cell" and "edit_cells" not in agent.offered(0)
        # The second request begins with all of the first, so that what the model has read is not read again.
        second = agent.model.requests[1]
        assert second.system == first.system and list(second.messages)[: len(first.messages)] == list(first.messages)
        assert "Cell 2 ran. Output:" in said(second)


async def test_a_failed_cell_is_mended(tmp_path: Path) -> None:
    turns = [
        call_tool("add_cell", {"code": "print(totl)"}, id="one"),
        call_tool("edit_cell", {"cell": 2, "code": "print(total)"}, id="two"),
        call_tool("answer", {"text": "It prints 42."}, id="three"),
    ]
    async with weak_agent(tmp_path, turns, "total = 6 * 7") as agent:
        task_id = await agent.done("Show me the total in a cell.")
        assert (await agent.sources())[1] == "print(total)"
        assert agent.offered(1) == ["add_cell", "edit_cell"]
        assert "Write total instead of totl." in said(agent.model.requests[1])
        assert await agent.answer(task_id) == "It prints 42."
        assert (await agent.ending(task_id)).state == "unchecked"


async def test_a_model_that_invents_is_sent_back_once_and_then_the_notebook_speaks(tmp_path: Path) -> None:
    lie = {"text": "The mean is 17.5."}
    turns = [
        call_tool("answer", lie, id="one"),
        call_tool("add_cell", {"code": "sum(rows) / 3"}, id="two"),
        call_tool("answer", lie, id="three"),
    ]
    async with weak_agent(tmp_path, turns, "rows = [1, 2, 3]") as agent:
        task_id = await agent.done("What is the mean of rows?")
        assert await agent.answer(task_id) == "```text\n2.0\n```"
        assert (await agent.ending(task_id)).state == "unchecked"


async def test_a_model_that_goes_round_in_circles_comes_to_an_end(tmp_path: Path) -> None:
    turns = [call_tool("add_cell", {"code": "1 + 1"}, id=f"call{number}") for number in range(3)]
    async with weak_agent(tmp_path, turns) as agent:
        task_id = await agent.done("Compute one plus one in a cell.")
        assert await agent.sources() == ["1 + 1"] and await agent.answer(task_id) == "```text\n2\n```"


async def test_what_was_refused_is_not_shown_to_the_model_again_but_why(tmp_path: Path) -> None:
    turns = [
        call_tool("add_cell", {"code": "print((1"}, id="one"),
        call_tool("add_cell", {"code": "print(1)"}, id="two"),
        call_tool("answer", {"text": "It is there."}, id="three"),
    ]
    async with weak_agent(tmp_path, turns) as agent:
        await agent.done("Print one in a cell.")
        second = said(agent.model.requests[1])
        assert "This is no valid Python" in second
        # Only in the words about it.
        assert second.count("print((1") == 1


async def test_what_never_works_ends_by_itself_and_leaves_nothing_behind(tmp_path: Path) -> None:
    turns = [call_tool("add_cell", {"code": f"print(a{number})"}, id=f"try{number}") for number in range(4)]
    async with weak_agent(tmp_path, turns, "a = 1") as agent:
        task_id = await agent.done("Print one in a new cell.")
        assert await agent.sources() == ["a = 1"] and len(agent.model.requests) == 4
        told = await agent.ending(task_id)
        assert told.state == "not_done" and told.put_back
        assert told.reason is not None and told.reason.code == "steps"
        assert "NameError" in await agent.answer(task_id)


async def test_a_second_message_tells_only_what_changed(tmp_path: Path) -> None:
    turns = [
        call_tool("add_cell", {"code": "a + 1"}, id="one"),
        call_tool("answer", {"text": "It is 2."}, id="two"),
        call_tool("add_cell", {"code": "a + 2"}, id="three"),
        call_tool("answer", {"text": "It is 3."}, id="four"),
    ]
    async with weak_agent(tmp_path, turns, "a = 1") as agent:
        task_id = await agent.done("What is a plus one?")
        asked = await agent.manager.resume(task_id)
        assert asked is not None
        task = agent.manager.tasks.get(task_id)
        question = await until(
            lambda: task.state.dialogue.asks.newest("resume_completed_task", "completion_result"), 60
        )
        await agent.manager.answer(task_id, question.ts, "messageResponse", "And plus two?")
        await until(lambda: len(agent.model.requests) == 4 or None, 120)
        await until(lambda: agent.manager.tasks.opened(task_id) is None or None, 120)
        last = json.dumps(list(agent.model.requests[2].messages)[-1].content)
        assert "Person: And plus two?" in last
        assert await agent.answer(task_id) == "It is 3."


async def test_a_task_that_was_cut_within_a_step_goes_on_with_it(tmp_path: Path) -> None:
    turns = [
        call_tool("add_cell", {"code": "import time\ntime.sleep(60)"}, id="one"),
        call_tool("add_cell", {"code": "1 + 1"}, id="two"),
        call_tool("answer", {"text": "It is 2."}, id="three"),
    ]
    async with weak_agent(tmp_path, turns) as agent:
        request = TaskRequest("Compute one plus one in a cell.", notebook=NotebookRef(path="a.ipynb"))
        task_id = await agent.manager.start(request)
        await until(lambda: "sleep" in (agent.workspace / "a.ipynb").read_text(encoding="utf-8"), 120)
        await agent.manager.cancel(task_id)
        assert len(agent.model.requests) == 1
        task = agent.manager.tasks.get(task_id)
        question = await until(lambda: task.state.dialogue.asks.newest("resume_task"), 60)
        assert await agent.sources() == []
        await agent.manager.answer(task_id, question.ts, "yesButtonClicked")
        await until(lambda: agent.manager.tasks.opened(task_id) is None or None, 60)
        # The cell that was running was stopped and taken away, and did not hold up the next one.
        assert await agent.sources() == ["1 + 1"]
        assert (await agent.states(task_id))[-1] == (1, "ok")
        assert await agent.answer(task_id) == "It is 2."


async def test_an_answer_names_the_notes_that_a_small_model_was_told(tmp_path: Path) -> None:
    turns = [
        call_tool("add_cell", {"code": "```python\nsum(rows)\n```"}, id="one"),
        call_tool("answer", {"text": "The sum is 6."}, id="two"),
    ]
    async with weak_agent(tmp_path, turns, "rows = [1, 2, 3]") as agent:
        memories = agent.manager.services.memories
        assert memories is not None
        note = memories.notes(None).person().add("Label  every axis", day="2026-01-01")
        task = await agent.done("Add a cell that sums the rows, and run it.")
        assert "Label every axis" in agent.model.requests[0].system
        [result] = await agent.shown(task, "completion_result")
        [item] = result.recalled or []
        assert (item.kind, item.source, item.title, item.told) == ("note", note.id, "Label every axis", True)


def edit(cell: int, code: str, id: str) -> Turn:
    return call_tool("edit_cell", {"cell": cell, "code": code}, id=id)


async def test_what_is_asked_for_at_a_cell_changes_it_alone_asks_nothing_and_runs_nothing(tmp_path: Path) -> None:
    turns = [edit(2, "total = sum(rows) * 2", "one"), call_tool("answer", {"text": "It is about rows."}, id="two")]
    async with weak_agent(tmp_path, turns, "rows = [1, 2]", "total = sum(rows)", alwaysAllowWrite=False) as agent:
        task_id = await agent.done("/edit twice as much", at="c2")
        assert await agent.sources() == ["rows = [1, 2]", "total = sum(rows) * 2"]
        assert await agent.states(task_id) == []
        [tool] = agent.model.requests[0].tools
        assert tool.name == "edit_cell" and tool.parameters["properties"]["cell"] == {"enum": [2]}  # type: ignore[call-overload,index]  # a schema
        ending = await agent.ending(task_id)
        assert (ending.state, ending.checks) == ("unchecked", [EndingCheck(code="changed", params={"cell": 2})])
        assert "Cell 2 was changed but not run." in await agent.answer(task_id)
        # What is said in the conversation is said as always.
        await agent.manager.send(task_id, "What is rows about?")
        await agent.ended(task_id)
        assert "add_cell" in agent.offered(1) and await agent.answer(task_id) == "It is about rows."


async def test_what_a_model_writes_at_a_cell_is_sent_back_where_it_breaks_something_but_not_twice(
    tmp_path: Path,
) -> None:
    turns = [edit(1, "rows = [1", "one"), edit(1, "lines = [1]", "two"), edit(1, "lines = [1, 2]", "three")]
    async with weak_agent(tmp_path, turns, "rows = [1]", "print(rows)") as agent:
        await agent.done("/edit call it lines", at="c1")
        assert await agent.sources() == ["lines = [1]", "print(rows)"]
        assert agent.offered(1) == ["edit_cell"] and "no valid Python" in said(agent.model.requests[1])
    turns = [edit(1, "lines = [1]", "one"), edit(1, "lines = [1, 2]", "two")]
    async with weak_agent(tmp_path / "again", turns, "rows = [1]", "print(rows)") as agent:
        await agent.done("/edit call it lines", at="c1")
        assert await agent.sources() == ["lines = [1, 2]", "print(rows)"]
        assert "Other cells use rows" in said(agent.model.requests[1])


async def test_at_a_cell_a_small_model_hears_the_wish_alone_and_may_use_only_what_there_is(tmp_path: Path) -> None:
    turns = [edit(2, "boats.mean()", "one"), edit(2, "sum(rows) / len(rows)", "two")]
    async with weak_agent(tmp_path, turns, "rows = [1]", "sum(rows)") as agent:
        await agent.done("/edit the mean", at="c2")
        assert await agent.sources() == ["rows = [1]", "sum(rows) / len(rows)"]
        assert "Person: the mean" in said(agent.model.requests[0]) and "Do not run" not in said(agent.model.requests[0])
        assert "There is no boats." in said(agent.model.requests[1])


async def test_what_is_written_at_a_cell_again_and_again_is_not_done(tmp_path: Path) -> None:
    turns = [edit(1, "a = 1", str(at)) for at in range(4)]
    async with weak_agent(tmp_path, turns, "a = 1") as agent:
        task_id = await agent.done("/edit make it nicer", at="c1")
        assert (await agent.ending(task_id)).state == "not_done" and len(agent.model.requests) == 3
        assert await agent.sources() == ["a = 1"]


async def test_a_comment_is_a_change_at_a_cell_and_what_is_there_already_is_none(tmp_path: Path) -> None:
    turns = [edit(1, "a = 1", "one"), edit(1, "# a = 1", "two")]
    async with weak_agent(tmp_path, turns, "a = 1") as agent:
        await agent.done("/edit comment it out", at="c1")
        assert await agent.sources() == ["# a = 1"]
        assert "This is what cell 1 has already." in said(agent.model.requests[1])


async def test_text_is_changed_at_its_cell_too(tmp_path: Path) -> None:
    async with weak_agent(tmp_path, [edit(1, "# Rents in Oban", "one")], "a = 1") as agent:
        path = agent.workspace / "a.ipynb"
        path.write_text(path.read_text().replace('"cell_type": "code"', '"cell_type": "markdown"'))
        task_id = await agent.done("/edit a better title", at="c1")
        assert await agent.sources() == ["# Rents in Oban"]
        assert (await agent.ending(task_id)).state == "unchecked"


@pytest.mark.parametrize("kind", ["code", "markdown"])
async def test_an_answer_that_was_cut_off_takes_nothing_away_from_the_cell_it_is_for(tmp_path: Path, kind: str) -> None:
    source = "a = 1\nb = 2\nc = 3\nd = 4"
    cut: Turn = [*call_tool("edit_cell", {"cell": 1, "code": "a = 2\nb = 2\nc = 3"}, stop=False), Stop("max_tokens")]
    async with weak_agent(tmp_path, [cut], source) as agent:
        path = agent.workspace / "a.ipynb"
        path.write_text(path.read_text().replace('"cell_type": "code"', f'"cell_type": "{kind}"'))
        task_id = await agent.done("/edit begin with 2", at="c1")
        assert await agent.sources() == [source]
        ending = await agent.ending(task_id)
        assert ending.reason is not None and ending.reason.code == "too_long" and ending.put_back
        assert "The cell is too long for this model." in await agent.answer(task_id)


async def test_code_of_another_language_is_changed_at_its_cell(tmp_path: Path) -> None:
    async with weak_agent(tmp_path, [edit(1, "x <- mean(16)", "one")], "x <- sqrt(9)\ny <- 1") as agent:
        path = agent.workspace / "a.ipynb"
        path.write_text(
            path.read_text().replace(
                '"metadata": {}, "nbformat"', '"metadata": {"language_info": {"name": "R"}}, "nbformat"'
            )
        )
        await agent.done("/edit the mean of 16 alone", at="c1")
        assert await agent.sources() == ["x <- mean(16)"]


async def test_a_cell_that_was_deleted_meanwhile_is_looked_for_once(tmp_path: Path) -> None:
    turns = [edit(1, f"a = {at}", str(at)) for at in range(2, 6)]
    async with weak_agent(tmp_path, turns, "a = 1") as agent:
        task_id = await agent.done("/edit twice as much", at="deleted")
        assert await agent.sources() == ["a = 1"] and len(agent.model.requests) == 1
        assert "The cell is no longer there." in await agent.answer(task_id)
