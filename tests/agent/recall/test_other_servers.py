"""What another server of the person wrote, changed or deleted is searched as it is there, without a round in the background."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.agent.recall import recall_feed
from hdsp_agent.persistence import MessageManager

from .test_past_search import ME, past


async def test_what_another_server_wrote_is_found_by_the_next_search(tmp_path: Path) -> None:
    async with past(tmp_path) as here, past(tmp_path) as there:
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
    async with past(tmp_path) as there:
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
