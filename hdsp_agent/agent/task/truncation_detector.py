"""Notices a model server that leaves out part of a conversation without a word, by the usage it reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ...messages import ApiMessage, JsonObject
from ...providers import ModelRequest, ToolSpec, UsageReport, is_silently_truncated

__all__ = ["TruncationDetector"]

_CHARACTERS_A_TOKEN: Final = 5
"""More than any model's text has on average, and images are not counted: too low an estimate does no harm."""

_CHARACTERS_A_TOKEN_OF_TOOLS: Final = 8
"""Providers write the descriptions of tools in forms of their own, shorter than ours."""
_LEAST_OF_WORDS: Final = 0.8
_MOST_OF_WORDS: Final = 1.35


@dataclass(frozen=True)
class _Counted:
    first: ApiMessage
    messages: int
    """Whose characters are counted: all but the last, to which something may still be added."""
    characters: int


class TruncationDetector:
    """Watches the requests of one task. What was counted before is not counted again."""

    def __init__(self) -> None:
        self._counted: _Counted | None = None
        self._tools: tuple[Sequence[ToolSpec], int] | None = None
        self._told = False

    def first_seen(self, request: ModelRequest, usage: UsageReport, window: int | None) -> int | None:
        """About how many tokens were sent, if so many did not arrive; told once."""
        if self._told or not usage.context or not request.messages:
            return None
        words = (len(request.system) + self._characters(request.messages)) // _CHARACTERS_A_TOKEN
        estimate = words + self._tool_characters(request.tools) // _CHARACTERS_A_TOKEN_OF_TOOLS
        if _LEAST_OF_WORDS * words <= usage.context <= _MOST_OF_WORDS * words:
            # All that was said, and no tools: some servers leave them out of what they count.
            return None
        if not is_silently_truncated(estimate=estimate, reported=usage.context, window=window):
            return None
        self._told = True
        return max(estimate, usage.context)

    def _tool_characters(self, tools: Sequence[ToolSpec]) -> int:
        if self._tools is None or self._tools[0] is not tools:
            self._tools = tools, sum(_tool_length(tool) for tool in tools)
        return self._tools[1]

    def _characters(self, messages: Sequence[ApiMessage]) -> int:
        known, last = self._counted, len(messages) - 1
        if known is None or known.messages > last or known.first is not messages[0]:
            known = _Counted(messages[0], 0, 0)
        added = sum(_length(messages[place]) for place in range(known.messages, last))
        self._counted = _Counted(messages[0], last, known.characters + added)
        return self._counted.characters + _length(messages[last])


def _tool_length(tool: ToolSpec) -> int:
    return len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters, separators=(",", ":")))


def _length(message: ApiMessage) -> int:
    return _text_length(message.content)


def _text_length(content: JsonValue | list[JsonObject]) -> int:
    if isinstance(content, str):
        return len(content)
    if isinstance(content, list):
        return sum(_text_length(each) for each in content)
    if isinstance(content, dict):
        # Thoughts are not sent back to every model, and the arguments of calls in many forms.
        return _text_length(content.get("text")) + _text_length(content.get("content"))
    return 0
