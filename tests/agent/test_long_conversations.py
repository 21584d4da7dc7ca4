"""What a turn costs must not depend on how long the conversation has become, nor may it hold up anything else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.append_log.jsonl import JsonlLog
from hdsp_agent.config import GlobalSettings
from hdsp_agent.context import SentHistory
from hdsp_agent.messages import ApiMessage
from hdsp_agent.persistence import ApiRecord
from hdsp_agent.providers import ModelEvent, ModelRequest, ScriptedModel, TextDelta, call_tool

from ._helpers.scripted_agent import running_agent

AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
TURNS = 30


def note(number: int) -> list[object]:
    return [*call_tool("write_note", {"text": f"note {number}"}, id=f"call-{number}")]


@dataclass
class Counted:
    """How often something was done by the time each request was made."""

    at_requests: list[int] = field(default_factory=list)
    count: int = 0

    def counting(self, function: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            self.count += 1
            return function(*arguments, **named)

        return counted

    def each_turn(self) -> list[int]:
        return [after - before for before, after in zip(self.at_requests, self.at_requests[1:], strict=False)]


async def test_no_turn_reads_the_history_again_or_converts_more_than_was_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted, read = Counted(), Counted()
    monkeypatch.setattr(ApiRecord, "message", converted.counting(ApiRecord.message))
    for name in ("between", "newest", "first", "count"):
        monkeypatch.setattr(JsonlLog, name, read.counting(getattr(JsonlLog, name)))

    def turn(number: int) -> Callable[[ModelRequest], list[object]]:
        def answer(request: ModelRequest) -> list[object]:
            for counted in (converted, read):
                counted.at_requests.append(counted.count)
            return note(number)

        return answer

    turns = [*map(turn, range(TURNS)), call_tool("attempt_completion", {"result": "done"}, id="end")]
    async with running_agent(tmp_path, turns, settings=AUTO) as agent:  # type: ignore[arg-type]  # steps are steps
        await agent.finished()
        assert len(agent.notes()) == TURNS
        # The answer, and the result of its call.
        assert set(converted.each_turn()[1:]) == {2}
        assert set(read.each_turn()[1:]) == {0}
        # And yet every request held the whole conversation.
        assert [len(request.messages) for request in agent.model.requests] == list(range(1, 2 * TURNS + 2, 2))


async def test_a_turn_looks_at_its_folder_in_one_thread_and_decides_about_what_changes_nothing_in_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = Counted()
    to_thread, counted = asyncio.to_thread, threads.counting(asyncio.to_thread)

    def seen(*arguments: Any, **named: Any) -> Any:
        task = asyncio.current_task()
        # The state is written by the clock, not by turns.
        by_clock = task is not None and task.get_name() == "hdsp-agent task heartbeat"
        return (to_thread if by_clock else counted)(*arguments, **named)

    monkeypatch.setattr(asyncio, "to_thread", seen)

    def turn(number: int) -> Callable[[ModelRequest], list[object]]:
        def answer(request: ModelRequest) -> list[object]:
            threads.at_requests.append(threads.count)
            return [*call_tool("look", {"text": f"part {number}"}, id=f"call-{number}")]

        return answer

    turns = [*map(turn, range(5)), call_tool("attempt_completion", {"result": "done"}, id="end")]
    async with running_agent(tmp_path, turns, settings=AUTO) as agent:  # type: ignore[arg-type]  # steps are steps
        await agent.finished()
        assert set(threads.each_turn()[1:]) == {1}


def record(seq: int, role: str, text: str) -> ApiRecord:
    return ApiRecord.model_validate(
        {"seq": seq, "role": role, "content": text, "timestamp": "2026-01-01T00:00:00Z", "token_count": 1}
    )


def test_a_request_stays_as_it_was_when_the_conversation_goes_on() -> None:
    merged = SentHistory()
    assert list(merged.messages) == []
    merged.add(record(1, "user", "one").message())
    first = merged.messages
    merged.add(record(2, "user", "two").message())
    second = merged.messages
    merged.add(record(3, "assistant", "three").message())
    third = merged.messages
    said = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert first == [ApiMessage(role="user", content="one")]
    assert second == [ApiMessage(role="user", content=said)]
    assert third == [ApiMessage(role="user", content=said), ApiMessage(role="assistant", content="three")]
    assert (len(first), len(second), len(third)) == (1, 1, 2)
    assert third[-1].role == "assistant" and third[0] is second[0]
    assert [message.role for message in reversed(third)] == ["assistant", "user"]
    assert third[1:] == [third[1]]
    with pytest.raises(IndexError):
        first[1]


async def test_an_answer_that_came_all_at_once_leaves_others_their_turn(tmp_path: Path) -> None:
    pieces = 2_000
    others_turns = 0
    meanwhile: list[int] = []

    class Hasty(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            before = others_turns
            for number in range(pieces):
                # Without a pause in between, as from a buffer.
                yield TextDelta(f"piece {number} ")
            meanwhile.append(others_turns - before)
            for step in call_tool("attempt_completion", {"result": "done"}, id="end"):
                yield step  # type: ignore[misc]  # events only

    async def other() -> None:
        nonlocal others_turns
        while True:
            await asyncio.sleep(0)
            others_turns += 1

    async with running_agent(tmp_path, [], settings=AUTO) as agent:
        agent.models.model = Hasty()
        beside = asyncio.create_task(other())
        try:
            await agent.finished()
        finally:
            beside.cancel()
        assert meanwhile[0] >= pieces // 50
