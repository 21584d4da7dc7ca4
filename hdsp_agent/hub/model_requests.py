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

__all__ = ["PROTOCOLS", "BadModelRequest", "ModelCall", "RequestKind", "read_request", "reservation_of"]

RequestKind = Literal["chat", "responses", "compact", "embeddings", "messages", "count_tokens"]

PROTOCOLS: Final[Mapping[RequestKind, ProviderProtocol]] = {
    "chat": "openai",
    "responses": "openai",
    "compact": "openai",
    "embeddings": "openai",
    "messages": "anthropic",
    "count_tokens": "anthropic",
}

_BYTES_PER_TOKEN: Final = 4
_IMAGE_TOKENS: Final = 1_844
_ENCODED: Final = 2_000
"""Strings of at least so many characters without any space are files in base64."""
_BLANK: Final = re.compile(r"\s")
_UNKNOWN_OUTPUT: Final = 8_192
_MOST_OUTPUT: Final = 100_000_000
_LIMITS: Final = ("max_completion_tokens", "max_output_tokens", "max_tokens")


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
    if content.get("background"):
        raise BadModelRequest("Requests in the background cannot be counted. Leave out the field background.")
    if content.get("service_tier") in ("priority", "fast"):
        raise BadModelRequest("This service tier costs more than is known here. Leave out the field service_tier.")
    streamed = bool(content.get("stream")) and kind in ("chat", "responses", "messages")
    hides = False
    if kind == "chat" and streamed:
        options = content.get("stream_options")
        options = options if isinstance(options, dict) else {}
        if not options.get("include_usage"):
            hides = True
            body = json.dumps({**content, "stream_options": {**options, "include_usage": True}}).encode()
    asked = [value for name in _LIMITS if isinstance(value := content.get(name), int) and value > 0]
    answers = content.get("n")
    times = answers if isinstance(answers, int) and 0 < answers <= 1_000 else 1
    return ModelCall(
        kind=kind,
        model=model,
        body=body,
        is_streamed=streamed,
        hides_usage=hides,
        input_tokens=sum(_tokens(value) for name, value in content.items() if name != "model"),
        max_output=0
        if kind in ("embeddings", "count_tokens")
        else min(min(asked) * times, _MOST_OUTPUT)
        if asked
        else None,
    )


def reservation_of(call: ModelCall, model: KnownModel) -> Amounts:
    """What the request may use, as far as one can tell before it is answered. Counting tokens costs nothing."""
    if call.kind == "count_tokens":
        return Amounts(0, 0.0)
    output = (model.max_output or _UNKNOWN_OUTPUT) if call.max_output is None else call.max_output
    cost = cost_of(model, UsageReport(input=call.input_tokens, output=output))
    return Amounts(call.input_tokens + output, cost or 0.0)


def _parsed(body: bytes) -> object:
    try:
        return from_json(body)
    except ValueError:
        # It takes no halves of characters, which models and files may hold.
        return json.loads(body)


def _tokens(value: object) -> int:
    return math.ceil(sum(_lengths(value)) / _BYTES_PER_TOKEN)


def _lengths(value: object) -> Iterator[int]:
    match value:
        case str():
            if len(value) >= _ENCODED and (value.startswith("data:") or _BLANK.search(value, 0, _ENCODED) is None):
                yield _IMAGE_TOKENS * _BYTES_PER_TOKEN
            else:
                yield len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        case dict():
            for name, part in value.items():
                yield len(name)
                yield from _lengths(part)
        case list():
            for part in value:
                yield from _lengths(part)
        case _:
            yield 1
