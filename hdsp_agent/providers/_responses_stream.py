"""Events of OpenAI's Responses protocol, read into ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from ..messages import JsonObject
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
)
from ._responses_request import POSITION
from ._responses_usage import responses_usage
from ._safe_parse import items, mapping, text

__all__ = ["ResponsesStream"]

_INCOMPLETE: Final[Mapping[str, StopReason]] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}


@dataclass
class _Call:
    number: int
    id: str
    name: str
    arguments: list[str] = field(default_factory=list)
    done: bool = False


class ResponsesStream:
    """Reads one answer."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._calls: dict[object, _Call] = {}
        self._said = 0
        self._thinking: set[object] = set()
        self._texts: set[object] = set()
        self._reason: StopReason | None = None

    @property
    def over(self) -> bool:
        """Whether the provider said that nothing follows."""
        return self._reason is not None

    whole = over

    def read(self, event: Mapping[str, object]) -> Iterator[ModelEvent]:
        """The events that follow from the provider's next one."""
        slot = event.get("output_index")
        match event.get("type"):
            case "response.output_item.added":
                yield from self._added(slot, mapping(event.get("item")))
            case "response.output_text.delta" | "response.refusal.delta":
                self._texts.add(slot)
                yield TextDelta(text(event.get("delta")))
            case "response.reasoning_summary_part.added":
                if slot in self._thinking:
                    yield ThinkingDelta("\n\n")
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._thinking.add(slot)
                yield ThinkingDelta(text(event.get("delta")))
            case "response.function_call_arguments.delta":
                if (call := self._calls.get(slot)) is not None and (piece := text(event.get("delta"))):
                    call.arguments.append(piece)
                    yield ToolCallDelta(call.number, piece)
            case "response.output_item.done":
                yield from self._done(slot, mapping(event.get("item")))
            case "response.completed" | "response.incomplete":
                yield from self._ended(mapping(event.get("response")))
            case "response.failed":
                self._refuse(mapping(mapping(event.get("response")).get("error")))
            case "error":
                self._refuse(mapping(event.get("error")) or event)

    def finish(self) -> Iterator[ModelEvent]:
        """What is left at the end; nothing if the answer is not whole."""
        if self._reason is not None:
            yield Stop(self._reason)

    def _added(self, slot: object, item: Mapping[str, object]) -> Iterator[ModelEvent]:
        if item.get("type") == "function_call":
            number = len(self._calls)
            id = text(item.get("call_id")) or text(item.get("id")) or f"call_{number}"
            self._calls[slot] = call = _Call(number, id, text(item.get("name")))
            yield ToolCallStart(call.number, call.id, call.name)

    def _done(self, slot: object, item: Mapping[str, object]) -> Iterator[ModelEvent]:
        match item.get("type"):
            case "message":
                if slot not in self._texts:
                    # Servers that stream no text give it here.
                    for part in items(item.get("content")):
                        words = text(mapping(part).get("text")) or text(mapping(part).get("refusal"))
                        if words:
                            yield TextDelta(words)
                self._said += 1
            case "reasoning":
                yield ThinkingDone(encrypted=self._reasoning(item))
            case "function_call":
                if slot not in self._calls:
                    yield from self._added(slot, item)
                call = self._calls[slot]
                arguments = text(item.get("arguments")) or "".join(call.arguments) or "{}"
                if not call.arguments:
                    yield ToolCallDelta(call.number, arguments)
                call.done = True
                self._said += 1
                yield ToolCallDone(call.number, call.id, call.name, arguments)

    def _reasoning(self, item: Mapping[str, object]) -> JsonObject | None:
        if not item.get("encrypted_content"):
            return None
        kept: dict[str, JsonValue] = {
            key: value  # type: ignore[misc]  # what JSON holds is a JSON value
            for key, value in item.items()
            if key != "status"
        }
        kept[POSITION] = self._said
        return kept

    def _ended(self, response: Mapping[str, object]) -> Iterator[ModelEvent]:
        usage = responses_usage(mapping(response.get("usage")))
        if usage is not None:
            yield usage
        called = any(call.done for call in self._calls.values())
        self._reason = "tool_use" if called else "end"
        if response.get("status") == "incomplete":
            why = text(mapping(response.get("incomplete_details")).get("reason"))
            self._reason = _INCOMPLETE.get(why, "max_tokens")

    def _refuse(self, error: Mapping[str, object]) -> None:
        raise classify(
            provider=self._provider,
            body={"error": dict(error)},
            code=text(error.get("code")) or None,
            type=text(error.get("type")) or None,
        )
