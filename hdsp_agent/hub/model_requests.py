"""What a request asks of a model: read from its body, which goes on to the provider as it came, or nearly so."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic_core import from_json

from ..providers import KnownModel, UsageReport, cost_of
from .policies import ProviderProtocol
from .usage_store import Amounts

__all__ = [
    "BYTES_PER_TOKEN",
    "PROTOCOLS",
    "BadModelRequest",
    "ModelCall",
    "RequestKind",
    "read_request",
    "reservation_of",
    "reserved_usage",
]

RequestKind = Literal["chat", "responses", "compact", "embeddings", "messages", "count_tokens"]

PROTOCOLS: Final[Mapping[RequestKind, ProviderProtocol]] = {
    "chat": "openai",
    "responses": "openai",
    "compact": "openai",
    "embeddings": "openai",
    "messages": "anthropic",
    "count_tokens": "anthropic",
}

BYTES_PER_TOKEN: Final = 4
"""Of text, roughly."""
_IMAGE_TOKENS: Final = 1_844
_FILE_TOKENS: Final = 200_000
_ENCODED_PER_TOKEN: Final = 40
"""Characters of base64 for a token of a file. A page of a document has about 75,000 of them."""
_DATA_ADDRESS: Final = re.compile(r"data:([^,;]{0,100})(?:;[^,]{0,100})?;base64,")
_UNKNOWN_OUTPUT: Final = 8_192
_MOST_ANSWERS: Final = 128
_LIMITS: Final[Mapping[RequestKind, tuple[str, ...]]] = {
    "chat": ("max_completion_tokens", "max_tokens"),
    "responses": ("max_output_tokens",),
    "compact": ("max_output_tokens",),
    "messages": ("max_tokens",),
}
_KEPT_ELSEWHERE: Final = ("previous_response_id", "conversation", "prompt")
_KNOWN_TIERS: Final = (None, "auto", "default", "flex", "standard_only")
_CHECKED: Final = frozenset(
    {
        "background", "max_completion_tokens", "max_output_tokens", "max_tokens", "model", "n", "service_tier", "speed",
        "store", "stream", "stream_options", *_KEPT_ELSEWHERE,
    }
)  # fmt: skip


class BadModelRequest(Exception):
    """A request that cannot go on: what is wrong with it, in a sentence."""


@dataclass(frozen=True)
class ModelCall:
    """A request as far as it matters here."""

    kind: RequestKind
    model: str
    body: bytes
    is_streamed: bool
    hides_usage: bool
    """Whether usage was asked for on behalf of a client that had not: what tells it stays here."""
    input_tokens: int
    """An estimate."""
    max_output: int | None
    """Of one answer, as the client asks for it."""
    answers: int


def read_request(kind: RequestKind, body: bytes) -> ModelCall:
    """What the body asks for. Raises BadModelRequest."""
    try:
        content = _parsed(body)
    except (ValueError, RecursionError):
        raise BadModelRequest("The body is not JSON.") from None
    if not isinstance(content, dict):
        raise BadModelRequest("The body is not a JSON object.")
    model = content.get("model")
    if not isinstance(model, str) or not model:
        raise BadModelRequest("The field model is missing.")
    _check(kind, content)
    streamed = bool(content.get("stream")) and kind in ("chat", "responses", "messages")
    hides = False
    sent = content
    if kind == "chat" and streamed:
        options = content.get("stream_options")
        options = options if isinstance(options, dict) else {}
        if not options.get("include_usage"):
            hides = True
            sent = {**content, "stream_options": {**options, "include_usage": True}}
    try:
        # Not the bytes that came: of a name that stands there twice, the provider is to read what was read here.
        body = json.dumps(sent, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise BadModelRequest("The body is not JSON.") from None
    limits = _LIMITS.get(kind, ())
    asked = [value for name in limits if isinstance(value := content.get(name), int) and value > 0]
    return ModelCall(
        kind=kind,
        model=model,
        body=body,
        is_streamed=streamed,
        hides_usage=hides,
        input_tokens=_tokens(content),
        max_output=0 if kind in ("embeddings", "count_tokens") else max(asked, default=None),
        answers=content.get("n") or 1,
    )


def reservation_of(call: ModelCall, model: KnownModel) -> Amounts:
    """What the request may use, as far as one can tell before it is answered. Counting tokens costs nothing."""
    if call.kind == "count_tokens":
        return Amounts(0, 0.0)
    usage = reserved_usage(call, model)
    return Amounts(usage.input + usage.output, cost_of(model, usage) or 0.0)


def reserved_usage(call: ModelCall, model: KnownModel) -> UsageReport:
    """The tokens of a reservation: never more of them than the model can give, whatever the client asks for."""
    output = (model.max_output or _UNKNOWN_OUTPUT) if call.max_output is None else call.max_output
    most = model.max_output or model.context_window or _UNKNOWN_OUTPUT
    return UsageReport(input=call.input_tokens, output=min(output, most) * call.answers)


def _check(kind: RequestKind, content: Mapping[str, object]) -> None:
    for name in content:
        if name not in _CHECKED and name.casefold() in _CHECKED:
            raise BadModelRequest(f"Write the field {name[:100]} in small letters.")
    if content.get("background"):
        raise BadModelRequest("Requests in the background cannot be counted. Leave out the field background.")
    if content.get("service_tier") not in _KNOWN_TIERS:
        raise BadModelRequest("This service tier costs more than is known here. Leave out the field service_tier.")
    if content.get("speed") not in (None, "standard"):
        raise BadModelRequest("This speed costs more than is known here. Leave out the field speed.")
    if content.get("store") and PROTOCOLS[kind] == "openai":
        raise BadModelRequest("Stored answers would be everybody's. Leave out the field store.")
    for name in _KEPT_ELSEWHERE:
        if content.get(name) is not None:
            raise BadModelRequest(f"What the provider keeps cannot be counted. Leave out the field {name}.")
    answers = content.get("n")
    if answers is not None and (type(answers) is not int or not 0 < answers <= _MOST_ANSWERS):
        raise BadModelRequest(f"The field n must be a number from 1 to {_MOST_ANSWERS}.")


def _parsed(body: bytes) -> object:
    try:
        return from_json(body)
    except ValueError:
        # It takes no halves of characters, which models and files may hold.
        return json.loads(body)


def _tokens(content: Mapping[str, object]) -> int:
    lengths = sum(
        sum(_lengths(value, name in ("messages", "input"))) for name, value in content.items() if name != "model"
    )
    return math.ceil(lengths / BYTES_PER_TOKEN)


def _lengths(value: object, may_hold_files: bool) -> Iterator[int]:
    """The bytes that the model reads, each piece by itself."""
    match value:
        case str():
            yield len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        case dict():
            # The input of a tool is text, whatever it looks like.
            within = may_hold_files and value.get("type") not in ("tool_use", "server_tool_use")
            for name, part in value.items():
                yield len(name)
                if within and isinstance(part, str) and (media := _media_of(value, name, part)) is not None:
                    most = _IMAGE_TOKENS if media.startswith("image/") else _FILE_TOKENS
                    yield min(most, math.ceil(len(part) / _ENCODED_PER_TOKEN)) * BYTES_PER_TOKEN
                else:
                    yield from _lengths(part, within)
        case list():
            for part in value:
                yield from _lengths(part, may_hold_files)
        case _:
            yield 1


def _media_of(around: Mapping[str, object], name: str, text: str) -> str | None:
    """What kind of file a text in base64 is; None if it is a text."""
    if name in ("url", "image_url", "file_data"):
        found = _DATA_ADDRESS.match(text)
        return None if found is None else found[1] or "unknown"
    if name == "data" and around.get("type") == "base64":
        media = around.get("media_type")
        return media if isinstance(media, str) else "unknown"
    if name == "data" and "format" in around and around.keys() <= {"data", "format"}:
        return "audio"
    return None
