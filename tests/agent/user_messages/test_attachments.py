"""What goes along with a message: kept beside the words, told the model below them, and read only then if it has to be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.errors import InvalidInput
from hdsp_agent.messages import Attachment, CellId, TaskId
from hdsp_agent.persistence import StoredTaskState
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import ToolRegistry

from ..._helpers.page_server import page_server
from .._helpers.scripted_agent import Agent, running_agent, until
from ..memory.test_external_content import Page
from ..test_automatic_checkpoints import kept_at
from .test_expander import ASK, DONE, KEY, WRITE, plain

CELL = Attachment(kind="cell", path="a.ipynb", cell_id=CellId("c1"), label="Cell 1", content="x = 1")
BLOCK = '<attachment kind="cell" path="a.ipynb" cellId="c1" label="Cell 1">\nx = 1\n</attachment>'
WEB = GlobalSettings(fetch_url_enabled=True, fetch_private_addresses=True)


@pytest.fixture
def server() -> Iterator[str]:
    with page_server(Page) as address:
        yield address


async def along(agent: Agent, task_id: TaskId) -> list[list[Attachment] | None]:
    """What went along with each message of the person."""
    return [message.attachments for message in await agent.ui(task_id) if message.say in ("text", "user_feedback")]


async def state_of(agent: Agent, task_id: TaskId) -> StoredTaskState:
    return await (await agent.store.view(task_id)).read_state()


async def told_of(agent: Agent, attachment: Attachment, text: str = "Look") -> TaskId:
    task_id = await agent.manager.start(TaskRequest(text, attachments=(attachment,)))
    await agent.completed(task_id)
    return task_id


async def test_it_is_kept_beside_the_words_and_told_below_them(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        task_id = await told_of(agent, CELL, "/explain")
        assert (await agent.ui(task_id))[0].text == "/explain"
        assert await along(agent, task_id) == [[CELL]]
        told = plain(agent)
        assert told.index("Explain what I name below") < told.index("</user_message>") < told.index(BLOCK)


async def test_it_may_come_without_a_word(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        task_id = await told_of(agent, CELL, "")
        assert BLOCK in plain(agent)
        assert agent.history.items[task_id].task == "Cell 1"
        with pytest.raises(InvalidInput):
            await agent.manager.start(TaskRequest(" "))


async def test_keys_in_it_are_kept_and_told_by_their_masks(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        task_id = await told_of(agent, CELL.model_copy(update={"content": f"token = '{KEY}'"}))
        [[kept]] = [given for given in await along(agent, task_id) if given]
        assert kept.content is not None and kept.content.startswith("token = '") and KEY not in kept.content
        assert KEY not in plain(agent) and "token = '" in plain(agent)


async def test_nothing_that_it_says_is_read_as_a_mention(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("TREASURE")
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        await told_of(agent, CELL.model_copy(update={"content": "see @/a.txt"}))
        assert "TREASURE" not in plain(agent)


async def test_it_goes_along_with_answers_queued_messages_and_edits(tmp_path: Path) -> None:
    second, third = (CELL.model_copy(update={"label": f"Cell {number}"}) for number in (2, 3))
    async with running_agent(tmp_path, [WRITE, ASK, DONE, DONE], tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        queued = await agent.manager.queue(task_id, "later", attachments=[CELL])
        queue = agent.task(task_id).state.queue
        await queue.edit(queued.id, "later, but other")
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked", None, attachments=[second])
        question = await agent.asked(task_id, "followup")
        assert BLOCK in plain(agent) and "Cell 2" in str(agent.model.requests[-1].messages)
        await agent.manager.answer(task_id, question.ts, "messageResponse", "this", attachments=[third])
        await agent.completed(task_id)
        assert await along(agent, task_id) == [None, [second], [CELL], [third]]
        first = (await agent.ui(task_id))[0]
        await agent.manager.messages.edit(task_id, first.ts, "", attachments=[second])
        await until(lambda: len(agent.model.requests) == 4)
        await agent.completed(task_id)
        assert (await along(agent, task_id))[-1] == [second]
        assert 'label="Cell 2"' in plain(agent) and BLOCK not in plain(agent)


async def test_a_conversation_is_read_when_it_is_told_and_what_holds_for_it_holds_here(
    tmp_path: Path, server: str
) -> None:
    fetch = call_tool("fetch_url", {"url": f"{server}/page"})
    unasked = WEB.model_copy(update={"auto_approval_enabled": True, "always_allow_network": True})
    async with running_agent(
        tmp_path, [fetch, DONE, DONE, DONE, DONE], settings=unasked, tools=ToolRegistry()
    ) as agent:
        first = await agent.finished("The colour is green")
        named = Attachment(kind="conversation", path=first, label="Another one")
        second = await told_of(agent, named, "Which colour was it?")
        assert "The colour is green" in plain(agent).partition('<attachment kind="conversation"')[2]
        assert await along(agent, second) == [[named]]
        assert (await state_of(agent, second)).has_external_content is True
        for path in ("0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d", "../etc"):
            await told_of(agent, named.model_copy(update={"path": path}))
            assert "[Not attached: " in plain(agent)


async def test_what_could_not_be_read_is_said_to_the_person_too(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        task_id = await told_of(agent, Attachment(kind="conversation", path="nowhere", label="Gone"))
        [error] = await agent.says(task_id, "error")
        assert error.text is not None and error.text.partition("\n")[2].startswith("Gone: ")


async def test_what_is_forbidden_is_not_read_for_the_person_either(tmp_path: Path, server: str) -> None:
    policy = OperatorPolicy(allow_auto_approval=False)
    settings = WEB.model_copy(update={"disabled_tools": ("read_file", "search_tasks")})
    files = kept_at(tmp_path)
    async with running_agent(
        tmp_path, [DONE, DONE, DONE, DONE], settings=settings, policy=policy, tools=ToolRegistry(), files=files
    ) as agent:
        (agent.workspace / "note.txt").write_text("TREASURE\n")
        saved = await files.save(agent.workspace, None, owner="")
        (agent.workspace / "note.txt").write_text("TREASURES\n")
        first = await agent.finished("TREASURE")
        for kind, path in (("page", f"{server}/page"), ("checkpoint", saved.id), ("conversation", first)):
            await told_of(agent, Attachment(kind=kind, path=path, label="it"))
            assert "[Not attached: " in plain(agent)
            assert "TREASURE" not in plain(agent) and "STRANGERS" not in plain(agent)


async def test_a_long_conversation_is_cut(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE, DONE], tools=ToolRegistry()) as agent:
        first = await agent.finished("word " * 20_000)
        await told_of(agent, Attachment(kind="conversation", path=first, label="long"))
        assert len(plain(agent)) < 70_000


async def test_somebody_elses_conversation_is_none(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE, DONE], tools=ToolRegistry()) as agent:
        theirs = await agent.manager.start(TaskRequest("TREASURE", owner="her"))
        await agent.completed(theirs)
        await told_of(agent, Attachment(kind="conversation", path=theirs, label="hers"))
        assert "[Not attached: There is no conversation" in plain(agent) and "TREASURE" not in plain(agent)


async def test_a_checkpoint_tells_what_changed_since_without_what_the_agent_may_not_read(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "note.txt").write_text("before\n")
    (work / ".env").write_text("A=before\n")
    files = kept_at(tmp_path)
    async with running_agent(tmp_path, [DONE, DONE], tools=ToolRegistry(), files=files) as agent:
        saved = await files.save(work, None, owner="")
        (work / "note.txt").write_text("after\n")
        (work / ".env").write_text("A=TREASURE\n")
        await told_of(agent, Attachment(kind="checkpoint", path=saved.id, label="Before"))
        told = plain(agent)
        assert "modified: note.txt" in told and "-before" in told and "+after" in told
        assert "TREASURE" not in told and "[1 more not shown" in told
        await told_of(agent, Attachment(kind="checkpoint", path="0" * 16, label="None"))
        assert "[Not attached: There is no checkpoint" in plain(agent)


async def test_a_page_is_read_as_the_person_chose_it_unless_that_is_turned_off(tmp_path: Path, server: str) -> None:
    page = Attachment(kind="page", path=f"{server}/page", label="A page")
    async with running_agent(tmp_path, [DONE], settings=WEB, tools=ToolRegistry()) as agent:
        task_id = await told_of(agent, page)
        assert "WORDS OF STRANGERS" in plain(agent)
        assert await agent.asks(task_id, "use_mcp_server") == []
        assert (await state_of(agent, task_id)).has_external_content is True
    async with running_agent(tmp_path / "other", [DONE], tools=ToolRegistry()) as agent:
        await told_of(agent, page)
        assert "STRANGERS" not in plain(agent) and "[Not attached: " in plain(agent)


async def test_what_only_a_page_can_have_brought_is_not_guessed(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        await told_of(agent, CELL.model_copy(update={"content": None}))
        assert "[Not attached: " in plain(agent)
