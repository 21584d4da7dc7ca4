"""A request in OpenAI's Chat Completions protocol, as each server wants it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject
from ._constrained_request import answer_format, as_plain_messages
from ._content_blocks import IMAGE_LEFT_OUT, NOTHING_SAID, blocks_of, image_url, result_parts, text_of, tool_id
from ._model import ModelRequest, ToolSpec
from ._plain_schema import plain_schema
from ._quirks import Quirks
from ._step_grammar import step_grammar

__all__ = ["TOOL_CALL_EXTRA", "ChatOptions", "chat_body"]

TOOL_CALL_EXTRA: Final = "tool_call_extra"
"""The type of a reasoning detail that belongs to one call, such as Gemini's thought signatures."""

_CACHE: Final[JsonObject] = {"type": "ephemeral"}
_MARKED_MODELS: Final = re.compile(r"claude|anthropic|gemini|qwen", re.IGNORECASE)
_SEEN_BELOW: Final = "[The image is in the next message.]"
_BRIDGE: Final = "I see the results."


@dataclass(frozen=True)
class ChatOptions:
    """What a profile says about its requests."""

    model: str
    quirks: Quirks
    images: bool
    max_output: int | None = None
    effort: str | None = None
    temperature: float | None = None
    verbosity: str | None = None
    upstream: str | None = None
    """The one provider behind OpenRouter that may answer."""
    cache: bool = True
    streaming: bool = True
    draft_model: str | None = None
    constrained: bool = False
    """Whether calls are answers of a given form, instead of what the protocol has for them."""


def chat_body(request: ModelRequest, options: ChatOptions) -> JsonObject:
    """The body of a request."""
    quirks = options.quirks
    if options.constrained:
        request = as_plain_messages(request, code_below=quirks.grammar)
    messages = _messages(request, options)
    body: JsonObject = {"model": options.model, "messages": [*messages], "stream": options.streaming}
    if request.tools and options.constrained:
        if quirks.grammar:
            body["grammar"] = step_grammar(request.tools)
        else:
            body["response_format"] = answer_format(request.tools)
    elif request.tools:
        body["tools"] = [_tool(tool, quirks) for tool in request.tools]
        if request.tool_choice != "auto":
            body["tool_choice"] = _choice(request.tool_choice, quirks)
        if not request.parallel_tools and quirks.parallel_switch:
            body["parallel_tool_calls"] = False
    if options.streaming and quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.stop:
        body["stop"] = [*request.stop]
    body.update(_told(request, options))
    body.update(_effort(options.effort, quirks))
    return body


def _told(request: ModelRequest, options: ChatOptions) -> JsonObject:
    """The parameters that somebody set, under the server's names."""
    quirks = options.quirks
    keyed = quirks.cache_key == "prompt_cache_key"
    upstream = options.upstream
    parameters: dict[str, JsonValue] = {
        quirks.max_tokens: request.max_output or options.max_output,
        "temperature": options.temperature if request.temperature is None else request.temperature,
        "verbosity": options.verbosity,
        "prompt_cache_key": request.cache_key if keyed else None,
        "draft_model": options.draft_model,
        "usage": {"include": True} if quirks.reports_cost else None,
        "provider": {"order": [upstream], "only": [upstream], "allow_fallbacks": False} if upstream else None,
    }
    return {name: value for name, value in parameters.items() if value is not None}


def _tool(tool: ToolSpec, quirks: Quirks) -> JsonObject:
    parameters = plain_schema(tool.parameters) if quirks.schema == "plain" else tool.parameters
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _choice(choice: str, quirks: Quirks) -> JsonValue:
    if choice == "any":
        return quirks.any_tool
    return "none" if choice == "none" else {"type": "function", "function": {"name": choice}}


def _effort(effort: str | None, quirks: Quirks) -> JsonObject:
    if effort is None:
        return {}
    off = effort in ("disable", "none")
    match quirks.effort:
        case "reasoning_effort":
            return {"reasoning_effort": "none" if off else effort}
        case "openrouter":
            return {"reasoning": {"enabled": False} if off else {"effort": effort}}
        case "deepseek":
            return {"thinking": {"type": "disabled" if off else "enabled"}}
        case "groq":
            # Without the format its models mix thoughts into the text.
            return {"reasoning_effort": "none"} if off else {"reasoning_effort": effort, "reasoning_format": "parsed"}
        case "none":
            return {}


def _messages(request: ModelRequest, options: ChatOptions) -> list[JsonObject]:
    quirks = options.quirks
    messages: list[JsonObject] = []
    if request.system.strip():
        messages.append({"role": quirks.system_role, "content": request.system})
    thinks = any(_thoughts(message) is not None for message in request.messages)
    for message in request.messages:
        if message.role == "assistant":
            messages.append(_assistant(message, quirks, thinks=thinks))
        else:
            messages.extend(_user(message, options))
    if quirks.alternate:
        messages = _alternating(messages)
    if options.cache and quirks.cache_marks and _MARKED_MODELS.search(options.model):
        _mark(messages)
    return messages


def _thoughts(message: ApiMessage) -> str | None:
    thoughts = [text_of(block, "thinking") for block in blocks_of(message) if block.get("type") == "thinking"]
    return "".join(thoughts) or message.reasoning_content or None


def _assistant(message: ApiMessage, quirks: Quirks, *, thinks: bool) -> JsonObject:
    text: list[str] = []
    calls: list[JsonObject] = []
    extras = _call_extras(message)
    for block in blocks_of(message):
        match block.get("type"):
            case "text":
                text.append(text_of(block))
            case "tool_use":
                calls.append(_call(block, quirks, extras))
    sent: JsonObject = {"role": "assistant", "content": "".join(text)}
    if calls:
        if not text:
            sent["content"] = "" if quirks.empty_content == "empty" else None
        sent["tool_calls"] = [*calls]
    elif not text:
        sent["content"] = NOTHING_SAID
    if quirks.thoughts_back == "reasoning_content" and thinks:
        thoughts = _thoughts(message)
        if thoughts is not None or calls:
            # A call without them is refused by models that think, even in a turn long past.
            sent["reasoning_content"] = thoughts or ""
    if quirks.thoughts_back == "reasoning_details":
        details = [detail for detail in message.reasoning_details or [] if _kind(detail).startswith("reasoning.")]
        if details:
            sent["reasoning_details"] = [*details]
    return sent


def _kind(detail: JsonValue) -> str:
    return text_of(detail, "type") if isinstance(detail, dict) else ""


def _call_extras(message: ApiMessage) -> dict[str, JsonValue]:
    return {
        text_of(detail, "id"): detail.get("extra_content")
        for detail in message.reasoning_details or []
        if isinstance(detail, dict) and _kind(detail) == TOOL_CALL_EXTRA
    }


def _call(block: JsonObject, quirks: Quirks, extras: dict[str, JsonValue]) -> JsonObject:
    id = block.get("id")
    call: JsonObject = {
        "id": tool_id(id, quirks.tool_ids),
        "type": "function",
        "function": {
            "name": text_of(block, "name"),
            "arguments": json.dumps(block.get("input") or {}, ensure_ascii=False),
        },
    }
    if isinstance(id, str) and (extra := extras.get(id)) is not None:
        call["extra_content"] = extra
    return call


def _user(message: ApiMessage, options: ChatOptions) -> list[JsonObject]:
    results: list[JsonObject] = []
    shown: list[JsonObject] = []
    said: list[JsonObject] = []
    for block in blocks_of(message):
        if block.get("type") == "tool_result":
            results.append(_result(block, options, shown))
        elif part := _part(block, options.images):
            said.append(part)
    spoken = [*shown, *said]
    if not results:
        return [{"role": "user", "content": _content(spoken) or NOTHING_SAID}]
    if not spoken:
        return results
    quirks = options.quirks
    only_text = all(part["type"] == "text" for part in spoken)
    if quirks.text_after_tools == "tool" and only_text:
        results[-1]["content"] = f"{results[-1]['content']}\n\n{_content(spoken)}"
        return results
    bridge: list[JsonObject] = [] if quirks.text_after_tools == "user" else [{"role": "assistant", "content": _BRIDGE}]
    return [*results, *bridge, {"role": "user", "content": _content(spoken)}]


def _result(block: JsonObject, options: ChatOptions, shown: list[JsonObject]) -> JsonObject:
    """A tool's result. Only text fits; its images go into ``shown``."""
    texts: list[str] = []
    for part in result_parts(block):
        if part.get("type") == "text":
            texts.append(text_of(part))
        elif (image := _part(part, options.images)) is not None:
            if image["type"] == "text":
                texts.append(text_of(image))
            else:
                texts.append(_SEEN_BELOW)
                shown.append(image)
    return {
        "role": "tool",
        "tool_call_id": tool_id(block.get("tool_use_id"), options.quirks.tool_ids),
        "content": "\n".join(texts) or NOTHING_SAID,
    }


def _part(block: JsonObject, images: bool) -> JsonObject | None:
    match block.get("type"):
        case "text":
            return {"type": "text", "text": text_of(block)}
        case "image" if images and (url := image_url(block)):
            return {"type": "image_url", "image_url": {"url": url}}
        case "image":
            return {"type": "text", "text": IMAGE_LEFT_OUT}
    return None


def _content(parts: Sequence[JsonObject]) -> JsonValue:
    """Text as a plain string, which every server takes; else the parts."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(text_of(part) for part in parts)
    return [*parts]


def _alternating(messages: Sequence[JsonObject]) -> list[JsonObject]:
    merged: list[JsonObject] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is None or last["role"] != message["role"] or message["role"] == "tool" or "tool_calls" in last:
            merged.append(dict(message))
            continue
        last["content"] = _content([*_parts(last["content"]), *_parts(message["content"])])
        if "tool_calls" in message:
            last["tool_calls"] = message["tool_calls"]
    return merged


def _parts(content: JsonValue) -> list[JsonObject]:
    if isinstance(content, list):
        return [part for part in content if isinstance(part, dict)]
    return [{"type": "text", "text": content}] if isinstance(content, str) and content else []


def _mark(messages: Sequence[JsonObject]) -> None:
    """Cache marks on the system prompt and on the last two messages of the person or their tools."""
    asked = [message for message in messages if message["role"] in ("user", "tool")][-2:]
    for message in [*(each for each in messages[:1] if each["role"] == "system"), *asked]:
        parts = _parts(message["content"])
        if parts:
            parts[-1] = {**parts[-1], "cache_control": dict(_CACHE)}
            message["content"] = [*parts]
