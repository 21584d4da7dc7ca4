"""Reads what a provider says of the tokens used, from an answer that is passed on as it comes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic_core import from_json

from ..providers import UsageReport, anthropic_usage, chat_usage, responses_usage
from .model_requests import BYTES_PER_TOKEN, ModelCall

__all__ = ["AnswerReader", "error_code", "whole_usage"]

_SPOKEN: Final = re.compile(
    rb'"(?:content|text|thinking|partial_json|arguments|reasoning_content|reasoning|delta)"\s*:\s*"((?:[^"\\]|\\.)*)"'
)
"""What the model said, in an event of any of the protocols."""
_LAST: Final = ("message_stop", "response.completed", "response.incomplete", "response.failed")
"""The types of events that nothing follows; in Chat Completions it is ``[DONE]``."""
_READ: Final = (b'"usage"', b'"error"', b'"message_stop"', b"[DONE]")
"""What stands in each event that is read."""
_DONE: Final = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
_EVENT_END: Final = re.compile(rb"\r?\n\r?\n")
_LONGEST_EVENT: Final = 16 * 1024 * 1024
_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class AnswerReader:
    """Follows one stream. ``feed`` gives what goes on to the client, at once and as it came."""

    def __init__(self, call: ModelCall) -> None:
        self._call = call
        self._rest = b""
        self._spoken = 0
        self.has_ended = False
        """Whether the provider said that this is all."""
        self._raw: dict[str, object] = {}
        self.failure: str | None = None
        """The code of an error that came in the middle of the stream."""

    def feed(self, data: bytes) -> bytes:
        """The bytes for the client."""
        kept, at = b"", 0
        # A long event comes in many pieces: only the new one is looked through.
        seen, pending = max(0, len(self._rest) - 3), self._rest + data
        for end in _EVENT_END.finditer(pending, seen):
            event = pending[at : end.end()]
            at = end.end()
            if not self._read(event):
                kept += event
        self._rest = pending[at:]
        if len(self._rest) > _LONGEST_EVENT:
            # Nothing that we could read; it is the client's to judge.
            self._spoken += len(self._rest)
            self._rest = b""
        # What may be an event of usage alone is held back until it is whole; all else goes on as it comes.
        return kept if self._call.hides_usage else data

    def finish(self) -> bytes:
        """What is left for the client at the end."""
        rest, self._rest = self._rest, b""
        if rest and not self._read(rest) and self._call.hides_usage:
            return rest
        return b""

    @property
    def usage(self) -> UsageReport | None:
        """What the provider said; None if it said nothing."""
        return _report(self._call, self._raw) if self._raw else None

    @property
    def estimate(self) -> UsageReport:
        """What it may have been, by the length of what was said both ways."""
        return UsageReport(input=self._call.input_tokens, output=-(-self._spoken // BYTES_PER_TOKEN))

    def _read(self, event: bytes) -> bool:
        """Take the usage out of an event; returns whether the event is nothing else, and was not asked for."""
        # In Responses other events repeat what was said.
        if self._call.kind != "responses" or b'.delta"' in event:
            self._spoken += sum(len(found) for found in _SPOKEN.findall(event))
        if not any(name in event for name in _READ):
            return False
        self.has_ended = self.has_ended or _DONE.search(event) is not None
        is_bare = False
        for data in _data_lines(event):
            usage = _usage_in(self._call, data)
            if usage:
                # The closing report of some servers has zeros where the opening one had the numbers.
                self._raw.update({key: value for key, value in usage.items() if value or key not in self._raw})
                is_bare = self._call.hides_usage and data.get("choices") == []
            self.has_ended = self.has_ended or data.get("type") in _LAST
            if (error := data.get("error")) is not None and error != {}:
                self.failure = error_code(error)
        return is_bare


def whole_usage(call: ModelCall, body: bytes) -> UsageReport | None:
    """What an answer that came whole says; None if it says nothing."""
    try:
        content = from_json(body)
    except ValueError:
        return None
    usage = _usage_in(call, content) if isinstance(content, dict) else {}
    return _report(call, usage) if usage else None


def error_code(error: object) -> str:
    """The provider's code or type of an error, which says nothing of what was asked."""
    if isinstance(error, Mapping):
        for name in ("code", "type"):
            value = error.get(name)
            if isinstance(value, str) and _CODE.fullmatch(value):
                return value
    return "error"


def _data_lines(event: bytes) -> Iterator[Mapping[str, object]]:
    for line in event.splitlines():
        if line.startswith(b"data:"):
            try:
                content = from_json(line[5:].strip())
            except ValueError:
                continue
            if isinstance(content, dict):
                yield content


def _usage_in(call: ModelCall, content: Mapping[str, object]) -> Mapping[str, object]:
    found = content.get("usage")
    if found is None and call.kind in ("responses", "messages"):
        whole = content.get("response" if call.kind == "responses" else "message")
        found = whole.get("usage") if isinstance(whole, dict) else None
    return found if isinstance(found, dict) else {}


def _report(call: ModelCall, usage: Mapping[str, object]) -> UsageReport | None:
    match call.kind:
        case "responses" | "compact":
            return responses_usage(usage)
        case "messages":
            return anthropic_usage(usage)
        case _:
            return chat_usage(usage)
