"""Condensing at the provider through the official SDK: what is kept all the same, and what is done where it is not to be had."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.agent.context_window import provider_condensing
from hdsp_agent.errors import Conflict
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import history_to_read
from tests.agent.context_window._helpers.responses_server import Condensing

from ..._helpers.model_server import Reply, refusal
from .._helpers.provider_agent import ProviderAgent
from .._helpers.scripted_agent import until
from ._helpers.responses_server import (
    WORDS,
    compacted,
    done,
    inputs,
    looked,
    question,
    sealed,
    sealing_agent,
    summarised,
)

TASK = "Do it with data/parts.csv. Never change a file."


async def condensed_rows(agent: ProviderAgent, task_id: TaskId) -> list[Any]:
    return [message.context_condense for message in await agent.says(task_id, "condense_context")]


def is_summary_wish(body: dict[str, Any]) -> bool:
    return "CONTEXT CHECKPOINT" in inputs(body)


async def test_the_provider_condenses_and_what_must_not_be_lost_is_carried_all_the_same(tmp_path: Path) -> None:
    async with sealing_agent(tmp_path, [looked(1), looked(2), done()], [compacted(sealed())]) as (server, agent):
        task_id = await agent.finished(TASK)
        [row] = await condensed_rows(agent, task_id)
        reader = await agent.store.view(task_id)
        [kept] = await reader.summaries.newest()
        stored = [record async for record in reader.api.iterate() if record.is_summary]
    [wish] = server.wishes
    before, after = server.asked[-2:]
    # The wish has the conversation's beginning, and nobody is asked to write a summary.
    assert (wish["instructions"], wish["prompt_cache_key"]) == (before["instructions"], before["prompt_cache_key"])
    assert wish["input"][: len(before["input"])] == before["input"] and len(wish["input"]) > len(before["input"])
    assert not any(map(is_summary_wish, server.asked))
    # The sealed item goes back as it came, the words of the person and what is carried beside it.
    assert [item for item in after["input"] if item.get("type") == "compaction"] == [sealed()]
    told = inputs(after)
    assert f"<user_message>\\n{TASK}\\n</user_message>" in told and "`data/parts.csv`" in told
    assert "- Never change a file." in told and told.count("Word after word.") < 5_000
    # For people and for other models there is a text.
    assert row.way == "remote" and row.summary == kept.summary and "`list_files`" in row.summary
    assert "I look at it." in row.summary and str(sealed()["encrypted_content"]) not in row.summary
    assert row.cost > 0 and row.new_context_tokens < row.prev_context_tokens / 1.5
    [record] = stored
    assert record.reasoning_details is not None and sealed().items() <= record.reasoning_details[0].items()  # type: ignore[union-attr]


async def test_it_can_be_undone_and_redone(tmp_path: Path) -> None:
    turns = [looked(1), looked(2), done()]
    async with sealing_agent(tmp_path, turns, [compacted(sealed())]) as (_, agent):
        task_id = await agent.finished(TASK)
        for change, sealed_there in ((agent.manager.messages.undo, False), (agent.manager.messages.redo, True)):
            await change(task_id)
            history = await (await history_to_read(await agent.store.view(task_id))).api_history()
            assert str([record.content for record in history]).count(WORDS) == (0 if sealed_there else 2)
            assert any(record.reasoning_details for record in history) == sealed_there


async def test_a_restart_sends_the_sealed_item_again(tmp_path: Path) -> None:
    turns = [looked(1), looked(2), question(), done()]
    async with sealing_agent(tmp_path, turns, [compacted(sealed())]) as (server, agent):
        task_id = await agent.start(TASK)
        await agent.asked(task_id, "followup")
        [before] = server.asked[-1:]
        # The address is part of what a sealed item is for, so the server stays and the agent goes.
        await agent.manager.tasks.close(task_id)
        await agent.manager.resume(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "followup")).ts, "messageResponse", "yes")
        await agent.ended(task_id)
        after = server.asked[-1]
    assert after["input"][: len(before["input"])] == before["input"] and sealed() in before["input"]


async def too_late(reply: Reply) -> None:
    await asyncio.Event().wait()


FAILURES: dict[str, Condensing] = {
    "not_found": refusal("404 Not Found", {"detail": "Not Found"}),
    "not_allowed": refusal("405 Method Not Allowed", {"error": {"message": "Method Not Allowed"}}),
    "unsupported": refusal("400 Bad Request", {"error": {"message": "Compaction is not supported with this model"}}),
    "down": refusal("503 Service Unavailable", {"error": {"message": "overloaded"}}),
    "empty": compacted(),
    "a_page": refusal("200 OK", "<html>"),
    "too_large": compacted({**sealed(), "encrypted_content": "x" * 400_000}),
    "too_late": too_late,
}


@pytest.mark.in_short(3)
@pytest.mark.parametrize("failure", FAILURES)
async def test_where_it_fails_the_agent_condenses_itself_and_does_not_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    monkeypatch.setattr(provider_condensing, "SECONDS", 0.5 if failure == "too_late" else 30.0)
    turns = [looked(1), looked(2), summarised(), looked(3), looked(4), summarised(), done()]
    async with sealing_agent(tmp_path, turns, [FAILURES[failure]]) as (server, agent):
        task_id = await agent.finished(TASK)
        rows = await condensed_rows(agent, task_id)
        assert not await agent.says(task_id, "condense_context_error")
        assert not await agent.says(task_id, "error") and not await agent.says(task_id, "api_req_retry_delayed")
    assert [row.way for row in rows] == ["local", "local"]
    assert sum(map(is_summary_wish, server.asked)) == 2 and "The long file was read." in inputs(server.asked[-1])
    # What is merely too large for once may be tried again.
    assert len(server.wishes) == (2 if failure == "too_large" else 1)


@pytest.mark.parametrize(
    "overrides", [{"condenseAtProvider": False}, {"customSupportPrompts": {"CONDENSE": "Write a CONTEXT CHECKPOINT."}}]
)
async def test_it_is_not_asked_for_where_the_person_wants_it_otherwise(
    tmp_path: Path, overrides: dict[str, Any]
) -> None:
    turns = [looked(1), looked(2), summarised(), done()]
    async with sealing_agent(tmp_path, turns, [compacted(sealed())], **overrides) as (server, agent):
        task_id = await agent.finished(TASK)
        [row] = await condensed_rows(agent, task_id)
    assert row.way == "local" and not server.wishes


async def test_one_after_the_other_each_holds_the_one_before_and_the_text_does_not_grow(tmp_path: Path) -> None:
    turns = [looked(number) for number in range(1, 11)]
    async with sealing_agent(tmp_path, [*turns, done()], [compacted(sealed(number)) for number in range(1, 9)]) as (
        server,
        agent,
    ):
        task_id = await agent.finished(TASK)
        rows = await condensed_rows(agent, task_id)
    assert len(rows) >= 4 and {row.way for row in rows} == {"remote"}
    for number, wish in enumerate(server.wishes[1:], 1):
        assert [item for item in wish["input"] if item.get("type") == "compaction"] == [sealed(number)]
    last = server.asked[-1]
    assert [item for item in last["input"] if item.get("type") == "compaction"] == [sealed(len(rows))]
    lengths = [len(row.summary) for row in rows]
    assert lengths[-1] < lengths[1] + 100 * len(rows)
    # Steps of before the first are still told, and the words of the person stand once.
    assert rows[-1].summary.count("`list_files`") >= 4 and rows[-1].summary.count("keeps what was said") == 1
    assert inputs(last).count(TASK) <= 3


async def test_another_model_gets_a_summary_that_the_last_one_writes(tmp_path: Path) -> None:
    turns = [looked(1), looked(2), question(), summarised("## Work Completed\nTold by who can read it."), done()]
    async with sealing_agent(tmp_path, turns, [compacted(sealed())]) as (server, agent):
        task_id = await agent.start(TASK)
        ask = await agent.asked(task_id, "followup")
        profiles = agent.config.profiles
        tested = profiles.settings("tested")
        await profiles.create("other", {**tested.to_wire(), "apiModelId": "gpt-5.1-mini", "openAiNativeApiKey": "sk-x"})
        await agent.manager.switch_profile(task_id, "other")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "yes")
        await agent.ended(task_id)
        rows = await condensed_rows(agent, task_id)
    assert [row.way for row in rows] == ["remote", "local"]
    wish, after = server.asked[-2:]
    assert (wish["model"], after["model"]) == ("gpt-5.1", "gpt-5.1-mini")
    assert sealed() in wish["input"] and is_summary_wish(wish)
    assert "Told by who can read it." in inputs(after) and "compaction" not in inputs(after)
    assert TASK in inputs(after) and "`data/parts.csv`" in inputs(after)


async def test_if_nobody_can_read_it_any_more_a_summary_of_the_whole_is_written(tmp_path: Path) -> None:
    turns = [looked(1), looked(2), question(), summarised("## Work Completed\nRead from the log."), done()]
    async with sealing_agent(tmp_path, turns, [compacted(sealed())]) as (server, agent):
        task_id = await agent.start(TASK)
        ask = await agent.asked(task_id, "followup")
        # The same profile with another model: nobody holds the old one.
        await agent.config.profiles.update("tested", {"apiModelId": "gpt-5.1-mini", "modelContextWindow": 60_000})
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "yes")
        await agent.ended(task_id)
    wish, after = server.asked[-2:]
    assert is_summary_wish(wish) and inputs(wish).count(WORDS) == 2 and "compaction" not in inputs(wish)
    assert "Read from the log." in inputs(after) and TASK in inputs(after)


async def test_if_that_fails_too_the_text_beside_it_has_to_do_and_it_is_not_tried_again(tmp_path: Path) -> None:
    no = refusal("400 Bad Request", {"error": {"message": "I do not write summaries."}})
    turns = [looked(1), looked(2), question(), no, looked(3, "Short. "), done()]
    async with sealing_agent(tmp_path, turns, [compacted(sealed())]) as (server, agent):
        task_id = await agent.start(TASK)
        ask = await agent.asked(task_id, "followup")
        await agent.config.profiles.update("tested", {"apiModelId": "gpt-5.1-mini", "modelContextWindow": 60_000})
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "yes")
        await agent.ended(task_id)
        assert len(await agent.says(task_id, "condense_context_error")) == 1
    assert sum(map(is_summary_wish, server.asked)) == 1
    assert "compaction" not in inputs(server.asked[-1]) and "`list_files`" in inputs(server.asked[-1])


async def test_stopped_while_the_provider_condenses_nothing_is_changed(tmp_path: Path) -> None:
    async with sealing_agent(tmp_path, [looked(1), looked(2), done()], [too_late]) as (server, agent):
        task_id = await agent.start(TASK)
        await until(lambda: server.wishes)
        await agent.manager.cancel(task_id)
        await agent.asked(task_id, "resume_task")
        [row] = await agent.says(task_id, "condense_context_error")
        assert row.partial is False
        assert not await (await agent.store.view(task_id)).marks.count()


async def test_the_wish_of_the_person_is_met_at_the_provider_too(tmp_path: Path) -> None:
    turns = [looked(1), done()]
    async with sealing_agent(tmp_path, turns, [compacted(sealed())], window=200_000) as (server, agent):
        task_id = await agent.finished(TASK)
        await agent.manager.condense(task_id)
        [row] = await condensed_rows(agent, task_id)
        with pytest.raises(Conflict, match="just condensed"):
            await agent.manager.condense(task_id)
    assert row.way == "remote" and len(server.wishes) == 1
    assert json.dumps(server.wishes[0]).count("Word after word.") > 2_000


async def test_requests_extend_one_another_behind_the_sealed_item(tmp_path: Path) -> None:
    turns = [looked(1), looked(2), looked(3, "Short."), looked(4, "Shorter."), done()]
    async with sealing_agent(tmp_path, turns, [compacted(sealed())]) as (server, agent):
        await agent.finished(TASK)
    behind = [body for body in server.asked if sealed() in body["input"]]
    assert len(behind) == 3
    for one, following in pairwise(behind):
        known, longer = ([json.dumps(item) for item in body["input"]] for body in (one, following))
        assert longer[: len(known)] == known and len(longer) > len(known)
        assert all(one[name] == following[name] for name in ("instructions", "tools", "prompt_cache_key"))
