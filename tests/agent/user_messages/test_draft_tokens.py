"""The tokens of a message that is being written: of just what the model would be told, and nothing happens by counting."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from hdsp_agent.agent import TaskRequest
from hdsp_agent.agent.user_messages import DraftTokens, TokenCount, draft_state, draft_tokens
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import Attachment, NotebookRef, TaskId
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import ToolRegistry

from ..._helpers.model_server import raw_server
from ..._helpers.page_server import page_server
from .._helpers.scripted_agent import Agent, running_agent
from ..memory.test_external_content import Page
from ..test_automatic_checkpoints import kept_at
from ..test_notebook_tasks import notebook_agent
from .test_attachments import CELL, WEB, state_of
from .test_expander import ASK, DONE, KEY, plain, png

IMAGE = "data:image/png;base64," + base64.b64encode(png()).decode()


@pytest.fixture
def server() -> Iterator[str]:
    with page_server(Page) as address:
        yield address


class Counts:
    """A model that counts characters."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def count(self, profile: str, texts: Sequence[str]) -> list[int] | None:
        assert profile == "code-profile"
        self.texts += texts
        return [len(text) for text in texts]


async def counted(
    agent: Agent,
    text: str = "",
    attachments: Sequence[Attachment] = (),
    images: Sequence[str] = (),
    *,
    by: Counts | None = None,
    task_id: TaskId | None = None,
    owner: str | None = None,
    notebook: str | None = None,
) -> DraftTokens:
    reader = None if task_id is None else await agent.store.view(task_id)
    about = None if notebook is None else NotebookRef(path=notebook)
    task = None if task_id is None else agent.manager.tasks.opened(task_id)
    worked_on = None if task is None else task.state
    state = await draft_state(agent.manager.services, reader, worked_on=worked_on, owner=owner, notebook=about)
    if by is not None:
        state = replace(state, services=replace(state.services, count_tokens=by.count))
    return await draft_tokens(state, text, attachments, images)


async def test_what_is_counted_is_what_the_model_is_told(tmp_path: Path) -> None:
    count = Counts()
    async with running_agent(tmp_path, [DONE, DONE], tools=ToolRegistry()) as agent:
        (agent.workspace / "a.txt").write_text(f"token = '{KEY}'\n")
        (agent.workspace / "sub").mkdir()
        first = await agent.finished("The colour is green")
        attachments = [
            CELL.model_copy(update={"content": f"x = '{KEY}'"}),
            Attachment(kind="conversation", path=first, label="Another"),
            Attachment(kind="conversation", path="nowhere", label="Gone"),
        ]
        words = "See @/a.txt, @/sub/ and @git-changes"
        found = await counted(agent, words, attachments, by=count)
        whole, *each = count.texts
        assert "The colour is green" in whole and "1 | token" in whole
        assert 'label="Gone">\n[Not attached: ' in whole and KEY not in whole
        assert found.total == TokenCount(len(whole), True) and not found.is_partial
        assert list(found.attachments) == [TokenCount(len(text), True) for text in each]
        assert all(text in whole for text in each)
        await agent.manager.start(TaskRequest(words, attachments=attachments))
        await agent.completed(agent.manager.tasks.current or first)
        assert whole in plain(agent)


async def test_without_a_model_that_counts_it_is_an_estimate(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [], tools=ToolRegistry()) as agent:
        found = await counted(agent, attachments=[CELL.model_copy(update={"content": "é" * 3_000})])
        [only] = found.attachments
        assert only is not None and not only.is_exact and 1_500 < only.tokens < 1_540
        assert found.total == only
        assert await counted(agent) == DraftTokens(TokenCount(0, True), [], [], is_partial=False)


async def test_images_are_counted_and_those_of_files_too(tmp_path: Path) -> None:
    count = Counts()
    async with running_agent(tmp_path, [], tools=ToolRegistry()) as agent:
        (agent.workspace / "plot.png").write_bytes(png())
        found = await counted(agent, "see @/plot.png", images=[IMAGE, "no image"], by=count)
        whole, no_image = count.texts
        assert "plot.png: an image" in whole and no_image == "[A picture of the user could not be read.]"
        assert list(found.images) == [TokenCount(1_844, False), TokenCount(len(no_image), True)]
        assert found.total == TokenCount(len(whole) + 2 * 1_844 + len(no_image), False)


async def test_a_model_that_sees_none_is_told_a_word_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hdsp_agent.agent.user_messages import _draft_tokens
    from hdsp_agent.providers import KnownModel

    monkeypatch.setattr(_draft_tokens, "model_info", lambda settings: KnownModel("blind", "fake-ai"))
    count = Counts()
    async with running_agent(tmp_path, [], tools=ToolRegistry()) as agent:
        found = await counted(agent, images=[IMAGE], by=count)
        assert count.texts[1].startswith("image content omitted")
        assert list(found.images) == [found.total] == [TokenCount(len(count.texts[1]), True)]


async def test_nothing_on_another_machine_is_read_to_count(tmp_path: Path) -> None:
    count = Counts()
    async with raw_server(b"") as elsewhere, running_agent(tmp_path, [], settings=WEB, tools=ToolRegistry()) as agent:
        page = Attachment(kind="page", path=elsewhere.url, label="A page")
        found = await counted(agent, attachments=[page, CELL], by=count)
        assert found.attachments[0] is None and found.attachments[1] == found.total
        assert found.is_partial and found.total.is_exact
        assert elsewhere.requests == []
        read = page.model_copy(update={"content": "It was read."})
        assert not (await counted(agent, attachments=[read], by=count)).is_partial


async def test_no_checkpoint_is_saved_to_count(tmp_path: Path) -> None:
    files, count = kept_at(tmp_path), Counts()
    async with running_agent(tmp_path, [], tools=ToolRegistry(), files=files) as agent:
        (agent.workspace / "a.txt").write_text("a\n")
        saved = await files.save(agent.workspace, None, owner="")
        (agent.workspace / "a.txt").write_text("b\n")
        before = Attachment(kind="checkpoint", path=saved.id, label="Before")
        found = await counted(agent, attachments=[before, CELL], by=count)
        assert found.attachments[0] is None and found.attachments[1] == found.total and found.is_partial
        kept = await (await files.timeline(agent.workspace)).files.list()
        assert [one.id for one in kept] == [saved.id]


async def test_counting_never_blocks_the_event_loop(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [], tools=ToolRegistry()) as agent:
        (agent.workspace / "a.txt").write_text("a\n")
        with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
            assert (await counted(agent, "@/a.txt", [CELL], [IMAGE])).total.tokens > 0


async def test_it_leaves_no_mark_on_the_conversation(tmp_path: Path, server: str) -> None:
    fetch = call_tool("fetch_url", {"url": f"{server}/page"})
    unasked = WEB.model_copy(update={"auto_approval_enabled": True, "always_allow_network": True})
    async with running_agent(tmp_path, [fetch, DONE, ASK], settings=unasked, tools=ToolRegistry()) as agent:
        (agent.workspace / "a.txt").write_text("a\n")
        other = await agent.finished("Look it up")
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
        rows, state = await agent.ui(task_id), await state_of(agent, task_id)
        named = Attachment(kind="conversation", path=other, label="Another one")
        count = Counts()
        await counted(agent, "@/a.txt", [named], by=count, task_id=task_id)
        assert "Look it up" in count.texts[0] and "1 | a" in count.texts[0]
        assert await agent.ui(task_id) == rows
        assert await state_of(agent, task_id) == state and not state.has_external_content
        seen = agent.task(task_id).state.tool_state.seen
        assert not seen.has_changed(agent.workspace / "a.txt", (0, 0, 0))


async def test_it_is_counted_as_the_conversation_stands(tmp_path: Path) -> None:
    settings = GlobalSettings(disabled_tools=("read_file",))
    async with running_agent(tmp_path, [DONE], settings=settings, tools=ToolRegistry()) as agent:
        (agent.workspace / "a.txt").write_text("TREASURE\n")
        count = Counts()
        task_id = await agent.finished()
        await counted(agent, "@/a.txt", by=count, task_id=task_id)
        assert "switched off in the settings" in count.texts[0] and "TREASURE" not in count.texts[0]


async def test_somebody_elses_conversation_is_none(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        theirs = await agent.manager.start(TaskRequest("TREASURE", owner="her"))
        await agent.completed(theirs)
        named = Attachment(kind="conversation", path=theirs, label="hers")
        count = Counts()
        await counted(agent, attachments=[named], by=count, owner="him")
        assert "There is no conversation" in count.texts[0] and "TREASURE" not in count.texts[0]


async def test_a_notebook_and_its_errors_are_read_as_for_the_model(tmp_path: Path) -> None:
    count = Counts()
    async with notebook_agent(tmp_path, [], "print('fine')") as agent:
        await counted(agent, "@/a.ipynb @problems", by=count, notebook="a.ipynb")
        assert "print('fine')" in count.texts[0]
        assert '<notebook_errors path="a.ipynb">\nNo cell of the notebook shows an error.' in count.texts[0]
