"""A request in OpenAI's Responses protocol, with nothing kept at the provider."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject
from ._content_blocks import IMAGE_LEFT_OUT, NOTHING_SAID, blocks_of, image_url, result_parts, text_of, tool_id
from ._model import ModelRequest
from ._provider_compaction import SEALED_FOR, sealed_items

__all__ = ["POSITION", "ResponsesOptions", "compact_body", "responses_body"]

POSITION: Final = "position"
"""Of a reasoning item: how many texts and calls of its answer came before it. Ours, never sent."""

_REASONING_KEYS: Final = ("type", "id", "summary", "content", "encrypted_content")
_COMPACT_KEYS: Final = ("model", "input", "instructions", "prompt_cache_key", "service_tier")
"""What the endpoint that condenses takes of a request."""


@dataclass(frozen=True)
class ResponsesOptions:
    """What a profile says about its requests."""

    model: str
    images: bool
    max_output: int | None = None
    reasons: bool = False
    """Whether the model can be told how to reason."""
    effort: str | None = None
    verbosity: str | None = None
    temperature: float | None = None
    service_tier: str | None = None
    endpoint: str | None = None
    """Whose sealed items are sent back; the text beside them stands for all others."""


def responses_body(request: ModelRequest, options: ResponsesOptions) -> JsonObject:
    """The body of a streaming request."""
    items: list[JsonObject] = []
    for message in request.messages:
        if message.role == "assistant":
            items.extend(_assistant(message))
        else:
            items.extend(_sealed(message, options.endpoint))
            items.extend(_user(message, options.images))
    body: JsonObject = {"model": options.model, "input": [*items], "stream": True, "store": False}
    if request.system.strip():
        body["instructions"] = request.system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
        body["tool_choice"] = _choice(request.tool_choice)
        body["parallel_tool_calls"] = request.parallel_tools
    if (limit := request.max_output or options.max_output) is not None:
        body["max_output_tokens"] = limit
    if request.cache_key:
        body["prompt_cache_key"] = request.cache_key
    if options.reasons:
        body["include"] = ["reasoning.encrypted_content"]
        body["reasoning"] = _reasoning(options.effort)
    if options.verbosity is not None:
        body["text"] = {"verbosity": options.verbosity}
    if options.temperature is not None and not options.reasons:
        body["temperature"] = options.temperature
    if options.service_tier is not None:
        body["service_tier"] = options.service_tier
    return body


def compact_body(body: JsonObject) -> JsonObject:
    """The same conversation for the endpoint that condenses it."""
    return {key: body[key] for key in _COMPACT_KEYS if key in body}


def _sealed(message: ApiMessage, endpoint: str | None) -> list[JsonObject]:
    if endpoint is None:
        return []
    found = sealed_items(message, endpoint)
    return [{key: value for key, value in item.items() if key != SEALED_FOR} for item in found]


def _reasoning(effort: str | None) -> JsonObject:
    if effort in ("disable", "none"):
        return {"effort": "none"}
    reasoning: JsonObject = {"summary": "auto"}
    if effort is not None:
        reasoning["effort"] = effort
    return reasoning


def _choice(choice: str) -> JsonValue:
    if choice in ("auto", "none"):
        return choice
    return "required" if choice == "any" else {"type": "function", "name": choice}


def _assistant(message: ApiMessage) -> list[JsonObject]:
    """The answer's items, its reasoning where it stood."""
    waiting = _reasoning_items(message)
    items: list[JsonObject] = []
    said = 0
    for block in blocks_of(message):
        if block.get("type") not in ("text", "tool_use"):
            continue
        while waiting and waiting[0][0] <= said:
            items.append(waiting.pop(0)[1])
        said += 1
        items.append(_call(block) if block.get("type") == "tool_use" else _text(text_of(block)))
    if said == 0:
        # Reasoning without what it led to is refused.
        return [_text(NOTHING_SAID)]
    return items


def _reasoning_items(message: ApiMessage) -> list[tuple[int, JsonObject]]:
    found: list[tuple[int, JsonObject]] = []
    for detail in message.reasoning_details or []:
        # Nothing is stored at the provider, so only encrypted reasoning can be taken up again.
        if isinstance(detail, dict) and detail.get("type") == "reasoning" and detail.get("encrypted_content"):
            item: JsonObject = {key: detail[key] for key in _REASONING_KEYS if detail.get(key) is not None}
            item.setdefault("summary", [])
            position = detail.get(POSITION)
            found.append((position if isinstance(position, int) else 0, item))
    return sorted(found, key=lambda pair: pair[0])


def _text(text: str) -> JsonObject:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def _call(block: JsonObject) -> JsonObject:
    return {
        "type": "function_call",
        "call_id": tool_id(block.get("id"), "word"),
        "name": text_of(block, "name"),
        "arguments": json.dumps(block.get("input") or {}, ensure_ascii=False),
    }


def _user(message: ApiMessage, images: bool) -> list[JsonObject]:
    items: list[JsonObject] = []
    parts: list[JsonObject] = []
    for block in blocks_of(message):
        if block.get("type") == "tool_result":
            items.append(_result(block, images))
        elif (part := _part(block, images)) is not None:
            parts.append(part)
    if parts or not items:
        items.append({"role": "user", "content": [*(parts or [{"type": "input_text", "text": NOTHING_SAID}])]})
    return items


def _result(block: JsonObject, images: bool) -> JsonObject:
    parts = [part for each in result_parts(block) if (part := _part(each, images)) is not None]
    output: JsonValue = [*parts]
    if all(part["type"] == "input_text" for part in parts):
        output = "\n".join(text_of(part) for part in parts)
    return {
        "type": "function_call_output",
        "call_id": tool_id(block.get("tool_use_id"), "word"),
        "output": output or NOTHING_SAID,
    }


def _part(block: JsonObject, images: bool) -> JsonObject | None:
    match block.get("type"):
        case "text":
            return {"type": "input_text", "text": text_of(block)}
        case "image" if images and (url := image_url(block)):
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case "image":
            return {"type": "input_text", "text": IMAGE_LEFT_OUT}
    return None
