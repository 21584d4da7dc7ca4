"""Chunks of the Chat Completions protocol, read into our events, whatever form a server gives them.

Calls come in pieces with an index, in pieces without one, or whole; ids are missing, empty, or the same for all; what
the model thought stands in one of several fields, or in the text.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ..messages import JsonObject
from ._chat_request import TOOL_CALL_EXTRA
from ._chat_usage import chat_usage
from ._error_classifier import classify
from ._model import (
    ModelEvent,
    Stop,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
    UsageReport,
)
from ._quirks import Quirks
from ._safe_parse import items, mapping, text
from ._think_tags import ThinkTags

__all__ = ["ChatStream"]

_THOUGHT_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
_STOPS: Final[Mapping[str, StopReason]] = {
    "stop": "end",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "model_length": "max_tokens",
    "content_filter": "refusal",
    "safety": "refusal",
    "refusal": "refusal",
}


@dataclass
class _Call:
    number: int
    slot: object
    """The index the server gave it."""
    given_id: str
    id: str
    name: str = ""
    begun: bool = False
    arguments: list[str] = field(default_factory=list)
    extra: object = None


class ChatStream:
    """Reads one answer."""

    def __init__(self, quirks: Quirks, provider: str) -> None:
        self._provider = provider
        self._calls: list[_Call] = []
        self._tags = ThinkTags() if quirks.think_tags else None
        self._thinking = False
        self._details: list[JsonObject] = []
        self._reason: StopReason | None = None
        self._usage: UsageReport | None = None

    @property
    def over(self) -> bool:
        """Whether nothing follows. The SDK reads to the end itself."""
        return self.whole and self._usage is not None

    @property
    def whole(self) -> bool:
        """Whether the answer is complete; its usage may still follow."""
        return self._reason is not None

    def read(self, event: Mapping[str, object]) -> Iterator[ModelEvent]:
        """The events that follow from the provider's next chunk."""
        choice = mapping(next(iter(items(event.get("choices"))), None))
        self._refuse(choice.get("error") or (event.get("error") if not choice else None))
        delta = mapping(choice.get("delta") or choice.get("message"))
        yield from self._thoughts(delta)
        yield from self._content(delta.get("content"))
        yield from self._said(text(delta.get("refusal")))
        for piece in items(delta.get("tool_calls")):
            yield from self._call(mapping(piece))
        if legacy := mapping(delta.get("function_call")):
            yield from self._call({"index": 0, "function": legacy})
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._reason = _STOPS.get(reason.lower(), "end")
        usage = event.get("usage") or mapping(event.get("x_groq")).get("usage") or choice.get("usage")
        if isinstance(usage, Mapping) and usage:
            self._usage = chat_usage(usage)
            yield self._usage

    def finish(self) -> Iterator[ModelEvent]:
        """What is left at the end; without a Stop if the answer is not whole."""
        if self._tags is not None:
            yield from self._tags.finish()
        yield from self._end_thinking()
        if self._reason is None:
            return
        for detail in self._details:
            yield ThinkingDone(encrypted=detail)
        called = [call for call in self._calls if call.begun]
        for call in called:
            if isinstance(call.extra, dict):
                yield ThinkingDone(encrypted={"type": TOOL_CALL_EXTRA, "id": call.id, "extra_content": call.extra})
            yield ToolCallDone(call.number, call.id, call.name, "".join(call.arguments) or "{}")
        # Several servers say "stop" after calls, and some "tool_calls" without any.
        if called and self._reason == "end":
            self._reason = "tool_use"
        elif not called and self._reason == "tool_use":
            self._reason = "end"
        yield Stop(self._reason)

    def _refuse(self, error: object) -> None:
        if isinstance(error, str) or (isinstance(error, dict) and error):
            status = mapping(error).get("code")
            raise classify(
                provider=self._provider,
                status=status if isinstance(status, int) and 400 <= status < 600 else None,
                body=error if isinstance(error, str) else {"error": error},
            )

    def _thoughts(self, delta: Mapping[str, object]) -> Iterator[ModelEvent]:
        thought = next((found for name in _THOUGHT_FIELDS if (found := text(delta.get(name)))), "")
        details = [detail for detail in items(delta.get("reasoning_details")) if isinstance(detail, dict)]
        for detail in details:
            self._keep(detail)
        if not thought:
            thought = "".join(text(detail.get("text")) or text(detail.get("summary")) for detail in details)
        if thought:
            self._thinking = True
            yield ThinkingDelta(thought)

    def _keep(self, detail: JsonObject) -> None:
        """Put the pieces of one detail together: it is sent back as if it had come whole."""
        last = self._details[-1] if self._details else None
        same = last is not None and all(last.get(key) == detail.get(key) for key in ("type", "index"))
        if last is None or not same or detail.get("type") == "reasoning.encrypted":
            self._details.append(dict(detail))
            return
        for key, value in detail.items():
            old = last.get(key)
            if key in ("text", "summary") and isinstance(value, str) and isinstance(old, str):
                last[key] = old + value
            elif value is not None:
                last[key] = value

    def _content(self, content: object) -> Iterator[ModelEvent]:
        if isinstance(content, str):
            yield from self._said(content)
        for part in items(content):
            piece = mapping(part)
            if piece.get("type") == "thinking":
                inner = piece.get("thinking")
                thought = (
                    inner if isinstance(inner, str) else "".join(text(mapping(x).get("text")) for x in items(inner))
                )
                if thought:
                    self._thinking = True
                    yield ThinkingDelta(thought)
            else:
                yield from self._said(text(piece.get("text")))

    def _said(self, words: str) -> Iterator[ModelEvent]:
        if not words:
            return
        yield from self._end_thinking()
        if self._tags is not None:
            yield from self._tags.read(words)
        else:
            yield TextDelta(words)

    def _end_thinking(self) -> Iterator[ModelEvent]:
        if self._thinking:
            self._thinking = False
            yield ThinkingDone()

    def _call(self, piece: Mapping[str, object]) -> Iterator[ModelEvent]:
        yield from self._end_thinking()
        function = mapping(piece.get("function"))
        name = text(function.get("name"))
        call = self._find(piece.get("index"), text(piece.get("id")), name)
        call.name = call.name or name
        call.extra = piece.get("extra_content") or call.extra
        given = function.get("arguments")
        arguments = given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)
        if arguments:
            call.arguments.append(arguments)
        if not call.begun:
            if not call.name:
                return
            call.begun = True
            yield ToolCallStart(call.number, call.id, call.name)
            # What came before the name included.
            arguments = "".join(call.arguments)
        if arguments:
            yield ToolCallDelta(call.number, arguments)

    def _find(self, slot: object, id: str, name: str) -> _Call:
        """The call a piece belongs to, a new one if it begins one."""
        if id:
            known = next((call for call in self._calls if call.given_id == id), None)
            # The same id for all calls: a name with an index of its own begins another one.
            if known is not None and (not name or known.slot == slot):
                return known
        same = [call for call in self._calls if call.slot == slot]
        last = same[-1] if same else None
        if last is None and slot is None and self._calls:
            last = self._calls[-1]
        if last is None or (id and last.given_id and last.given_id != id):
            return self._new(slot, id)
        if name and not id and slot is None and last.name:
            # A whole call, with neither index nor id.
            return self._new(slot, id)
        if id and not last.given_id and last.begun and name:
            return self._new(slot, id)
        return last

    def _new(self, slot: object, id: str) -> _Call:
        taken = {call.id for call in self._calls}
        own = id if id and id not in taken else f"call_{uuid.uuid4().hex[:24]}"
        call = _Call(number=len(self._calls), slot=slot, given_id=id, id=own)
        self._calls.append(call)
        return call
