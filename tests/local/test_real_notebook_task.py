"""The embedded model at work: it adds and runs a cell of a real notebook. Skipped, and said so, where there is none."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from pydantic import JsonValue

from hdsp_agent.agent import TaskManager, TaskRequest, headless_agent
from hdsp_agent.config import OperatorPolicy
from hdsp_agent.local import catalogue
from hdsp_agent.messages import CellId, NotebookRef, TaskId
from hdsp_agent.persistence import TaskStore

from ._helpers.weights import REAL_FOLDER, real_weights

CODER = "qwen2.5-coder-0.5b-instruct"
ALLOWED: dict[str, JsonValue] = {
    "autoApprovalEnabled": True, "alwaysAllowReadOnly": True, "alwaysAllowWrite": True, "alwaysAllowRunCells": True
}  # fmt: skip

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning"),
]


async def ended(manager: TaskManager, task_id: TaskId) -> None:
    deadline = time.monotonic() + 400
    while (task := manager.tasks.opened(task_id)) is not None:
        assert time.monotonic() < deadline, "it never ended"
        assert not [ask for ask in task.state.dialogue.asks.open if ask.ask != "completion_result"], "it asks something"
        await asyncio.sleep(0.1)


async def answer(store: TaskStore, task_id: TaskId) -> str:
    reader = await store.view(task_id)
    results = [message.text or "" async for message in reader.ui.iterate() if message.say == "completion_result"]
    return results[-1]


async def accounts(store: TaskStore, task_id: TaskId) -> list[dict[str, float]]:
    """What each request took."""
    reader = await store.view(task_id)
    return [
        json.loads(message.text or "{}") async for message in reader.ui.iterate() if message.say == "api_req_started"
    ]


@pytest.mark.slow
async def test_it_adds_and_runs_a_cell_and_tells_what_that_showed(tmp_path: Path) -> None:
    await real_weights(catalogue().find(CODER))
    workspace = tmp_path / "work"
    workspace.mkdir()
    cell: dict[str, JsonValue] = {
        "cell_type": "code", "id": "c1", "source": "prices = [12, 30, 18]", "metadata": {}, "outputs": [],
        "execution_count": None,
    }  # fmt: skip
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (workspace / "a.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    async with headless_agent(
        tmp_path / "home", OperatorPolicy(), workspace=workspace, overrides=ALLOWED, local_models=REAL_FOLDER
    ) as agent:
        await agent.config.profiles.update("default", {"apiProvider": "local", "apiModelId": CODER})
        request = TaskRequest("What is the sum of prices?", notebook=NotebookRef(path="a.ipynb"))
        task_id = await agent.manager.start(request)
        await ended(agent.manager, task_id)
        said = await answer(agent.store, task_id)
        requests = await accounts(agent.store, task_id)
    cells = json.loads((workspace / "a.ipynb").read_text())["cells"]
    assert len(cells) == 2 and cells[1]["execution_count"]
    [output] = cells[1]["outputs"]
    shown = "".join(output.get("text") or output["data"]["text/plain"])
    assert shown.strip() == "60"
    assert "60" in said
    assert requests and all(one["cost"] == 0 and one["tokensOut"] for one in requests)


@pytest.mark.long
async def test_it_changes_the_cell_at_which_it_is_asked_and_runs_nothing(tmp_path: Path) -> None:
    await real_weights(catalogue().find(CODER))
    workspace = tmp_path / "work"
    workspace.mkdir()
    sources = ("limit = 10", "[n for n in range(30) if n > limit]")
    cells: list[JsonValue] = [
        {"cell_type": "code", "id": f"c{at}", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for at, source in enumerate(sources)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (workspace / "a.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    async with headless_agent(
        tmp_path / "home",
        OperatorPolicy(),
        workspace=workspace,
        overrides={"autoApprovalEnabled": False},
        local_models=REAL_FOLDER,
    ) as agent:
        await agent.config.profiles.update("default", {"apiProvider": "local", "apiModelId": CODER})
        cell = NotebookRef(path="a.ipynb", cell_id=CellId("c0"))
        request = TaskRequest("/edit use 20 instead of 10", notebook=cell)
        task_id = await agent.manager.start(request, may_edit=cell)
        await ended(agent.manager, task_id)
        assert "not run" in await answer(agent.store, task_id)
    now = json.loads((workspace / "a.ipynb").read_text())["cells"]
    assert ["".join(one["source"]) for one in now] == ["limit = 20", sources[1]]
    assert [one["execution_count"] for one in now] == [None, None]
