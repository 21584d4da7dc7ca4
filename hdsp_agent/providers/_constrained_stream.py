"""Reading one JSON object as the tool call it stands for, while it is written."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Final

from ._chat_stream import ChatStream
from ._constrained_request import CODE, CODE_BEGINS, CODE_ENDS, TOOL
from ._model import ModelEvent, Stop, TextDelta, ToolCallDelta, ToolCallDone, ToolCallStart

__all__ = ["ConstrainedStream"]

_BEGINNING: Final = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"tool"\s*:\s*"([^"\\]*)"\s*,?')
_MAY_BEGIN: Final = re.compile(r'\s*(?:`{0,3}(?:j(?:s(?:on?)?)?)?\s*(?:\{\s*(?:"[^"]*"?\s*:?\s*(?:"[^"]*"?)?)?)?)?')


_CODE_BEGINS: Final = re.compile(re.escape("}" + CODE_BEGINS))
_MAY_END_OBJECT: Final = re.compile(r"\}\s*(?:`{0,3}[a-z]*\s*)?\Z")
_MAY_END_CODE: Final = re.compile(r"\n`{0,3}\s*\Z")


class ConstrainedStream:
    """Reads one answer: the object it is becomes a call, as it comes. What is no such object stays text."""

    def __init__(self, inner: ChatStream) -> None:
        self._inner = inner
        self._text = ""
        self._name: str | None = None
        self._id = f"call_{uuid.uuid4().hex[:24]}"
        self._told = 0
        self._code: int | None = None
        """Where the code below the object begins."""
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
        yield from self._more()

    def _more(self) -> Iterator[ModelEvent]:
        """What is sure to belong to the arguments."""
        if self._code is None:
            begins = _CODE_BEGINS.search(self._text, self._told)
            if begins is not None:
                comma = "" if self._text[: begins.start()].endswith(",") else ", "
                yield ToolCallDelta(0, self._text[self._told : begins.start()] + f'{comma}"{CODE}": "')
                self._code = self._told = begins.end()
        held = (_MAY_END_OBJECT if self._code is None else _MAY_END_CODE).search(self._text, self._told)
        end = held.start() if held is not None else len(self._text)
        more, self._told = self._text[self._told : end], end
        if more:
            yield ToolCallDelta(0, more if self._code is None else json.dumps(more, ensure_ascii=False)[1:-1])

    def _end(self, stop: Stop) -> Iterator[ModelEvent]:
        if self._name is None:
            if self._text and not self._is_text:
                yield TextDelta(self._text)
            yield stop
            return
        if self._code is None:
            arguments = _arguments(self._text)
            yield ToolCallDelta(0, self._text[self._told :])
        else:
            code = self._text[self._code :].rstrip().removesuffix(CODE_ENDS.strip()).rstrip()
            head = json.loads(_arguments(self._text[: self._code - len(CODE_BEGINS)]))
            arguments = json.dumps({**head, CODE: code}, ensure_ascii=False)
            yield ToolCallDelta(0, '"}')
        yield ToolCallDone(0, self._id, self._name, arguments)
        yield Stop("tool_use" if stop.reason == "end" else stop.reason)


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
