"""The newest step is taken back when all else is in vain: hidden and told, so often and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.agent.context_window.hidden_steps import newest_step_to_hide, words_to_spare
from hdsp_agent.context import TokenCounter
from hdsp_agent.errors import InvalidInput
from hdsp_agent.messages import ClineMessage
from hdsp_agent.persistence import ApiRecord
from hdsp_agent.providers import ModelError, ModelRequest, call_tool
from hdsp_agent.providers._scripted import Step, Turn

from ...context._helpers.conversations import call, result, text
from .._helpers.scripted_agent import Agent, until
from ._helpers.small_window import DONE, asks_for_summary, look, small_agent, text_of
from .test_split_points import record


def refused(request: ModelRequest) -> list[Step]:
    """Whatever it is."""
    kind = "quota" if asks_for_summary(request) else "overflow"
    return [ModelError("No.", kind=kind)]  # type: ignore[arg-type]  # one of two kinds


def overflow(request: ModelRequest) -> list[Step]:
    assert not asks_for_summary(request)
    return [ModelError("No.", kind="overflow")]


async def rows(agent: Agent, task_id: str) -> list[ClineMessage]:
    return await agent.says(task_id, "sliding_window_truncation")  # type: ignore[arg-type]  # ids are text


async def test_the_newest_step_is_hidden_and_the_model_is_told(tmp_path: Path) -> None:
    turns: list[Turn] = [*map(look, range(3)), refused, refused, DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        [row] = await rows(agent, task_id)
        last = text_of(agent.model.requests[-1].messages)
        assert row.context_truncation is not None
        assert (row.context_truncation.end, row.context_truncation.messages_removed) == ("newest", 2)
        assert "part 1" in last and "part 2" not in last
        assert "Your last step (`look`) was taken back" in last and "2 messages hidden" in last
        assert agent.slept == [2]
        # Nothing is gone, and it can be undone.
        await agent.manager.messages.undo(task_id)
        history = await (await agent.manager.tasks.open_log(task_id))[1].api_history()
        assert "part 2" in str([each.content for each in history])


async def test_three_steps_are_taken_back_then_the_oldest_part_goes_then_the_person_is_asked(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [*map(look, range(8)), *[refused] * 20], window=100_000) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "api_req_failed")
        ends = [row.context_truncation.end for row in await rows(agent, task_id) if row.context_truncation]
    assert ends[:3] == ["newest"] * 3 and "newest" not in ends[3:] and 1 <= len(ends[3:]) <= 3
    assert agent.slept[:4] == [2, 4, 8, 2]


async def test_a_model_that_takes_the_same_step_again_and_again_comes_to_an_end(tmp_path: Path) -> None:
    def again(number: int) -> list[Turn]:
        # It takes the step, which is too much, nobody can write a summary, and it is taken back.
        return [refused, refused, look(100 + number)]

    turns = [*map(look, range(3)), *(turn for number in range(30) for turn in again(number))]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "api_req_failed")
        ends = [row.context_truncation.end for row in await rows(agent, task_id) if row.context_truncation]
        answers = [request for request in agent.model.requests if not asks_for_summary(request)]
    assert ends.count("newest") == 3 and len(ends) <= 6 and len(answers) < 20


async def test_a_step_that_takes_less_than_what_would_be_said_of_it_stays(tmp_path: Path) -> None:
    async with small_agent(
        tmp_path, [*map(look, range(6)), look(6, 10), refused, refused, DONE], window=100_000
    ) as agent:
        task_id = await agent.finished()
        [row] = await rows(agent, task_id)
        assert row.context_truncation is not None and row.context_truncation.end != "newest"


async def test_what_the_person_answers_is_never_taken_back(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "On?"}, id="q")
    async with small_agent(tmp_path, [look(0), look(1), question], window=100_000) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "followup")
        agent.model.turns = [*agent.model.turns, *[refused] * 20]
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "Only the blue ones.")
        await agent.asked(task_id, "api_req_failed")
        ends = [row.context_truncation.end for row in await rows(agent, task_id) if row.context_truncation]
        assert ends and "newest" not in ends
        # Nor is it hidden with the oldest part.
        assert "Only the blue ones." in text_of(agent.model.requests[-1].messages)


TALK = [
    record(2, "user", text("<user_message>\ngo\n</user_message>")),
    record(3, "assistant", call("a")),
    record(4, "user", result("a")),
    record(5, "assistant", call("b"), call("c")),
    record(6, "user", result("b")),
    record(7, "user", result("c")),
    record(8, "user", text("<environment_details>")),
]


def hidden(*records: ApiRecord) -> list[int]:
    return [each.seq for each in newest_step_to_hide(records)]


def test_the_last_answer_goes_with_its_results_and_nothing_else() -> None:
    assert hidden(*TALK) == [5, 6, 7]
    assert hidden(*TALK[:3]) == [], "two messages must be left"
    assert hidden(*TALK[:3], record(4, "user", text("a note"))) == [3, 4]
    assert hidden(*TALK[:1]) == hidden() == []


def test_a_step_with_the_person_s_words_and_what_a_summary_stands_for_stay() -> None:
    words = '{"status": "denied", "feedback": "not that one"}'
    assert hidden(*TALK[:6], record(7, "user", result("c", words))) == []
    assert hidden(*TALK, record(9, "user", text("<user_message>\nmore\n</user_message>"))) == [], "what they speak of"
    assert hidden(TALK[0], *TALK[1:4], record(9, "user", text("what was"), summary=True), TALK[6]) == []
    assert hidden(TALK[0], record(9, "user", text("what was"), summary=True), *TALK[3:]) == [5, 6, 7]


def test_what_the_person_said_is_spared_with_the_question_it_answers() -> None:
    asked = record(9, "assistant", call("q", "ask_followup_question"))
    said = record(10, "user", result("q", "<user_message>\nthe blue ones\n</user_message>"))
    assert words_to_spare([*TALK, asked, said], TokenCounter()) == {2, 9, 10}
    long = record(11, "user", text(f"<user_message>\n{'x' * 80_000}\n</user_message>"))
    assert words_to_spare([*TALK, asked, said, long], TokenCounter()) == {11}


async def test_only_what_the_model_sees_can_be_hidden(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [look(1, 10), call_tool("slow", {"text": "x"}, id="s")]) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        log, history = agent.task(task_id).state.conversation.log, agent.task(task_id).state.conversation.history
        for seqs in ((), (99,)):
            with pytest.raises(InvalidInput):
                await history.hide(seqs, truncation_id="t", event_ts=log.next_ts())
