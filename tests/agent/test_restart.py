"""The server stops and starts again: nothing is lost, and nothing runs twice without being asked."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from hdsp_agent.agent import AskNotOpen, TaskRequest
from hdsp_agent.agent._task_manager import _READY_SECONDS
from hdsp_agent.agent.task.recorded_state import unanswered_calls
from hdsp_agent.append_log.appender import Appender
from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import HistoryItem, TaskId, TodoItem
from hdsp_agent.providers import ModelError, TextDelta, call_tool
from hdsp_agent.providers._scripted import Turn

from ._helpers.scripted_agent import Agent, running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
WRITE = call_tool("write_note", {"text": "one"})


async def waiting_for_approval(tmp_path: Path) -> tuple[TaskId, int]:
    async with running_agent(tmp_path, [WRITE]) as agent:
        task_id = await agent.start()
        return task_id, (await agent.asked(task_id, "tool")).ts


async def test_an_approval_that_waits_is_asked_again_as_the_same_question(tmp_path: Path) -> None:
    task_id, ts = await waiting_for_approval(tmp_path)
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "tool")
        assert ask.ts == ts
        assert agent.notes() == []
        await agent.manager.answer(task_id, ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == ["one"]
        assert len(await agent.asks(task_id, "tool")) == 1
        assert await agent.asks(task_id, "resume_task") == []


async def test_an_answer_alone_takes_the_task_up(tmp_path: Path) -> None:
    task_id, ts = await waiting_for_approval(tmp_path)
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.answer(task_id, ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == ["one"]


async def test_an_answer_may_come_while_the_task_is_still_being_taken_up(tmp_path: Path) -> None:
    task_id, ts = await waiting_for_approval(tmp_path)
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        assert not agent.task(task_id).state.dialogue.asks.is_open(ts)
        first, second = await asyncio.gather(
            *(agent.manager.answer(task_id, ts, "yesButtonClicked") for _ in range(2)), return_exceptions=True
        )
        assert first is None and isinstance(second, AskNotOpen)
        await agent.completed(task_id)
        assert agent.notes() == ["one"]


async def test_a_late_answer_does_not_take_a_task_up(tmp_path: Path) -> None:
    task_id, ts = await waiting_for_approval(tmp_path)
    async with running_agent(tmp_path, [DONE]) as agent:
        with pytest.raises(AskNotOpen):
            await agent.manager.answer(task_id, ts - 1, "yesButtonClicked")
        assert agent.manager.tasks.open == []


async def test_what_would_now_run_unasked_is_still_asked_after_a_restart(tmp_path: Path) -> None:
    task_id, _ = await waiting_for_approval(tmp_path)
    async with running_agent(tmp_path, [DONE], settings=AUTO) as agent:
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "tool")
        assert agent.notes() == []


async def test_a_question_that_waits_survives(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("ask_followup_question", {"question": "Which?"})]) as agent:
        task_id = await agent.start()
        ts = (await agent.asked(task_id, "followup")).ts
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.send(task_id, "the blue one")
        await agent.completed(task_id)
        [question] = await agent.asks(task_id, "followup")
        assert question.ts == ts
        assert "the blue one" in (await agent.results(task_id))["call_1"]


@pytest.mark.parametrize("by_words", [True, False])
async def test_who_speaks_to_a_task_that_is_closed_meanwhile_hears_of_it_at_once(
    by_words: bool, tmp_path: Path
) -> None:
    task_id, ts = await waiting_for_approval(tmp_path)
    async with running_agent(tmp_path, [DONE]) as agent:
        manager, taken_up = agent.manager, asyncio.Event()
        manager.tasks.events.on_any(lambda event: taken_up.set())
        said = manager.send(task_id, "Now") if by_words else manager.answer(task_id, ts, "messageResponse", "Now")
        speaking = asyncio.ensure_future(said)
        await taken_up.wait()
        await manager.tasks.close(task_id)
        # Far less than it waits for a question that is about to be put.
        await asyncio.wait({speaking}, timeout=_READY_SECONDS / 2)
        assert isinstance(speaking.exception(), HdspAgentError)


async def test_a_tool_that_ran_when_the_server_stopped_does_not_run_again(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("slow", {"text": "x"})], settings=AUTO) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
    async with running_agent(tmp_path, [DONE], settings=AUTO) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert "interrupted" in (await agent.results(task_id))["call_1"]
        assert (agent.workspace / "slow.txt").read_text() == "began\n"


async def test_an_answer_that_streamed_when_the_server_stopped_is_kept(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[TextDelta("Half an answer, "), 60.0]]) as agent:
        task_id = await agent.start()
        await until(lambda: any(m.partial for m in agent.heard.shown.get(task_id, {}).values()))
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        assert ask.stopped_by is None
        text = (await agent.says(task_id, "text"))[-1]
        assert (text.text, text.partial) == ("Half an answer, ", False)
        [request] = await agent.says(task_id, "api_req_started")
        assert json.loads(request.text or "")["cancelReason"] == "streaming_failed"
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert "[TASK RESUMPTION]" in str(agent.model.requests[0].messages[-1].content)


async def test_who_stopped_the_work_is_still_said_after_a_restart(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[TextDelta("Half an answer, "), 60.0]]) as agent:
        task_id = await agent.start()
        await until(lambda: any(m.partial for m in agent.heard.shown.get(task_id, {}).values()))
        await agent.manager.cancel(task_id)
        await agent.asked(task_id, "resume_task")
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        assert (await agent.asked(task_id, "resume_task")).stopped_by == "person"


async def test_a_failure_that_was_asked_about_is_tried_again_with_one_click(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[ModelError("Wrong key.", kind="authentication")]]) as agent:
        task_id = await agent.start()
        ts = (await agent.asked(task_id, "api_req_failed")).ts
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.answer(task_id, ts, "yesButtonClicked")
        await agent.completed(task_id)


@pytest.mark.each_backend
async def test_queued_messages_wait_through_a_restart(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE]) as agent:
        task_id = await agent.start()
        ts = (await agent.asked(task_id, "tool")).ts
        await agent.manager.queue(task_id, "and then this")
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.answer(task_id, ts, "noButtonClicked")
        await agent.completed(task_id)
        assert [message.text for message in await agent.says(task_id, "user_feedback")] == ["and then this"]
        assert agent.notes() == []


async def test_a_finished_task_goes_on_with_what_is_said_to_it(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        task_id = await agent.finished()
    again = call_tool("attempt_completion", {"result": "Better"}, id="end2")
    async with running_agent(tmp_path, [again]) as agent:
        await agent.manager.send(task_id, "make it better")
        await until(lambda: not agent.manager.tasks.open and agent.model.requests)
        assert "make it better" in str(agent.model.requests[0].messages[-1].content)
        assert [m.text for m in await agent.says(task_id, "completion_result")] == ["All done", "Better"]


async def test_opening_a_finished_task_asks_before_it_works(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        task_id = await agent.finished()
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_completed_task")
        assert agent.manager.tasks.status(task_id) == "idle"
        assert len(agent.model.requests) == 1


async def test_accepting_a_result_ends_it_without_another_request(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        task_id = await agent.finished()
        ask = (await agent.ui(task_id))[-1]
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await until(lambda: not agent.manager.tasks.open)
        assert len(agent.model.requests) == 1
        assert agent.names().count("taskCompleted") == 1
        assert agent.history.items[task_id].status == "completed"


@pytest.mark.each_backend
async def test_usage_mode_and_todos_come_back(tmp_path: Path) -> None:
    turns = [
        call_tool("switch_mode", {"mode": "ask"}, id="m"),
        call_tool("update_todo_list", {"todos": ["a", "b"]}, id="t"),
        WRITE,
    ]
    async with running_agent(tmp_path, turns) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "tool")
        before = agent.task(task_id).state.usage.tokens()
    async with running_agent(tmp_path, [DONE]) as agent:
        task = await agent.manager.resume(task_id)
        await agent.asked(task_id, "tool")
        assert task.state.mode.slug == "ask"
        assert [todo.content for todo in task.state.todos] == ["a", "b"]
        assert task.state.usage.tokens() == before


async def test_placeholders_of_the_first_life_are_not_given_to_other_secrets(tmp_path: Path) -> None:
    first, second = ("ghp_" + letter + "1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" for letter in "ab")
    async with running_agent(tmp_path, [WRITE]) as agent:
        task_id = await agent.manager.start(TaskRequest(f"Use {first}"))
        ts = (await agent.asked(task_id, "tool")).ts
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.answer(task_id, ts, "yesButtonClicked", f"and {second}")
        await agent.completed(task_id)
        assert "[GITHUB_TOKEN_2]" in (await agent.results(task_id))["call_1"]


async def test_words_the_model_was_never_told_are_told_after_a_restart(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")

        async def stopped(*args: object, **more: object) -> None:
            raise asyncio.CancelledError

        # The server stops after the answer was taken down, and before the tool's result was.
        agent.task(task_id).calls._answer = stopped  # type: ignore[method-assign]  # where the stop hits
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked", "mind the gap")
        await until(lambda: agent.notes() == ["one"])
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert "mind the gap" in str(agent.model.requests[0].messages)
        assert agent.notes() == ["one"]


async def test_a_parent_that_asks_whether_to_go_on_goes_on_when_its_subtask_is_done_after_all(tmp_path: Path) -> None:
    delegate = call_tool("new_task", {"mode": "ask", "message": "Find it"}, id="sub")
    allowed = GlobalSettings(auto_approval_enabled=True, always_allow_subtasks=True)
    async with running_agent(tmp_path, [delegate, [60.0]], settings=allowed) as agent:
        parent = await agent.start()
        await until(lambda: len(agent.model.requests) == 2)
        [child] = agent.manager.tasks.open
    found = call_tool("attempt_completion", {"result": "It is 42"}, id="child-end")
    async with running_agent(tmp_path, [found, DONE], settings=allowed) as agent:
        await agent.manager.resume(parent)
        question = await agent.asked(parent, "resume_task")
        await agent.manager.resume(child)
        await agent.manager.answer(child, (await agent.asked(child, "resume_task")).ts, "yesButtonClicked")
        await until(lambda: len(agent.model.requests) == 2 and not agent.manager.tasks.open)
        assert "It is 42" in (await agent.results(parent))["sub"]
        [asked] = await agent.asks(parent, "resume_task")
        assert (asked.ts, asked.is_answered) == (question.ts, False)


async def test_mistakes_count_on_after_a_restart(tmp_path: Path) -> None:
    def fail(number: int) -> Turn:
        return call_tool("broken", {"text": "no"}, id=f"b{number}")

    async with running_agent(tmp_path, [fail(1), fail(2), [60.0]]) as agent:
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 3)
    async with running_agent(tmp_path, [fail(3), DONE]) as agent:
        await agent.manager.resume(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "resume_task")).ts, "yesButtonClicked")
        ask = await agent.asked(task_id, "mistake_limit_reached")
        assert len(agent.model.requests) == 1
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)


async def test_the_same_call_again_and_again_counts_on_after_a_restart(tmp_path: Path) -> None:
    look = [call_tool("look", {"text": "there"}, id=f"l{number}") for number in range(4)]
    async with running_agent(tmp_path, [*look[:2], [60.0]]) as agent:
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 3)
    async with running_agent(tmp_path, [*look[2:], DONE]) as agent:
        await agent.manager.resume(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "resume_task")).ts, "yesButtonClicked")
        ask = await agent.asked(task_id, "mistake_limit_reached")
        assert len(agent.model.requests) == 2
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert "3 times" in (await agent.results(task_id))["l3"]


async def test_a_plan_the_person_changed_is_told_after_a_restart(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0]]) as agent:
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 1)
        await agent.manager.update_todos(task_id, [TodoItem(id="1", content="paint it blue", status="pending")])
    again = call_tool("attempt_completion", {"result": "Better"}, id="end2")
    async with running_agent(tmp_path, [WRITE, DONE, again], settings=AUTO) as agent:
        await agent.manager.resume(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "resume_task")).ts, "yesButtonClicked")
        await agent.completed(task_id)
        told = [str(message.content).count("The user edited") for message in agent.model.requests[1].messages]
        assert "paint it blue" in str(agent.model.requests[0].messages) and sum(told) == 1


async def test_a_question_put_again_after_each_restart_is_no_repetition(tmp_path: Path) -> None:
    task_id, ts = await waiting_for_approval(tmp_path)
    for mode in ("ask", "code", "ask", "code"):
        async with running_agent(tmp_path) as agent:
            await agent.manager.resume(task_id)
            assert (await agent.asked(task_id, "tool")).ts == ts
            # Records what counts against the model, as much else does.
            await agent.manager.switch_mode(task_id, mode)
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.answer(task_id, ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == ["one"]


async def test_an_answer_to_what_is_not_asked_any_more_is_refused_at_once(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[ModelError("No.", kind="authentication")]]) as agent:
        task_id = await agent.start()
        old = await agent.asked(task_id, "api_req_failed")
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_task")
        with pytest.raises(AskNotOpen):
            await asyncio.wait_for(agent.manager.answer(task_id, old.ts, "yesButtonClicked"), 60)


async def test_a_result_that_is_being_written_when_its_turn_is_stopped_is_no_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def slowly(appender: Appender, lines: Sequence[bytes]) -> tuple[int, OSError | None]:
        if b"tool_result" in b"".join(lines):
            begun.set()
        time.sleep(0.3)
        return write(appender, lines)

    async with running_agent(tmp_path, [WRITE]) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "tool")
        conversation = agent.task(task_id).state.conversation
        (call,) = await unanswered_calls(conversation.log, conversation.history.view)
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "x"}
        write = Appender.write
        monkeypatch.setattr(Appender, "write", slowly)
        recording = asyncio.create_task(conversation.add_api("user", [result]))
        await until(begun.is_set)
        recording.cancel()
        await asyncio.wait([recording])
        assert await unanswered_calls(conversation.log, conversation.history.view) == []


async def status_of(agent: Agent, task_id: TaskId) -> str:
    """What the store says of a task nobody works on, after a round of the monitor."""
    await agent.store.recover()
    return (await (await agent.store.view(task_id)).read_state()).status


@pytest.mark.each_backend
async def test_what_is_closed_or_stopped_with_the_server_is_paused(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [WRITE, [60.0], [60.0]]) as agent:
        asking = await agent.start()
        ask = await agent.asked(asking, "tool")
        closed, working = await agent.start(), await agent.start()
        await until(lambda: len(agent.model.requests) == 3)
        await agent.manager.tasks.close(closed)
        assert await status_of(agent, closed) == "paused"
    async with running_agent(tmp_path, [DONE]) as agent:
        assert [await status_of(agent, task_id) for task_id in (asking, closed, working)] == ["paused"] * 3
        await agent.manager.answer(asking, ask.ts, "noButtonClicked")
        await agent.completed(asking)
    async with running_agent(tmp_path) as agent:
        assert await status_of(agent, asking) == "completed"


@pytest.mark.each_backend
async def test_a_finished_task_that_was_only_opened_is_completed_again(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE, [60.0]]) as agent:
        task_id = await agent.finished()
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_completed_task")
        await agent.manager.tasks.close(task_id)
        assert await status_of(agent, task_id) == "completed"
        await agent.manager.send(task_id, "One more thing")
        await until(lambda: len(agent.model.requests) == 2)
        await agent.manager.tasks.close(task_id)
        assert await status_of(agent, task_id) == "paused"
        assert agent.history.items[task_id].status == "active"


async def test_closing_a_task_that_is_just_ending_waits_for_its_end(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        closing: list[asyncio.Future[None]] = []
        agent.manager.tasks.on_left = lambda left: closing.append(
            asyncio.ensure_future(agent.manager.tasks.close(left))
        )
        task_id = await agent.start()
        await until(lambda: closing or None)
        await closing[0]
        await agent.store.delete(task_id)


async def test_a_parent_that_waits_for_its_subtask_is_paused(tmp_path: Path) -> None:
    delegate = call_tool("new_task", {"mode": "ask", "message": "Find it"}, id="sub")
    allowed = GlobalSettings(auto_approval_enabled=True, always_allow_subtasks=True)
    async with running_agent(tmp_path, [delegate, [60.0]], settings=allowed) as agent:
        parent = await agent.start()
        await until(lambda: len(agent.model.requests) == 2)
        assert await status_of(agent, parent) == "paused"


async def test_the_server_may_stop_just_when_a_task_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        going, stopped = asyncio.Event(), asyncio.Event()
        tell = agent.history.put

        async def slowly(item: HistoryItem, *, text: str | None = None, owner: str | None = None) -> None:
            if item.status == "completed":
                going.set()
                await stopped.wait()
            await tell(item, text=text, owner=owner)

        monkeypatch.setattr(agent.history, "put", slowly)
        task_id = await agent.start()
        await going.wait()
        stop = asyncio.create_task(agent.manager.stop())
        for _ in range(100):
            await asyncio.sleep(0)
        stopped.set()
        await stop
        assert (await (await agent.store.view(task_id)).read_state()).status == "completed"
