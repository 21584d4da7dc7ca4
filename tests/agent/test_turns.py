"""What becomes of answers that are not as they should be."""

from __future__ import annotations

import asyncio
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from hdsp_agent.agent.task.tool_context import CallContext
from hdsp_agent.append_log.appender import Appender
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import DELTA_INTERVAL_MS, Halt, TaskId
from hdsp_agent.providers import Stop, TextDelta, ThinkingDelta, ThinkingDone, UsageReport, call_tool, say
from hdsp_agent.providers._scripted import Turn

from ._helpers.scripted_agent import Agent, running_agent, until

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
EMPTY: Turn = [UsageReport(input=5, output=0), Stop("end")]


async def test_a_plain_answer_ends_the_turn_with_one_request(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [say("The mean is 3.")]) as agent:
        task_id = await agent.finished()
        assert [said.text for said in await agent.says(task_id, "completion_result")] == ["The mean is 3."]
        assert [said.text for said in await agent.says(task_id, "text")] == ["Do it"]
        assert await agent.says(task_id, "error") == []
        assert len(agent.model.requests) == 1
        item = (await (await agent.store.view(task_id)).read_state()).history_item
        assert item is not None and item.status == "completed"
        assert item.completion_result_summary == "The mean is 3."


async def test_what_the_person_says_after_a_plain_answer_is_answered_in_turn(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [say("One."), say("Two.")]) as agent:
        task_id = await agent.finished()
        await agent.manager.answer(task_id, (await agent.ui(task_id))[-1].ts, "messageResponse", "And then?")
        await agent.completed(task_id)
        assert [said.text for said in await agent.says(task_id, "completion_result")] == ["One.", "Two."]
        assert len(agent.model.requests) == 2
        assert "And then?" in str(agent.model.requests[1].messages[-1].content)


@pytest.mark.parametrize("words", ["Let me look at the data:", "**Next, I read the file:**"])
async def test_words_that_announce_a_step_are_sent_back_silently_once(tmp_path: Path, words: str) -> None:
    async with running_agent(tmp_path, [say(words), DONE]) as agent:
        task_id = await agent.finished()
        assert await agent.says(task_id, "error") == []
        assert "did not use a tool" in str(agent.model.requests[1].messages[-1].content)


async def test_whoever_was_told_and_still_only_speaks_has_the_last_word(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [say("Let me see:"), say("There is nothing to do.")]) as agent:
        task_id = await agent.finished()
        assert [said.text for said in await agent.says(task_id, "completion_result")] == ["There is nothing to do."]
        assert await agent.says(task_id, "error") == []


async def test_an_open_plan_is_outstanding_unless_the_person_is_asked(tmp_path: Path) -> None:
    plan = call_tool("update_todo_list", {"todos": ["Load the data"]})
    async with running_agent(tmp_path, [plan, say("I have a plan."), say("Which file?")]) as agent:
        task_id = await agent.finished()
        assert "did not use a tool" in str(agent.model.requests[2].messages[-1].content)
        assert [said.text for said in await agent.says(task_id, "completion_result")] == ["Which file?"]
    async with running_agent(tmp_path / "asks", [plan, say("Which file is it?")]) as agent:
        await agent.finished()
        assert len(agent.model.requests) == 2


async def test_an_answer_that_was_cut_off_goes_on_and_the_second_time_is_a_mistake(tmp_path: Path) -> None:
    cut = [*say("Words that go")[:-1], Stop("max_tokens")]
    async with running_agent(tmp_path, [cut, cut, DONE]) as agent:
        task_id = await agent.finished()
        assert "limit of its length" in str(agent.model.requests[1].messages[-1].content)
        assert [error.text for error in await agent.says(task_id, "error")] == ["MODEL_NO_TOOLS_USED"]


async def test_an_empty_answer_is_asked_for_again(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [EMPTY, DONE]) as agent:
        task_id = await agent.finished()
        assert await agent.says(task_id, "error") == []
        assert agent.model.requests[0].messages == agent.model.requests[1].messages


async def test_after_a_second_empty_answer_the_person_is_asked(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [EMPTY, EMPTY, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert [error.text for error in await agent.says(task_id, "error")] == ["MODEL_NO_ASSISTANT_MESSAGES"]
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)


async def test_invalid_arguments_go_back_as_a_mistake(tmp_path: Path) -> None:
    turns = [call_tool("write_note", {"texts": 1}, id="a"), call_tool("write_note", '{"text": "o', id="b"), DONE]
    async with running_agent(tmp_path, turns) as agent:
        task_id = await agent.finished()
        results = await agent.results(task_id)
        assert "write_note" in results["a"] and "write_note" in results["b"]
        assert agent.names().count("taskToolFailed") == 2


async def test_an_unknown_tool_is_named_with_those_there_are(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("conjure", {}, id="a"), DONE]) as agent:
        task_id = await agent.finished()
        assert "no tool conjure" in (await agent.results(task_id))["a"]
        assert "write_note" in (await agent.results(task_id))["a"]


async def test_a_tool_with_a_bug_costs_only_its_call(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("broken", {"text": "bug"}, id="a"), DONE]) as agent:
        task_id = await agent.finished()
        assert "a slip of ours" in (await agent.results(task_id))["a"]


async def test_mistakes_in_a_row_ask_the_person(tmp_path: Path) -> None:
    turns = [call_tool("broken", {"text": f"no {number}"}, id=f"c{number}") for number in range(3)]
    async with running_agent(tmp_path, [*turns, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "mistake_limit_reached")
        assert agent.manager.tasks.status(task_id) == "idle"
        assert ask.halt == Halt(kind="mistakes")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "use the other tool")
        await agent.completed(task_id)
        assert "use the other tool" in str(agent.model.requests[-1].messages[-1].content)


async def test_a_tool_that_works_ends_the_row_of_mistakes(tmp_path: Path) -> None:
    turns = [call_tool("broken", {"text": f"no {number}"}, id=f"c{number}") for number in range(2)]
    turns += [call_tool("look", {"text": "x"}, id="ok")]
    turns += [call_tool("broken", {"text": f"nope {number}"}, id=f"d{number}") for number in range(2)]
    async with running_agent(tmp_path, [*turns, DONE]) as agent:
        task_id = await agent.finished()
        assert await agent.asks(task_id, "mistake_limit_reached") == []


async def test_no_mistake_limit_never_asks(tmp_path: Path) -> None:
    turns = [call_tool("broken", {"text": f"no {number}"}, id=f"c{number}") for number in range(8)]
    async with running_agent(tmp_path, [*turns, DONE]) as agent:
        agent.models.limit = 0
        await agent.finished()


async def test_the_fourth_identical_call_is_not_made(tmp_path: Path) -> None:
    turns = [call_tool("look", {"text": "same"}, id=f"c{number}") for number in range(4)]
    async with running_agent(tmp_path, [*turns, DONE]) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "mistake_limit_reached")
        assert ask.halt == Halt(kind="repetition", tool="look")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "try elsewhere")
        await agent.completed(task_id)
        results = await agent.results(task_id)
        assert results["c2"] == "saw same"
        assert "3 times in a row" in results["c3"]
        assert "try elsewhere" in str(agent.model.requests[-1].messages[-1].content)


async def test_completion_is_refused_after_a_failure_in_the_same_turn(tmp_path: Path) -> None:
    turn = [
        *call_tool("broken", {"text": "no"}, id="a", stop=False),
        *call_tool("attempt_completion", {"result": "done"}, id="b", index=1),
    ]
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        task_id = await agent.finished()
        assert "A tool failed in this turn" in (await agent.results(task_id))["b"]


async def test_completion_is_refused_while_todos_are_open_if_so_set(tmp_path: Path) -> None:
    settings = GlobalSettings(prevent_completion_with_open_todos=True)
    turns = [call_tool("update_todo_list", {"todos": ["one"]}, id="a"), DONE, call_tool("update_todo_list", {"todos": []}, id="c"),
             call_tool("attempt_completion", {"result": "now"}, id="d")]  # fmt: skip
    async with running_agent(tmp_path, turns, settings=settings) as agent:
        task_id = await agent.finished()
        assert "1 open items" in (await agent.results(task_id))["end"]


async def test_calls_after_the_end_are_not_made(tmp_path: Path) -> None:
    turn = [
        *call_tool("attempt_completion", {"result": "done"}, id="a", stop=False),
        *call_tool("write_note", {"text": "late"}, id="b", index=1),
    ]
    async with running_agent(tmp_path, [turn]) as agent:
        task_id = await agent.finished()
        assert "was not run" in (await agent.results(task_id))["b"]
        assert agent.notes() == []


async def test_a_call_that_comes_twice_is_made_once(tmp_path: Path) -> None:
    settings = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
    turn = [
        *call_tool("write_note", {"text": "one"}, id="a", stop=False),
        *call_tool("write_note", {"text": "one"}, id="a", index=1),
    ]
    async with running_agent(tmp_path, [turn, DONE], settings=settings) as agent:
        await agent.finished()
        assert agent.notes() == ["one"]


async def test_thoughts_are_shown_and_sent_back_with_their_signature(tmp_path: Path) -> None:
    turn = [ThinkingDelta("Let me "), ThinkingDelta("think. "), ThinkingDone("sig"), *call_tool("look", {"text": "x"})]
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        task_id = await agent.finished()
        assert [message.text for message in await agent.says(task_id, "reasoning")] == ["Let me think. "]
        sent = agent.model.requests[1].messages[1].content
        assert isinstance(sent, list)
        assert sent[0] == {"type": "thinking", "thinking": "Let me think. ", "signature": "sig"}


async def test_each_request_extends_the_one_before(tmp_path: Path) -> None:
    turns = [call_tool("look", {"text": str(number)}, id=f"c{number}") for number in range(4)]
    async with running_agent(tmp_path, [*turns, DONE]) as agent:
        await agent.finished()
        for before, after in zip(agent.model.requests, agent.model.requests[1:], strict=False):
            assert list(after.messages[: len(before.messages)]) == list(before.messages)
            assert after.system == before.system and after.tools == before.tools


async def test_a_secret_reaches_neither_disk_nor_model(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    turn = [
        TextDelta(f"The token is {secret[:20]}"),
        TextDelta(f"{secret[20:]} I see. "),
        *call_tool("look", {"text": secret}),
    ]
    async with running_agent(tmp_path, [turn, DONE]) as agent:
        await agent.finished(f"Use {secret}")
        assert secret not in str(agent.model.requests)
        assert "[GITHUB_TOKEN]" in str(agent.model.requests[1])
        assert secret not in str(agent.heard.log)
        await agent.manager.stop()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


async def test_cost_and_tokens_are_written_into_the_request_message(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("look", {"text": "x"}), DONE]) as agent:
        task_id = await agent.finished()
        texts = [message.text or "" for message in await agent.says(task_id, "api_req_started")]
        assert all('"tokensIn":10' in text and '"cost":' in text for text in texts)
        item = agent.history.items[task_id]
        assert (item.tokens_in, item.tokens_out) == (20, 10)
        assert item.total_cost > 0


async def test_a_switch_of_mode_stays_with_the_task(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("switch_mode", {"mode": "ask"}), DONE]) as agent:
        task_id = await agent.finished()
        item = agent.history.items[task_id]
        assert (item.mode, item.api_config_name) == ("ask", "ask-profile")
        assert "taskModeSwitched" in agent.names()
        first, second = agent.model.requests
        # Written anew, the prompt would cost the cache of all that was said.
        assert "mode code" in first.system and second.system == first.system
        told = str(second.messages[-1].content)
        assert "Current mode: ask (Ask)" in told and "You are in mode ask." in told


async def test_one_profile_for_all_modes_stays_through_a_switch(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("switch_mode", {"mode": "ask"}), DONE]) as agent:
        agent.models.locked = True
        task_id = await agent.finished()
        item = agent.history.items[task_id]
        assert (item.mode, item.api_config_name) == ("ask", "code-profile")


def test_the_context_is_what_tools_expect() -> None:
    from hdsp_agent.tools import ToolContext

    wanted = {name for name in dir(ToolContext) if not name.startswith("_")}
    assert wanted <= set(dir(CallContext))


async def test_the_disk_has_a_turn_before_what_the_model_says_to_it_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk_is_ready, sync = threading.Event(), Appender.sync

    def slow(appender: Appender) -> None:
        if appender.path.name == "tools.jsonl":
            disk_is_ready.wait(30)
        sync(appender)

    monkeypatch.setattr(Appender, "sync", slow)
    settings = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
    async with running_agent(tmp_path, [call_tool("write_note", {"text": "one"}), DONE], settings=settings) as agent:
        try:
            task_id = await agent.start()
            # The model is asked meanwhile.
            await until(lambda: len(agent.model.requests) == 2)
            await asyncio.sleep(0.2)
            assert await _answers_recorded(agent, task_id) == 1
        finally:
            disk_is_ready.set()
        await agent.completed(task_id)
        assert await _answers_recorded(agent, task_id) == 2


async def _answers_recorded(agent: Agent, task_id: TaskId) -> int:
    records = await (await agent.store.view(task_id)).api.page()
    return sum(record.role == "assistant" for record in records)


@pytest.mark.parametrize(("others", "gathered"), [(0, 0), (20, 1)])
async def test_pieces_come_together_where_many_answers_stream_and_an_answer_alone_is_read_as_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int, gathered: int
) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(seconds)

    # Of these pieces one alone is waited for.
    words: Turn = [TextDelta("one "), 0.001, TextDelta("two "), TextDelta("three "), TextDelta("four"), *DONE]
    async with running_agent(tmp_path, [words]) as agent:
        gathering = agent.manager.services.gathering
        with ExitStack() as streams:
            for _ in range(others):
                streams.enter_context(gathering.streaming())
            monkeypatch.setattr(asyncio, "sleep", noted)
            task_id = await agent.finished()
        assert pauses.count(DELTA_INTERVAL_MS / 1000) == gathered
        assert gathering.seconds == 0
        assert "one two three four" in [message.text for message in await agent.says(task_id, "text")]
