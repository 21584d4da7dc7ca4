"""Reading the conversation's content blocks, whichever protocol they go to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject

__all__ = [
    "IMAGE_LEFT_OUT",
    "NOTHING_SAID",
    "IdRule",
    "blocks_of",
    "image_url",
    "in_call_order",
    "result_parts",
    "text_of",
    "tool_id",
]

IMAGE_LEFT_OUT: Final = "[An image was left out: this model sees none.]"
NOTHING_SAID: Final = "(nothing)"
"""Stands for a message without content, which providers refuse; leaving it out would shift the others."""

IdRule: TypeAlias = Literal["any", "word", "word40", "mistral"]
"""The tool ids a provider takes: letters, digits, ``_`` and ``-``; at most 40 of them; exactly 9 letters or digits."""

_NOT_WORD: Final = re.compile(r"[^a-zA-Z0-9_-]")
_MISTRAL: Final = re.compile(r"[a-zA-Z0-9]{9}")


def blocks_of(message: ApiMessage) -> Iterator[JsonObject]:
    """The message's blocks; plain text is one text block. Texts that say nothing are left out."""
    content = message.content
    blocks: list[JsonObject] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks:
        if block.get("type") == "text" and not text_of(block).strip():
            continue
        yield block


def in_call_order(messages: Sequence[ApiMessage]) -> list[ApiMessage]:
    """The messages with each turn's results in the order of its calls.

    Tools that run side by side end in any order, and the templates of many local models leave out the ids.
    """
    ordered: list[ApiMessage] = []
    calls: dict[object, int] = {}
    for message in messages:
        if message.role == "assistant":
            found = [block.get("id") for block in blocks_of(message) if block.get("type") == "tool_use"]
            calls = {id: number for number, id in enumerate(found)}
        elif len(calls) > 1 and not isinstance(message.content, str):
            message = _ordered(message, message.content, calls)
        ordered.append(message)
    return ordered


def _ordered(message: ApiMessage, content: list[JsonObject], calls: Mapping[object, int]) -> ApiMessage:
    places = [index for index, block in enumerate(content) if block.get("type") == "tool_result"]
    results = [content[index] for index in places]
    sorted_results = sorted(results, key=lambda block: calls.get(block.get("tool_use_id"), len(calls)))
    if sorted_results == results:
        return message
    changed = list(content)
    for index, block in zip(places, sorted_results, strict=True):
        changed[index] = block
    return message.model_copy(update={"content": changed})


def text_of(block: Mapping[str, JsonValue], key: str = "text") -> str:
    """A block's text, or "" if it has none."""
    value = block.get(key)
    return value if isinstance(value, str) else ""


def result_parts(block: JsonObject) -> list[JsonObject]:
    """The text and image blocks of a tool's result."""
    content = block.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def image_url(block: JsonObject) -> str | None:
    """An image block's address, a ``data:`` URL for an image that is in the block itself."""
    source = block.get("source")
    if not isinstance(source, dict):
        return None
    if source.get("type") == "url":
        return text_of(source, "url") or None
    data = text_of(source, "data")
    return f"data:{text_of(source, 'media_type') or 'image/png'};base64,{data}" if data else None


def tool_id(id: JsonValue, rule: IdRule) -> str:
    """The call's id as the provider takes it: always the same for the same id, so that pairs stay pairs."""
    text = id if isinstance(id, str) else str(id)
    if rule == "mistral":
        return text if _MISTRAL.fullmatch(text) else hashlib.sha256(text.encode()).hexdigest()[:9]
    if rule == "any":
        return text
    word = _NOT_WORD.sub("_", text) or "_"
    if rule == "word40" and len(word) > 40:
        return f"{word[:27]}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return word
