"""Wherever the work stops half-way, the cells are as they were: stopped, at a limit, without a model, killed, put aside."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest, headless_agent
from hdsp_agent.config import OperatorPolicy
from hdsp_agent.messages import NotebookRef, TaskId
from hdsp_agent.providers import ModelError, call_tool
from hdsp_agent.providers._scripted import Turn

from .._helpers.scripted_agent import until
from .test_tasks import ALLOWED, Weak, weak_agent

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

BEFORE = ["n = 2", "print(n)"]
EDIT = call_tool("edit_cell", {"cell": 1, "code": "n = 3"}, id="edit")
ADD = call_tool("add_cell", {"code": "print(n + 1)"}, id="add")
DELETE = call_tool("delete_cell", {"cell": 2}, id="delete")
ANSWER = call_tool("answer", {"text": "It is done."}, id="answer")
DELETION = "Delete cell 2."


async def begun(agent: Weak, words: str = "Change cell 1.") -> TaskId:
    return await agent.manager.start(TaskRequest(words, notebook=NotebookRef(path="a.ipynb")))


async def asked(agent: Weak, task_id: TaskId, *kinds: str) -> int:
    """The time of a question, once it is put."""
    task = agent.manager.tasks.get(task_id)
    question = await until(lambda: task.state.dialogue.asks.newest(*kinds), 300)  # type: ignore[arg-type]  # kinds of questions
    return int(question.ts)


async def ended(agent: Weak, task_id: TaskId) -> None:
    await until(lambda: agent.manager.tasks.opened(task_id) is None or None, 300)


async def told(agent: Weak, task_id: TaskId) -> list[str]:
    """Why the cells were put back, as the conversation says."""
    notes = [message.ending for message in await agent.shown(task_id, "text") if message.ending is not None]
    return [note.reason.code for note in notes if note.reason is not None and note.put_back]


async def test_a_limit_of_requests(tmp_path: Path) -> None:
    async with weak_agent(tmp_path, [EDIT, ADD, EDIT, ANSWER], *BEFORE, allowedMaxRequests=2) as agent:
        task_id = await begun(agent)
        ts = await asked(agent, task_id, "auto_approval_max_req_reached")
        assert await agent.sources() == BEFORE and await told(agent, task_id) == ["limit"]
        # Who lets it go on, lets it begin anew, and the model knows that.
        await agent.manager.answer(task_id, ts, "yesButtonClicked")
        await ended(agent, task_id)
        last = json.dumps(list(agent.model.requests[2].messages)[-1].content)
        assert "The cells are as they were before. Begin again." in last and "New or changed:" in last
        assert await agent.sources() == ["n = 3", "print(n)"]
        assert (await agent.ending(task_id)).state == "unchecked"


async def test_a_person_who_stops_it_and_a_model_that_fails(tmp_path: Path) -> None:
    failure = [ModelError("The key is wrong.", kind="authentication")]
    async with weak_agent(tmp_path, [EDIT, ADD, failure], *BEFORE) as agent:
        task_id = await begun(agent)
        await asked(agent, task_id, "api_req_failed")
        assert await agent.sources() == BEFORE and await told(agent, task_id) == ["model"]
    sleeping = call_tool("add_cell", {"code": "import time\ntime.sleep(60)"}, id="sleep")
    async with weak_agent(tmp_path / "two", [EDIT, sleeping], *BEFORE) as agent:
        task_id = await begun(agent)
        await until(lambda: "sleep" in (agent.workspace / "a.ipynb").read_text(encoding="utf-8") or None, 300)
        await agent.manager.cancel(task_id)
        await asked(agent, task_id, "resume_task")
        assert await agent.sources() == BEFORE and await told(agent, task_id) == ["stopped"]


async def test_a_task_that_is_put_aside(tmp_path: Path) -> None:
    async with weak_agent(tmp_path, [EDIT, ADD], *BEFORE, alwaysAllowRunCells=False) as agent:
        task_id = await begun(agent)
        await asked(agent, task_id, "tool")
        assert (await agent.sources())[0] == "n = 3"
        await agent.manager.tasks.close(task_id)
        assert await agent.sources() == BEFORE and await told(agent, task_id) == ["stopped"]


async def test_a_server_that_was_killed(tmp_path: Path) -> None:
    turns = [DELETE, call_tool("add_cell", {"code": "import time\ntime.sleep(60)"}, id="sleep")]
    async with weak_agent(tmp_path, turns, *BEFORE) as agent:
        task_id = await begun(agent, DELETION)
        await until(lambda: "sleep" in (agent.workspace / "a.ipynb").read_text(encoding="utf-8") or None, 300)
        # It stops with the server, which has no time for cells.
        await agent.manager.stop()
        assert "print(n)" not in await agent.sources() and len(await agent.sources()) == 2
    async with again(tmp_path, [ANSWER]) as agent:
        assert await agent.manager.resume(task_id) is not None
        await asked(agent, task_id, "resume_task")
        assert await agent.sources() == BEFORE and await told(agent, task_id) == ["stopped"]


@asynccontextmanager
async def again(home: Path, turns: Sequence[Turn]) -> AsyncIterator[Weak]:
    """The agent as it starts anew in the same folders."""
    async with headless_agent(home / "home", OperatorPolicy(), workspace=home / "work", overrides=ALLOWED) as agent:
        model = await agent.manager.services.models.client("default")
        model.turns = turns  # type: ignore[attr-defined]  # a scripted one
        yield Weak(agent.manager, agent.store, model, home / "work")  # type: ignore[arg-type]  # as above
