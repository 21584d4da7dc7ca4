"""Anthropic's server-sent events, read into ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ..messages import JsonObject
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
from ._safe_parse import count, mapping, text

__all__ = ["AnthropicStream", "anthropic_usage"]

_STOPS: Final[Mapping[str, StopReason]] = {
    "end_turn": "end",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    # The window is full: the answer is as incomplete as one that reached its own limit.
    "model_context_window_exceeded": "max_tokens",
    "stop_sequence": "stop_sequence",
    "pause_turn": "pause",
    "refusal": "refusal",
}


@dataclass
class _Block:
    kind: str
    call: ToolCallStart | None = None
    arguments: list[str] = field(default_factory=list)
    given: object = None
    """Arguments that came whole with the start, as some compatible servers send them."""
    signature: str | None = None
    data: str = ""


class AnthropicStream:
    """Reads one answer."""

    def __init__(self) -> None:
        self._blocks: dict[object, _Block] = {}
        self._calls = 0
        self._usage: dict[str, object] = {}
        self._reason: StopReason | None = None
        self.over = False
        """Whether the provider said that nothing follows."""

    @property
    def whole(self) -> bool:
        """Whether the answer is complete."""
        return self._reason is not None

    def read(self, event: Mapping[str, object]) -> Iterator[ModelEvent]:
        """The events that follow from the provider's next one."""
        match event.get("type"):
            case "message_start":
                yield from self._report(mapping(mapping(event.get("message")).get("usage")))
            case "content_block_start":
                yield from self._start(event.get("index"), mapping(event.get("content_block")))
            case "content_block_delta":
                yield from self._delta(self._blocks.get(event.get("index")), mapping(event.get("delta")))
            case "content_block_stop":
                yield from self._end(self._blocks.pop(event.get("index"), None))
            case "message_delta":
                reason = mapping(event.get("delta")).get("stop_reason")
                if isinstance(reason, str):
                    self._reason = _STOPS.get(reason, "end")
                yield from self._report(mapping(event.get("usage")))
            case "message_stop":
                self.over = True

    def finish(self) -> Iterator[ModelEvent]:
        """What is left at the end; nothing if the answer is not whole."""
        if self._reason is None:
            return
        for block in self._blocks.values():
            # Some compatible servers end no block.
            yield from self._end(block)
        self._blocks.clear()
        yield Stop(self._reason)

    def _start(self, index: object, block: Mapping[str, object]) -> Iterator[ModelEvent]:
        begun = self._blocks[index] = _Block(kind=text(block.get("type")))
        match begun.kind:
            case "text":
                if words := text(block.get("text")):
                    yield TextDelta(words)
            case "thinking":
                begun.signature = text(block.get("signature")) or None
                if words := text(block.get("thinking")):
                    yield ThinkingDelta(words)
            case "redacted_thinking":
                begun.data = text(block.get("data"))
            case "tool_use":
                begun.given = block.get("input")
                begun.call = ToolCallStart(
                    self._calls, text(block.get("id")) or f"call_{self._calls}", text(block.get("name"))
                )
                self._calls += 1
                yield begun.call

    def _delta(self, block: _Block | None, delta: Mapping[str, object]) -> Iterator[ModelEvent]:
        match delta.get("type"):
            case "text_delta":
                yield TextDelta(text(delta.get("text")))
            case "thinking_delta":
                yield ThinkingDelta(text(delta.get("thinking")))
            case "signature_delta" if block is not None:
                block.signature = (block.signature or "") + text(delta.get("signature"))
            case "input_json_delta" if block is not None and block.call is not None:
                if part := text(delta.get("partial_json")):
                    block.arguments.append(part)
                    yield ToolCallDelta(block.call.index, part)

    def _end(self, block: _Block | None) -> Iterator[ModelEvent]:
        if block is None:
            return
        if block.kind == "thinking":
            yield ThinkingDone(signature=block.signature)
        elif block.kind == "redacted_thinking":
            encrypted: JsonObject = {"type": "redacted_thinking", "data": block.data}
            yield ThinkingDone(encrypted=encrypted)
        elif (call := block.call) is not None:
            arguments = "".join(block.arguments)
            if not arguments:
                arguments = json.dumps(block.given or {}, ensure_ascii=False)
                yield ToolCallDelta(call.index, arguments)
            yield ToolCallDone(call.index, call.id, call.name, arguments)

    def _report(self, usage: Mapping[str, object]) -> Iterator[ModelEvent]:
        for key in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
            value = usage.get(key)
            # The closing report of some servers has zeros where the opening one had the numbers.
            if isinstance(value, int) and (value or key not in self._usage):
                self._usage[key] = value
        details = mapping(usage.get("output_tokens_details"))
        if details.get("thinking_tokens"):
            self._usage["output_tokens_details"] = details
        if usage:
            yield anthropic_usage(self._usage)


def anthropic_usage(usage: Mapping[str, object]) -> UsageReport:
    """The usage that Anthropic's protocol reports."""
    return UsageReport(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=count(usage.get("cache_creation_input_tokens")),
        reasoning=count(mapping(usage.get("output_tokens_details")).get("thinking_tokens")),
    )
