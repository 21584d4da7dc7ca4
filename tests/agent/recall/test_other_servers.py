"""What another server of the person wrote, changed or deleted is searched as it is there, without a round in the background."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.agent.recall import recall_feed
from hdsp_agent.agent.recall.conversation_passages import read_conversation_passages
from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import HistoryPage, HistoryQuery, MessageManager, TaskReader
from hdsp_agent.recall import Passage

from ..._helpers.stored_tasks import backend_under_test
from .test_past_search import ME, past

pytestmark = pytest.mark.each_backend("files", "postgres")


def _elsewhere(home: Path) -> Path:
    """The folder of another server: of its own where conversations are in a database."""
    folder = home / "elsewhere" if backend_under_test() == "postgres" else home
    folder.mkdir(exist_ok=True)
    return folder


async def test_what_another_server_wrote_is_found_by_the_next_search(tmp_path: Path) -> None:
    async with past(tmp_path) as here, past(_elsewhere(tmp_path)) as there:
        assert await here.found("zebra") == []
        task_id = await there.conversation("Use the zebra palette", "Done.")
        assert [text for _, text in await here.found("zebra palette")] == ["Use the zebra palette", "Done."]
        log = await there.store.resume(task_id)
        messages = [message async for message in log.ui.iterate()]
        assert await MessageManager(log).rewind_to_timestamp(messages[1].ts)
        await log.close()
        entry = await there.index.get(task_id)
        assert entry is not None
        await there.index.upsert(entry.item.model_copy(update={"ts": entry.item.ts + 1}))
        assert [text for _, text in await here.found("zebra palette")] == ["Use the zebra palette"]
        await there.store.delete(task_id)
        await there.index.forget([task_id])
        assert await here.found("zebra palette") == []
        assert (await here.search._recall.outdated("conversation", {}, owner=ME)).gone == frozenset()


async def test_what_was_written_while_this_server_was_off_is_found_the_newest_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_feed, "_MOST_BEFORE_SEARCH", 2)
    async with past(_elsewhere(tmp_path)) as there:
        for number in range(3):
            await there.conversation(f"The heron of day {number}", "Seen.")
    async with past(tmp_path) as here:
        hurried: list[None] = []
        here.search.embedder.on_changed = lambda: hurried.append(None)
        found = {text for _, text in await here.found("heron")} - {"Seen."}
        assert found == {"The heron of day 1", "The heron of day 2"}
        assert hurried == [None]
        await here.search.feed.catch_up(ME)
        assert len({text for _, text in await here.found("heron")} - {"Seen."}) == 3


async def test_a_conversation_that_named_nobody_is_found_by_whom_it_was_given_to(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        task_id = await at.conversation("The heron is grey", "Noted.", owner="")
        assert await at.found("heron", owner="") and await at.found("heron") == []
        entry = await at.index.get(task_id)
        assert entry is not None
        await at.index.upsert(entry.item, owner=ME)
        assert await at.found("heron")
        assert await at.search.feed.catch_up(ME) == 0


@pytest.mark.each_backend("postgres")
async def test_what_two_servers_put_in_is_there_once_and_is_not_put_in_again(tmp_path: Path) -> None:
    async with past(tmp_path) as here, past(_elsewhere(tmp_path)) as there:
        # A profile of one name leads to this machine here, and to a provider there.
        here.search.feed._stayed_here = lambda profile, used_local_model: True
        there.search.feed._stayed_here = lambda profile, used_local_model: used_local_model
        task_id = await there.conversation("Use the zebra palette", "Done.", profile="mine")
        await there.search.feed.catch_up(ME)
        [hit, *_] = await there.search.search(ME, "zebra")
        assert not hit.source.stays_here
        assert await here.search.feed.catch_up(ME) == 1
        for server in (there, here, there):
            assert await server.search.feed.catch_up(ME) == 0
            hits = await server.search.search(ME, "zebra palette")
            assert [(hit.source.id, hit.passage.text, hit.source.stays_here) for hit in hits] == [
                (task_id, "Use the zebra palette", True),
                (task_id, "Done.", True),
            ]


async def test_what_another_server_puts_in_meanwhile_is_not_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with past(tmp_path) as here, past(_elsewhere(tmp_path)) as there:
        list_history = here.index.search

        async def list_slowly(query: HistoryQuery) -> HistoryPage:
            page = await list_history(query)
            if page.next is None and not page.hits:
                await there.conversation("The heron is grey", "Noted.")
                await there.search.feed.catch_up(ME)
            return page

        monkeypatch.setattr(here.index, "search", list_slowly)
        assert await here.search.feed.catch_up(ME) == 0
        [task_id] = (await there.search._recall.outdated("conversation", {}, owner=ME)).gone
        await there.store.delete(TaskId(task_id))
        await there.index.forget([TaskId(task_id)])
        monkeypatch.undo()
        assert await here.search.feed.catch_up(ME) == 1


@pytest.mark.each_backend("postgres")
async def test_what_is_said_while_another_server_reads_it_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with past(tmp_path) as here, past(_elsewhere(tmp_path)) as there:
        task_id = await there.conversation("The heron is grey", "Noted.")
        read = read_conversation_passages
        overtaken: list[None] = []

        async def read_slowly(reader: TaskReader) -> list[Passage]:
            passages = await read(reader)
            if not overtaken:
                overtaken.append(None)
                log = await there.store.resume(task_id)
                await log.append_ui(ClineMessage(ts=1, type="say", say="user_feedback", text="No, the heron is white"))
                await log.close()
                entry = await there.index.get(task_id)
                assert entry is not None
                await there.index.upsert(entry.item.model_copy(update={"ts": entry.item.ts + 1}))
                await there.search.feed.catch_up(ME)
            return passages

        monkeypatch.setattr(recall_feed, "read_conversation_passages", read_slowly)
        assert "No, the heron is white" in [text for _, text in await here.found("heron")]
        assert overtaken
