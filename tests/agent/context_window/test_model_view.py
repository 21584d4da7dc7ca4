"""What people are shown of a request is what was sent."""

from __future__ import annotations

from pathlib import Path

from hdsp_agent.agent import seen_by_model
from hdsp_agent.context import TokenCounter
from hdsp_agent.providers import call_tool
from hdsp_agent.providers._scripted import Turn

from .._helpers.scripted_agent import until
from ._helpers.small_window import AUTO, DONE, look, small_agent, summarised, text_of

KEY = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT" * 5
SLOW = call_tool("slow", {"text": "x"}, id="s")


async def test_it_is_the_last_request_and_what_came_since(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [look(0), look(1), SLOW]) as agent:
        task_id = await agent.start(f"Look at it. My key is {KEY}")
        await until((agent.workspace / "slow.txt").exists)
        sent = agent.model.requests[-1]
        log = agent.task(task_id).state.conversation.log
        seen = await seen_by_model(agent.manager.services, log)
    assert seen.request.system == sent.system
    assert list(seen.request.messages)[: len(sent.messages)] == list(sent.messages)
    assert "Now part 1." in text_of(seen.request.messages)
    assert KEY not in text_of(seen.request.messages) and "My key is" in text_of(seen.request.messages)
    assert sum(seen.sizes) == seen.parts.messages == sum(vars(seen.kinds).values())


async def test_after_the_first_message_was_edited_it_is_what_is_sent_then(tmp_path: Path) -> None:
    turns = [DONE, call_tool("slow", {"text": "x"}, id="s")]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        await agent.manager.messages.edit(task_id, (await agent.ui(task_id))[0].ts, "Another way")
        await until(lambda: len(agent.model.requests) == 2)
        await until((agent.workspace / "slow.txt").exists)
        sent = agent.model.requests[-1]
        seen = await seen_by_model(agent.manager.services, await agent.store.view(task_id))
    assert seen.request.system == sent.system != ""
    assert list(seen.request.messages)[: len(sent.messages)] == list(sent.messages)


async def test_what_is_looked_at_page_by_page_is_built_once_until_it_changes(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [look(0), DONE, DONE], window=100_000) as agent:
        task_id = await agent.finished()
        services = agent.manager.services
        for _ in range(3):
            first = await seen_by_model(services, await agent.store.view(task_id))
        assert services.seen.built == 1
        await agent.manager.messages.edit(task_id, (await agent.ui(task_id))[0].ts, "Another way")
        await until(lambda: len(agent.model.requests) == 3)
        second = await seen_by_model(services, await agent.store.view(task_id))
    assert services.seen.built == 2 and "Another way" in text_of(second.request.messages)
    assert "Now part 0." in text_of(first.request.messages)


async def test_characters_are_counted_as_the_person_has_set(tmp_path: Path) -> None:
    words, totals = "데이터를 봐 주세요 " * 100, []
    for name, settings in (("bytes", AUTO), ("cjk", AUTO.model_copy(update={"count_cjk_characters": True}))):
        async with small_agent(tmp_path / name, [DONE], settings=settings) as agent:
            task_id = await agent.start(words)
            await until(lambda: agent.model.requests)
            task = agent.task(task_id)
            sizes = [TokenCounter(counting).text(words) for counting in ("bytes", "cjk")]
            seen = await seen_by_model(agent.manager.services, task.state.conversation.log)
            plain = task.state.context.condensable(task.state)
            assert plain is not None and plain.counter == TokenCounter.of(settings)
            assert seen.sizes[0] == plain.counter.message(seen.request.messages[0])
            totals.append(seen.sizes[0])
    # Each syllable is three bytes, and three spaces of a byte each are between them.
    assert sizes == [675, 875] and totals[1] - totals[0] in range(195, 215)


async def test_after_a_condensation_the_summary_is_counted_apart_until_that_is_undone(tmp_path: Path) -> None:
    turns: list[Turn] = [*map(look, range(4)), call_tool("attempt_completion", {"result": "done"}, id="e"), summarised]
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
