"""Handing work to a subtask and getting its result back, through restarts and cancels."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.agent._task_manager import _READY_SECONDS
from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import Conflict
from hdsp_agent.messages import TaskId
from hdsp_agent.providers import ModelRequest, call_tool
from hdsp_agent.providers._scripted import Step
from hdsp_agent.tools import ToolRegistry, built_in_tools

from ._helpers.scripted_agent import Agent, running_agent, until

AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_subtasks=True, always_allow_write=True)
DELEGATE = call_tool("new_task", {"mode": "ask", "message": "Find the answer"}, id="sub")
CHILD_DONE = call_tool("attempt_completion", {"result": "It is 42"}, id="child-end")
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")


async def child_of(agent: Agent, parent: TaskId) -> TaskId:
    await until(lambda: any(task != parent for task in agent.manager.tasks.open))
    return next(task for task in agent.manager.tasks.open if task != parent)


async def test_a_subtask_brings_its_result_back(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, CHILD_DONE, DONE], settings=AUTO) as agent:
        parent = await agent.start()
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        result = (await agent.results(parent))["sub"]
        assert "It is 42" in result and "completed" in result
        item = agent.history.items[parent]
        child = item.completed_by_child_id
        assert child is not None and item.child_ids == [child]
        assert (item.status, item.awaiting_child_id) == ("completed", None)
        assert agent.history.items[child].parent_task_id == parent
        assert agent.history.items[child].status == "completed"
        assert [message.text for message in await agent.says(parent, "subtask_result")] == ["It is 42"]
        names = agent.names()
        wanted = ["taskDelegated", "taskPaused", "taskDelegationCompleted", "taskUnpaused", "taskDelegationResumed"]
        assert [name for name in names if name in wanted] == wanted


async def test_what_a_subtask_read_of_strangers_counts_for_the_task_that_got_its_result(tmp_path: Path) -> None:
    def child_done(request: ModelRequest) -> list[Step]:
        [child] = (
            task for task in map(agent.manager.tasks.opened, agent.manager.tasks.open) if task and task.state.parent
        )
        child.state.conversation.log.update_state(has_external_content=True, used_local_model=True)
        return CHILD_DONE

    async with running_agent(tmp_path, [DELEGATE, child_done, DONE], settings=AUTO) as agent:
        parent = await agent.start()
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        state = await (await agent.manager.services.store.view(parent)).read_state()
        assert state.has_external_content and state.used_local_model


async def test_beginning_and_finishing_are_asked_about(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, CHILD_DONE, DONE]) as agent:
        parent = await agent.start()
        ask = await agent.asked(parent, "tool")
        await agent.manager.answer(parent, ask.ts, "yesButtonClicked")
        child = await child_of(agent, parent)
        finish = await agent.asked(child, "tool")
        assert finish.text == '{"tool":"finishTask","content":"It is 42"}'
        await agent.manager.answer(child, finish.ts, "yesButtonClicked", "In base thirteen")
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        # The subtask's own model has no turn left to hear of it.
        result = (await agent.results(parent))["sub"]
        assert "It is 42" in result and "In base thirteen" in result
        assert [message.text for message in await agent.says(child, "completion_result")] == ["It is 42"]


async def test_calls_after_a_delegation_are_not_made(tmp_path: Path) -> None:
    turn = [*DELEGATE[:-2], *call_tool("write_note", {"text": "late"}, id="b", index=1)]
    async with running_agent(tmp_path, [turn, CHILD_DONE, DONE], settings=AUTO) as agent:
        parent = await agent.start()
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        assert "was not run" in (await agent.results(parent))["b"]
        assert agent.notes() == []


async def test_an_unknown_mode_begins_no_subtask(tmp_path: Path) -> None:
    turn = call_tool("new_task", {"mode": "wizard", "message": "x"}, id="sub")
    async with running_agent(tmp_path, [turn, DONE], settings=AUTO) as agent:
        parent = await agent.finished()
        assert "no mode wizard" in (await agent.results(parent))["sub"]
        assert agent.history.items[parent].child_ids is None


async def test_the_parent_gets_its_result_after_a_restart_of_the_child(tmp_path: Path) -> None:
    ask = call_tool("ask_followup_question", {"question": "Which?"}, id="q")
    async with running_agent(tmp_path, [DELEGATE, ask], settings=AUTO) as agent:
        parent = await agent.start()
        child = await child_of(agent, parent)
        ts = (await agent.asked(child, "followup")).ts
    async with running_agent(tmp_path, [CHILD_DONE, DONE], settings=AUTO) as agent:
        await agent.manager.answer(child, ts, "messageResponse", "that one")
        await until(lambda: len(agent.model.requests) == 2 and not agent.manager.tasks.open)
        assert "It is 42" in (await agent.results(parent))["sub"]


async def test_a_result_that_could_not_be_delivered_is_fetched(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, CHILD_DONE], settings=AUTO) as agent:

        async def lost(parent: TaskId, child: TaskId, result: str) -> None:
            """The server dies right after the child ended."""

        agent.manager._subtasks.child_done = lost  # type: ignore[method-assign]  # where the crash hits
        parent = await agent.start()
        await until(lambda: len(agent.model.requests) == 2 and not agent.manager.tasks.open)
    async with running_agent(tmp_path, [DONE], settings=AUTO) as agent:
        await agent.manager.resume(parent)
        await agent.completed(parent)
        assert "It is 42" in (await agent.results(parent))["sub"]


async def test_words_to_a_parent_that_goes_on_by_itself_wait_for_no_question(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, CHILD_DONE], settings=AUTO) as agent:

        async def lost(parent: TaskId, child: TaskId, result: str) -> None:
            """The server dies right after the child ended."""

        agent.manager._subtasks.child_done = lost  # type: ignore[method-assign]  # where the crash hits
        parent = await agent.start()
        await until(lambda: len(agent.model.requests) == 2 and not agent.manager.tasks.open)
    async with running_agent(tmp_path, [[_READY_SECONDS / 2, *DONE]], settings=AUTO) as agent:
        await agent.manager.send(parent, "And be quick")
        assert agent.manager.tasks.status(parent) == "running"
        [waiting] = agent.manager.tasks.get(parent).state.queue.messages
        assert waiting.text == "And be quick"


async def test_a_cancelled_child_can_go_on_and_deliver(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, [60.0], CHILD_DONE, DONE], settings=AUTO) as agent:
        parent = await agent.start()
        child = await child_of(agent, parent)
        await until(lambda: len(agent.model.requests) == 2)
        await agent.manager.cancel(parent)
        ask = await agent.asked(child, "resume_task")
        await agent.manager.answer(child, ask.ts, "yesButtonClicked")
        await until(lambda: len(agent.model.requests) == 4 and not agent.manager.tasks.open)
        assert "It is 42" in (await agent.results(parent))["sub"]


async def test_a_parent_cannot_go_on_beside_its_child(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, [60.0]], settings=AUTO) as agent:
        parent = await agent.start()
        await child_of(agent, parent)
        with pytest.raises(Conflict):
            await agent.manager.resume(parent)


async def test_a_parent_taken_up_without_its_child_stops_waiting(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, [60.0], DONE, CHILD_DONE], settings=AUTO) as agent:
        parent = await agent.start()
        child = await child_of(agent, parent)
        await until(lambda: len(agent.model.requests) == 2)
        await agent.manager.tasks.close(child)
        await agent.manager.resume(parent)
        ask = await agent.asked(parent, "resume_task")
        await agent.manager.answer(parent, ask.ts, "yesButtonClicked")
        await agent.completed(parent)
        assert "was not finished" in (await agent.results(parent))["sub"]
        # The child ends later, by itself, and disturbs nobody.
        await agent.manager.resume(child)
        ask = await agent.asked(child, "resume_task")
        await agent.manager.answer(child, ask.ts, "yesButtonClicked")
        await agent.completed(child)
        assert (await agent.ui(child))[-1].ask == "completion_result"
        assert agent.manager.tasks.open == []


async def test_a_finished_child_that_is_asked_more_delivers_nothing_again(tmp_path: Path) -> None:
    again = call_tool("attempt_completion", {"result": "43"}, id="again")
    async with running_agent(tmp_path, [DELEGATE, CHILD_DONE, DONE, again], settings=AUTO) as agent:
        parent = await agent.start()
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        child = TaskId(agent.history.items[parent].child_ids[0])  # type: ignore[index]  # it has one
        await agent.manager.send(child, "are you sure?")
        await until(lambda: len(agent.model.requests) == 4 and not agent.manager.tasks.open)
        assert len(await agent.says(parent, "subtask_result")) == 1


async def test_a_subtask_of_a_subtask(tmp_path: Path) -> None:
    def by_task(request: ModelRequest) -> list[object]:
        words = str(request.messages)
        if "Task: leaf" in words:
            return [*call_tool("attempt_completion", {"result": "leaf"}, id="l")]
        if "Task: middle" in words and "Subtask" not in words:
            return [*call_tool("new_task", {"mode": "ask", "message": "Task: leaf"}, id="m")]
        if "Task: middle" in words:
            return [*call_tool("attempt_completion", {"result": "middle"}, id="n")]
        if "Subtask" not in words:
            return [*call_tool("new_task", {"mode": "code", "message": "Task: middle"}, id="t")]
        return [*DONE]

    turns = [by_task] * 5
    async with running_agent(tmp_path, turns, settings=AUTO) as agent:  # type: ignore[arg-type]  # steps are steps
        top = await agent.start("Task: top")
        await until(lambda: len(agent.model.requests) == 5 and not agent.manager.tasks.open)
        assert len(agent.history.items) == 3
        assert all(item.root_task_id in (None, top) for item in agent.history.items.values())


def handing_over(number: int) -> list[Step]:
    return call_tool("new_task", {"mode": "ask", "message": f"Part {number}"}, id=f"sub{number}")


async def awaited_by(agent: Agent, task_id: TaskId) -> TaskId:
    item = (await (await agent.store.view(task_id)).read_state()).history_item
    assert item is not None and item.awaiting_child_id is not None
    return TaskId(item.awaiting_child_id)


async def test_nobody_works_beside_a_subtask_however_deep_and_whoever_waits_can_stop_it(tmp_path: Path) -> None:
    turns: list[list[Step]] = [handing_over(1), handing_over(2), handing_over(3), [60.0], [60.0]]
    async with running_agent(tmp_path, turns, settings=AUTO) as agent:
        top = await agent.start()
        await until(lambda: len(agent.model.requests) == 4)
        [leaf] = agent.manager.tasks.open
        first = await awaited_by(agent, top)
        second = await awaited_by(agent, first)
        for waiting in (top, first, second):
            with pytest.raises(Conflict, match=leaf):
                await agent.manager.resume(waiting)
            with pytest.raises(Conflict, match=leaf):
                await agent.manager.messages.edit(waiting, (await agent.ui(waiting))[0].ts, "Another way")
        since = 0
        for waiting in (first, top):
            await agent.manager.cancel(waiting)
            ask = await agent.asked(leaf, "resume_task", after=since)
            since = ask.ts
            await agent.manager.answer(leaf, ask.ts, "yesButtonClicked")
            await until(lambda: agent.manager.tasks.get(leaf).state.status == "running")
        assert agent.manager.tasks.open == [leaf]


async def test_an_old_question_does_not_let_a_parent_go_on_beside_its_child(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, [60.0], CHILD_DONE, DONE], settings=AUTO) as agent:
        parent = await agent.start()
        child = await child_of(agent, parent)
        await agent.manager.tasks.close(child)
        await agent.manager.resume(parent)
        asked = await agent.asked(parent, "resume_task")
        await agent.manager.tasks.close(parent)
        await agent.manager.resume(child)
        with pytest.raises(Conflict):
            await agent.manager.answer(parent, asked.ts, "yesButtonClicked")
        with pytest.raises(Conflict):
            await agent.manager.send(parent, "Go on")
        assert agent.manager.tasks.open == [child]


async def test_an_answer_to_an_old_question_fetches_the_result_of_a_child_that_is_done(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DELEGATE, [60.0]], settings=AUTO) as agent:
        parent = await agent.start()
        child = await child_of(agent, parent)
        await until(lambda: len(agent.model.requests) == 2)
        await agent.manager.tasks.close(child)
        await agent.manager.resume(parent)
        asked = await agent.asked(parent, "resume_task")
        await agent.manager.tasks.close(parent)
        # Finished elsewhere: the parent was never told.
        log = await agent.store.resume(child)
        assert log.state.history_item is not None
        done = {"status": "completed", "completion_result_summary": "It is 42"}
        log.update_state(history_item=log.state.history_item.model_copy(update=done))
        await log.save_state()
        await log.close()
    async with running_agent(tmp_path, [DONE, DONE], settings=AUTO) as agent:
        await agent.manager.answer(parent, asked.ts, "messageResponse", "And be quick")
        await agent.completed(parent)
        assert "It is 42" in (await agent.results(parent))["sub"]
        assert "And be quick" in str([request.messages for request in agent.model.requests])
        assert [message.is_answered for message in await agent.asks(parent, "resume_task")] == [False]


async def test_the_plan_a_subtask_begins_with_is_told_and_outlives_a_cancel(tmp_path: Path) -> None:
    plan = "[x] measure the board\n[ ] saw it"
    begin = call_tool("new_task", {"mode": "code", "message": "Build it", "todos": plan}, id="sub")
    tools = ToolRegistry(built_in_tools(notebooks=False))
    async with running_agent(tmp_path, [begin, [60.0]], settings=AUTO, tools=tools) as agent:
        parent = await agent.start()
        child = await child_of(agent, parent)
        await until(lambda: len(agent.model.requests) == 2)
        assert "saw it" in str(agent.model.requests[1].messages)
        before = [(todo.content, todo.status) for todo in agent.task(child).state.todos]
        await agent.manager.cancel(child)
        await agent.asked(child, "resume_task")
        assert [(todo.content, todo.status) for todo in agent.task(child).state.todos] == before
        assert before == [("measure the board", "completed"), ("saw it", "pending")]
