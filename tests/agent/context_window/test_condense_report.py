"""What the person is told of what the model does not see any more, and how it is brought back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.agent.context_window.condense_report import account_of, cleared_of
from hdsp_agent.context import Carried, TokenCounter
from hdsp_agent.messages import ApiMessage, ContextKept
from hdsp_agent.persistence import render_task
from hdsp_agent.providers import call_tool
from hdsp_agent.providers._scripted import Step

from ._helpers.small_window import AUTO, DONE, SMALL, condensed, look, small_agent, summarised, text_of
from .test_error_recovery import refusal

TODOS = call_tool("update_todo_list", {"todos": "[x] Look\n[ ] Plot the parts"}, id="plan")


def seen(number: int) -> list[Step]:
    """A step whose result is long."""
    return call_tool("look", {"text": f"part {number} " + "x" * 9_000}, id=f"seen-{number}")


def said(text: str) -> ApiMessage:
    return ApiMessage(role="user", content=[{"type": "text", "text": f"<user_message>\n{text}\n</user_message>"}])


def test_what_is_carried_is_counted_and_only_its_beginnings_are_told() -> None:
    call: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": "a", "content": "x" * 4_000}
    messages = [
        said("Count   the\nrows"),
        ApiMessage(role="assistant", content=[call]),
        ApiMessage(role="user", content=[result]),
    ]
    names = tuple(f"{number}.csv" for number in range(30))
    account = account_of(messages, [0], Carried(goals=("g" * 300,), files=names), TokenCounter())
    by_kind = {part.kind: part for part in account.kept}
    assert list(by_kind) == ["messages", "goals", "files"]
    assert by_kind["messages"] == ContextKept(kind="messages", count=1, items=["Count the rows"])
    assert by_kind["goals"].items == ["g" * 199 + "…"]
    assert (by_kind["files"].count, len(by_kind["files"].items)) == (30, 20)
    assert (account.dropped.messages, account.dropped.outputs) == (2, 1)
    assert account.dropped.tokens == TokenCounter().messages(messages[1:]) > 1_000


def test_an_earlier_summary_is_no_message_that_is_dropped() -> None:
    earlier = ApiMessage(role="user", content="Summary", is_summary=True)
    dropped = account_of([earlier, said("On")], [], Carried(), TokenCounter()).dropped
    assert dropped.messages == 1


def test_cleared_outputs_are_counted_by_tool() -> None:
    calls = [{"type": "tool_use", "id": str(number), "name": name, "input": {}} for number, name in enumerate("aab")]
    cleared = cleared_of([ApiMessage(role="assistant", content=[*calls])], ["0", "1", "2"], 50, "old")
    assert (cleared.outputs, cleared.tools, cleared.tokens) == (3, {"a": 2, "b": 1}, 50)


async def test_a_condensation_tells_what_it_kept_and_dropped_and_is_undone_by_its_mark(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [TODOS, *map(look, range(4)), summarised, DONE], window=100_000) as agent:
        agent.model.turns = [*agent.model.turns[:5], DONE, summarised]
        task_id = await agent.finished("Look at data/parts.csv. Never change a file.")
        await agent.manager.condense(task_id)
        [row] = await condensed(agent, task_id)
        told = row.context_condense
        assert told is not None and told.kept is not None and told.dropped is not None
        kept = {part.kind: part.items for part in told.kept}
        assert kept["messages"] == ["Look at data/parts.csv. Never change a file."]
        assert kept["constraints"] == ["Never change a file."] and kept["files"] == ["data/parts.csv"]
        assert kept["todos"] == ["[ ] Plot the parts"]
        assert (told.model, told.way) == (SMALL.id, "local")
        # All but what the person said: five answers with results, and the last answer.
        assert told.dropped.outputs >= 5 and told.dropped.messages > told.dropped.outputs
        assert told.dropped.tokens > told.prev_context_tokens - told.new_context_tokens > 0
        assert told.mark_id is not None
        await agent.manager.messages.undo(task_id, told.mark_id)
        _, history = await agent.manager.tasks.open_log(task_id)
        assert "look-1" in str([record.content for record in await history.api_history()])
        # The row would tell an untruth.
        assert not [row for row in await history.ui_page(limit=200) if row.say == "condense_context"]


async def test_old_outputs_that_are_cleared_are_told_in_a_row(tmp_path: Path) -> None:
    async with small_agent(tmp_path, [*map(seen, range(7)), DONE], window=40_000) as agent:
        task_id = await agent.finished()
        [row] = await agent.says(task_id, "sliding_window_truncation")
        last = text_of(agent.model.requests[-1].messages)
        exported = b"".join([part async for part in render_task(await agent.store.view(task_id), "markdown")]).decode()
    assert "Tool outputs were left out for the model." in exported and "Older messages" not in exported
    told = row.context_truncation
    assert told is not None and told.cleared is not None and told.mark_id is None
    assert told.cleared.reason == "old" and told.cleared.tools == {"look": told.cleared.outputs}
    assert told.cleared.outputs == last.count("[Cleared: ") > 0
    assert told.prev_context_tokens - told.new_context_tokens == told.cleared.tokens > 0
    assert told.messages_removed == 0


async def test_outputs_cut_after_a_refusal_are_told_in_a_row(tmp_path: Path) -> None:
    turns = [seen(0), seen(2), refusal("overflow", current=11_000, limit=9_500), DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        [row] = await agent.says(task_id, "sliding_window_truncation")
    assert row.context_truncation is not None and row.context_truncation.cleared is not None
    assert row.context_truncation.cleared.reason == "too_long"
    assert row.context_truncation.prev_context_tokens == 11_000


async def test_who_turned_that_off_is_asked_instead(tmp_path: Path) -> None:
    turns = [seen(0), seen(2), refusal("overflow", current=11_000, limit=9_500), DONE]
    settings = AUTO.model_copy(update={"disabled_hooks": ("anthropic-auto-compact",)})
    async with small_agent(tmp_path, turns, window=100_000, settings=settings) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert await agent.says(task_id, "sliding_window_truncation") == []
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)


async def test_hidden_messages_are_told_with_what_that_saves_and_come_back(tmp_path: Path) -> None:
    turns = [*map(look, range(4)), refusal("overflow"), refusal("quota"), DONE]
    async with small_agent(tmp_path, turns, window=100_000) as agent:
        task_id = await agent.finished()
        [row] = await agent.says(task_id, "sliding_window_truncation")
        told = row.context_truncation
        assert told is not None and told.mark_id is not None
        assert told.prev_context_tokens > told.new_context_tokens > 0
        await agent.manager.messages.undo(task_id, told.mark_id)
        history = await (await agent.manager.tasks.open_log(task_id))[1].api_history()
        assert "look-0" in str([record.content for record in history])


@pytest.mark.parametrize(
    ("window", "hooks", "kinds"),
    [
        (11_470, (), ["reassurance", "advice"]),
        (200_000, (), []),
        (11_470, ("context-window-monitor",), []),
    ],
)
async def test_the_person_is_told_once_how_full_the_window_is(
    tmp_path: Path, window: int, hooks: tuple[str, ...], kinds: list[str]
) -> None:
    settings = AUTO.model_copy(update={"auto_condense_context": False, "disabled_hooks": hooks})
    async with small_agent(tmp_path, [*map(look, range(5)), DONE], settings=settings, window=window) as agent:
        task_id = await agent.finished()
        notices = agent.heard.notices
    assert [(task, kind) for task, kind, _ in notices] == [(task_id, kind) for kind in kinds]
    assert all(percent >= 70 for _, _, percent in notices)
