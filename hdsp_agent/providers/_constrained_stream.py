"""Reading one JSON object as the tool call it stands for, while it is written."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Final

from ._chat_stream import ChatStream
from ._constrained import TOOL
from ._model import ModelEvent, Stop, TextDelta, ToolCallDelta, ToolCallDone, ToolCallStart

__all__ = ["ConstrainedStream"]

_BEGINNING: Final = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"tool"\s*:\s*"([^"\\]*)"\s*,?')
_MAY_BEGIN: Final = re.compile(r'\s*(?:`{0,3}(?:j(?:s(?:on?)?)?)?\s*(?:\{\s*(?:"[^"]*"?\s*:?\s*(?:"[^"]*"?)?)?)?)?')


class ConstrainedStream:
    """Reads one answer: the object it is becomes a call, as it comes. What is no such object stays text."""

    def __init__(self, inner: ChatStream) -> None:
        self._inner = inner
        self._text = ""
        self._name: str | None = None
        self._id = f"call_{uuid.uuid4().hex[:24]}"
        self._told = 0
        self._is_text = False

    @property
    def over(self) -> bool:
        """Whether nothing follows."""
        return self._inner.over

    @property
    def whole(self) -> bool:
        """Whether the answer is complete; its usage may still follow."""
        return self._inner.whole

    def read(self, event: Mapping[str, object]) -> Iterator[ModelEvent]:
        """The events that follow from the provider's next chunk."""
        for each in self._inner.read(event):
            yield from self._taken(each)

    def finish(self) -> Iterator[ModelEvent]:
        """What is left at the end; without a Stop if the answer is not whole."""
        for each in self._inner.finish():
            if isinstance(each, Stop):
                yield from self._end(each)
            else:
                yield from self._taken(each)

    def _taken(self, event: ModelEvent) -> Iterator[ModelEvent]:
        if not isinstance(event, TextDelta) or self._is_text:
            yield event
            return
        self._text += event.text
        if self._name is None:
            begun = _BEGINNING.match(self._text)
            if begun is None:
                if _MAY_BEGIN.fullmatch(self._text) is None:
                    self._is_text = True
                    yield TextDelta(self._text)
                return
            self._name, self._told = begun[1], begun.end()
            yield ToolCallStart(0, self._id, self._name)
            yield ToolCallDelta(0, "{")
        more, self._told = self._text[self._told :], len(self._text)
        if more:
            yield ToolCallDelta(0, more)

    def _end(self, stop: Stop) -> Iterator[ModelEvent]:
        if self._name is None:
            if self._text and not self._is_text:
                yield TextDelta(self._text)
            yield stop
            return
        yield ToolCallDone(0, self._id, self._name, _arguments(self._text))
        yield Stop("tool_use" if stop.reason in ("end", "max_tokens") else stop.reason)


def _arguments(text: str) -> str:
    """What follows the tool's name; of an object that was cut off as much as there is."""
    from pydantic_core import from_json

    begun = text[text.index("{") :]
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(begun)
    except ValueError:
        try:
            value = from_json(begun, allow_partial="trailing-strings")
        except ValueError:
            return begun
    value.pop(TOOL, None)
    return json.dumps(value, ensure_ascii=False)
