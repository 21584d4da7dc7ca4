"""Questions and answers: each answered once, by its own time, and by nobody but the person."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hdsp_agent.agent import AskNotOpen, TaskRequest
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import MessageEvent, TaskEvent, TaskId
from hdsp_agent.providers import call_tool

from ._helpers.scripted_agent import Look, running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
WRITE = call_tool("write_note", {"text": "one"})


async def test_a_second_answer_is_refused(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        answers = [agent.manager.answer(task_id, ask.ts, "yesButtonClicked") for _ in range(3)]
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        assert sum(isinstance(outcome, AskNotOpen) for outcome in outcomes) == 2
        await agent.completed(task_id)
        assert agent.notes() == ["one"]
        with pytest.raises(AskNotOpen):
            await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")


async def test_an_answer_to_another_question_approves_nothing(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, call_tool("write_note", {"text": "two"}, id="b"), DONE]) as agent:
        task_id = await agent.start()
        first = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, first.ts, "yesButtonClicked")
        second = await agent.asked(task_id, "tool", after=first.ts)
        with pytest.raises(AskNotOpen):
            await agent.manager.answer(task_id, first.ts, "yesButtonClicked")
        assert agent.notes() == ["one"]
        await agent.manager.answer(task_id, second.ts, "noButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == ["one"]


async def test_the_answer_is_in_the_log_before_it_is_acted_on(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked", "carefully")
        recorded = {message.ts: message for message in await agent.ui(task_id)}
        assert recorded[ask.ts].is_answered is True
        assert any(message.say == "user_feedback" and message.text == "carefully" for message in recorded.values())


async def test_feedback_with_an_approval_reaches_the_model(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked", "and be quick")
        await agent.completed(task_id)
        assert "and be quick" in (await agent.results(task_id))["call_1"]
        assert "taskUserMessage" in agent.names()


async def test_a_refusal_skips_the_calls_after_it(tmp_path: Path) -> None:
    turn = [
        *call_tool("write_note", {"text": "one"}, id="a", stop=False),
        *call_tool("write_note", {"text": "two"}, id="b", index=1),
    ]
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked", "not that file")
        await agent.completed(task_id)
        results = await agent.results(task_id)
        assert json.loads(results["a"]) == {"status": "denied", "feedback": "not that file"}
        assert results["b"] == "Skipping tool write_note due to user rejecting a previous tool."
        assert agent.notes() == []
        questions = [message for message in await agent.asks(task_id, "tool") if message.is_answered is None]
        assert questions == []


async def test_words_instead_of_a_button_refuse(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "rather not")
        await agent.completed(task_id)
        assert agent.notes() == []
        assert "rather not" in (await agent.results(task_id))["call_1"]


async def test_a_queued_message_approves_nothing(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await agent.manager.queue(task_id, "yes, go on")
        await agent.manager.send(task_id, "approved!")
        await asyncio.sleep(0.05)
        assert agent.notes() == []
        assert agent.task(task_id).state.dialogue.asks.is_open(ask.ts)
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == []
        said = json.dumps([str(message.content) for message in agent.model.requests[-1].messages])
        assert said.index("yes, go on") < said.index("approved!")
        assert [message.text for message in await agent.says(task_id, "user_feedback")] == ["yes, go on", "approved!"]


async def test_a_message_queued_before_the_question_approves_nothing(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[0.1, *WRITE], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests or None)
        await agent.manager.queue(task_id, "yes")
        await agent.asked(task_id, "tool")
        await asyncio.sleep(0.05)
        assert agent.notes() == []
        assert [message.text for message in agent.task(task_id).state.queue.messages] == ["yes"]


async def test_the_queue_can_be_changed_while_it_waits(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        first = await agent.manager.queue(task_id, "first")
        second = await agent.manager.queue(task_id, "second")
        await agent.manager.tasks.get(task_id).state.queue.edit(first.id, "changed")
        await agent.manager.tasks.get(task_id).state.queue.remove(second.id)
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert [message.text for message in await agent.says(task_id, "user_feedback")] == ["changed"]
        assert agent.names().count("queuedMessagesUpdated") == 5


async def test_a_message_queued_at_the_end_goes_on(tmp_path: Path) -> None:
    async with running_agent(
        tmp_path, [[0.1, *DONE], call_tool("attempt_completion", {"result": "more"}, id="e2")]
    ) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests or None)
        await agent.manager.queue(task_id, "one more thing")
        await agent.completed(task_id)
        assert len(agent.model.requests) == 2
        assert len(await agent.asks(task_id, "completion_result")) == 1


async def test_a_question_waits_for_words(tmp_path: Path) -> None:
    turns = [call_tool("ask_followup_question", {"question": "Which?"}), DONE]
    async with running_agent(tmp_path, turns) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
        await agent.manager.send(task_id, "the second")
        await agent.completed(task_id)
        assert "the second" in (await agent.results(task_id))["call_1"]


async def test_reading_tools_run_side_by_side(tmp_path: Path) -> None:
    turn = [
        *call_tool("look", {"text": "1"}, id="a", stop=False),
        *call_tool("look", {"text": "2"}, id="b", index=1, stop=False),
        *call_tool("look", {"text": "3"}, id="c", index=2),
    ]
    Look.most_at_once = 0
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        task_id = await agent.finished()
        assert Look.most_at_once == 3
        results = await agent.results(task_id)
        assert [results[key] for key in "abc"] == ["saw 1", "saw 2", "saw 3"]


async def test_a_rule_that_forbids_is_no_refusal_of_the_person(tmp_path: Path) -> None:
    turn = [
        *call_tool("write_note", {"text": "one"}, id="a", stop=False),
        *call_tool("look", {"text": "2"}, id="b", index=1),
    ]
    settings = GlobalSettings(disabled_tools=("write_note",))
    async with running_agent(tmp_path, [turn, DONE], settings=settings) as agent:
        task_id = await agent.finished()
        results = await agent.results(task_id)
        assert "not allowed" in results["a"]
        assert results["b"] == "saw 2"
        assert agent.notes() == []


async def test_a_question_shown_while_it_streams_becomes_whole_once(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        assert len(await agent.asks(task_id, "tool")) == 1
        assert ask.partial is False
        assert json.loads(ask.text or "")["content"] == "one"


async def test_several_tasks_work_at_once(tmp_path: Path) -> None:
    def turn(request: object) -> list[object]:
        return [*DONE]

    async with running_agent(tmp_path, [turn] * 20) as agent:  # type: ignore[list-item]  # steps are steps
        tasks = await asyncio.gather(*(agent.start(f"Task {number}") for number in range(20)))
        await until(lambda: not agent.manager.tasks.open)
        for task_id in tasks:
            assert (await agent.ui(task_id))[-1].ask == "completion_result"


async def test_a_picture_that_is_none_is_told_instead_of_nothing(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        task_id = await agent.manager.start(TaskRequest("", ["data:image/png;base64,"]))
        await agent.completed(task_id)
        [said, *_] = agent.model.requests[0].messages
        assert "could not be read" in str(said.content)


async def test_an_answer_that_comes_as_soon_as_the_result_is_shown_makes_the_task_go_on(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE, DONE]) as agent:
        answered: list[asyncio.Future[None]] = []

        def say_more(event: TaskEvent) -> None:
            if isinstance(event, MessageEvent) and event.payload[0].message.ask == "completion_result" and not answered:
                ask = event.payload[0].message
                # It is not put with the completed ones yet: a slow database takes its time for that.
                answer = agent.manager.answer(
                    TaskId(event.payload[0].task_id), ask.ts, "messageResponse", "one more thing"
                )
                answered.append(asyncio.ensure_future(answer))

        agent.manager.tasks.events.on_any(say_more)
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 2 or None)
        await answered[0]
        await agent.completed(task_id)
        feedback = [message.text for message in await agent.ui(task_id) if message.say == "user_feedback"]
        assert feedback == ["one more thing"]
