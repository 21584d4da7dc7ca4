"""Old outputs of tools are cleared before requests, once it pays, and a restart clears the same."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from hdsp_agent.context import Pruner
from hdsp_agent.context._pruning import Pruning
from hdsp_agent.messages import ApiMessage
from hdsp_agent.providers import call_tool
from hdsp_agent.providers._scripted import Step

from .._helpers.scripted_agent import until
from ._helpers.small_window import AUTO, DONE, small_agent, text_of

LONG = 6_000


def seen(number: int) -> list[Step]:
    """A step whose result is as long as what it says; the same id each time, as some servers have it."""
    return call_tool("look", {"text": f"part {number} " + "x" * LONG}, id="call_0")


def cleared(messages: Sequence[ApiMessage]) -> int:
    return text_of(messages).count("[Cleared: ")


async def test_old_outputs_are_cleared_many_at_once_and_stay_so_after_a_restart(tmp_path: Path) -> None:
    turns = [*map(seen, range(7)), call_tool("slow", {"text": "x"}, id="s")]
    async with small_agent(tmp_path, turns, window=40_000) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        requests = agent.model.requests
        counts = [cleared(request.messages) for request in requests]
    assert counts[0] == 0 and counts[-1] >= 3
    # Requests that were made are as they were, and those since extend each other.
    first = next(index for index, count in enumerate(counts) if count)
    assert counts == [0] * first + [counts[first]] * (len(counts) - first)
    before = requests[-1]
    async with small_agent(tmp_path, [DONE], window=40_000) as agent:
        await agent.manager.resume(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "resume_task")).ts, "yesButtonClicked")
        await agent.completed(task_id)
        [after] = agent.model.requests
    assert list(after.messages)[: len(before.messages)] == list(before.messages)


async def test_nobody_waits_while_thousands_of_outputs_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[threading.Thread] = []
    plan = Pruner.plan

    def seen_plan(self: Pruner, messages: Sequence[ApiMessage], used: int, *, cold: bool = False) -> Pruning | None:
        looked.append(threading.current_thread())
        return plan(self, messages, used, cold=cold)

    monkeypatch.setattr(Pruner, "plan", seen_plan)
    async with small_agent(tmp_path, [*map(seen, range(7)), DONE], window=40_000) as agent:
        await agent.finished()
    # Where there is too little to clear it is not looked at, and no thread is bothered.
    assert 0 < len(looked) < 8 and threading.current_thread() not in looked


async def test_a_plan_for_a_conversation_that_changed_meanwhile_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, dropped = Pruner.plan, threading.Event()

    def late_plan(self: Pruner, messages: Sequence[ApiMessage], used: int, *, cold: bool = False) -> Pruning | None:
        found = plan(self, messages, used, cold=cold)
        if found is not None and not dropped.is_set():
            dropped.set()
            loop.call_soon_threadsafe(agent.task(task_id).state.conversation.history_changed)
        return found

    monkeypatch.setattr(Pruner, "plan", late_plan)
    loop = asyncio.get_running_loop()
    async with small_agent(tmp_path, [*map(seen, range(8)), DONE], window=40_000) as agent:
        task_id = await agent.start()
        await agent.completed(task_id)
        assert dropped.is_set() and cleared(agent.model.requests[-1].messages)


async def test_what_is_cleared_is_known_by_its_place_and_not_by_an_id_that_comes_again(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [*map(seen, range(7)), DONE, DONE], window=40_000) as agent:
        task_id = await agent.finished()
        assert cleared(agent.model.requests[-1].messages)
        [first, *_] = [message for message in await agent.ui(task_id) if message.ask == "tool"]
        agent.model.turns = [*agent.model.turns[:8], seen(77), DONE]
        await agent.manager.messages.rewind(task_id, first.ts, keep=False)
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        last = agent.model.requests[-1].messages
    assert "part 77" in text_of(last) and not cleared(last)


async def test_the_agent_is_told_once_how_full_its_window_is(tmp_path: Path) -> None:
    from ._helpers.small_window import look

    settings = AUTO.model_copy(update={"auto_condense_context": False})
    turns = [*map(look, range(4)), call_tool("slow", {"text": "x"}, id="s")]
    async with small_agent(tmp_path, turns, settings=settings, window=11_470) as agent:
        task_id = await agent.start()
        await until((agent.workspace / "slow.txt").exists)
        told = text_of(agent.model.requests[-1].messages)
    assert told.count("[Context Status: ") == 1 and re.search(r"7\d\.\d% used", told)
    async with small_agent(tmp_path, [DONE], settings=settings, window=11_470) as agent:
        await agent.manager.resume(task_id)
        await agent.manager.answer(task_id, (await agent.asked(task_id, "resume_task")).ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert text_of(agent.model.requests[-1].messages).count("[Context Status: ") == 1
