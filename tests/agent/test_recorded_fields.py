"""What a task writes beside its words: places, thoughts, progress, its state, its number and size."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import TaskStatus
from hdsp_agent.providers import ModelRequest, TextDelta, ThinkingDelta, ThinkingDone, call_tool
from hdsp_agent.providers._scripted import Step
from hdsp_agent.tools import ToolRegistry

from .._helpers.timing import PATIENCE, until
from ._helpers.scripted_agent import Agent, running_agent
from .context_window._helpers.small_window import look, small_agent, summarised

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_read_only=True, always_allow_write=True)


AUTO_SUBTASKS = GlobalSettings(auto_approval_enabled=True, always_allow_subtasks=True)


async def working_child(agent: Agent, parent: TaskId) -> TaskId:
    """The subtask of a task, once its model has said something."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while asyncio.get_running_loop().time() < deadline:
        for task_id in agent.manager.tasks.open:
            if task_id != parent and len(await agent.says(task_id, "text")) > 1:
                return task_id
        await asyncio.sleep(0.01)
    raise AssertionError("there is no subtask")


async def status_becomes(agent: Agent, task_id: TaskId, wanted: TaskStatus) -> None:
    """Wait until another process would read this status."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while (found := (await (await agent.store.view(task_id)).read_state()).status) != wanted:
        assert asyncio.get_running_loop().time() < deadline, f"it stays {found}"
        await asyncio.sleep(0.01)


async def activity(agent: Agent, task_id: TaskId) -> str | None:
    """What another process reads of what the task is at."""
    return (await (await agent.store.view(task_id)).read_state()).last_activity


async def test_the_state_says_whether_the_model_or_a_tool_is_at_work(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "Which?"}, id="q")
    async with running_agent(tmp_path, [question, [TextDelta("I look."), 600]], settings=AUTO) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "followup")
        log = agent.task(task_id).state.conversation.log
        await log.save_state()
        assert await activity(agent, task_id) == "tool_execution"
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "This one")

        async def asked_again() -> bool:
            return len(await agent.says(task_id, "api_req_started")) == 2

        await until(asked_again)
        await log.save_state()
        assert await activity(agent, task_id) == "llm_call"


async def test_the_state_counts_calls_of_the_model_and_of_tools_and_their_tokens(tmp_path: Path) -> None:
    turns = [call_tool("look", {"text": "a"}, id="l"), call_tool("broken", {"text": "bug"}, id="b"), DONE]
    async with running_agent(tmp_path, turns, settings=AUTO) as agent:
        task_id = await agent.finished()
        requests = [json.loads(said.text or "") for said in await agent.says(task_id, "api_req_started")]
        reader = await agent.store.view(task_id)
        state, tools = await reader.read_state(), [record async for record in reader.tools.iterate()]
    assert (state.llm_call_count, state.tool_call_count, state.compression_count) == (3, 3, 0)
    assert [(tool.seq, tool.tool_name, tool.status) for tool in tools] == [
        (1, "look", "success"), (2, "broken", "error"), (3, "attempt_completion", "success")
    ]  # fmt: skip
    look, broken, _ = tools
    assert (look.arguments, look.result, look.error) == ({"text": "a"}, "saw a", None)
    assert broken.error == broken.result and "broken failed" in str(broken.error)
    # It waits for a moment.
    assert look.duration_ms > 0
    assert state.total_tokens_used == sum(one["tokensIn"] + one["tokensOut"] for one in requests) > 0
    assert state.current_context_tokens == requests[-1]["tokensIn"] + requests[-1]["tokensOut"]


async def test_a_key_that_a_tool_tells_is_in_none_of_the_tasks_files(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    read = call_tool("read_file", {"path": "notes.txt"}, id="r")
    async with running_agent(tmp_path, [read, DONE], settings=AUTO, tools=ToolRegistry()) as agent:
        (agent.workspace / "notes.txt").write_text(f"The key is {key}.", encoding="utf-8")
        task_id = await agent.finished()
        reader = await agent.store.view(task_id)
        [told, _] = [record async for record in reader.tools.iterate()]
        files = [path.read_text(encoding="utf-8") for path in (tmp_path).rglob("*.jsonl")]
    assert "The key is [GITHUB_TOKEN" in str(told.result)
    assert len(files) >= 3 and not any(key in text for text in files)


async def test_every_message_says_where_in_the_api_history_it_was_begun(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "Which?"}, id="q")
    async with running_agent(tmp_path, [call_tool("look", {"text": "a"}, id="l"), question], settings=AUTO) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
        api = len([record async for record in (await agent.store.view(task_id)).api.iterate()])
    async with running_agent(tmp_path, [DONE], settings=AUTO) as agent:
        ask = (await agent.asks(task_id, "followup"))[-1]
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "This one")
        await agent.completed(task_id)
        ui = await agent.ui(task_id)
        records = [record async for record in (await agent.store.view(task_id)).api.iterate()]
        fork = await agent.manager.messages.fork(task_id, ask.ts)
        forked = await agent.ui(fork)
    places = [message.conversation_history_index for message in ui]
    assert places[0] == -1 and None not in places
    assert places == sorted(place for place in places if place is not None)
    requests = [message.conversation_history_index or 0 for message in ui if message.say == "api_req_started"]
    # The answer to a request is the next thing that was added.
    assert len(requests) == 3
    assert [(records[at].role, records[at + 1].role) for at in requests] == [("user", "assistant")] * 3
    # A question that was answered after a restart keeps its place.
    answered = next(message for message in ui if message.ts == ask.ts)
    assert answered.is_answered is True and answered.conversation_history_index == ask.conversation_history_index
    assert ask.conversation_history_index == api - 1
    assert [message.conversation_history_index for message in forked] == places[: len(forked)]


async def test_what_was_thought_before_is_told_with_the_text_in_the_end(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    turn: list[Step] = [
        ThinkingDelta("Let me see. "), ThinkingDelta(f"The key is {key}."), ThinkingDone("sig"),
        TextDelta("Here it is."), *DONE,
    ]  # fmt: skip
    async with running_agent(tmp_path, [turn]) as agent:
        task_id = await agent.finished()
        [text] = [message for message in await agent.says(task_id, "text") if message.text == "Here it is."]
        [thought] = await agent.says(task_id, "reasoning")
    assert text.reasoning == thought.text and (thought.text or "").startswith("Let me see. The key is [")


async def test_a_diff_says_of_how_many_blocks_it_is(tmp_path: Path) -> None:
    diff = "".join(
        f"<<<<<<< SEARCH\n{line}\n=======\n{line}{line}\n>>>>>>> REPLACE\n" for line in ("one", "two", "three")
    )
    turns = [call_tool("apply_diff", {"path": "a.txt", "diff": diff}, id="d"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        (agent.workspace / "a.txt").write_text("one\ntwo\nthree\n")
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        [told] = await agent.asks(task_id, "tool")
    assert told.progress_status is not None
    assert (told.progress_status.icon, told.progress_status.text, told.is_answered) == ("diff-multiple", "3", True)


async def test_the_state_says_compressing_as_long_as_a_summary_is_written(tmp_path: Path) -> None:
    may_end = asyncio.Event()

    def summary(request: ModelRequest) -> Iterable[Step]:
        while not may_end.is_set():
            yield 0.01
        yield from summarised(request)

    turns = [*(look(number) for number in range(4)), call_tool("ask_followup_question", {"question": "On?"}, id="q")]
    async with small_agent(tmp_path, turns) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
        await status_becomes(agent, task_id, "processing")
        agent.model.turns = [*agent.model.turns, summary]
        condensing = asyncio.create_task(agent.manager.condense(task_id))
        await status_becomes(agent, task_id, "compressing")
        # What else the task notes meanwhile takes nothing from that.
        await agent.task(task_id).state.note_progress()
        await agent.task(task_id).state.conversation.log.save_state()
        await status_becomes(agent, task_id, "compressing")
        assert await activity(agent, task_id) == "compression"
        may_end.set()
        await condensing
        await status_becomes(agent, task_id, "processing")


async def test_when_the_time_is_over_a_task_and_its_subtask_time_out_and_can_go_on(tmp_path: Path) -> None:
    hand_over = call_tool("new_task", {"mode": "code", "message": "Find it"}, id="n")
    silent: list[Step] = [TextDelta("I look."), 600]
    async with running_agent(tmp_path, [hand_over, silent], settings=AUTO_SUBTASKS) as agent:
        parent = await agent.start()
        child = await working_child(agent, parent)
        await agent.manager.run_out(parent, "The time is over.")
        for task_id in (parent, child):
            state = await (await agent.store.view(task_id)).read_state()
            assert (state.status, state.error, state.resumable) == ("timeout", "The time is over.", True)
            assert not state.is_over
            assert agent.history.items[task_id].state == "timeout"
            assert (await agent.says(task_id, "error"))[-1].text == "The time is over."
        assert not agent.manager.tasks.open
        agent.model.turns = [*agent.model.turns, DONE, DONE]
        await agent.manager.resume(child)
        ask = await agent.asked(child, "resume_task")
        await agent.manager.answer(child, ask.ts, "yesButtonClicked")
        for task_id in (child, parent):
            await status_becomes(agent, task_id, "completed")
            assert (await (await agent.store.view(task_id)).read_state()).error is None
    assert [agent.history.items[task_id].state for task_id in (parent, child)] == [None, None]


async def test_a_task_that_is_put_aside_is_listed_as_paused_until_it_goes_on(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "Which?"}, id="q")
    async with running_agent(tmp_path, [question]) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
        number = agent.history.items[task_id].number
        assert (number, agent.history.items[task_id].state) == (1, None)
    assert agent.history.items[task_id].state == "paused"
    async with running_agent(tmp_path, [DONE]) as agent:
        state = await (await agent.store.view(task_id)).read_state()
        assert state.status == "paused" and state.history_item is not None
        # The number is in its own folder, so that it is the same when the index is made anew.
        assert state.history_item.number == number
        ask = (await agent.asks(task_id, "followup"))[-1]
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "This one")
        await agent.completed(task_id)
        assert agent.history.items[task_id].state is None
