"""A notebook that carries the conversation about it: only where the person wants that, masked, bounded, and nobody's change."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest
from hdsp_agent.checkpoints.timeline import Parts
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import NotebookRef, TaskId
from hdsp_agent.providers import call_tool
from hdsp_agent.providers._scripted import Turn
from hdsp_agent.tools import ToolRegistry

from ..notebooks._helpers.headless import headless_notebooks
from ..notebooks._helpers.pages import code, notebook
from ._helpers.scripted_agent import Agent, running_agent, until
from .test_checkpoint_operations import ALLOWED, DONE, kept_at

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

SECRET = "ghp_" + "a1B2" * 9
CARRIES = ALLOWED.model_copy(update={"embed_history_in_notebook": True})
ASKS = call_tool("ask_followup_question", {"question": "Which column?", "follow_up": [{"text": "A"}]}, id="q")


@dataclass
class Scenario:
    """An agent that works on a notebook which nobody has open."""

    agent: Agent
    file: Path

    @property
    def metadata(self) -> dict[str, object]:
        try:
            return dict(json.loads(self.file.read_text("utf-8"))["metadata"])
        except json.JSONDecodeError:
            # It is being saved just now, which Jupyter does in place.
            return {}

    @property
    def carried(self) -> dict[str, object]:
        found = self.metadata.get("hdsp_conversation", {})
        assert isinstance(found, dict)
        return found

    @property
    def said(self) -> list[tuple[str, str]]:
        messages = self.carried.get("messages", [])
        assert isinstance(messages, list)
        return [(one["by"], one["text"]) for one in messages]

    async def ran(self, text: str) -> TaskId:
        task_id = await self.agent.manager.start(TaskRequest(text, notebook=NotebookRef(path="a.ipynb")))
        await self.agent.completed(task_id)
        return task_id


@asynccontextmanager
async def scenario(
    folder: Path, *turns: Turn, settings: GlobalSettings = CARRIES, source: str = "x = 1"
) -> AsyncIterator[Scenario]:
    (folder / "work").mkdir()
    file = folder / "work" / "a.ipynb"
    file.write_text(json.dumps(notebook(code("c1", source))))
    async with headless_notebooks(folder / "work") as notebooks:
        files = kept_at(folder, settings, notebooks)
        async with running_agent(
            folder, list(turns), settings=settings, tools=ToolRegistry(), notebooks=notebooks, files=files
        ) as agent:
            yield Scenario(agent, file)


RUNS = call_tool("run_cells", {"cells": ["all"]}, id="r")


async def test_it_is_written_when_the_turn_is_over_with_secrets_masked_and_long_output_shortened(
    tmp_path: Path,
) -> None:
    source = f"print({SECRET!r}); print('many ' * 3000)"
    async with scenario(tmp_path, RUNS, DONE, source=source) as here:
        task_id = await here.ran(f"Run it with {SECRET}")
        await until(lambda: here.carried or None)
        assert here.carried["task_id"] == task_id and here.carried["left_out"] == 0
        assert here.said[0] == ("person", "Run it with [GITHUB_TOKEN]") and here.said[-1] == ("agent", "All done")
        output = next(text for by, text in here.said if by == "tool" and "many many" in text)
        assert "characters left out" in output and len(output) < 2_100 and output.endswith("```")
        assert SECRET not in json.dumps(here.metadata)
        assert here.metadata["hdsp_agent"], "the pointer to the checkpoint is gone"


@pytest.mark.parametrize("wants", [False, True])
async def test_nothing_is_written_unless_the_person_wants_it(tmp_path: Path, wants: bool) -> None:
    settings = CARRIES if wants else ALLOWED
    async with scenario(tmp_path, RUNS, DONE, settings=settings) as here:
        await here.ran("Run it")
    assert ("hdsp_conversation" in here.metadata) == wants


async def test_it_is_written_when_the_agent_asks_something_and_again_when_that_was_answered(tmp_path: Path) -> None:
    async with scenario(tmp_path, ASKS, DONE) as here:
        task_id = await here.agent.manager.start(TaskRequest("Sum it up", notebook=NotebookRef(path="a.ipynb")))
        question = await here.agent.asked(task_id, "followup")
        await until(lambda: here.carried or None)
        assert here.said == [("person", "Sum it up"), ("agent", "Which column?\n\n- A")]
        await here.agent.manager.answer(task_id, question.ts, "messageResponse", "The second")
        await until(lambda: len(here.said) == 4 or None)
        assert here.said[2:] == [("person", "The second"), ("agent", "All done")]


async def test_the_oldest_messages_are_left_out_where_all_would_be_too_large(tmp_path: Path) -> None:
    settings = CARRIES.model_copy(update={"embed_history_max_kilobytes": 2})
    async with scenario(tmp_path, RUNS, DONE, settings=settings) as here:
        await here.ran("Say it. " + "Long words. " * 200)
        await until(lambda: here.carried or None)
        assert here.carried["left_out"] and here.said[-1] == ("agent", "All done")
        assert "Long words" not in json.dumps(here.said)
        small = {key: value for key, value in here.metadata.items() if key != "hdsp_conversation"}
        assert len(json.dumps(here.metadata, indent=1)) - len(json.dumps(small, indent=1)) <= 2 * 1024


async def test_it_is_nobodys_change_for_checkpoints(tmp_path: Path) -> None:
    async with scenario(tmp_path, RUNS, DONE) as here:
        await here.ran("Run it")
        await until(lambda: here.carried or None)
        files = here.agent.manager.services.checkpoints
        assert files is not None
        async with files.at(here.agent.workspace) as line:
            view = await line.view()
            assert "pointers" not in [row.checkpoint.reason for row in view.operations if row.checkpoint]
            oldest = next(row.checkpoint for row in reversed(view.operations) if row.checkpoint)
            preview = await line.preview(oldest.id, Parts(files=True, notebooks=True))
            assert preview.files is None or not preview.files.kept
            state = (await line.files.list())[0].notebooks[0].state
            again = await line.save("by hand", notebooks=["a.ipynb"], changes_by="person")
            assert again.notebooks[0].state == state, "the conversation counts as somebody's work"
