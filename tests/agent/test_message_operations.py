"""Deleting, editing, going back, undoing, and going on in a copy."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hdsp_agent.agent.conversation.asks import AskAnswer
from hdsp_agent.errors import Conflict, InvalidInput, NotFound, StorageUnavailable
from hdsp_agent.messages import GoBack, TakeBack, TaskId, UndoOrRedo
from hdsp_agent.persistence import MessageManager
from hdsp_agent.providers import call_tool

from ._helpers.scripted_agent import Agent, running_agent, until

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


def heard(agent: Agent, task_id: TaskId) -> list[str]:
    """The conversation as whoever listened to the sink has it."""
    kept = agent.heard.shown[task_id]
    return [
        f"{kept[ts].say or kept[ts].ask}:{kept[ts].text or ''}"
        for ts in sorted(kept)
        if kept[ts].say != "api_req_started"
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
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        shown = await visible(agent, task_id)
        assert "user_feedback:the red one" in shown and "user_feedback:the blue one" not in shown
        sent = str(agent.model.requests[2].messages)
        assert "the red one" in sent and "the blue one" not in sent
        assert "reset" in [what for what, _, _ in agent.heard.log]
        assert heard(agent, task_id) == shown


async def test_editing_the_first_message_begins_anew(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE, DONE]) as agent:
        task_id, _ = await talked(agent)
        first = (await agent.ui(task_id))[0]
        await agent.manager.messages.edit(task_id, first.ts, "Another task")
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        assert (await visible(agent, task_id))[0] == "text:Another task"
        assert "The task" not in str(agent.model.requests[2].messages)
        assert agent.history.items[task_id].task == "Another task"


async def test_an_answer_is_tried_again_with_all_that_came_before_it(tmp_path: Path) -> None:
    other = call_tool("attempt_completion", {"result": "Done better"}, id="end")
    async with running_agent(tmp_path, [QUESTION, DONE, other]) as agent:
        task_id, _ = await talked(agent)
        before = await visible(agent, task_id)
        [answer] = await agent.says(task_id, "completion_result")
        await agent.manager.messages.retry(task_id, answer.ts)
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        shown = await visible(agent, task_id)
        assert "completion_result:Done better" in shown and "completion_result:All done" not in shown
        assert "user_feedback:the blue one" in shown
        assert heard(agent, task_id) == shown
        first, second = (agent.model.requests[at].messages for at in (1, 2))
        assert [one for one in second if "All done" in str(one)] == []
        assert str(second).count("the blue one") == str(first).count("the blue one")
        await agent.manager.messages.undo(task_id, newer="set_aside")
        assert await visible(agent, task_id) == before


async def test_an_answer_in_the_middle_is_tried_again_without_what_followed(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [LOOK, QUESTION, DONE, DONE]) as agent:
        task_id, _ = await talked(agent)
        requests = [m for m in await agent.ui(task_id) if m.say == "api_req_started"]
        question = next(m for m in await agent.ui(task_id) if m.ask == "followup")
        await agent.manager.messages.retry(task_id, question.ts)
        await until(lambda: len(agent.model.requests) == 4 and not agent.manager.tasks.open)
        shown = await visible(agent, task_id)
        assert not any("blue" in line or line.startswith("followup") for line in shown)
        sent = str(agent.model.requests[3].messages)
        assert "look" in sent and "Which?" not in sent
        history = await agent.store.view(task_id)
        marks = [mark async for mark in history.marks.iterate()]
        hidden = MessageManager(history, marks).view.visible_ui  # type: ignore[arg-type]  # only read
        assert requests[0].ts in hidden and requests[1].ts not in hidden, "its request goes with the answer"


async def test_only_an_answer_is_tried_again(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        first = (await agent.ui(task_id))[0]
        for words in (first.ts, ts):
            with pytest.raises(InvalidInput):
                await agent.manager.messages.retry(task_id, words)
        preview = await agent.manager.messages.preview(
            task_id, TakeBack(operation="retry", message_ts=(await agent.says(task_id, "completion_result"))[0].ts)
        )
        assert (preview.operation, preview.can_be_undone, preview.stops_task) == ("retry", True, False)
        assert preview.tool_calls == 0 and preview.effects == []


@pytest.mark.each_backend
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


async def test_words_that_waited_for_the_end_of_the_turn_go_with_their_message(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, [60.0], DONE]) as agent:
        task_id = await agent.start("The task")
        await agent.asked(task_id, "followup")
        await agent.manager.send(task_id, "the blue one")
        await until(lambda: len(agent.model.requests) == 2)
        [said] = await agent.says(task_id, "user_feedback")
        agent.task(task_id).user_input.add_later(AskAnswer("messageResponse", said.ts, "really blue", said_at=said.ts))
        await agent.manager.messages.delete(task_id, said.ts)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "the green one")
        await agent.completed(task_id)
        assert "really blue" not in str(agent.model.requests[2].messages)


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
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        assert agent.history.items[task_id].total_cost > before


async def test_of_a_fork_no_more_is_remembered_than_of_the_original(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id = await agent.start("The task")
        ask = await agent.asked(task_id, "followup")
        state = agent.manager.tasks.get(task_id).state
        state.conversation.log.update_state(has_external_content=True, used_local_model=True)
        await state.note_item(memory_off=True)
        fork = await agent.manager.messages.fork(task_id, ask.ts)
        copied = await (await agent.store.view(fork)).read_state()
        assert (copied.has_external_content, copied.used_local_model) == (True, True)
        assert copied.history_item is not None and copied.history_item.memory_off


@pytest.mark.each_backend
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
        assert agent.manager.tasks.status(task_id) == "running"


async def test_what_cannot_be_done_is_refused_before_the_task_is_stopped(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, [60.0]]) as agent:
        task_id = await agent.start("The task")
        await agent.asked(task_id, "followup")
        await agent.manager.send(task_id, "the blue one")
        await until(lambda: len(agent.model.requests) == 2)
        operations = agent.manager.messages
        first = (await agent.ui(task_id))[0].ts
        for work in (
            operations.delete(task_id, 12345),
            operations.delete(task_id, first),
            operations.rewind(task_id, first, keep=False),
            operations.edit(task_id, 12345, "else"),
            operations.undo(task_id),
            operations.redo(task_id),
        ):
            with pytest.raises((NotFound, InvalidInput)):
                await work
        assert agent.manager.tasks.status(task_id) == "running"
        assert await agent.asks(task_id, "resume_task") == []


async def test_a_message_that_was_taken_back_says_so(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        await agent.manager.messages.delete(task_id, ts)
        with pytest.raises(NotFound, match="was removed"):
            await agent.manager.messages.delete(task_id, ts)


async def test_a_preview_says_what_is_taken_back_and_changes_nothing(tmp_path: Path) -> None:
    note = call_tool("write_note", {"text": "a line"}, id="n")
    async with running_agent(tmp_path, [QUESTION, note, LOOK, DONE]) as agent:
        task_id = await agent.start("The task")
        await agent.asked(task_id, "followup")
        await agent.manager.send(task_id, "the blue one")
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        [said] = await agent.says(task_id, "user_feedback")
        before, lines = await visible(agent, task_id), len(await agent.ui(task_id))
        preview = await agent.manager.messages.preview(task_id, TakeBack(operation="delete", message_ts=said.ts))
        # What the person said, and the result: requests, calls and marks are nothing anybody would count.
        assert (preview.removed, preview.restored) == (2, 0)
        assert [(effect.kind, effect.name, effect.count) for effect in preview.effects] == [("file", "notes.txt", 1)]
        assert (preview.tool_calls, preview.more_effects) == (2, 0)
        assert (preview.can_be_undone, preview.gone_on, preview.stops_task) == (True, False, False)
        kept = await agent.manager.messages.preview(task_id, GoBack(operation="rewind", message_ts=said.ts, keep=True))
        assert kept.removed == preview.removed - 1
        assert await visible(agent, task_id) == before
        assert len(await agent.ui(task_id)) == lines
        assert agent.manager.tasks.open == []

        await agent.manager.messages.delete(task_id, said.ts)
        undo = await agent.manager.messages.preview(task_id, UndoOrRedo(operation="undo"))
        assert (undo.removed, undo.restored, undo.gone_on) == (0, 2, False)
        with pytest.raises(NotFound, match="nothing to redo"):
            await agent.manager.messages.preview(task_id, UndoOrRedo(operation="redo"))


async def test_being_asked_whether_to_go_on_is_no_hindrance_to_an_undo(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        await agent.manager.messages.delete(task_id, ts)
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_task")
        await agent.manager.messages.undo(task_id)
        assert "user_feedback:the blue one" in await visible(agent, task_id)
        assert agent.history.items[task_id].status == "completed"
        assert agent.manager.tasks.open == []


async def test_an_undo_right_after_going_back_takes_nothing_back(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_completed_task")
        await agent.manager.messages.rewind(task_id, ts)
        await agent.asked(task_id, "resume_task")
        undo = await agent.manager.messages.preview(task_id, UndoOrRedo(operation="undo"))
        assert (undo.removed, undo.restored, undo.tool_calls) == (0, 1, 0)
        assert (undo.gone_on, undo.stops_task, undo.can_be_undone) == (False, False, True)


@pytest.mark.each_backend
async def test_an_undo_after_newer_messages_asks_first(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE, DONE]) as agent:
        task_id, ts = await talked(agent)
        await agent.manager.messages.edit(task_id, ts, "the red one")
        await until(lambda: len(agent.model.requests) == 3 and not agent.manager.tasks.open)
        preview = await agent.manager.messages.preview(task_id, UndoOrRedo(operation="undo"))
        assert preview.gone_on and preview.removed and preview.restored
        with pytest.raises(Conflict, match="Confirm"):
            await agent.manager.messages.undo(task_id)
        await agent.manager.messages.undo(task_id, newer="set_aside")
        shown = await visible(agent, task_id)
        assert "user_feedback:the blue one" in shown and "user_feedback:the red one" not in shown
        await agent.manager.messages.redo(task_id)
        assert "user_feedback:the red one" in await visible(agent, task_id)


async def test_a_change_is_undone_once(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        await agent.manager.messages.delete(task_id, ts)
        mark = [mark async for mark in (await agent.store.view(task_id)).marks.iterate()][-1]
        await agent.manager.messages.undo(task_id, mark.id)
        with pytest.raises(Conflict, match="already undone or rewound"):
            await agent.manager.messages.undo(task_id, mark.id)
        with pytest.raises(InvalidInput, match="not an undo"):
            await agent.manager.messages.redo(task_id, mark.id)
        with pytest.raises(NotFound):
            await agent.manager.messages.undo(task_id, "nothing")


async def test_two_changes_at_a_time_are_made_one_after_the_other(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        operations = agent.manager.messages
        done = await asyncio.gather(
            operations.delete(task_id, ts), operations.delete(task_id, ts), return_exceptions=True
        )
        assert [type(error) for error in done] == [type(None), NotFound]
        assert agent.manager.tasks.open == []


async def test_a_conversation_whose_end_was_taken_back_is_not_completed_any_more(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)
        spent = agent.history.items[task_id].total_cost
        await agent.manager.messages.delete(task_id, ts)
        item = agent.history.items[task_id]
        assert (item.status, item.total_cost) == ("active", spent)
        assert task_id in await agent.store.tasks("running")
        await agent.manager.messages.undo(task_id)
        assert agent.history.items[task_id].status == "completed"
        assert task_id in await agent.store.tasks("completed")


async def test_whoever_takes_back_the_call_for_a_subtask_waits_for_none(tmp_path: Path) -> None:
    subtask = call_tool("new_task", {"mode": "code", "message": "A part"}, id="s")
    async with running_agent(tmp_path, [QUESTION, subtask, [60.0]]) as agent:
        task_id = await agent.start("The task")
        await agent.asked(task_id, "followup")
        await agent.manager.send(task_id, "the blue one")
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await until(lambda: len(agent.model.requests) == 3)
        [said] = await agent.says(task_id, "user_feedback")
        with pytest.raises(Conflict, match="subtask"):
            await agent.manager.messages.delete(task_id, said.ts)
        [child] = agent.manager.tasks.open
        await agent.manager.tasks.close(child)
        preview = await agent.manager.messages.preview(task_id, TakeBack(operation="delete", message_ts=said.ts))
        assert [(effect.kind, effect.name) for effect in preview.effects] == [("subtask", "A part")]
        await agent.manager.messages.delete(task_id, said.ts)
        item = agent.history.items[task_id]
        assert (item.status, item.awaiting_child_id) == ("active", None)


async def test_a_fork_outlives_what_it_was_made_from(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id = await agent.start("The task")
        await agent.asked(task_id, "followup")
        log = agent.task(task_id).state.conversation.log
        early, late = await log.put_artifact(b"a long output"), await log.put_artifact(b"another one")
        await agent.task(task_id).state.conversation.say("command_output", f"read it with artifact_id {early}")
        await agent.manager.send(task_id, f"not an artifact: {'f' * 64}")
        await agent.completed(task_id)
        [said] = await agent.says(task_id, "user_feedback")
        fork = await agent.manager.messages.fork(task_id, said.ts)
        await agent.store.delete(task_id)
        reader = await agent.store.view(fork)
        assert await reader.read_artifact(early) == b"a long output"
        with pytest.raises(NotFound):
            await reader.read_artifact(late)


async def test_a_fork_that_cannot_be_written_leaves_no_half_of_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_agent(tmp_path, [QUESTION, DONE]) as agent:
        task_id, ts = await talked(agent)

        async def full(*_: object, **__: object) -> None:
            raise StorageUnavailable("The disk is full.")

        monkeypatch.setattr(type(agent.history), "put", full)
        with pytest.raises(StorageUnavailable):
            await agent.manager.messages.fork(task_id, ts)
        assert await agent.store.tasks() == [task_id]
