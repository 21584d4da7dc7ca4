"""A model server that plays scenarios: what it says depends on the scenario a conversation names, and on how often it was asked."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests._helpers.model_server import RawServer, Reply, raw_server, refusal, sse_events

__all__ = ["Model", "Part", "Refusal", "call", "model_of", "silence"]

Body: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Refusal:
    """An answer that is none."""

    status: str
    headers: tuple[str, ...]


Part: TypeAlias = dict[str, Any] | float | Refusal
"""What an answer is made of: a delta, a pause in seconds, or a refusal alone."""
Turn: TypeAlias = Sequence[Part] | Callable[[Body], Sequence[Part]]

silence: Part = 600.0


def call(tool: str, arguments: object) -> list[Part]:
    """A call, in two pieces."""
    written = json.dumps(arguments)
    middle = len(written) // 2
    function = {"name": tool, "arguments": written[:middle]}
    return [
        {"tool_calls": [{"index": 0, "id": f"call-{tool}", "type": "function", "function": function}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": written[middle:]}}]},
    ]


@dataclass
class Model:
    """Counts what it was asked, by scenario."""

    scenarios: Mapping[str, Sequence[Turn]]
    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    heard: dict[str, Body] = field(default_factory=dict)
    """The last request of each scenario."""

    async def answer(self, reply: Reply) -> None:
        """Answer one request."""
        body: Body = reply.request.body
        scenario = _scenario_of(body)
        turns, number = self.scenarios[scenario], self.asked[scenario]
        self.asked[scenario] += 1
        self.heard[scenario] = body
        assert number < len(turns), f"{scenario} was asked {number + 1} times"
        turn = turns[number]
        parts = turn(body) if callable(turn) else turn
        if isinstance(parts[0], Refusal):
            await reply.send(refusal(parts[0].status, {"error": {"message": "Slow down"}}, *parts[0].headers))
            return
        await reply.begin()
        for part in parts:
            if isinstance(part, float):
                await asyncio.sleep(part)
            else:
                assert not isinstance(part, Refusal)
                await reply.send(_chunk(part, None))
        calls = any(isinstance(part, dict) and "tool_calls" in part for part in parts)
        await reply.send(_chunk({}, "tool_calls" if calls else "stop"))
        await reply.send(sse_events("[DONE]"))


@asynccontextmanager
async def model_of(scenarios: Mapping[str, Sequence[Turn]]) -> AsyncIterator[Model]:
    """The model, listening."""
    model = Model(scenarios)
    server: RawServer
    async with raw_server(model.answer) as server:
        model.url = server.url
        yield model


def _scenario_of(body: Body) -> str:
    """The scenario that the first words of the conversation name."""
    found = re.search(r"scenario (\w+)", json.dumps([m for m in body["messages"] if m["role"] == "user"]))
    assert found is not None, body["messages"]
    return found[1]


def _chunk(delta: Body, end: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": end}
    return sse_events({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
