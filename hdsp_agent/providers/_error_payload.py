"""A provider's refusal, freed of what it is wrapped in.

The same refusal comes as JSON, as JSON in a string in JSON, as a server-sent event, as what Python prints of a
dictionary, or as prose around any of these. What is found is the text a person would read, and the fields beside it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["NULL_INPUT", "ErrorPayload", "read_payload"]

NULL_INPUT: Final = "null_input"
"""Not a provider's: a validator says that what it was given is null."""

_LONGEST: Final = 100_000
_LONGEST_TEXT: Final = 4_000
_DEEPEST: Final = 16
_MOST_ATTEMPTS: Final = 40

_TEXT_KEYS: Final = (
    "message",
    "error_message",
    "errormessage",
    "msg",
    "detail",
    "details",
    "description",
    "error_description",
    "raw",
)
_CODE_KEYS: Final = (
    "code",
    "type",
    "status",
    "reason",
    "error_code",
    "errorcode",
    "error_type",
    "errortype",
    "__type",
    "error",
)
_NUMBER_KEYS: Final = {
    "n_prompt_tokens": "current",
    "prompt_tokens": "current",
    "input_tokens": "current",
    "n_ctx": "limit",
    "max_context_length": "limit",
    "context_length": "limit",
    "retry_after": "retry_after",
    "retryafter": "retry_after",
    "retry_after_ms": "retry_after_ms",
}
_SSE_FIELD: Final = re.compile(r"^(?:data|event|id|retry):[ ]?", re.MULTILINE)
_CODE_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]*|\d{3,6}")
_LOOKS_LIKE_CODE: Final = re.compile(
    r"(?:^|\s)(?:assert|def|class|import|from|if|elif|return|raise|print|expect|const|let|var|function)\b.*[\"'`(=:]"
    r"|[!=]=|\bin (?:msg|str|text|err|e|error|message)\b|\S+\.\w+:\d+:|^\s*[+-]{1,3}\s",
    re.MULTILINE,
)
_STATED_STATUS: Final = re.compile(
    r"\b(?:error code|status(?: code)?|http(?:/\d(?:\.\d)?)?|api error)\b[:\s=]*([45]\d\d)\b", re.IGNORECASE
)
_LEADING_STATUS: Final = re.compile(r"\s*([45]\d\d)\b(?!\s*(?:status code)?\s*\(no body\))[\s:,-]*")
_NAMED_STATUS: Final = re.compile(r"\b([45]\d\d) (?:client|server) error\b|<([45]\d\d)>", re.IGNORECASE)
_LONG_QUOTE: Final = re.compile(
    r"\"[^\"\n]*\s[^\"\n]*\s[^\"\n]*\"|'[^'\n]*\s[^'\n]*\s[^'\n]*'|`[^`\n]*\s[^`\n]*\s[^`\n]*`"
)


@dataclass
class ErrorPayload:
    """What a refusal says: its texts, the codes and types beside them, the parameter it names, and its numbers."""

    texts: list[str] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)
    params: list[str] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    """Under keys of no known name: read where there is no other text."""

    @property
    def text(self) -> str:
        """All texts, each once."""
        whole = "\n".join(dict.fromkeys(text.strip() for text in self.texts if text.strip()))
        return whole[:_LONGEST_TEXT]


def read_payload(body: str | Mapping[str, object] | Sequence[object] | None) -> ErrorPayload:
    """Everything that a body says."""
    payload = ErrorPayload()
    if isinstance(body, str):
        _read_text(body[:_LONGEST], payload, 0)
    elif body is not None:
        _read_value(body, payload, 0)
    if not payload.texts:
        for sentence in payload.sentences:
            _read_text(sentence, payload, 1)
    return payload


def _read_text(text: str, payload: ErrorPayload, depth: int) -> None:
    text = _SSE_FIELD.sub("", text).strip() if _SSE_FIELD.match(text.lstrip()) else text.strip()
    if depth > _DEEPEST or not text:
        return
    prose: list[str] = []
    end = 0
    for start, stop, value in _embedded(text):
        prose.append(text[end:start])
        end = stop
        _read_value(value, payload, depth + 1)
    prose.append(text[end:])
    rest = " ".join(part.strip(" :,-\n\t") for part in prose if part.strip(" :,-\n\t\"'.})]"))
    if rest:
        _read_prose(rest, payload)


def _read_prose(text: str, payload: ErrorPayload) -> None:
    text = text[:_LONGEST_TEXT]
    if _LOOKS_LIKE_CODE.search(text):
        # A program or a search result that quotes a refusal is none.
        text = _LONG_QUOTE.sub("…", text)
    if match := re.match(r"\s*\(?([A-Za-z]+_[A-Za-z_]+)\)", text):
        payload.codes.add(match[1].lower())
    payload.codes.update(match.lower() for match in re.findall(r"\b[A-Za-z]+(?:Exception|Error)\b", text))
    payload.texts.append(_without_statuses(text, payload).strip(" :-"))


def _without_statuses(text: str, payload: ErrorPayload) -> str:
    """The text without the statuses it states: left in, they would be taken for numbers of tokens."""
    for pattern in (_STATED_STATUS, _NAMED_STATUS):
        if match := pattern.search(text):
            payload.statuses.append(int(next(group for group in match.groups() if group)))
            text = text[: match.start()] + text[match.end() :]
    if match := _LEADING_STATUS.match(text):
        payload.statuses.append(int(match[1]))
        text = text[match.end() :]
    elif match := re.match(r"\s*([45]\d\d)\b", text):
        payload.statuses.append(int(match[1]))
    return text


def _embedded(text: str) -> Iterator[tuple[int, int, object]]:
    """The JSON values, or Python's prints of them, in a text."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(_MOST_ATTEMPTS):
        start = _next_opening(text, position)
        if start is None:
            return
        try:
            value, stop = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            found = _python_value(text, start)
            if found is None:
                position = start + 1
                continue
            value, stop = found
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
            yield start, stop, value
            position = stop
        else:
            position = start + 1


def _next_opening(text: str, position: int) -> int | None:
    match = re.compile(r"[{\[](?=\s*[\[{\"'}])").search(text, position)
    return match.start() if match else None


def _python_value(text: str, start: int) -> tuple[object, int] | None:
    """A dictionary or list as Python prints it: with single quotes, ``None`` and ``True``."""
    stop = _closing(text, start)
    if stop is None:
        return None
    try:
        return ast.literal_eval(text[start:stop]), stop
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _closing(text: str, start: int) -> int | None:
    depth, quote, escaped = 0, "", False
    for index in range(start, len(text)):
        char = text[index]
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = bool(quote)
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "{[":
            depth += 1
            if depth > _DEEPEST:
                # No provider nests so deep, and Python's own parser is not to be brought to its limits.
                return None
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return index + 1
    return None


def _read_value(value: object, payload: ErrorPayload, depth: int) -> None:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            _read_field(str(key), item, payload, depth)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for item in value:
            _read_value(item, payload, depth + 1)
    elif isinstance(value, str):
        _read_text(value, payload, depth + 1)


def _read_field(key: str, item: object, payload: ErrorPayload, depth: int) -> None:
    name = key.lower()
    if isinstance(item, Mapping) or (isinstance(item, Sequence) and not isinstance(item, str | bytes)):
        if name == "loc" and isinstance(item, Sequence):
            payload.params.append(".".join(str(part) for part in item))
            return
        _read_value(item, payload, depth + 1)
        return
    if item is None and name == "input":
        payload.codes.add(NULL_INPUT)
    if isinstance(item, bool) or item is None:
        return
    if name == "param":
        payload.params.append(str(item))
        if isinstance(item, str) and " " in item:
            # Some proxies put the refusal there, and nothing but a heading into the message.
            _read_text(item, payload, depth + 1)
    if isinstance(item, int | float):
        _read_number(name, item, payload)
    elif isinstance(item, str):
        _read_string(name, item, payload, depth)


def _read_string(name: str, item: str, payload: ErrorPayload, depth: int) -> None:
    if name in _CODE_KEYS and _CODE_WORD.fullmatch(item.strip()):
        payload.codes.add(item.strip().lower())
        _read_number(name, item, payload)
    elif name == "retrydelay" and (match := re.fullmatch(r"([\d.]+)s", item.strip())):
        payload.numbers.setdefault("retry_after", float(match[1]))
    elif name in _TEXT_KEYS or name == "error" or (name in _CODE_KEYS and " " in item):
        _read_text(item, payload, depth + 1)
    elif item.count(" ") > 1:
        payload.sentences.append(item)


def _read_number(name: str, item: float | str, payload: ErrorPayload) -> None:
    try:
        number = float(item)
    except ValueError:
        return
    if name in ("code", "status", "status_code", "statuscode"):
        if 400 <= number <= 599:
            payload.statuses.append(int(number))
        else:
            payload.codes.add(str(int(number)))
    elif name in _NUMBER_KEYS:
        payload.numbers.setdefault(_NUMBER_KEYS[name], number)
