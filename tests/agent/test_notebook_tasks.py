"""Whole tasks on a notebook: the real loop, real tools, real kernels, and a scripted model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from pydantic import JsonValue

from hdsp_agent.agent import TaskRequest
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import CellExecuted, CellId, NotebookRef, TaskId
from hdsp_agent.notebooks import PersonRun
from hdsp_agent.providers import call_tool
from hdsp_agent.providers._scripted import Turn
from hdsp_agent.tools import ToolRegistry

from .._helpers import timing
from ..notebooks._helpers.headless import headless_notebooks
from ._helpers.scripted_agent import Agent, running_agent, until

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
AUTO = GlobalSettings(
    auto_approval_enabled=True, always_allow_read_only=True, always_allow_write=True, always_allow_run_cells=True
)
SLOW = "import time\nprint('begun', flush=True)\ntime.sleep(60)"


@asynccontextmanager
async def notebook_agent(
    home: Path, turns: Sequence[Turn], *sources: str, settings: GlobalSettings = AUTO
) -> AsyncIterator[Agent]:
    """An agent with a notebook ``a.ipynb`` of these code cells, c1, c2 …"""
    workspace = home / "work"
    workspace.mkdir(exist_ok=True)
    if sources:
        cells: list[JsonValue] = [
            {
                "cell_type": "code",
                "id": f"c{at}",
                "source": source,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for at, source in enumerate(sources, 1)
        ]
        written = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (workspace / "a.ipynb").write_text(json.dumps(written), encoding="utf-8")
    async with (
        headless_notebooks(workspace) as notebooks,
        running_agent(home, turns, settings=settings, tools=ToolRegistry(), notebooks=notebooks) as agent,
    ):
        yield agent


async def start(agent: Agent) -> TaskId:
    """A task about the notebook."""
    return await agent.manager.start(TaskRequest("Mend it", notebook=NotebookRef(path="a.ipynb")))


def has_begun(agent: Agent, task_id: TaskId) -> bool:
    """Whether the slow cell has printed something."""
    shown = agent.heard.shown.get(task_id, {}).values()
    return any(message.say == "command_output" and message.text == "begun" for message in shown)


async def rows(agent: Agent, task_id: TaskId) -> list[CellExecuted]:
    """How cells ran, as the log has it."""
    return [CellExecuted.model_validate_json(row.text or "") for row in await agent.says(task_id, "cell_executed")]


async def test_a_task_reads_runs_fails_mends_and_runs_again(tmp_path: Path) -> None:
    turns = [
        call_tool("read_notebook", {"view": "cells"}, id="read"),
        call_tool("run_cells", {"cells": ["all"]}, id="fails"),
        call_tool(
            "edit_cells", {"operations": [{"op": "edit", "cell": "c2", "old": "totl", "new": "total"}]}, id="mend"
        ),
        call_tool("run_cells", {"cells": ["c2.."]}, id="runs"),
        DONE,
    ]
    async with notebook_agent(tmp_path, turns, "total = 6 * 7", "print('it is', totl)") as agent:
        task_id = await start(agent)
        await agent.completed(task_id)
        results = await agent.results(task_id)
        assert "NameError: name 'totl' is not defined" in results["fails"]
        assert "it is 42" in results["runs"]
        assert [(row.cell_id, row.state) for row in await rows(agent, task_id)] == [
            ("c1", "ok"), ("c2", "error"), ("c2", "ok")
        ]  # fmt: skip
        [error] = [message for message in await agent.says(task_id, "error") if message.notebook is not None]
        assert error.notebook is not None and error.notebook.cell_id == "c2"
        file = agent.workspace / "a.ipynb"

        def is_saved() -> bool:
            # Jupyter writes in place, and the last save may come after the task's end.
            with suppress(ValueError):
                outputs = json.loads(file.read_text())["cells"][1]["outputs"]
                return [output.get("text") for output in outputs] == [["it is 42\n"]]
            return False

        await until(is_saved)
        assert all(message.partial is not True for message in await agent.ui(task_id))


async def test_the_model_hears_of_its_notebook_when_the_person_speaks(tmp_path: Path) -> None:
    async with notebook_agent(tmp_path, [DONE], "x = 1") as agent:
        notebooks = agent.manager.services.notebooks
        assert notebooks is not None
        notebooks.person_runs = lambda path: [PersonRun(CellId("c1"), False, 1, error="NameError: no y")]
        task_id = await start(agent)
        await agent.completed(task_id)
        [request] = agent.model.requests
        told = str(request.messages)
        assert "Notebook of this task: a.ipynb, 1 cells, no kernel runs." in told
        assert "1 c1 code [ ] (never ran) x = 1" in told
        assert "- cell 1 c1: failed with NameError: no y" in told


async def test_a_cancel_interrupts_the_tasks_cells_within_a_moment(tmp_path: Path) -> None:
    turns = [
        call_tool("run_cells", {"cells": ["c1"], "timeout": 0}, id="long"),
        call_tool("wait_run", {"run": "run-1"}, id="wait"),
        DONE,
    ]
    async with notebook_agent(tmp_path, turns, SLOW) as agent:
        task_id = await start(agent)
        await until(lambda: has_begun(agent, task_id))
        await until(lambda: len(agent.model.requests) == 2 or None)
        await agent.manager.cancel(task_id)
        await agent.asked(task_id, "resume_task")

        async def interrupted() -> bool:
            return [row.state for row in await rows(agent, task_id)] == ["interrupted"]

        await timing.until(interrupted)


async def test_the_end_of_a_task_ends_its_cells_and_their_rows_stay(tmp_path: Path) -> None:
    turns: list[Turn] = [call_tool("run_cells", {"cells": ["c1"], "timeout": 0}, id="long"), [60.0]]
    async with notebook_agent(tmp_path, turns, SLOW) as agent:
        task_id = await start(agent)
        await until(lambda: has_begun(agent, task_id))
        await agent.manager.tasks.close(task_id)
        notebooks = agent.manager.services.notebooks
        assert notebooks is not None and notebooks.executor.runs() == []
        [row] = await agent.says(task_id, "cell_executed")
        assert row.partial is False and '"state":"interrupted"' in (row.text or "")
        [printed] = await agent.says(task_id, "command_output")
        assert printed.partial is False and "begun" in (printed.text or "")


async def test_what_runs_waits_for_a_yes_that_shows_the_code(tmp_path: Path) -> None:
    turns = [
        call_tool("run_cells", {"cells": ["1"]}, id="first"),
        call_tool("edit_cells", {"operations": [{"op": "delete", "cell": 1}]}, id="second"),
        DONE,
    ]
    async with notebook_agent(tmp_path, turns, "print('ran')", settings=GlobalSettings()) as agent:
        task_id = await start(agent)
        ask = await agent.asked(task_id, "tool")
        assert json.loads(ask.text or "")["cells"] == [{"cellId": "c1", "number": 1, "code": "print('ran')"}]
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        ask = await agent.asked(task_id, "tool", after=ask.ts)
        assert json.loads(ask.text or "")["tool"] == "editCells"
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked", "keep it")
        await agent.completed(task_id)
        results = await agent.results(task_id)
        assert "ran" in results["first"] and "keep it" in results["second"]
        assert "print" in (agent.workspace / "a.ipynb").read_text()


async def test_the_modes_have_the_tools_they_should(tmp_path: Path) -> None:
    async with notebook_agent(tmp_path, [DONE, DONE, DONE], "1") as agent:
        offered: dict[str, set[str]] = {}
        for mode in ("ask", "architect", "code"):
            task_id = await agent.manager.start(TaskRequest("Look", notebook=NotebookRef(path="a.ipynb"), mode=mode))
            await agent.completed(task_id)
            offered[mode] = {spec.name for spec in agent.model.requests[-1].tools}
        reading = {"read_notebook", "inspect_variables", "list_kernels"}
        running = {"run_cells", "run_code", "wait_run", "manage_kernel", "install_packages"}
        assert reading <= offered["ask"] and not offered["ask"] & {"edit_cells", *running}
        assert {"edit_cells", "create_notebook"} <= offered["architect"] and not offered["architect"] & running
        assert running | reading | {"edit_cells", "create_notebook"} <= offered["code"]


async def test_a_mode_for_documents_may_not_change_notebooks(tmp_path: Path) -> None:
    turns = [call_tool("edit_cells", {"operations": [{"op": "insert", "source": "2"}]}, id="edit"), DONE]
    async with notebook_agent(tmp_path, turns, "1") as agent:
        request = TaskRequest("Look", notebook=NotebookRef(path="a.ipynb"), mode="architect")
        task_id = await agent.manager.start(request)
        await agent.completed(task_id)
        assert "may only change Markdown files only" in (await agent.results(task_id))["edit"]


async def test_a_row_of_a_cell_that_ran_when_the_server_was_killed_is_ended(tmp_path: Path) -> None:
    turns: list[Turn] = [call_tool("run_cells", {"cells": ["c1"], "timeout": 0}, id="long"), [60.0]]
    async with notebook_agent(tmp_path, turns, SLOW) as agent:
        task_id = await start(agent)
        await until(lambda: '"state":"running"' in str(agent.heard.shown.get(task_id)))
        log = agent.task(task_id).state.conversation.log
        [row] = [message for message in agent.heard.shown[task_id].values() if message.say == "cell_executed"]
        await agent.manager.tasks.close(task_id)
    # As a kill leaves it: the row says that the cell runs.
    assert log is not None
    async with notebook_agent(tmp_path, [DONE]) as agent:
        reopened = await agent.store.resume(task_id)
        await reopened.put_ui(row, durable=True)
        await reopened.close()
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_task")
        [after] = await rows(agent, task_id)
        assert after.state == "interrupted" and "server stopped" in (after.reason or "")
