"""Whatever a provider refuses: remedied, told in a line, and never tried for ever."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hdsp_agent.agent.context_window.largest_outputs import TRUNCATED, largest_outputs
from hdsp_agent.context import TokenCounter
from hdsp_agent.context._content_blocks import NOTHING_SAID
from hdsp_agent.messages import ClineMessage
from hdsp_agent.providers import ERROR_CLASSES, ErrorClass, ModelError, ModelRequest, call_tool
from hdsp_agent.providers._scripted import Step, Turn

from ...context._helpers.conversations import answer, call, result, user
from .._helpers.scripted_agent import Agent
from ._helpers.small_window import AUTO, DONE, SUMMARY, asks_for_summary, look, small_agent, summarised, text_of


def refusal(kind: ErrorClass, **numbers: int) -> list[Step]:
    return [ModelError("No.", kind=kind, **numbers)]  # type: ignore[arg-type]  # the numbers of a refusal


async def retries(agent: Agent, task_id: str) -> list[str]:
    return [message.text or "" for message in await agent.says(task_id, "api_req_retry_delayed")]  # type: ignore[arg-type]  # ids are text


def seen(number: int, characters: int) -> list[Step]:
    return call_tool("look", {"text": f"part {number} " + "x" * characters}, id=f"seen-{number}")


async def test_an_answer_that_has_no_room_is_asked_for_shorter(tmp_path: Path) -> None:
    turns = [refusal("overflow_output_budget", current=9_000, limit=11_000, output=8_000), DONE]
    async with small_agent(tmp_path, turns) as agent:
        task_id = await agent.finished()
        assert [request.max_output for request in agent.model.requests] == [None, 11_000 - 9_000 - 256]
        [told] = await retries(agent, task_id)
        assert "1,744" in told and sum(agent.slept) == 2


async def test_a_model_s_longest_answer_is_learned_once(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [refusal("output_cap", limit=4_096), look(1, 10), DONE]) as agent:
        await agent.finished()
        assert [request.max_output for request in agent.model.requests] == [None, 2_999, 2_999]


async def test_the_size_of_a_window_is_learned_from_a_refusal(tmp_path: Path) -> None:
    steps: list[Turn] = [
        *map(look, range(2)),
        refusal("overflow_output_budget", current=4_500, limit=9_000, output=5_000),
    ]
    async with small_agent(tmp_path, [*steps, look(2), summarised, DONE]) as agent:
        agent.model.info = replace(agent.model.info, context_window=None)
        task_id = await agent.finished()
        assert len(await agent.says(task_id, "condense_context")) == 1
        budgets = [request.max_output for request in agent.model.requests if not asks_for_summary(request)]
    # What was condensed leaves room for longer answers again.
    assert budgets == [None, None, None, 9_000 - 4_500 - 256, None]


async def test_the_largest_outputs_are_cut_if_that_makes_room(tmp_path: Path) -> None:
    turns = [seen(0, 9_000), seen(1, 100), seen(2, 9_000), refusal("overflow", current=11_000, limit=9_500), DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        told = await retries(agent, task_id)
        last = agent.model.requests[-1].messages
    assert text_of(last).count(TRUNCATED) == 2 and "saw part 1" in text_of(last)
    assert len(told) == 1 and "2 long outputs" in told[0]


async def test_outputs_are_cut_until_half_of_the_window_is_free(tmp_path: Path) -> None:
    outputs = [seen(number, 9_000) for number in range(4)]
    turns = [*outputs, refusal("overflow", current=11_000, limit=10_000), DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        [told] = await retries(agent, await agent.finished())
    # Each saves some 2,200 tokens, and 6,000 have to go.
    assert "3 long outputs" in told


async def test_a_conversation_of_words_is_condensed(tmp_path: Path) -> None:
    turns: list[Turn] = [*map(look, range(4)), refusal("overflow"), summarised, DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        assert len(await agent.says(task_id, "condense_context")) == 1
        assert SUMMARY.splitlines()[1] in text_of(agent.model.requests[-1].messages)
        assert not await retries(agent, task_id)


async def test_what_cannot_be_condensed_loses_its_oldest_part(tmp_path: Path) -> None:
    turns = [*map(look, range(4)), refusal("overflow"), refusal("quota"), DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        assert len(await agent.says(task_id, "condense_context_error")) == 1
        assert len(await agent.says(task_id, "sliding_window_truncation")) == 1


async def test_empty_messages_are_filled(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "Which?"}, id="q")

    def filled(request: ModelRequest) -> list[Step]:
        assert NOTHING_SAID in text_of(request.messages)
        return DONE

    async with small_agent(tmp_path, [question, refusal("empty_content", index=1), filled]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "followup")
        await agent.task(task_id).state.conversation.add_api("user", [{"type": "text", "text": " "}])
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "this")
        await agent.completed(task_id)
        [told] = await retries(agent, task_id)
        assert "1 empty message was filled" in told
        assert agent.heard.recoveries == ["tried", "recovered"]


async def test_pairs_are_put_together_anew_once(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [look(1, 10), refusal("tool_pairing"), DONE]) as agent:
        task_id = await agent.finished()
        assert agent.model.requests[-1].messages == agent.model.requests[-2].messages
        assert len(await retries(agent, task_id)) == 1


@pytest.mark.parametrize("kind", ERROR_CLASSES)
async def test_a_refusal_that_nothing_helps_against_ends_in_one_clear_question(
    tmp_path: Path, kind: ErrorClass
) -> None:
    def refused(request: ModelRequest) -> list[Step]:
        return summarised(request) if asks_for_summary(request) else refusal(kind)

    turns: list[Turn] = [*map(look, range(4)), seen(8, 4_000), *[refused] * 40]
    settings = AUTO.model_copy(update={"max_auto_retries": 3})
    async with small_agent(tmp_path, turns, window=100_000, settings=settings) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert len(agent.model.requests) < 20
        rows: list[ClineMessage] = await agent.ui(task_id)
        assert len([row for row in rows if row.ask == "api_req_failed"]) == 1
        # What was tried in vain is told to have come to its end, once.
        tried = agent.heard.recoveries.count("tried")
        assert agent.heard.recoveries == ["tried"] * tried + ["exhausted"] * (tried > 0)
        assert not [row for row in rows if row.partial and row.ts != ask.ts]


def test_already_cut_and_short_outputs_are_left_alone() -> None:
    messages = [
        answer(call("a"), call("b"), call("c")),
        user(result("a", "x" * 9_000), result("b", TRUNCATED), result("c", "x" * 100)),
    ]
    found = largest_outputs(messages, 100_000, TokenCounter())
    assert list(found.stubs) == ["a"] and 2_000 < found.gain < 2_250


def test_no_more_are_cut_than_needed_and_twenty_at_most() -> None:
    calls = [f"c{number}" for number in range(30)]
    messages = [
        answer(*map(call, calls)),
        user(*(result(id, "x" * (2_000 + 10 * n)) for n, id in enumerate(calls))),
    ]
    assert list(largest_outputs(messages, 600, TokenCounter()).stubs) == ["c29", "c28"]
    assert len(largest_outputs(messages, 10**6, TokenCounter()).stubs) == 20
