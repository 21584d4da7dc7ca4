"""What is typed while the agent works: it reaches the model once, as soon as it can, and approves nothing."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from hdsp_agent.agent import IpcCommandSession
from hdsp_agent.agent.task.persisted_state import UnsentInput
from hdsp_agent.errors import Conflict, InvalidInput, NotFound
from hdsp_agent.messages import MessageEvent, SendMessageCommand, SendMessageData, TaskEvent, TaskId
from hdsp_agent.providers import call_tool
from tests._helpers.forked_python import forked_python

from ._helpers.killed_in_queue import STEPS
from ._helpers.scripted_agent import Agent, running_agent, until

ROOT = Path(__file__).parents[2]
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
WRITE = call_tool("write_note", {"text": "one"})


async def told(agent: Agent, task_id: TaskId, words: str) -> int:
    """How often the model was told this."""
    reader = await agent.store.view(task_id)
    return sum(str(record.content).count(words) for record in [record async for record in reader.api.iterate()])


def say(text: str) -> SendMessageCommand:
    return SendMessageCommand(data=SendMessageData(text=text))


@pytest.mark.parametrize("turns_of_the_loop", [*range(12), 20, 40, 80])
async def test_words_right_after_a_cancel_make_the_task_go_on(turns_of_the_loop: int, tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], DONE]) as agent:
        task_id = await agent.start()
        program = IpcCommandSession.of(agent.manager)
        await until(lambda: agent.model.requests or None)
        aborted = asyncio.Event()
        agent.manager.tasks.events.on_any(lambda event: aborted.set() if event.event_name == "taskAborted" else None)
        cancelling = asyncio.ensure_future(agent.manager.cancel(task_id))
        await asyncio.wait_for(aborted.wait(), 60)
        for _ in range(turns_of_the_loop):
            await asyncio.sleep(0)
        await program.command(say("do it differently"))
        await cancelling
        await agent.completed(task_id)
        assert await told(agent, task_id, "do it differently") == 1
        assert "do it differently" in str(agent.model.requests[1].messages)


@pytest.mark.parametrize("pause", [0.0, 0.0005, 0.002, 0.005, 0.01, 0.02])
async def test_words_during_a_cancel_make_the_task_go_on_too(pause: float, tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests or None)
        cancelling = asyncio.ensure_future(agent.manager.cancel(task_id))
        await asyncio.sleep(pause)
        await agent.manager.queue(task_id, "do it differently")
        await cancelling
        await agent.completed(task_id)
        assert await told(agent, task_id, "do it differently") == 1


async def test_words_said_before_a_cancel_do_not_undo_it(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests or None)
        await agent.manager.queue(task_id, "and then that")
        await agent.manager.cancel(task_id)
        ask = await agent.asked(task_id, "resume_task")
        await asyncio.sleep(0.1)
        assert agent.task(task_id).state.dialogue.asks.is_open(ask.ts)
        await agent.manager.send(task_id, "go on")
        await agent.completed(task_id)
        assert await told(agent, task_id, "and then that") == 1


async def test_words_queued_while_it_asks_whether_to_go_on_are_the_answer(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests or None)
        await agent.manager.cancel(task_id)
        await agent.asked(task_id, "resume_task")
        # As a tab does that has not heard of the question yet.
        await agent.manager.queue(task_id, "go on")
        await agent.completed(task_id)
        assert await told(agent, task_id, "go on") == 1


async def test_words_queued_just_as_the_task_is_done_make_it_go_on(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE, DONE]) as agent:
        queued: list[asyncio.Future[object]] = []

        def say_more(event: TaskEvent) -> None:
            done = isinstance(event, MessageEvent) and event.payload[0].message.ask == "completion_result"
            if done and not queued:
                # As a tab does that has not heard yet that it is done.
                queued.append(asyncio.ensure_future(agent.manager.queue(task_id, "one more thing")))

        agent.manager.tasks.events.on_any(say_more)
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 2 or None)
        await queued[0]
        await agent.completed(task_id)
        assert await told(agent, task_id, "one more thing") == 1
        assert not agent.manager.tasks.open


async def test_words_in_the_queue_answer_a_model_that_errs_and_errs(tmp_path: Path) -> None:
    wrong = [call_tool("write_note", {"wrong": number}, id=f"w{number}") for number in range(3)]
    async with running_agent(tmp_path, [*wrong[:2], [2.0, *wrong[2]], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 3)
        await agent.manager.queue(task_id, "the name is text")
        await agent.completed(task_id)
        [ask] = await agent.asks(task_id, "mistake_limit_reached")
        assert ask.is_answered
        assert "the name is text" in str(agent.model.requests[3].messages)


async def test_words_in_the_queue_approve_nothing_and_answer_no_question_of_the_model(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "Delete all?"}, id="q")
    async with running_agent(tmp_path, [[0.1, *WRITE], [0.1, *question], DONE]) as agent:
        task_id = await agent.start()
        await agent.manager.queue(task_id, "yes")
        ask = await agent.asked(task_id, "tool")
        await agent.manager.queue(task_id, "yes, do")
        await asyncio.sleep(0.1)
        assert agent.notes() == []
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked")
        await until(lambda: len(agent.model.requests) == 2)
        await agent.manager.queue(task_id, "by the way")
        followup = await agent.asked(task_id, "followup")
        await asyncio.sleep(0.1)
        assert agent.task(task_id).state.dialogue.asks.is_open(followup.ts)
        await agent.manager.answer(task_id, followup.ts, "messageResponse", "no")
        await agent.completed(task_id)
        assert agent.notes() == []


async def test_words_in_the_queue_reach_the_model_while_cells_report_in_between(tmp_path: Path) -> None:
    work = [
        *call_tool("look", {"text": "a"}, id="a", stop=False),
        1.0,
        *call_tool("look", {"text": "b"}, id="b", index=1),
    ]
    async with running_agent(tmp_path, [work, DONE, DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests)
        task = agent.task(task_id)
        for number in range(5):
            await agent.manager.queue(task_id, f"message {number}")

        async def rows() -> None:
            # As a run in the background tells of cell after cell.
            while agent.manager.tasks.opened(task_id):
                with suppress(Conflict):
                    await task.state.conversation.say("cell_executed", "{}")

        telling = asyncio.create_task(rows())
        await agent.completed(task_id)
        await telling
        assert [message.text for message in await agent.says(task_id, "user_feedback")] == [
            f"message {number}" for number in range(5)
        ]
        assert not await agent.says(task_id, "error")
        assert all([await told(agent, task_id, f"message {number}") == 1 for number in range(5)])


@pytest.mark.parametrize("kind", ["say", "user_said", "ask"])
async def test_a_long_text_is_masked_before_it_is_given_its_time(kind: str, tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0]]) as agent:
        task = agent.task(await agent.start())
        await until(lambda: agent.model.requests)
        conversation, long = task.state.conversation, "word " * 40_000
        telling = {
            "say": lambda: conversation.say("text", long),
            "user_said": lambda: task.state.dialogue.user_said(UnsentInput(text=long)),
            "ask": lambda: task.state.dialogue.tell_approved("tool", long),
        }[kind]
        waiting = asyncio.create_task(telling())
        while not waiting.done():
            await conversation.say("cell_executed", "{}")
        ts = await waiting
        times = [message.ts for message in await agent.ui(task.task_id)]
        assert ts in times and times == sorted(times)


async def test_what_is_removed_or_changed_while_the_queue_is_emptied_is_not_told_as_it_was(tmp_path: Path) -> None:
    work = [
        *call_tool("look", {"text": "a"}, id="a", stop=False),
        1.0,
        *call_tool("look", {"text": "b"}, id="b", index=1),
    ]
    async with running_agent(tmp_path, [work, DONE, DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests)
        queued = [await agent.manager.queue(task_id, f"message {number}") for number in range(6)]
        queue = agent.task(task_id).state.queue
        while len(queue.messages) == 6:  # noqa: ASYNC110 -- each turn of the loop counts
            await asyncio.sleep(0)
        await agent.manager.tasks.get(task_id).state.queue.remove(queued[5].id)
        await agent.manager.tasks.get(task_id).state.queue.edit(queued[4].id, "another")
        await agent.completed(task_id)
        assert [message.text for message in await agent.says(task_id, "user_feedback")] == [
            "message 0", "message 1", "message 2", "message 3", "another",
        ]  # fmt: skip
        assert await told(agent, task_id, "message 4") + await told(agent, task_id, "message 5") == 0


async def test_what_is_being_told_can_be_neither_removed_nor_changed(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0], DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: agent.model.requests)
        queue = agent.task(task_id).state.queue
        message = await queue.add("go on")
        assert queue.claim() == message
        for refused in (queue.remove(message.id), queue.edit(message.id, "stay")):
            with pytest.raises(NotFound):
                await refused
        queue.unclaim()
        assert (await queue.remove(message.id)).text == "go on"


@pytest.mark.in_short(1)
@pytest.mark.parametrize("step", STEPS)
async def test_a_crash_while_a_message_is_taken_neither_loses_it_nor_tells_it_twice(step: str, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        forked_python(), "-m", "tests.agent._helpers.killed_in_queue", str(tmp_path), step,
        cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == -signal.SIGKILL
    task_id = TaskId(out.decode().strip())
    async with running_agent(tmp_path, [DONE]) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert await told(agent, task_id, "and then that") == 1
        assert [message.text for message in await agent.says(task_id, "user_feedback")] == ["and then that"]
        state = await (await agent.store.view(task_id)).read_state()
        assert (state.model_extra or {})["queued_messages"] == []


async def test_a_message_that_waits_cannot_be_made_empty(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[60.0]]) as agent:
        task_id = await agent.start()
        await until(lambda: len(agent.model.requests) == 1)
        queued = await agent.manager.queue(task_id, "Look here", ["data:image/png;base64,AAAA"])
        await agent.manager.tasks.get(task_id).state.queue.edit(queued.id, "")
        with pytest.raises(InvalidInput):
            await agent.manager.tasks.get(task_id).state.queue.edit(queued.id, " ", [])
        assert [message.text for message in agent.task(task_id).state.queue.messages] == [""]
