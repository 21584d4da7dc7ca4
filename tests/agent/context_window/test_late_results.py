"""A result that is in the log reaches the model, whenever it came and whoever looked at the history before."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from hdsp_agent.agent import seen_by_model
from hdsp_agent.agent.context_window.model_history import sent_at_once
from hdsp_agent.agent.conversation.conversation import text_block
from hdsp_agent.config import GlobalSettings
from hdsp_agent.context import TokenCounter
from hdsp_agent.errors import Conflict, InvalidInput, NotFound
from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.persistence import INTERRUPTED
from hdsp_agent.providers import call_tool

from ..._helpers.long_tests import rounds
from ..environment._helpers.conversation_in_memory import INFO, Around, InMemory
from ._helpers.small_window import DONE, small_agent, text_of

_CLEARED: Final = "[Cleared]"


class _Told(InMemory):
    """A conversation to which anything happens. ``answered`` is what each call that has a result was answered with."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(Around())
        self._rng = rng
        self._waiting: list[str] = []
        self._calls = 0
        self.answered: dict[str, str] = {}

    async def step(self) -> None:
        """Whatever may happen next."""
        steps = [self._looked_at, self._restarted, self._condensed, self._truncated, self._undone, self._cleared]
        steps += 4 * [self._one_result] if self._waiting else 2 * [self._said, self._asked_for]
        await self._rng.choice(steps)()

    async def all_results(self) -> None:
        """What still runs ends."""
        while self._waiting:
            await self._one_result()

    async def _said(self) -> None:
        self.stored.say("more", say="user_feedback")
        await self.conversation.add_api("user", [text_block("more")])

    async def _asked_for(self) -> None:
        calls = [f"call_{self._calls + number}" for number in range(self._rng.randint(1, 3))]
        self._calls += len(calls)
        self._waiting = list(calls)
        self.stored.say("tool", say="tool")
        blocks: list[JsonObject] = [{"type": "tool_use", "id": call, "name": "look", "input": {}} for call in calls]
        await self.conversation.add_api("assistant", blocks)

    async def _one_result(self) -> None:
        call = self._waiting.pop(self._rng.randrange(len(self._waiting)))
        self.answered[call] = f"what {call} gave"
        result: JsonObject = {"type": "tool_result", "tool_use_id": call, "content": self.answered[call]}
        await self.conversation.add_api("user", [result])

    async def _looked_at(self) -> None:
        await self.context.sent(INFO)

    async def _restarted(self) -> None:
        self.restart()

    async def _condensed(self) -> None:
        # What runs just now is not condensed.
        began = max((record.seq for record in self.stored.api if record.role == "assistant"), default=0)
        try:
            await self.stored.condense(f"C{self.stored.clock}", through=max(began - 1, 1))
        except InvalidInput:
            return
        self.conversation.history_changed()

    async def _truncated(self) -> None:
        await self.stored.truncate(f"T{self.stored.clock}")
        self.conversation.history_changed()

    async def _undone(self) -> None:
        try:
            await self.stored.manager.undo()
        except NotFound:
            return
        self.conversation.history_changed()

    async def _cleared(self) -> None:
        sent = await self.context.sent(INFO)
        there = [call for call in _results(sent.messages) if call in self.answered]
        if there:
            await self.context.clear_results({self._rng.choice(there): _CLEARED})


async def test_no_call_with_a_result_is_told_as_interrupted() -> None:
    rng = random.Random(18)
    late = 0
    for _ in range(rounds(300, 10_000)):
        told = _Told(rng)
        await told.tell(spoken=True)
        await told._said()
        for _ in range(rng.randrange(4, 16)):
            await told.step()
            late += bool(told._waiting)
        for _ in range(2):
            sent = await told.context.sent(INFO)
            results = _results(sent.messages)
            for call, content in results.items():
                assert content in (told.answered.get(call, INTERRUPTED), _CLEARED)
            records = await told.stored.reopened().api_history()
            shown = sent_at_once(records, told.context.kept.state, images=True, counter=TokenCounter())
            assert list(shown.messages) == list(sent.messages)
            await told.all_results()
    assert late > 100


async def test_a_large_output_approved_after_a_restart_reaches_the_model(tmp_path: Path) -> None:
    turn = call_tool("write_note", {"text": "n" * 40_000}, id="large")
    async with small_agent(tmp_path, [turn], settings=GlobalSettings(), window=60_000) as agent:
        task_id = await agent.start()
        asked = await agent.asked(task_id, "tool")
    async with small_agent(tmp_path, [DONE], window=60_000) as agent:
        await agent.manager.answer(task_id, asked.ts, "yesButtonClicked")
        await agent.completed(task_id)
        [request] = agent.model.requests
    assert "wrote nnn" in text_of(request.messages) and INTERRUPTED not in text_of(request.messages)


async def test_a_wish_to_condense_while_a_question_waits_does_not_cost_its_answer(tmp_path: Path) -> None:
    question = call_tool("ask_followup_question", {"question": "Which?"}, id="q")
    async with small_agent(tmp_path, [question, DONE], window=100_000) as agent:
        task_id = await agent.start()
        await agent.asked(task_id, "followup")
        await agent.manager.tasks.close(task_id)
        await agent.manager.resume(task_id)
        asked = await agent.asked(task_id, "followup")
        with pytest.raises(Conflict, match="too short"):
            await agent.manager.condense(task_id)
        shown = await seen_by_model(agent.manager.services, agent.task(task_id).state.conversation.log)
        await agent.manager.answer(task_id, asked.ts, "messageResponse", "The blue one")
        await agent.completed(task_id)
        sent = agent.model.requests[-1]
    assert INTERRUPTED in text_of(shown.request.messages)
    assert "The blue one" in text_of(sent.messages) and INTERRUPTED not in text_of(sent.messages)


def _results(messages: Sequence[ApiMessage]) -> dict[str, object]:
    """What each call is answered with."""
    blocks = (block for message in messages if isinstance(message.content, list) for block in message.content)
    return {str(block["tool_use_id"]): block["content"] for block in blocks if block.get("type") == "tool_result"}
