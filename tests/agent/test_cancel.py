"""Stopping, whatever is running, and going on afterwards."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import HdspAgentError, UnknownTask
from hdsp_agent.messages import ClineMessage, JsonObject, ModelFailure, ModelFailureParts, TaskId
from hdsp_agent.persistence import INTERRUPTED
from hdsp_agent.persistence._task_log import TaskLog
from hdsp_agent.providers import ModelError, TextDelta, call_tool
from hdsp_agent.providers._scripted import SCRIPTED_INFO

from ._helpers.scripted_agent import Agent, running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)


async def cancelled(agent: Agent, task_id: TaskId) -> None:
    """Cancel, in time, and wait for the question whether to go on."""
    await agent.manager.cancel(task_id)
    assert (await agent.asked(task_id, "resume_task")).stopped_by == "person"
    assert agent.manager.tasks.status(task_id) == "resumable"
    assert "taskAborted" in agent.names()


async def go_on(agent: Agent, task_id: TaskId, words: str | None = None) -> None:
    ask = await agent.asked(task_id, "resume_task")
    await agent.manager.answer(task_id, ask.ts, "messageResponse" if words else "yesButtonClicked", words)
    await agent.completed(task_id)


async def test_a_streaming_answer_is_cut_and_kept(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[TextDelta("Half an answer, "), 60.0], DONE]) as agent:
        task_id = await agent.start()
        await until(
            lambda: any(
                message.say == "text" and message.partial for message in agent.heard.shown.get(task_id, {}).values()
            )
        )
        await cancelled(agent, task_id)
        text = (await agent.says(task_id, "text"))[-1]
        assert (text.text, text.partial) == ("Half an answer, ", False)
        [request] = await agent.says(task_id, "api_req_started")
        assert json.loads(request.text or "")["cancelReason"] == "user_cancelled"
        await go_on(agent, task_id, "shorter please")
        sent = agent.model.requests[1].messages
        assert "Half an answer" in str(sent[-2].content)
        assert "shorter please" in str(sent[-1].content)


async def test_an_administrator_stops_it_and_the_person_goes_on(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[TextDelta("Half an answer, "), 60.0], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: any(message.partial for message in agent.heard.shown.get(task_id, {}).values()))
        await agent.manager.cancel(task_id, "administrator")
        assert (await agent.asked(task_id, "resume_task")).stopped_by == "administrator"
        await go_on(agent, task_id)


async def test_an_answer_cut_while_its_beginning_is_recorded_is_shown_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The end may become a key, so it is held back until the answer ends.
    words = "Half an answer with sk-"
    begun, put_ui = asyncio.Event(), TaskLog.put_ui

    async def slow(log: TaskLog, message: ClineMessage, *, durable: bool = False) -> None:
        if message.say == "text" and message.partial and not begun.is_set():
            begun.set()
            await asyncio.sleep(60)
        await put_ui(log, message, durable=durable)

    monkeypatch.setattr(TaskLog, "put_ui", slow)
    async with running_agent(tmp_path, [[TextDelta(words), 60.0], DONE]) as agent:
        task_id = await agent.start()
        await begun.wait()
        await cancelled(agent, task_id)
        text = (await agent.says(task_id, "text"))[-1]
        assert (text.text, text.partial) == (words, False)
        await until(lambda: agent.heard.shown[task_id][text.ts].text == words)
        await go_on(agent, task_id)


async def test_an_answer_cut_by_closing_its_conversation_is_not_blamed_on_the_server(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[TextDelta("Half an answer, "), 60.0], DONE]) as agent:
        task_id = await agent.start()
        await until(
            lambda: any(
                message.say == "text" and message.partial for message in agent.heard.shown.get(task_id, {}).values()
            )
        )
        await agent.manager.tasks.close(task_id)
        requests = [m for m in agent.heard.shown[task_id].values() if m.say == "api_req_started"]
        assert json.loads(requests[-1].text or "")["cancelReason"] == "user_cancelled"


async def test_a_running_tool_is_stopped_and_has_its_result(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("slow", {"text": "x"}), DONE], settings=AUTO) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        await cancelled(agent, task_id)
        await go_on(agent, task_id)
        assert "interrupted" in (await agent.results(task_id))["call_1"]
        assert (agent.workspace / "slow.txt").read_text() == "began\n"


async def test_a_tool_that_does_not_heed_is_not_waited_for(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("slow", {"text": "deaf"}), DONE], settings=AUTO) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        await cancelled(agent, task_id)
        await go_on(agent, task_id)


async def test_a_wait_before_a_retry_is_stopped(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[ModelError("Busy.", kind="rate_limit", retry_after=100)], DONE]) as agent:

        async def sleep(seconds: float) -> None:
            await asyncio.sleep(60)

        object.__setattr__(agent.manager.services, "sleep", sleep)
        task_id = await agent.start()
        await until(lambda: any(m.say == "api_req_retry_delayed" for m in agent.heard.shown.get(task_id, {}).values()))
        await cancelled(agent, task_id)
        [wait] = await agent.says(task_id, "api_req_retry_delayed")
        parts = ModelFailureParts(particular="Busy.")
        assert wait.model_failure == ModelFailure(kind="rate_limit", parts=parts, retried=False)
        await go_on(agent, task_id)


async def test_a_waiting_question_is_stopped_and_cannot_be_answered(tmp_path: Path) -> None:
    from hdsp_agent.agent import AskNotOpen

    async with running_agent(tmp_path, [call_tool("write_note", {"text": "one"}), DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await cancelled(agent, task_id)
        with pytest.raises(AskNotOpen):
            await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await go_on(agent, task_id)
        assert agent.notes() == []


async def test_cancelling_twice_asks_once(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests or None)
        await asyncio.gather(*(agent.manager.cancel(task_id) for _ in range(3)))
        await agent.asked(task_id, "resume_task")
        await agent.manager.cancel(task_id)
        await asyncio.sleep(0.05)
        assert len(await agent.asks(task_id, "resume_task")) == 1
        workers = [task for task in asyncio.all_tasks() if task.get_name() == f"hdsp-agent task {task_id}"]
        assert len(workers) == 1


async def test_only_the_task_named_is_stopped(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], [0.3, *DONE]]) as agent:
        first = await agent.start("first")
        await until(lambda: len(agent.model.requests) == 1)
        second = await agent.start("second")
        await until(lambda: len(agent.model.requests) == 2)
        await cancelled(agent, first)
        await agent.completed(second)


async def test_there_is_nothing_to_stop_in_a_task_nobody_works_on(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        task_id = await agent.finished()
        with pytest.raises(UnknownTask):
            await agent.manager.cancel(task_id)


async def test_side_by_side_calls_all_have_results_after_a_cancel(tmp_path: Path) -> None:
    turn = [
        *call_tool("look", {"text": "1"}, id="a", stop=False),
        *call_tool("look", {"text": "2"}, id="b", index=1, stop=False),
        *call_tool("slow", {"text": "3"}, id="c", index=2),
    ]
    async with running_agent(tmp_path, [turn, DONE], settings=AUTO) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        await cancelled(agent, task_id)
        await go_on(agent, task_id)
        results = await agent.results(task_id)
        assert results["a"] == "saw 1" and results["b"] == "saw 2"
        assert "interrupted" in results["c"]


@pytest.mark.parametrize("moment", range(25))
async def test_a_task_can_be_put_aside_at_any_moment(tmp_path: Path, moment: int) -> None:
    turn = [TextDelta("Hello "), *call_tool("write_note", {"text": "x"})]
    async with running_agent(tmp_path, [turn, DONE, DONE, DONE], settings=AUTO) as agent:
        task_id = await agent.start()
        await asyncio.sleep(moment / 500)
        if moment % 2 and agent.manager.tasks.opened(task_id):
            await agent.manager.cancel(task_id)
        await asyncio.wait_for(agent.manager.tasks.close(task_id), 60)
        await until(lambda: agent.manager.tasks.open == [])
        assert len(agent.notes()) <= 1
        await agent.manager.resume(task_id)
        await until(lambda: bool(agent.task(task_id).state.dialogue.asks.open))


@pytest.mark.parametrize("moment", range(25))
async def test_a_task_can_be_stopped_at_any_moment(tmp_path: Path, moment: int) -> None:
    turn = [TextDelta("Hello "), *call_tool("look", {"text": "x"})]
    ends = [call_tool("attempt_completion", {"result": "All done"}, id=f"end{number}") for number in range(3)]
    async with running_agent(tmp_path, [turn, *ends]) as agent:
        task_id = await agent.start()
        await asyncio.sleep(moment / 500)
        if agent.manager.tasks.opened(task_id) is None:
            return
        await agent.manager.cancel(task_id)
        await until(
            lambda: agent.manager.tasks.opened(task_id) is None or bool(agent.task(task_id).state.dialogue.asks.open)
        )
        if agent.manager.tasks.opened(task_id):
            ask = agent.task(task_id).state.dialogue.asks.open[-1]
            await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
            await agent.completed(task_id)
        assert len(await agent.results(task_id)) >= 1


@pytest.mark.parametrize("moment", [0, 1, 2, 4, 8, 16, 32, 64, 128])
async def test_words_that_make_a_task_go_on_are_heard_though_it_is_stopped_right_after(
    tmp_path: Path, moment: int
) -> None:
    slow = call_tool("slow", {"text": "x"}, id="a")
    async with running_agent(tmp_path, [slow, DONE, DONE], settings=AUTO) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        await agent.manager.cancel(task_id)
        asked = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, asked.ts, "messageResponse", "Use the other file")
        for _ in range(moment):
            await asyncio.sleep(0)
        with suppress(HdspAgentError):
            await agent.manager.cancel(task_id)
        while agent.manager.tasks.opened(task_id) is not None:
            again = agent.task(task_id).state.dialogue.asks.newest("resume_task")
            if again is not None and again.ts != asked.ts:
                with suppress(HdspAgentError):
                    await agent.manager.answer(task_id, again.ts, "yesButtonClicked")
            await asyncio.sleep(0.002)
        reader = await agent.store.view(task_id)
        heard = [record async for record in reader.api.iterate() if "Use the other file" in str(record.content)]
        assert len(heard) == 1


async def test_a_result_on_its_way_to_the_log_as_the_work_is_stopped_reaches_the_model(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "Which?"}, id="q")
    async with running_agent(tmp_path, [question, DONE]) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
        task = agent.task(task_id)
        # What was built before is only added to.
        await task.state.context.build(task.state, SCRIPTED_INFO, answer_tokens=None)
        log = task.state.conversation.log
        before = log.last_api_seq
        result: JsonObject = {"type": "tool_result", "tool_use_id": "q", "content": "This one"}
        adding = asyncio.create_task(task.state.conversation.add_api("user", [result]))
        for _ in range(3):
            # Handed over, and not yet acknowledged by the thread that writes.
            if log.last_api_seq == before:
                await asyncio.sleep(0)
        assert not adding.done()
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding
        # Who goes on from the log finds it there at once.
        assert (await agent.results(task_id))["q"] == "This one"
        request = await task.state.context.build(task.state, SCRIPTED_INFO, answer_tokens=None)
        assert "This one" in str(request.messages) and INTERRUPTED not in str(request.messages)
