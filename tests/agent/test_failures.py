"""Providers that refuse, break off, or want to be left alone for a while."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hdsp_agent.agent.task import model_requests, start_resume
from hdsp_agent.agent.task.answer_stream import AnswerStream
from hdsp_agent.agent.task.recorded_state import RecordedState
from hdsp_agent.agent.task.retry import LONGEST_WAIT, backoff_seconds
from hdsp_agent.agent.task.truncation_detector import TruncationDetector
from hdsp_agent.config import GlobalSettings
from hdsp_agent.events import ModelRequestEnded, WorkEvent
from hdsp_agent.messages import ApiMessage, ClineMessage, ModelFailure, ModelFailureParts, TaskTokenUsageUpdated
from hdsp_agent.providers import (
    ModelError,
    ModelRequest,
    Stop,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
    UsageReport,
    call_tool,
)
from hdsp_agent.providers._scripted import SCRIPTED_INFO, Step

from ._helpers.scripted_agent import running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
BUSY = [ModelError("The provider is busy.", kind="rate_limit")]
AUTO = GlobalSettings(auto_approval_enabled=True)


async def test_a_busy_provider_is_asked_again_after_a_wait_shown_each_second(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [BUSY, DONE]) as agent:
        task_id = await agent.finished()
        assert agent.slept == [1] * 5
        shown = [
            message.text
            for kind, _, message in agent.heard.log
            if isinstance(message, ClineMessage) and message.say == "api_req_retry_delayed" and kind != "delta"
        ]
        assert [
            f"<retry_timer>{left}</retry_timer>" in (text or "")
            for left, text in zip((5, 4, 3, 2, 1), shown, strict=False)
        ] == [True] * 5
        [recorded] = await agent.says(task_id, "api_req_retry_delayed")
        assert recorded.partial is False
        assert "retry_timer" not in (recorded.text or "")
        parts = ModelFailureParts(particular="The provider is busy.")
        assert recorded.model_failure == ModelFailure(kind="rate_limit", parts=parts, retried=True)


async def test_the_wait_the_provider_wants_is_kept(tmp_path: Path) -> None:
    turn = [ModelError("Slow down.", kind="rate_limit", retry_after=30)]
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        await agent.finished()
        assert sum(agent.slept) == 31


def test_the_wait_doubles_and_has_an_end() -> None:
    assert [backoff_seconds(attempt, 5) for attempt in range(4)] == [5, 10, 20, 40]
    assert backoff_seconds(500, 5) == LONGEST_WAIT
    assert backoff_seconds(0, 5, least=60) == 60


async def test_a_wait_that_is_too_long_is_the_persons_to_decide(tmp_path: Path) -> None:
    turn = [ModelError("Come back tomorrow.", kind="rate_limit", retry_after=86_400)]
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert "Come back tomorrow." in (ask.text or "")
        assert agent.slept == []


async def test_after_enough_failures_the_person_is_asked(tmp_path: Path) -> None:
    settings = GlobalSettings(max_auto_retries=3)
    async with running_agent(tmp_path, [*[BUSY] * 4, DONE], settings=settings) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert len(agent.model.requests) == 4
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert len(await agent.says(task_id, "api_req_retried")) == 1


async def test_an_answer_that_is_declined_counts_once(tmp_path: Path) -> None:
    declined: list[Step] = [UsageReport(input=10, output=5), Stop("refusal")]
    async with running_agent(tmp_path, [declined, DONE], settings=AUTO) as agent:
        work: list[WorkEvent] = []
        agent.manager.tasks.events.on_work(work.append)
        task_id = await agent.start()
        await agent.asked(task_id, "api_req_failed")
        ended = [event for event in work if isinstance(event, ModelRequestEnded)]
        assert [(event.status, event.tokens_in, event.tokens_out) for event in ended] == [("content_filter", 10, 5)]
        used = [event.payload[1] for event in agent.events if isinstance(event, TaskTokenUsageUpdated)]
        assert [(one.total_tokens_in, one.total_tokens_out) for one in used] == [(10, 5)]


async def test_what_trying_again_cannot_mend_is_asked_about_at_once(tmp_path: Path) -> None:
    turn = [ModelError("Wrong key.", kind="authentication")]
    async with running_agent(tmp_path, [turn, DONE], settings=AUTO) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert "Check the key" in (ask.text or "")
        assert ask.model_failure is not None and ask.model_failure.kind == "authentication"
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked")
        resume = await agent.asked(task_id, "resume_task")
        assert resume.stopped_by == "person"
        await agent.manager.answer(task_id, resume.ts, "yesButtonClicked")
        await agent.completed(task_id)


async def test_an_answer_cut_in_the_middle_stays_on_screen_and_runs_nothing(tmp_path: Path) -> None:
    cut = [TextDelta("I will now write "), *call_tool("write_note", {"text": "one"}, stop=False)]
    async with running_agent(tmp_path, [cut, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert (await agent.says(task_id, "text"))[-1].text == "I will now write "
        [request] = await agent.says(task_id, "api_req_started")
        assert json.loads(request.text or "")["cancelReason"] == "streaming_failed"
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == []
        assert agent.model.requests[0].messages == agent.model.requests[1].messages
        left = [message for message in await agent.asks(task_id, "tool") if message.is_answered is None]
        assert left == []


async def test_a_cut_answer_is_asked_for_again_by_those_who_approve_automatically(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[ThinkingDelta("Hm")], DONE], settings=AUTO) as agent:
        await agent.finished()
        assert len(agent.model.requests) == 2


async def test_an_exception_of_a_library_is_read_as_a_failure_of_the_provider(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[ConnectionResetError("gone")], DONE]) as agent:
        task_id = await agent.finished()
        assert len(await agent.says(task_id, "api_req_retry_delayed")) == 1


async def test_words_said_to_a_failure_reach_the_model(tmp_path: Path) -> None:
    turn = [ModelError("No.", kind="content_filter")]
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "say it nicely")
        await agent.completed(task_id)
        assert "say it nicely" in str(agent.model.requests[1].messages[-1].content)


async def test_a_conversation_that_is_too_long_is_shortened(tmp_path: Path) -> None:
    looks = [call_tool("look", {"text": str(number)}, id=f"c{number}") for number in range(4)]
    turn = [ModelError("Too long.", kind="overflow")]
    async with running_agent(tmp_path, [*looks, turn, DONE]) as agent:
        task_id = await agent.finished()
        assert len(await agent.says(task_id, "sliding_window_truncation")) == 1
        assert len(agent.model.requests[-1].messages) < len(agent.model.requests[-2].messages)


async def test_requests_keep_the_distance_the_profile_wants(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("look", {"text": "x"}), DONE]) as agent:
        agent.models.spacing = 30
        task_id = await agent.finished()
        assert 29 <= sum(agent.slept) <= 31
        [waited] = await agent.says(task_id, "api_req_rate_limit_wait")
        assert waited.partial is False


async def test_tasks_that_wait_for_one_model_do_not_ask_it_all_at_once(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE] * 3) as agent:
        agent.models.spacing = 30
        for task_id in [await agent.start(f"Task {number}") for number in range(3)]:
            await agent.completed(task_id)
        assert len(agent.slept) in range(28 + 58, 31 + 61)


async def test_a_task_that_fails_before_it_can_even_ask_is_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreadable(*args: object, **more: object) -> RecordedState:
        raise RuntimeError("a slip of ours")

    async with running_agent(tmp_path, [DONE]) as agent:
        with monkeypatch.context() as patch:
            patch.setattr(start_resume, "recall", unreadable)
            patch.setattr(AnswerStream, "take", unreadable)
            patch.setattr(model_requests, "_classified", lambda error, client: None)
            task_id = await agent.start()
            await until(lambda: agent.manager.tasks.opened(task_id) is None)
            assert len(await agent.says(task_id, "error")) == 2
        await agent.manager.resume(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "resume_task")).ts, "yesButtonClicked")
        await agent.completed(task_id)


COUNTING = replace(SCRIPTED_INFO, counts_tokens=True, context_window=None)


def counted(tokens: int) -> list[Step]:
    return [*call_tool("look", {"text": "x" * tokens})[:-2], UsageReport(input=tokens, output=5), Stop("tool_use")]


async def test_a_server_that_leaves_out_part_of_the_conversation_is_told_of_once(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [counted(4_096), counted(4_095), DONE]) as agent:
        agent.model.info = COUNTING
        task_id = await agent.finished("word " * 12_000)
        [told] = await agent.says(task_id, "error")
        assert "leave out part" in (told.text or "") and "4096" in (told.text or "")


def test_tools_that_are_left_out_are_noticed() -> None:
    tools = [ToolSpec(f"tool_{number}", "What it is good for. " * 40, {"type": "object"}) for number in range(30)]
    usage = UsageReport(input=300, output=5)
    asked = ModelRequest(system="Be brief.", messages=[ApiMessage(role="user", content="Hi.")], tools=tools)
    assert (TruncationDetector().first_seen(asked, usage, None) or 0) > 3_000
    assert TruncationDetector().first_seen(replace(asked, tools=[]), usage, None) is None


def test_a_server_that_counts_all_but_the_tools_is_not_suspected() -> None:
    tools = [ToolSpec(f"tool_{number}", "What it is good for. " * 40, {"type": "object"}) for number in range(30)]
    asked = ModelRequest(system="Be brief. " * 500, messages=[ApiMessage(role="user", content="Hi.")], tools=tools)
    for counted in (900, 1_000, 1_250):
        assert TruncationDetector().first_seen(asked, UsageReport(input=counted, output=5), None) is None
    # Less than was said alone is suspicious whatever is counted.
    assert TruncationDetector().first_seen(asked, UsageReport(input=500, output=5), None) is not None


async def test_a_server_that_counts_all_it_was_sent_is_not_suspected(tmp_path: Path) -> None:
    end = [*DONE[:-2], UsageReport(input=15_200, output=5), Stop("tool_use")]
    async with running_agent(tmp_path, [counted(15_000), counted(15_100), end]) as agent:
        agent.model.info = COUNTING
        task_id = await agent.finished("word " * 12_000)
        assert await agent.says(task_id, "error") == []
