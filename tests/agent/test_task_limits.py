"""How much is done without asking, also across a restart."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from hdsp_agent.config import GlobalSettings
from hdsp_agent.providers import Stop, UsageReport, call_tool
from hdsp_agent.providers._scripted import Turn

from ._helpers.scripted_agent import running_agent

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")


def looks(number: int, *, start: int = 0) -> list[Turn]:
    return [call_tool("look", {"text": str(at)}, id=f"c{at}") for at in range(start, start + number)]


async def test_after_so_many_requests_it_asks(tmp_path: Path) -> None:
    settings = GlobalSettings(allowed_max_requests=2)
    async with running_agent(tmp_path, [*looks(4), DONE], settings=settings) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "auto_approval_max_req_reached")
        assert json.loads(ask.text or "") == {"count": 2, "type": "requests"}
        assert len(agent.model.requests) == 2
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        second = await agent.asked(task_id, "auto_approval_max_req_reached", after=ask.ts)
        assert len(agent.model.requests) == 4
        await agent.manager.answer(task_id, second.ts, "yesButtonClicked")
        await agent.completed(task_id)


async def test_after_so_much_cost_it_asks(tmp_path: Path) -> None:
    settings = GlobalSettings(allowed_max_cost=5)
    dear = [*call_tool("look", {"text": "x"})[:-2], UsageReport(input=2_000_000, output=0), Stop("tool_use")]
    async with running_agent(tmp_path, [dear, DONE], settings=settings) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "auto_approval_max_req_reached")
        assert json.loads(ask.text or "") == {"count": "5.00", "type": "cost"}
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)


async def test_words_do_not_allow_more(tmp_path: Path) -> None:
    settings = GlobalSettings(allowed_max_requests=1)
    async with running_agent(tmp_path, [*looks(2), DONE], settings=settings) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "auto_approval_max_req_reached")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "go on")
        await agent.asked(task_id, "resume_task")
        assert len(agent.model.requests) == 1


async def test_what_was_spent_counts_after_a_restart(tmp_path: Path) -> None:
    settings = GlobalSettings(allowed_max_requests=3)
    async with running_agent(
        tmp_path, [*looks(1), call_tool("write_note", {"text": "x"}, id="w")], settings=settings
    ) as agent:
        task_id = await agent.start()
        ts = (await agent.asked(task_id, "tool")).ts
    async with running_agent(tmp_path, [*looks(3, start=5)], settings=settings) as agent:
        await agent.manager.answer(task_id, ts, "yesButtonClicked")
        await agent.asked(task_id, "auto_approval_max_req_reached")
        assert len(agent.model.requests) == 1


async def test_what_was_allowed_is_not_asked_again_after_a_restart(tmp_path: Path) -> None:
    settings = GlobalSettings(allowed_max_requests=2)
    async with running_agent(
        tmp_path, [*looks(2), call_tool("write_note", {"text": "x"}, id="w")], settings=settings
    ) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "auto_approval_max_req_reached")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        ts = (await agent.asked(task_id, "tool")).ts
    async with running_agent(tmp_path, [DONE], settings=settings) as agent:
        await agent.manager.answer(task_id, ts, "yesButtonClicked")
        await agent.completed(task_id)


async def test_a_limit_asked_about_before_a_restart_is_lifted_by_its_answer(tmp_path: Path) -> None:
    settings = GlobalSettings(allowed_max_requests=1)
    async with running_agent(tmp_path, looks(2), settings=settings) as agent:
        task_id = await agent.start()
        ts = (await agent.asked(task_id, "auto_approval_max_req_reached")).ts
    async with running_agent(tmp_path, [DONE], settings=settings) as agent:
        await agent.manager.answer(task_id, ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert len(agent.model.requests) == 1


async def test_what_each_model_was_asked_is_recorded_by_day(tmp_path: Path) -> None:
    spent = UsageReport(input=100, output=10, cache_read=50, cost=0.25)
    turns = [[*call_tool("look", {"text": "a"})[:-2], spent, Stop("tool_use")], [*DONE[:-2], spent, Stop("tool_use")]]
    async with running_agent(tmp_path, turns) as agent:
        task_id = await agent.finished()
        state = await (await agent.store.view(task_id)).read_state()
        assert state.model_use is not None
        (use,) = state.model_use
        assert (use.model, use.requests, use.tokens_in, use.tokens_out, use.cost) == ("scripted", 2, 300, 20, 0.5)
        assert date.fromisoformat(use.day).isoformat() == use.day
