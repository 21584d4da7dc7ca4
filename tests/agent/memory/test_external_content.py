"""A conversation that read a page of the web is marked, and nothing is learned from it unless the person wants that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TypeVar

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.memory import MemoryFolder
from hdsp_agent.memory.conversation_text import read_conversation
from hdsp_agent.memory.extracted_files import ExtractedFiles
from hdsp_agent.memory.extraction import ExtractionOutcome, Extractor
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import StoredTaskState
from hdsp_agent.providers import ScriptedModel, call_tool
from hdsp_agent.providers._scripted import Turn
from hdsp_agent.tools import ToolRegistry

from ..._helpers.page_server import page_server
from ...memory._helpers.memory_home import NOTHING, OneModel
from .._helpers.scripted_agent import Agent, running_agent, until

R = TypeVar("R")
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
UNASKED = GlobalSettings(
    auto_approval_enabled=True,
    always_allow_network=True,
    always_allow_read_only=True,
    always_allow_subtasks=True,
    fetch_url_enabled=True,
    fetch_private_addresses=True,
)


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"WORDS OF STRANGERS"
        self.send_response(200 if self.path == "/page" else 404)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture
def server() -> Iterator[str]:
    """A web server on loopback; its address."""
    with page_server(Page) as address:
        yield address


def fetch(url: str) -> Turn:
    return call_tool("fetch_url", {"url": url})


async def state_of(agent: Agent, task_id: TaskId) -> StoredTaskState:
    return await (await agent.store.view(task_id)).read_state()


async def at_once(work: Callable[[], R]) -> R:
    return work()


async def learned(agent: Agent, task_id: TaskId, home: Path, *, anyway: bool) -> tuple[ExtractionOutcome, int]:
    """What comes of an extraction, and how often its model was asked."""
    model = ScriptedModel([NOTHING])
    extractor = Extractor(agent.store, ExtractedFiles(MemoryFolder(home / "memories")), OneModel(model), at_once)
    item = (await state_of(agent, task_id)).history_item
    assert item is not None
    outcome = await extractor.extract(item, "me", watermark=item.ts, with_external=anyway)
    return outcome, len(model.requests)


@pytest.mark.parametrize("path", ["page", "missing"])
async def test_a_page_that_was_fetched_marks_the_conversation(tmp_path: Path, server: str, path: str) -> None:
    turns = [fetch(f"{server}/{path}"), DONE]
    async with running_agent(tmp_path, turns, settings=UNASKED, tools=ToolRegistry()) as agent:
        task_id = await agent.finished("Read that page for me, please")
        assert "WORDS OF STRANGERS" in (await agent.results(task_id))["call_1"]
        assert (await state_of(agent, task_id)).has_external_content is True
        assert (await read_conversation(agent.store, task_id)).has_external_content
        outcome, asked = await learned(agent, task_id, tmp_path, anyway=False)
        assert (outcome.result, outcome.changed, asked) == ("external", False, 0)
        assert not (tmp_path / "memories").exists(), "it may be read when the person wants that"
        outcome, asked = await learned(agent, task_id, tmp_path, anyway=True)
        assert (outcome.result, asked) == ("nothing", 1)


async def test_the_mark_is_there_before_the_conversation_ends_and_stays(tmp_path: Path, server: str) -> None:
    turns = [fetch(f"{server}/page"), call_tool("list_files", {"path": "."}, id="call_2"), DONE]
    asking = UNASKED.model_copy(update={"always_allow_read_only": False})
    async with running_agent(tmp_path, turns, settings=asking, tools=ToolRegistry()) as agent:
        task_id = await agent.start("Read that page for me, please")
        ask = await agent.asked(task_id, "tool")
        assert agent.task(task_id).state.conversation.log.state.has_external_content is True
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert (await state_of(agent, task_id)).has_external_content is True


async def test_without_a_page_there_is_no_mark(tmp_path: Path) -> None:
    turns = [call_tool("list_files", {"path": "."}), DONE]
    async with running_agent(tmp_path, turns, settings=UNASKED, tools=ToolRegistry()) as agent:
        task_id = await agent.finished("Look what there is, please")
        assert (await state_of(agent, task_id)).has_external_content is None
        assert not (await read_conversation(agent.store, task_id)).has_external_content
        outcome, asked = await learned(agent, task_id, tmp_path, anyway=False)
        assert (outcome.result, asked) == ("nothing", 1)


async def test_what_a_subtask_fetched_marks_the_conversation_it_reports_to(tmp_path: Path, server: str) -> None:
    turns = [
        call_tool("new_task", {"mode": "code", "message": "Fetch the page"}, id="sub"),
        fetch(f"{server}/page"),
        call_tool("attempt_completion", {"result": "It says: WORDS OF STRANGERS"}, id="end"),
        DONE,
    ]
    async with running_agent(tmp_path, turns, settings=UNASKED, tools=ToolRegistry()) as agent:
        task_id = await agent.start("Have that page read, please")
        await until(lambda: len(agent.model.requests) == 4 and not agent.manager.tasks.open)
        assert "WORDS OF STRANGERS" in (await agent.results(task_id))["sub"]
        assert (await read_conversation(agent.store, task_id)).has_external_content
        outcome, asked = await learned(agent, task_id, tmp_path, anyway=False)
        assert (outcome.result, asked) == ("external", 0)
