"""What people are shown of a request is what was sent."""

from __future__ import annotations

from pathlib import Path

from hdsp_agent.agent import seen_by_model
from hdsp_agent.providers import call_tool

from ..scripted_agent import until
from .small_window import look, small_agent, summarised, text_of

KEY = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT" * 5
SLOW = call_tool("slow", {"text": "x"}, id="s")


async def test_it_is_the_last_request_and_what_came_since(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [look(0), look(1), SLOW]) as agent:
        task_id = await agent.start(f"Look at it. My key is {KEY}")
        await until((agent.workspace / "slow.txt").exists)
        sent = agent.model.requests[-1]
        log = agent.task(task_id).conversation.log
        seen = await seen_by_model(agent.manager.services, log)
    assert seen.request.system == sent.system
    assert list(seen.request.messages)[: len(sent.messages)] == list(sent.messages)
    assert "Now part 1." in text_of(seen.request.messages)
    assert KEY not in text_of(seen.request.messages) and "My key is" in text_of(seen.request.messages)
    assert sum(seen.sizes) == seen.parts.messages == sum(vars(seen.kinds).values())


async def test_after_a_condensation_the_summary_is_counted_apart_until_that_is_undone(tmp_path: Path) -> None:
    turns = [*map(look, range(4)), call_tool("attempt_completion", {"result": "done"}, id="e"), summarised]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        before = await seen_by_model(agent.manager.services, await agent.store.view(task_id))
        await agent.manager.condense(task_id)
        after = await seen_by_model(agent.manager.services, await agent.store.view(task_id))
        await agent.manager.messages.undo(task_id)
        again = await seen_by_model(agent.manager.services, await agent.store.view(task_id))
    assert before.kinds.summaries == 0 < after.kinds.summaries
    assert after.parts.total < before.parts.total / 2
    assert list(again.request.messages) == list(before.request.messages)
