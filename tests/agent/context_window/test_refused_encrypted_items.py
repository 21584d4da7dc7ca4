"""What a provider condensed and can no longer read, or another model never could: nothing of the work is lost by it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from hdsp_agent.messages import TaskId

from ..._helpers.model_server import Reply, refusal
from .._helpers.provider_agent import ProviderAgent
from ._helpers.responses_server import (
    WORDS,
    Condensing,
    Responding,
    compacted,
    done,
    inputs,
    looked,
    question,
    sealed,
    sealing_agent,
    summarised,
)

TASK: Final = "Do it with data/parts.csv. Never change a file."
MARK: Final = re.compile(r"MARK-\d+")
REFUSED: Final = refusal(
    "400 Bad Request",
    {
        "error": {
            "message": "The encrypted content for item cmp_1 could not be verified. Reason: another organization_id.",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_encrypted_content",
        }
    },
)
SEALS: Final = [compacted(sealed(number)) for number in range(1, 9)]


def marked(number: int) -> bytes:
    """A long step of work that can be told from all others."""
    return looked(number, f"MARK-{number}. {WORDS}")


def wishes_for_summary(body: dict[str, Any]) -> bool:
    return "CONTEXT CHECKPOINT" in inputs(body)


def marks_in(body: dict[str, Any]) -> list[str]:
    return sorted(set(MARK.findall(inputs(body))))


async def goes_on(reply: Reply) -> None:
    """Write a summary that holds just the marks of what was sent, if asked to; else end the work."""
    body = reply.request.body
    summary = f"## Work Completed\nSeen: {', '.join(marks_in(body))}."
    await reply.send(summarised(summary) if wishes_for_summary(body) else done())


async def ways(agent: ProviderAgent, task_id: TaskId) -> list[str | None]:
    rows = await agent.says(task_id, "condense_context")
    return [row.context_condense.way for row in rows if row.context_condense is not None]


async def test_a_refused_item_is_made_readable_and_the_person_is_told_in_one_line(tmp_path: Path) -> None:
    turns: list[Condensing] = [marked(1), marked(2), REFUSED, goes_on]
    async with sealing_agent(tmp_path, turns, SEALS) as (server, agent):
        task_id = await agent.finished(TASK)
        told = [row.text for row in await agent.says(task_id, "api_req_retry_delayed")]
        assert await ways(agent, task_id) == ["remote", "local"]
        assert not await agent.says(task_id, "condense_context_error") and not await agent.says(task_id, "error")
    assert len(told) == 1 and "can no longer read what it condensed" in (told[0] or "")
    last = server.asked[-1]
    assert marks_in(last) == ["MARK-1", "MARK-2"] and TASK in inputs(last) and '"compaction"' not in inputs(last)
    # Nothing sealed was sent once it had been refused, and no summary was made of the text beside it.
    assert ['"compaction"' in inputs(body) for body in server.asked[2:]] == [True, *[False] * len(server.asked[3:])]
    assert "MARK-1" in inputs(next(filter(wishes_for_summary, server.asked)))


async def test_from_then_on_the_agent_condenses_itself(tmp_path: Path) -> None:
    turns: list[Condensing] = [marked(1), marked(2), REFUSED]
    later = [marked(3), marked(4)]

    async def works_on(reply: Reply) -> None:
        await (goes_on(reply) if wishes_for_summary(reply.request.body) or not later else reply.send(later.pop(0)))

    async with sealing_agent(tmp_path, [*turns, works_on], SEALS) as (server, agent):
        task_id = await agent.finished(TASK)
        assert await ways(agent, task_id) == ["remote", "local", "local"]
    assert len(server.wishes) == 1
    assert marks_in(server.asked[-1]) == ["MARK-1", "MARK-2", "MARK-3", "MARK-4"]


async def test_refused_when_it_is_to_be_condensed_again_all_is_read_from_the_log(tmp_path: Path) -> None:
    turns: list[Condensing] = [marked(1), marked(2), marked(3), marked(4), goes_on]
    async with sealing_agent(tmp_path, turns, [SEALS[0], REFUSED]) as (server, agent):
        task_id = await agent.finished(TASK)
        assert await ways(agent, task_id) == ["remote", "local"]
        [error] = await agent.says(task_id, "condense_context_error")
    assert "can no longer read" in (error.text or "") and len(server.wishes) == 2
    assert marks_in(server.asked[-1]) == ["MARK-1", "MARK-2", "MARK-3", "MARK-4"]


async def condensed_twice(server: Responding, agent: ProviderAgent) -> tuple[TaskId, int]:
    """A task that asks something, after its provider condensed it twice."""
    task_id = await agent.start(TASK)
    ask = await agent.asked(task_id, "followup")
    assert len(server.wishes) == 2 and await ways(agent, task_id) == ["remote", "remote"]
    assert marks_in(server.asked[-1]) in ([], ["MARK-4"], ["MARK-5"])
    return task_id, ask.ts


@pytest.mark.parametrize("window", [100_000, 30_000])
async def test_another_model_is_told_all_of_it_after_two_sealed_summaries(tmp_path: Path, window: int) -> None:
    """Also where all of it is more than the new model takes in at once."""
    turns: list[Condensing] = [*map(marked, range(1, 5)), question(), goes_on]
    async with sealing_agent(tmp_path, turns, SEALS) as (server, agent):
        task_id, ask = await condensed_twice(server, agent)
        await agent.config.profiles.update("tested", {"apiModelId": "gpt-5.1-mini", "modelContextWindow": window})
        await agent.manager.answer(task_id, ask, "messageResponse", "yes")
        await agent.ended(task_id)
        assert await ways(agent, task_id) == ["remote", "remote", "local"]
        assert not await agent.says(task_id, "condense_context_error")
    summaries = list(filter(wishes_for_summary, server.asked))
    assert (len(summaries) == 1) == (window == 100_000)
    last = server.asked[-1]
    assert marks_in(last) == ["MARK-1", "MARK-2", "MARK-3", "MARK-4"] and TASK in inputs(last)
    assert all('"compaction"' not in inputs(body) for body in [*summaries, last])


async def test_a_readable_summary_before_the_sealed_ones_stays(tmp_path: Path) -> None:
    missing = refusal("503 Service Unavailable", {"error": {"message": "overloaded"}})
    seen: list[dict[str, Any]] = []
    steps = [*map(marked, range(1, 5)), question()]

    async def works_on(reply: Reply) -> None:
        body = reply.request.body
        seen.append(body)
        await (goes_on(reply) if wishes_for_summary(body) or not steps else reply.send(steps.pop(0)))

    async with sealing_agent(tmp_path, [works_on], [missing, SEALS[0]]) as (_, agent):
        task_id = await agent.start(TASK)
        offers = agent.manager.services.offers
        offers.failed = lambda endpoint, error: None  # type: ignore[method-assign]  # it may be tried again at once
        ask = await agent.asked(task_id, "followup")
        assert await ways(agent, task_id) == ["local", "remote"]
        await agent.config.profiles.update("tested", {"apiModelId": "gpt-5.1-mini", "modelContextWindow": 100_000})
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "yes")
        await agent.ended(task_id)
    wish = [body for body in seen if wishes_for_summary(body)][-1]
    # What stands in the first summary is not read once more.
    assert "Seen: MARK-1, MARK-2." in inputs(wish) and inputs(wish).count(WORDS) == 2
    assert marks_in(seen[-1]) == ["MARK-1", "MARK-2", "MARK-3", "MARK-4"]
