"""A request in Anthropic's Messages protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..messages import ApiMessage, JsonObject
from ._content_blocks import IMAGE_LEFT_OUT, NOTHING_SAID, blocks_of, text_of, tool_id
from ._model import ModelRequest, ToolSpec

__all__ = ["AnthropicOptions", "Effort", "Thinking", "marked_messages", "messages_body", "thinking_of"]

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]

_CACHE: Final[JsonObject] = {"type": "ephemeral"}
_MOST_BREAKPOINTS: Final = 4
_LEAST_THINKING: Final = 1024
# What is left for the answer itself when the thinking would take it all.
_LEAST_ANSWER: Final = 1024

# The keys of the blocks we send. Others, such as notes of our own, are refused by the provider.
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("type", "text"),
    "image": ("type", "source"),
    "document": ("type", "source", "title", "context"),
    "tool_use": ("type", "id", "name", "input"),
    "tool_result": ("type", "tool_use_id", "content", "is_error"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
}

# Models that think within a budget; all later ones decide themselves how much.
_BUDGET_MODELS: Final = re.compile(r"claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015])?(?=$|[@:]|-20\d{6}|-v\d|-latest))")
_EFFORT_WITH_BUDGET: Final = re.compile(r"claude-opus-4-5")
# The first models that knew an effort did not know all of today's.
_NO_XHIGH: Final = re.compile(r"claude-(?:opus|sonnet)-4-[56]")
_BUDGETS: Final[Mapping[Effort, int]] = {"low": 4096, "medium": 10_000, "high": 20_000, "xhigh": 32_000, "max": 32_000}


@dataclass(frozen=True)
class Thinking:
    """How a model is asked to think."""

    budget: int | None = None
    """Tokens; without it the model decides."""
    effort: Effort | None = None


@dataclass(frozen=True)
class AnthropicOptions:
    """What a profile says about its requests."""

    model: str
    max_output: int
    thinking: Thinking | None = None
    images: bool = True
    cache: bool = True
    temperature: float | None = None


def thinking_of(model: str, *, effort: str | None, enabled: bool | None, budget: int | None) -> Thinking | None:
    """How this model is asked to think, from what the profile says; None if it is not."""
    wanted = enabled is not False and effort not in ("disable", "none")
    if not wanted or (enabled is None and effort is None and budget is None):
        return None
    levels: dict[str, Effort] = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}
    level = levels.get(effort) if effort else None
    if level == "xhigh" and _NO_XHIGH.search(model):
        level = "high"
    if "claude" not in model or _BUDGET_MODELS.search(model):
        # Other makers' models behind this protocol know only the older form.
        tokens = budget or _BUDGETS[level or "medium"]
        return Thinking(budget=tokens, effort=level if _EFFORT_WITH_BUDGET.search(model) else None)
    return Thinking(effort=level)


def messages_body(request: ModelRequest, options: AnthropicOptions) -> JsonObject:
    """The body of a streaming request."""
    max_output = request.max_output or options.max_output
    thinking = _thinking(request, options, max_output)
    messages = [_message(message, options.images) for message in request.messages]
    body: JsonObject = {"model": options.model, "max_tokens": max_output, "stream": True}
    tools: list[JsonObject] = [_tool(tool) for tool in request.tools]
    system: list[JsonObject] = [{"type": "text", "text": request.system}] if request.system.strip() else []
    if options.cache:
        _mark(system, tools, messages, request)
    if system:
        body["system"] = [*system]
    if tools:
        body["tools"] = [*tools]
        body["tool_choice"] = _choice(request, thinking is not None)
    body["messages"] = [*messages]
    body.update(_thinking_fields(thinking))
    if request.stop:
        body["stop_sequences"] = [*request.stop]
    if options.temperature is not None and thinking is None:
        body["temperature"] = options.temperature
    return body


def _tool(tool: ToolSpec) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _choice(request: ModelRequest, thinking: bool) -> JsonObject:
    choice = request.tool_choice
    if choice == "none":
        return {"type": "none"}
    # A forced call does not go together with thinking.
    forced = not thinking and choice != "auto"
    chosen: JsonObject = {"type": "auto"}
    if forced:
        chosen = {"type": "any"} if choice == "any" else {"type": "tool", "name": choice}
    if not request.parallel_tools:
        chosen["disable_parallel_tool_use"] = True
    return chosen


def _thinking(request: ModelRequest, options: AnthropicOptions, max_output: int) -> Thinking | None:
    thinking = options.thinking
    if thinking is None or thinking.budget is None:
        return thinking
    if _calls_without_thoughts(request.messages):
        return None
    budget = min(thinking.budget, max_output - _LEAST_ANSWER)
    return Thinking(budget=budget, effort=thinking.effort) if budget >= _LEAST_THINKING else None


def _calls_without_thoughts(messages: Sequence[ApiMessage]) -> bool:
    """Whether the last answer called tools without thoughts of this provider: then thinking within a budget is refused."""
    last = next((message for message in reversed(messages) if message.role == "assistant"), None)
    if last is None:
        return False
    kinds = [block.get("type") for block in blocks_of(last) if _is_sendable(block)]
    return "tool_use" in kinds and kinds[0] not in ("thinking", "redacted_thinking")


def _thinking_fields(thinking: Thinking | None) -> JsonObject:
    if thinking is None:
        return {}
    fields: JsonObject = {}
    if thinking.budget is not None:
        fields["thinking"] = {"type": "enabled", "budget_tokens": thinking.budget}
    else:
        fields["thinking"] = {"type": "adaptive", "display": "summarized"}
    if thinking.effort is not None:
        fields["output_config"] = {"effort": thinking.effort}
    return fields


def _message(message: ApiMessage, images: bool) -> JsonObject:
    blocks = [_block(block, images) for block in blocks_of(message) if _is_sendable(block)]
    if not blocks or (message.role == "assistant" and all(_is_thought(block) for block in blocks)):
        # Thoughts alone are no message to this provider either.
        blocks.append({"type": "text", "text": NOTHING_SAID})
    return {"role": message.role, "content": [*blocks]}


def _is_sendable(block: JsonObject) -> bool:
    if block.get("type") == "thinking":
        # Unsigned thoughts are another provider's.
        return bool(block.get("signature"))
    return block.get("type") in _KEYS


def _is_thought(block: JsonObject) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking")


def _block(block: JsonObject, images: bool) -> JsonObject:
    kind = text_of(block, "type")
    if kind == "image" and not images:
        return {"type": "text", "text": IMAGE_LEFT_OUT}
    sent: JsonObject = {key: block[key] for key in _KEYS[kind] if block.get(key) is not None}
    if kind == "tool_use":
        sent["id"] = tool_id(block.get("id"), "word")
        sent.setdefault("input", {})
    elif kind == "tool_result":
        sent["tool_use_id"] = tool_id(block.get("tool_use_id"), "word")
        content = block.get("content")
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, dict) and part.get("type") in _KEYS]
            sent["content"] = [
                _block(part, images) for part in parts if part.get("type") != "text" or text_of(part).strip()
            ]
    return sent


def _mark(system: list[JsonObject], tools: list[JsonObject], messages: list[JsonObject], request: ModelRequest) -> None:
    """Put the cache breakpoints: the tools, the system prompt, and the ends of the last and of this request."""
    for blocks in (tools, system):
        if blocks:
            blocks[-1]["cache_control"] = dict(_CACHE)
    for index in marked_messages(request):
        content = messages[index]["content"]
        assert isinstance(content, list)
        for block in reversed(content):
            if isinstance(block, dict) and not _is_thought(block):
                block["cache_control"] = dict(_CACHE)
                break


def marked_messages(request: ModelRequest) -> list[int]:
    """The indexes of the messages at whose ends there are breakpoints; there are so many, tools and system prompt included."""
    left = _MOST_BREAKPOINTS - bool(request.tools) - bool(request.system.strip())
    return _breakpoints(request)[-left:]


def _breakpoints(request: ModelRequest) -> list[int]:
    """Where to look for what the last request left in the cache, and where to leave this one's."""
    count = len(request.messages)
    if request.cache_breakpoints:
        return sorted({index for index in request.cache_breakpoints if 0 <= index < count})
    users = [index for index, message in enumerate(request.messages) if message.role == "user"]
    if not users:
        return []
    last = users[-1]
    answers = (index for index in range(last, -1, -1) if request.messages[index].role == "assistant")
    before = next(answers, -1)
    # The last request ended at the user's message before the newest answer.
    previous = [index for index in users if index < before]
    return [*previous[-1:], last]
