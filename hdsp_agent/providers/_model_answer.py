"""An answer put together from its events, in the form in which it is kept and sent back."""

from __future__ import annotations

import json
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject
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

__all__ = ["ModelAnswer", "parsed_arguments"]

_DEEPEST: Final = 100
"""Levels of nesting. What is deeper can be neither recorded nor sent back; no tool takes as much."""
_TOO_DEEP: Final = f"they are nested more than {_DEEPEST} levels deep"


class ModelAnswer:
    """Collects the events of one answer."""

    def __init__(self) -> None:
        self.content: list[JsonObject] = []
        self.reasoning_details: list[JsonValue] = []
        self.calls: list[ToolCallDone] = []
        self.usage: UsageReport | None = None
        self.stop: StopReason | None = None
        self._text: list[str] = []
        self._thinking: list[str] = []

    def add(self, event: ModelEvent) -> None:
        """Take in the next event."""
        match event:
            case TextDelta(text=text):
                self._end_thinking(None)
                self._text.append(text)
            case ThinkingDelta(text=text):
                self._end_text()
                self._thinking.append(text)
            case ThinkingDone(signature=signature, encrypted=encrypted):
                self._end_text()
                self._end_thinking(signature)
                if encrypted is not None and encrypted.get("type") == "redacted_thinking":
                    self.content.append(encrypted)
                elif encrypted is not None:
                    self.reasoning_details.append(encrypted)
            case ToolCallStart():
                self._end_text()
                self._end_thinking(None)
            case ToolCallDelta():
                pass
            case ToolCallDone():
                self.calls.append(event)
                self.content.append(
                    {"type": "tool_use", "id": event.id, "name": event.name, "input": arguments_of(event)}
                )
            case UsageReport():
                self.usage = event
            case Stop(reason=reason):
                self._end_text()
                self._end_thinking(None)
                self.stop = reason

    @property
    def text(self) -> str:
        """What the model said, without its thoughts."""
        blocks = [str(block["text"]) for block in self.content if block["type"] == "text"]
        return "".join([*blocks, *self._text])

    def message(self, ts: int | None = None) -> ApiMessage:
        """The answer as a message of the conversation."""
        self._end_text()
        self._end_thinking(None)
        return ApiMessage(
            role="assistant",
            content=list(self.content),
            ts=ts,
            reasoning_details=list(self.reasoning_details) or None,
        )

    def _end_text(self) -> None:
        if self._text:
            self.content.append({"type": "text", "text": "".join(self._text)})
            self._text.clear()

    def _end_thinking(self, signature: str | None) -> None:
        if self._thinking or signature is not None:
            block: JsonObject = {"type": "thinking", "thinking": "".join(self._thinking)}
            if signature is not None:
                block["signature"] = signature
            self.content.append(block)
            self._thinking.clear()


def arguments_of(call: ToolCallDone) -> JsonValue:
    """A call's arguments as an object; what is no object is kept, so that the model sees what it wrote."""
    try:
        value = parsed_arguments(call.arguments)
    except ValueError:
        value = call.arguments
    return value if isinstance(value, dict) else {"invalid_arguments": value}


def parsed_arguments(text: str) -> JsonValue:
    """What a call's arguments say. Raises ValueError for what is not JSON, or is nested too deeply to be kept.

    Line breaks within a string are forgiven, as tools forgive them: many models write them so.
    """
    try:
        value: JsonValue = json.loads(text.strip() or "{}", strict=False)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level: list[JsonValue] = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _within(outer)]
        if not level:
            return value
    raise ValueError(_TOO_DEEP)


def _within(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
