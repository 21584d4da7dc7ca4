"""Each remedy by itself, what counts on and what does not, and that nothing is done to a conversation by two at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest
from hdsp_agent.agent.context_window import summary_request
from hdsp_agent.agent.context_window.largest_outputs import TRUNCATED
from hdsp_agent.errors import Conflict
from hdsp_agent.providers import ModelError, ModelRequest, Stop, say
from hdsp_agent.providers._scripted import Step, Turn

from ..._helpers.model_server import refusal
from .._helpers.scripted_agent import until
from ._helpers.responses_server import done, inputs, looked, sealing_agent
from ._helpers.small_window import (
    AUTO,
    DONE,
    SMALL,
    SUMMARY,
    asks_for_summary,
    condensed,
    look,
    small_agent,
    summarised,
    text_of,
)
from .test_condensing import FILLED
from .test_error_recovery import refusal as refused_for
from .test_error_recovery import retries, seen

PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def refused(request: ModelRequest) -> list[Step]:
    kind = "quota" if asks_for_summary(request) else "overflow"
    return [ModelError("No.", kind=kind)]  # type: ignore[arg-type]  # one of two kinds


async def test_a_request_of_too_many_bytes_is_sent_without_its_pictures(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [refused_for("payload_too_large"), DONE], window=100_000) as agent:
        agent.model.info = replace(agent.model.info, supports_images=True)
        task_id = await agent.manager.start(TaskRequest("What is this?", (PICTURE,)))
        await agent.completed(task_id)
        before, after = (text_of(request.messages) for request in agent.model.requests)
        [told] = await retries(agent, task_id)
    assert "'type': 'image'" in before and "'type': 'image'" not in after and "What is this?" in after
    assert "images are left out" in told


async def test_a_picture_the_person_sent_stays_when_the_rest_is_condensed_and_who_sees_none_gets_none(
    tmp_path: Path,
) -> None:
    settings = AUTO.model_copy(update={"condensing_api_config_id": "cheap-profile"})
    async with small_agent(tmp_path, [*FILLED, DONE], settings=settings, window=15_000) as agent:
        own = agent.model
        own.info = replace(own.info, supports_images=True)
        blind = type(own)([summarised], info=replace(SMALL, context_window=50_000, supports_images=False))

        async def client(profile: str) -> object:
            return blind if profile == "cheap-profile" else own

        agent.models.client = client  # type: ignore[method-assign, assignment]  # a model for each profile
        task_id = await agent.manager.start(TaskRequest("What is this?", (PICTURE,)))
        await agent.completed(task_id)
        [asked] = blind.requests
        last = text_of(own.requests[-1].messages)
        assert len(await condensed(agent, task_id)) == 1
    assert "'type': 'image'" not in text_of(asked.messages)
    assert last.count("'type': 'image'") == 1 and SUMMARY.splitlines()[1] in last


async def test_a_cheaper_model_that_does_not_take_it_in_is_not_asked(tmp_path: Path) -> None:
    settings = AUTO.model_copy(update={"condensing_api_config_id": "cheap-profile"})
    async with small_agent(tmp_path, [*FILLED, summarised, DONE], settings=settings) as agent:
        own, cheap = agent.model, type(agent.model)([summarised], info=replace(SMALL, context_window=9_000))

        async def client(profile: str) -> object:
            return cheap if profile == "cheap-profile" else own

        agent.models.client = client  # type: ignore[method-assign, assignment]  # a model for each profile
        task_id = await agent.finished()
        assert len(await condensed(agent, task_id)) == 1 and not cheap.requests


async def test_a_summary_that_takes_too_long_is_given_up_and_the_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary_request, "SECONDS", 0.2)
    async with small_agent(tmp_path, [*FILLED, [600.0], DONE]) as agent:
        task_id = await agent.finished()
        [failed] = await agent.says(task_id, "condense_context_error")
        assert failed.text and "within" in failed.text
        assert not await (await agent.store.view(task_id)).marks.count()
        assert "look-4" in text_of(agent.model.requests[-1].messages)


async def test_failures_of_the_summary_that_pass_are_tried_again_twice_with_longer_pauses(tmp_path: Path) -> None:
    busy: list[Step] = [ModelError("Busy.", kind="overloaded")]
    async with small_agent(tmp_path, [*FILLED, busy, busy, summarised, DONE]) as agent:
        task_id = await agent.finished()
        assert len(await condensed(agent, task_id)) == 1 and agent.slept == [2, 4]
    other = tmp_path / "other"
    other.mkdir()
    async with small_agent(other, [*FILLED, busy, busy, busy, DONE]) as agent:
        task_id = await agent.finished()
        assert len(await agent.says(task_id, "condense_context_error")) == 1
        assert not await condensed(agent, task_id) and agent.slept == [2, 4]


async def test_a_model_that_declines_to_write_a_summary_changes_nothing(tmp_path: Path) -> None:
    declined: list[Step] = [*say("I may not.")[:-1], Stop("refusal")]
    async with small_agent(tmp_path, [*FILLED, declined, DONE]) as agent:
        task_id = await agent.finished()
        [failed] = await agent.says(task_id, "condense_context_error")
        assert failed.text and "declined" in failed.text
        assert not await (await agent.store.view(task_id)).marks.count()


async def test_who_asks_for_it_while_a_refusal_is_mended_waits_and_it_is_done_once(tmp_path: Path) -> None:
    begun = asyncio.Event()
    slow: list[Step] = [0.3, *say(SUMMARY)]

    def summary(request: ModelRequest) -> list[Step]:
        assert asks_for_summary(request)
        begun.set()
        return slow

    turns: list[Turn] = [*FILLED[:4], refused_for("overflow"), summary, DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.start()
        await begun.wait()
        with pytest.raises(Conflict, match="just condensed"):
            await agent.manager.condense(task_id)
        await agent.completed(task_id)
        assert len(await condensed(agent, task_id)) == 1
        assert sum(map(asks_for_summary, agent.model.requests)) == 1


async def test_after_an_answer_that_needed_nothing_all_may_be_tried_again(tmp_path: Path) -> None:
    first: list[Turn] = [*map(look, range(8)), refused, refused, refused, refused, look(50, 10)]
    turns: list[Turn] = [*first, look(51), refused, refused, DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        rows = await agent.says(task_id, "sliding_window_truncation")
        ends = [row.context_truncation.end for row in rows if row.context_truncation]
    assert ends == ["newest"] * 4 and agent.slept == [2, 4, 8, 2]


async def test_one_answer_after_the_other_that_is_condensed_for_ends_in_a_question(tmp_path: Path) -> None:
    turns = [*FILLED, *(turn for number in range(40) for turn in (refused_for("overflow"), summarised, look(number)))]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert 5 <= len(await condensed(agent, task_id)) <= 6
        # If the person wants to, it goes on.
        before = len(agent.model.requests)
        agent.model.turns = [*agent.model.turns[:before], summarised, DONE]
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await until(lambda: len(agent.model.requests) > before)


async def test_outputs_are_cut_one_by_one_if_the_person_wishes(tmp_path: Path) -> None:
    settings = AUTO.model_copy(update={"experiments": {"aggressiveTruncation": False}})
    no = refused_for("overflow", current=11_000, limit=9_500)
    turns: list[Turn] = [seen(0, 9_000), seen(1, 100), seen(2, 9_400), no, no, DONE]
    async with small_agent(tmp_path, turns, window=100_000, settings=settings) as agent:
        task_id = await agent.finished()
        cuts = [text_of(request.messages).count(TRUNCATED) for request in agent.model.requests[3:]]
        told = await retries(agent, task_id)
    assert cuts == [0, 1, 2] and len(told) == 2 and sum(agent.slept) == 6


async def test_a_step_is_taken_back_through_the_official_sdk_too(tmp_path: Path) -> None:
    long = refusal("400 Bad Request", {"error": {"message": "x", "code": "context_length_exceeded"}})
    turns = [looked(1, "One."), looked(2, "Two. " * 400), long, done()]
    missing = refusal("404 Not Found", {"detail": "Not Found"})
    async with sealing_agent(tmp_path, turns, [missing], window=200_000) as (server, agent):
        task_id = await agent.finished()
        [row] = await agent.says(task_id, "sliding_window_truncation")
    assert row.context_truncation is not None and row.context_truncation.end == "newest"
    items = server.asked[-1]["input"]
    assert [item["call_id"] for item in items if item.get("type") == "function_call"] == ["call_1"]
    assert [item["call_id"] for item in items if item.get("type") == "function_call_output"] == ["call_1"]
    assert "Your last step (`list_files`) was taken back" in inputs(server.asked[-1])
