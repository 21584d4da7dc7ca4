"""Deleting, editing, going back, undoing, and going on in a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.errors import InvalidInput, NotFound
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import MessageManager
from hdsp_agent.providers import call_tool

from .scripted_agent import Agent, running_agent, until

QUESTION = call_tool("ask_followup_question", {"question": "Which?"}, id="q")
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
LOOK = call_tool("look", {"text": "x"}, id="l")


async def visible(agent: Agent, task_id: TaskId) -> list[str]:
    log = await agent.store.view(task_id)
    history = MessageManager(log, [mark async for mark in log.marks.iterate()])  # type: ignore[arg-type]  # only read
    shown = [message async for message in log.ui.iterate() if message.ts in history.view.visible_ui]
    return [
        f"{message.say or message.ask}:{message.text or ''}" for message in shown if message.say != "api_req_started"
    ]


async def talked(agent: Agent) -> tuple[TaskId, int]:
    """A task in which the person said something in the middle, and the time of that."""
    task_id = await agent.start("The task")
    await agent.asked(task_id, "followup")
    await agent.manager.send(task_id, "the blue one")
    await agent.completed(task_id)
    [said] = await agent.says(task_id, "user_feedback")
    return task_id, said.ts


async def test_an_edited_message_goes_on_from_there(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE, DONE]) as agent:
        task_id, ts = await talked(agent)
        await agent.manager.messages.edit(task_id, ts, "the red one")
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.open)
        shown = await visible(agent, task_id)
        assert "user_feedback:the red one" in shown and "user_feedback:the blue one" not in shown
        sent = str(agent.model.requests[2].messages)
        assert "the red one" in sent and "the blue one" not in sent
        assert ("reset", task_id, None) in agent.heard.log


async def test_editing_the_first_message_begins_anew(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE, DONE]) as agent:
        task_id, _ = await talked(agent)
        first = (await agent.ui(task_id))[0]
        await agent.manager.messages.edit(task_id, first.ts, "Another task")
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.open)
        assert (await visible(agent, task_id))[0] == "text:Another task"
        assert "The task" not in str(agent.model.requests[2].messages)
        assert agent.history.items[task_id].task == "Another task"


async def test_a_deleted_message_takes_what_followed_with_it_and_comes_back(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        before = await visible(agent, task_id)
        await agent.manager.messages.delete(task_id, ts)
        assert not any("blue" in line for line in await visible(agent, task_id))
        await agent.manager.messages.undo(task_id)
        assert await visible(agent, task_id) == before
        await agent.manager.messages.redo(task_id)
        assert not any("blue" in line for line in await visible(agent, task_id))


async def test_deleting_stops_a_task_that_works(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, [60.0], DONE]) as agent:
        task_id = await agent.start("The task")
        await agent.asked(task_id, "followup")
        await agent.manager.send(task_id, "the blue one")
        await until(lambda: len(agent.model.requests) == 2)
        [said] = await agent.says(task_id, "user_feedback")
        await agent.manager.messages.delete(task_id, said.ts)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "the green one")
        await agent.completed(task_id)
        sent = str(agent.model.requests[2].messages)
        assert "the green one" in sent and "blue" not in sent


async def test_the_first_message_cannot_be_deleted(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE]) as agent:
        task_id = await agent.finished()
        with pytest.raises(InvalidInput):
            await agent.manager.messages.delete(task_id, (await agent.ui(task_id))[0].ts)


async def test_an_unknown_message_is_refused_and_the_task_goes_on_waiting(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id = await agent.start("The task")
        ask = await agent.asked(task_id, "followup")
        with pytest.raises(NotFound):
            await agent.manager.messages.delete(task_id, 12345)
        assert (await agent.asked(task_id, "followup")).ts == ask.ts


async def test_going_back_keeps_the_message_itself(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        await agent.manager.messages.rewind(task_id, ts)
        assert (await visible(agent, task_id))[-1] == "user_feedback:the blue one"


async def test_what_was_spent_stays_spent(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE, DONE]) as agent:
        task_id, ts = await talked(agent)
        before = agent.history.items[task_id].total_cost
        await agent.manager.messages.edit(task_id, ts, "the red one")
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.open)
        assert agent.history.items[task_id].total_cost > before


async def test_a_fork_goes_on_by_itself(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE, DONE]) as agent:
        task_id, ts = await talked(agent)
        fork = await agent.manager.messages.fork(task_id, ts)
        before = await visible(agent, task_id)
        assert agent.history.items[fork].forked_from == task_id
        assert agent.history.items[fork].total_cost == 0
        await agent.manager.resume(fork)
        ask = await agent.asked(fork, "resume_task")
        await agent.manager.answer(fork, ask.ts, "messageResponse", "in another way")
        await agent.completed(fork)
        assert await visible(agent, task_id) == before
        assert "the blue one" in str(agent.model.requests[2].messages)
        assert agent.history.items[fork].total_cost > 0


async def test_a_fork_can_be_made_while_the_task_works(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [LOOK, [60.0]]) as agent:
        task_id = await agent.start("The task")
        await until(lambda: len(agent.model.requests) == 2)
        fork = await agent.manager.messages.fork(task_id, (await agent.ui(task_id))[0].ts)
        assert await visible(agent, fork) == ["text:The task"]
        assert agent.manager.status(task_id) == "running"
