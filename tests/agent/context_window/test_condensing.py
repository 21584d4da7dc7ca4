"""A conversation that outgrows its model is condensed: cheaply, without loss, and only if it helps."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from hdsp_agent.agent.context_window.full_context import FullContext
from hdsp_agent.errors import Conflict, StorageUnavailable
from hdsp_agent.persistence import MessageManager
from hdsp_agent.providers import ModelError, ModelRequest, UsageReport, call_tool, say
from hdsp_agent.providers._scripted import Step, Turn

from .._helpers.scripted_agent import running_agent, until
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

FILLED = [look(number) for number in range(5)]
"""Of 13 400 tokens, of which an answer may take 3 000, these steps take more than there may be."""


async def test_in_the_middle_of_the_work_it_is_condensed_with_the_same_beginning(tmp_path: Path) -> None:
    steps = [look(0, 10_000), *FILLED[1:4], look(4, 4_800)]
    async with small_agent(tmp_path, [*steps, summarised, DONE]) as agent:
        task_id = await agent.finished("Look at parts 0 to 4 in data/parts.csv. Never change a file.")
        *_, before, asked, after = agent.model.requests
        [row] = await condensed(agent, task_id)
        log = await agent.store.view(task_id)
        [record] = await log.summaries.newest()
        state = await log.read_state()
    # All that was cached is asked with once more: only the wish for a summary is new, and what is kept is left out.
    assert (asked.system, asked.tools) == (before.system, before.tools)
    known = len(before.messages)
    assert len(asked.messages) == known
    assert list(asked.messages)[: known - 1] == list(before.messages)[:-1]
    assert asks_for_summary(asked) and not asks_for_summary(after)
    # What must not be lost is there word for word, whatever the summary says.
    told = text_of(after.messages)
    assert SUMMARY.splitlines()[1] in told and "data/parts.csv" in told and "Never change a file." in told
    assert "<user_message>\\nLook at parts 0 to 4" in told
    assert told.count("<environment_details>") == 1
    # The newest step is what the model has just looked at.
    assert "look-4" in told and "part 3" not in told.replace("`part 3`", "")
    assert row.context_condense is not None and row.partial is False
    assert row.context_condense.new_context_tokens < row.context_condense.prev_context_tokens / 2
    assert row.context_condense.prev_context_tokens >= 10_400
    assert record.summary == row.context_condense.summary and record.start_seq == 1
    assert state.compression_count == 1


async def test_what_the_person_has_just_said_stays_behind_the_summary(tmp_path: Path) -> None:
    async with small_agent(
        tmp_path, [*FILLED[:4], call_tool("ask_followup_question", {"question": "On?"}, id="q")]
    ) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "followup")
        agent.model.turns = [*agent.model.turns, summarised, DONE]
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "Yes, and " + "mind the gap " * 600)
        await agent.completed(task_id)
        assert len(await condensed(agent, task_id)) == 1
        last = agent.model.requests[-1].messages
    assert "mind the gap" in text_of(last[-1:]) and "SUMMARY" not in text_of(last[-1:])


@pytest.mark.each_backend
async def test_after_a_restart_the_same_request_is_built(tmp_path: Path) -> None:
    async with small_agent(
        tmp_path, [*FILLED, summarised, look(9, 10), call_tool("slow", {"text": "x"}, id="s")]
    ) as agent:
        task_id = await agent.start("Work.")
        await until((agent.workspace / "slow.txt").exists)
        before = agent.model.requests[-1]
    async with small_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "resume_task")).ts, "yesButtonClicked")
        await agent.completed(task_id)
        [after] = agent.model.requests
        [row] = await condensed(agent, task_id)
        task = await agent.ui(task_id)
    assert list(after.messages)[: len(before.messages) - 1] == list(before.messages)[:-1]
    assert row.context_condense is not None and task


@pytest.mark.parametrize("answer", [say("  "), [ModelError("No.", kind="quota")], call_tool("look", {"text": "x"})])
async def test_a_summary_that_fails_or_is_empty_changes_nothing(tmp_path: Path, answer: list[Step]) -> None:
    def not_asked_again(request: ModelRequest) -> list[Step]:
        assert not asks_for_summary(request)
        return DONE

    again: list[Turn] = [] if any(isinstance(step, ModelError) for step in answer) else [answer]
    async with small_agent(tmp_path, [*FILLED, answer, *again, not_asked_again]) as agent:
        task_id = await agent.finished()
        [failed] = await agent.says(task_id, "condense_context_error")
        assert failed.text and failed.partial is False
        assert not await condensed(agent, task_id)
        last, log = agent.model.requests[-1], await agent.store.view(task_id)
        assert not await log.marks.count() and not await log.summaries.count()
    assert all(f"look-{number}" in text_of(last.messages) for number in range(5))


async def test_the_request_for_the_summary_may_be_too_long_itself(tmp_path: Path) -> None:
    held: list[ModelRequest] = []

    def refused(request: ModelRequest) -> list[Step]:
        assert asks_for_summary(request)
        held.append(request)
        return [ModelError("Too long.", kind="overflow")] if len(held) < 3 else say(SUMMARY)

    async with small_agent(tmp_path, [*FILLED, refused, refused, refused, DONE]) as agent:
        task_id = await agent.finished()
        assert len(await condensed(agent, task_id)) == 1
        last = text_of(agent.model.requests[-1].messages)
    # The newest is left out of it, so its beginning stays as it was.
    lengths = [len(request.messages) for request in held]
    assert lengths == sorted(set(lengths), reverse=True)
    assert [list(request.messages)[:-1] for request in held[1:]] == [
        list(held[0].messages)[: length - 1] for length in lengths[1:]
    ]
    # What it is not of stays.
    assert "look-4" in last and "look-3" in last and "look-0" not in last


async def test_it_is_done_when_the_person_wishes_and_can_be_undone(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [*FILLED[:4], call_tool("slow", {"text": "x"}, id="s")], window=100_000) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        agent.model.turns = [*agent.model.turns, summarised, DONE]
        await agent.manager.condense(task_id)
        [row] = await condensed(agent, task_id)
        assert row.context_condense is not None
        await agent.manager.cancel(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "resume_task")).ts, "yesButtonClicked")
        await agent.completed(task_id)
        after = text_of(agent.model.requests[-1].messages)
        # The call that ran meanwhile has its result.
        assert "part 1" not in after and "'tool_use_id': 's'" in after
        await agent.manager.messages.undo(task_id)
        history = await (await agent.manager.tasks.open_log(task_id))[1].api_history()
        assert "part 1" in str([record.content for record in history])


async def test_a_task_that_nobody_works_on_is_condensed_too(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [*FILLED[:4], DONE, summarised], window=100_000) as agent:
        task_id = await agent.finished()
        cost = agent.history.items[task_id].total_cost
        await agent.manager.condense(task_id)
        [row] = await condensed(agent, task_id)
        assert row.context_condense is not None and row.context_condense.cost > 0
        assert agent.history.items[task_id].total_cost == pytest.approx(cost + row.context_condense.cost)
        assert agent.history.items[task_id].status == "completed"


@pytest.mark.parametrize("answer", [say("  "), call_tool("look", {"text": "x"})])
async def test_a_summary_that_cannot_be_used_is_paid_for_all_the_same(tmp_path: Path, answer: list[Step]) -> None:
    async with small_agent(tmp_path, [*FILLED[:4], DONE, answer, answer], window=100_000) as agent:
        task_id = await agent.finished()
        cost = agent.history.items[task_id].total_cost
        with pytest.raises(Conflict, match="no summary"):
            await agent.manager.condense(task_id)
        [failed] = await agent.says(task_id, "condense_context_error")
        assert failed.context_condense is not None and failed.context_condense.cost > 0
        assert agent.history.items[task_id].total_cost == pytest.approx(cost + failed.context_condense.cost)


async def test_an_answer_without_a_summary_is_paid_for_with_the_next(tmp_path: Path) -> None:
    costs: list[float] = []
    for number, before in enumerate(([], [call_tool("look", {"text": "x"})])):
        home = tmp_path / str(number)
        home.mkdir()
        async with small_agent(home, [*FILLED[:4], DONE, *before, summarised], window=100_000) as agent:
            task_id = await agent.finished()
            await agent.manager.condense(task_id)
            [row] = await condensed(agent, task_id)
            assert row.context_condense is not None
            costs.append(row.context_condense.cost)
    assert costs[1] > 1.5 * costs[0]


async def test_who_waited_for_a_condensation_does_not_condense_its_summary(tmp_path: Path) -> None:
    long = say("## Remaining Tasks\n" + "Mind this as well. " * 1_000)
    slow = call_tool("slow", {"text": "x"}, id="s")
    async with small_agent(tmp_path, [*FILLED, slow, long, long], window=100_000) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        first, second = await asyncio.gather(
            agent.manager.condense(task_id), agent.manager.condense(task_id), return_exceptions=True
        )
        assert first is None and isinstance(second, Conflict) and "just condensed" in second.message
        assert len(await condensed(agent, task_id)) == 1
        assert not await agent.says(task_id, "condense_context_error")
        assert len([one for one in agent.model.requests if asks_for_summary(one)]) == 1


async def test_a_summary_that_cannot_be_stored_leaves_no_row_that_seems_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object, **__: object) -> None:
        raise StorageUnavailable("The disk is full.")

    async with small_agent(tmp_path, [*FILLED, DONE, summarised], window=100_000) as agent:
        task_id = await agent.finished()
        with monkeypatch.context() as patch:
            patch.setattr(MessageManager, "condense", full)
            with pytest.raises(StorageUnavailable):
                await agent.manager.condense(task_id)
        [failed] = await agent.says(task_id, "condense_context_error")
        assert failed.text == "The disk is full." and failed.partial is False
        assert not await condensed(agent, task_id)


async def test_what_is_short_is_not_condensed_and_the_model_is_not_asked(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [look(1, 10), DONE]) as agent:
        task_id = await agent.finished()
        with pytest.raises(Conflict, match="too short"):
            await agent.manager.condense(task_id)
        assert len(agent.model.requests) == 2
        assert not await agent.says(task_id, "condense_context_error")


async def test_a_condensation_that_is_stopped_changes_nothing(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [*FILLED, [600.0], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 6)
        await agent.manager.cancel(task_id)
        await agent.asked(task_id, "resume_task")
        [row] = await agent.says(task_id, "condense_context_error")
        assert row.partial is False
        assert not await (await agent.store.view(task_id)).marks.count()


async def test_at_most_two_are_in_vain(tmp_path: Path) -> None:
    words = "Do it. " + "Mind everything I say, please. " * 1_500
    turns = [look(0), *[[*say(SUMMARY)] for _ in range(6)], DONE]
    async with small_agent(tmp_path, turns) as agent:
        task_id = await agent.start(words)
        await until(
            lambda: agent.manager.tasks.opened(task_id) is None or agent.task(task_id).state.dialogue.asks.newest()
        )
        asked = [request for request in agent.model.requests if asks_for_summary(request)]
    assert len(asked) <= 2


async def test_settings_turn_it_off(tmp_path: Path) -> None:
    settings = AUTO.model_copy(update={"auto_condense_context": False})
    async with small_agent(tmp_path, [*FILLED, DONE], settings=settings) as agent:
        task_id = await agent.finished()
        assert not await condensed(agent, task_id)


async def test_a_smaller_model_gets_what_the_larger_one_condensed(tmp_path: Path) -> None:
    async with small_agent(
        tmp_path, [*FILLED, call_tool("ask_followup_question", {"question": "On?"}, id="q")], window=100_000
    ) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "followup")
        large, small = agent.model, type(agent.model)([DONE], info=replace(SMALL, id="small"))
        large.turns = [*large.turns, summarised]
        models = {"code-profile": large, "small-profile": small}

        async def client(profile: str) -> object:
            return models[profile]

        agent.models.client = client  # type: ignore[method-assign, assignment]  # a model for each profile
        await agent.manager.switch_profile(task_id, "small-profile")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "yes")
        await agent.completed(task_id)
        assert asks_for_summary(large.requests[-1])
        [request] = small.requests
        assert SUMMARY.splitlines()[1] in text_of(request.messages)


async def test_a_cheaper_model_writes_the_summary_if_the_settings_say_so(tmp_path: Path) -> None:
    settings = AUTO.model_copy(update={"condensing_api_config_id": "cheap-profile"})
    async with small_agent(tmp_path, [*FILLED, DONE], settings=settings) as agent:
        own, cheap = agent.model, type(agent.model)([summarised], info=replace(SMALL, context_window=50_000))

        async def client(profile: str) -> object:
            return cheap if profile == "cheap-profile" else own

        agent.models.client = client  # type: ignore[method-assign, assignment]  # a model for each profile
        task_id = await agent.finished()
        assert len(await condensed(agent, task_id)) == 1
        assert len(cheap.requests) == 1 and not any(map(asks_for_summary, own.requests))


async def test_a_row_that_a_crash_left_says_that_it_was_not_done(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [look(1, 10), call_tool("slow", {"text": "x"}, id="s")], settings=AUTO) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        ts = await agent.task(task_id).state.conversation.say("condense_context", partial=True)
    async with running_agent(tmp_path, [DONE], settings=AUTO) as agent:
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_task")
        [left] = [message for message in await agent.ui(task_id) if message.ts == ts]
        assert (left.say, left.partial) == ("condense_context_error", False)
        await asyncio.sleep(0)


async def test_a_model_that_has_lost_the_thread_gets_another_summary_of_the_whole(tmp_path: Path) -> None:
    silent = [call_tool("look", {"text": f"quiet {number}"}, id=f"quiet-{number}") for number in range(3)]
    second: list[ModelRequest] = []

    def better(request: ModelRequest) -> list[Step]:
        assert asks_for_summary(request)
        second.append(request)
        return say("## Remaining Tasks\nFind the thread.")

    async with small_agent(tmp_path, [*FILLED, summarised, *silent, better, DONE]) as agent:
        task_id = await agent.finished()
        assert len(await condensed(agent, task_id)) == 2
        last = text_of(agent.model.requests[-1].messages)
    # Of what the first one stood for, and not of the first one.
    assert "Now part 0." in text_of(second[0].messages) and SUMMARY.splitlines()[1] not in text_of(second[0].messages)
    assert "Find the thread." in last and SUMMARY.splitlines()[1] not in last
    assert "Do it" in last and "quiet-2" in last


async def test_a_model_that_is_gone_leaves_the_summary_to_the_new_one(tmp_path: Path) -> None:
    async with small_agent(
        tmp_path, [*FILLED, call_tool("ask_followup_question", {"question": "On?"}, id="q")], window=100_000
    ) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "followup")
        large, small = agent.model, type(agent.model)([summarised, DONE], info=replace(SMALL, id="small"))
        large.turns = [*large.turns, [ModelError("There is no such model any more.", kind="model_not_found")]]
        models = {"code-profile": large, "small-profile": small}

        async def client(profile: str) -> object:
            return models[profile]

        agent.models.client = client  # type: ignore[method-assign, assignment]  # a model for each profile
        await agent.manager.switch_profile(task_id, "small-profile")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "yes")
        await agent.completed(task_id)
        assert len(await condensed(agent, task_id)) == 1
        assert asks_for_summary(large.requests[-1]) and asks_for_summary(small.requests[0])
        assert SUMMARY.splitlines()[1] in text_of(small.requests[-1].messages)


async def test_a_model_for_summaries_that_is_gone_leaves_them_to_the_tasks_own(tmp_path: Path) -> None:
    settings = AUTO.model_copy(update={"condensing_api_config_id": "cheap-profile"})
    async with small_agent(tmp_path, [*FILLED, summarised, DONE], settings=settings) as agent:
        gone: Turn = [ModelError("The key was withdrawn.", kind="authentication")]
        own, cheap = agent.model, type(agent.model)([gone], info=replace(SMALL, context_window=50_000))

        async def client(profile: str) -> object:
            return cheap if profile == "cheap-profile" else own

        agent.models.client = client  # type: ignore[method-assign, assignment]  # a model for each profile
        task_id = await agent.finished()
        assert len(await condensed(agent, task_id)) == 1


def asking_counted() -> list[Step]:
    """A question, for which the provider counted far more than the estimate has."""
    steps = call_tool("ask_followup_question", {"question": "On?"}, id="q")
    return [UsageReport(input=23_456, output=7) if isinstance(step, UsageReport) else step for step in steps]


async def test_what_the_provider_counted_is_known_after_a_restart(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [*FILLED[:4], asking_counted()], window=100_000) as agent:
        agent.model.info = replace(agent.model.info, counts_tokens=True)
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
    async with small_agent(tmp_path, [summarised], window=100_000) as agent:
        await agent.manager.condense(task_id)
        [row] = await condensed(agent, task_id)
        assert row.context_condense is not None
        assert row.context_condense.prev_context_tokens >= 23_463


async def test_what_was_counted_before_it_was_condensed_does_not_count_after_a_restart(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [*FILLED[:4], asking_counted(), summarised], window=100_000) as agent:
        agent.model.info = replace(agent.model.info, counts_tokens=True)
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
        await agent.manager.condense(task_id)
    async with small_agent(tmp_path, [DONE], window=100_000) as agent:
        await agent.manager.resume(task_id)
        task = agent.task(task_id)
        plain = task.state.context.condensable(task.state)
        assert isinstance(plain, FullContext)
        # The estimate has to do.
        assert await task.window.used(plain, agent.model) < 10_000


async def test_words_that_all_have_to_stay_are_said_to_be_why_it_cannot_be_shorter(tmp_path: Path) -> None:
    words = "Do it. " + "Mind everything I say, please. " * 1_500
    async with small_agent(tmp_path, [DONE], window=100_000) as agent:
        task_id = await agent.finished(words)
        with pytest.raises(Conflict, match="must stay word for word"):
            await agent.manager.condense(task_id)


async def test_a_summary_as_long_as_what_it_stands_for_is_said_to_be_why(tmp_path: Path) -> None:
    def wordy(request: ModelRequest) -> list[Step]:
        assert asks_for_summary(request)
        return say("## Work Completed\n" + "This and that was looked at. " * 2_000)

    async with small_agent(tmp_path, [*FILLED[:4], DONE, wordy], window=100_000) as agent:
        task_id = await agent.finished()
        with pytest.raises(Conflict, match="as long as what it replaces"):
            await agent.manager.condense(task_id)


async def test_rows_of_summaries_follow_each_other_without_overlap(tmp_path: Path) -> None:
    summaries: list[ModelRequest] = []
    steps = iter(range(100))

    def work(request: ModelRequest) -> list[Step]:
        if asks_for_summary(request):
            summaries.append(request)
            return say(SUMMARY)
        return look(next(steps)) if len(summaries) < 3 else DONE

    async with small_agent(tmp_path, [work] * 40) as agent:
        task_id = await agent.finished()
        rows = await (await agent.store.view(task_id)).summaries.newest()
    assert len(summaries) == len(rows) == 3 and rows[0].start_seq == 1
    for before, after in pairwise(rows):
        assert after.start_seq == before.end_seq + 1 and after.end_seq >= after.start_seq
