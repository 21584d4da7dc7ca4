"""A server of OpenAI's Responses protocol that also condenses, in the documented wire form, and an agent behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from ...._helpers.model_server import RawRequest, Reply, raw_server, refusal, sse
from ..._helpers.provider_agent import ProviderAgent, profile_of, speaking_agent

__all__ = [
    "COMPACT",
    "WORDS",
    "Responding",
    "compacted",
    "done",
    "inputs",
    "looked",
    "question",
    "said",
    "sealed",
    "sealing_agent",
    "summarised",
]

COMPACT: Final = "/v1/responses/compact"
WORDS: Final = "I look at it. " + "Word after word. " * 2_500
"""About 10 600 tokens."""
_USAGE: Final = {
    "input_tokens": 20_000,
    "input_tokens_details": {"cached_tokens": 19_000},
    "output_tokens": 400,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 20_400,
}
Condensing: TypeAlias = "bytes | Callable[[Reply], Any]"


def sealed(number: int = 1) -> dict[str, Any]:
    """A compaction item. What is in it looks like a secret here and there, as any such text may."""
    return {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": f"sk-{number}" + "0pAqUe" * 60}


def compacted(*output: object) -> bytes:
    """The answer of the endpoint that condenses."""
    answer = {"id": "resp_1", "object": "response.compaction", "created_at": 1, "output": [*output], "usage": _USAGE}
    return refusal("200 OK", answer)


def said(text: str, *calls: tuple[str, str, dict[str, JsonValue]]) -> bytes:
    """An answer: a text, and calls by name, id and arguments. It counts no tokens, so that estimates hold."""
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    items: list[dict[str, Any]] = [message] if text else []
    for name, id, arguments in calls:
        items.append({"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(arguments)})
    events: list[object] = []
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return sse(*events, {"type": "response.completed", "response": {"status": "completed"}})


def looked(number: int, words: str = WORDS) -> bytes:
    """A long step of work."""
    # Another path each time: who repeats a call is asked about.
    return said(words, ("list_files", f"call_{number}", {"path": "./" * number}))


def question() -> bytes:
    """A question to the person."""
    return said("", ("ask_followup_question", "call_q", {"question": "On?", "follow_up": [{"text": "yes"}]}))


def done() -> bytes:
    """The end of the work."""
    return said("", ("attempt_completion", "call_end", {"result": "All done"}))


def summarised(text: str = "## Work Completed\nThe long file was read.") -> bytes:
    """A summary."""
    return said(text)


@dataclass
class Responding:
    """Answers requests by ``turns`` and wishes to condense by ``condensed``, each in order, the last one again and again."""

    turns: Sequence[Condensing]
    condensed: Sequence[Condensing]
    requests: list[RawRequest] = field(default_factory=list)
    url: str = ""

    async def __call__(self, reply: Reply) -> None:
        """See ``Script``."""
        earlier = sum(one.path == reply.request.path for one in self.requests)
        self.requests.append(reply.request)
        scripts: Sequence[Condensing] = self.condensed if reply.request.path == COMPACT else self.turns
        script = scripts[min(earlier, len(scripts) - 1)]
        if isinstance(script, bytes):
            await reply.send(script)
        else:
            await script(reply)

    @property
    def wishes(self) -> list[dict[str, Any]]:
        """What was sent to be condensed."""
        return [one.body for one in self.requests if one.path == COMPACT]

    @property
    def asked(self) -> list[dict[str, Any]]:
        """What the model was asked."""
        return [one.body for one in self.requests if one.path != COMPACT]


@asynccontextmanager
async def sealing_agent(
    home: Path,
    turns: Sequence[Condensing],
    condensed: Sequence[Condensing],
    window: int = 30_000,
    **overrides: JsonValue,
) -> AsyncIterator[tuple[Responding, ProviderAgent]]:
    """A server, and an agent whose small model is there."""
    responding = Responding([*turns], condensed)
    async with raw_server(responding) as server:
        responding.url = server.url
        profile = {**profile_of("responses", server.url), "modelContextWindow": window, "modelMaxTokens": 4_000}
        async with speaking_agent(home, profile, trusted=False, **overrides) as agent:
            yield responding, agent


def inputs(body: dict[str, Any]) -> str:
    """All that a request holds of the conversation."""
    return json.dumps(body["input"], ensure_ascii=False)
