"""A server of models that says, to each person, what the test says at that moment."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from hdsp_agent._timeouts import wait_at_most
from tests._helpers.model_server import Reply, raw_server, refusal, sse, sse_events
from tests._helpers.timing import PATIENCE

from .policy_files import KEY

__all__ = ["TOKENS", "Answer", "SpokenModel", "spoken_model"]

TOKENS = (9_000, 1_000)
"""What each whole answer used: read and written."""
_PATIENCE = 3 * PATIENCE
"""A dozen processes start here."""
_USAGE = {"choices": [], "usage": {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1]}}


class Answer:
    """The answer to one request, under way."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.body: dict[str, Any] = reply.request.body
        self.over = asyncio.Event()
        """Set when it is whole, or when whoever asked is gone."""

    async def say(self, text: str) -> None:
        """Some words. A word is shown once it is whole: with the space behind it."""
        await self._piece({"content": f"{text} "})

    async def call(self, tool: str, **arguments: object) -> None:
        """A call of a tool, with which it ends."""
        function = {"name": tool, "arguments": json.dumps(arguments)}
        await self._piece(
            {"tool_calls": [{"index": 0, "id": f"{tool}-{id(self)}", "type": "function", "function": function}]}
        )
        await self._piece({}, "tool_calls")
        await self._reply.send(sse_events(_USAGE, "[DONE]"))
        self.over.set()

    async def _piece(self, delta: dict[str, object], end: str | None = None) -> None:
        assert not self.over.is_set(), "whoever asked is gone"
        await self._reply.send(sse_events({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}))


class SpokenModel:
    """Whose a request is, its conversation says: "I am ada."."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: Counter[str] = Counter()
        """All requests of each person."""
        self._answers: defaultdict[str, asyncio.Queue[Answer]] = defaultdict(asyncio.Queue)

    async def next(self, person: str) -> Answer:
        """Their next request, as soon as it has come."""
        try:
            return await wait_at_most(self._answers[person].get(), _PATIENCE)
        except TimeoutError:
            raise AssertionError(f"the agent of {person} did not ask the model; so far {dict(self.asked)}") from None

    async def answer(self, reply: Reply) -> None:
        """Begin an answer, and let the test go on with it."""
        if reply.request.headers.get("authorization") != f"Bearer {KEY}":
            await reply.send(refusal("401 Unauthorized", {"error": {"message": "Who is that?"}}))
            return
        found = re.search(r"I am (\w+)\.", json.dumps(reply.request.body["messages"]))
        assert found is not None, reply.request.body["messages"]
        self.asked[found[1]] += 1
        if "tools" not in reply.request.body:
            # A title, or the like.
            end = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
            await reply.send(sse(end, _USAGE, "[DONE]"))
            return
        answer = Answer(reply)
        await reply.begin()
        self._answers[found[1]].put_nowait(answer)
        try:
            await answer.over.wait()
        finally:
            answer.over.set()


@asynccontextmanager
async def spoken_model() -> AsyncIterator[SpokenModel]:
    """The model, listening."""
    model = SpokenModel()
    async with raw_server(model.answer) as server:
        model.url = server.url
        yield model
