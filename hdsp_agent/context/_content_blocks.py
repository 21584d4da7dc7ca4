"""Reading and changing the content blocks of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject
from ..persistence import INTERRUPTED

__all__ = [
    "IMAGE_OMITTED",
    "NOTHING_SAID",
    "call_ids",
    "content_blocks",
    "has_image",
    "has_thoughts",
    "result_text",
    "string_of",
    "text_block",
    "with_results_replaced",
    "without_blanks",
    "without_images",
    "without_thoughts",
]

IMAGE_OMITTED: Final = "image content omitted because you do not support image input"

NOTHING_SAID: Final = "[user interrupted]"
"""What stands for an empty message."""
_THOUGHTS: Final = ("thinking", "redacted_thinking")
_NO_OUTPUT: Final = "[no output]"


def content_blocks(message: ApiMessage) -> list[JsonObject]:
    """The message's blocks; plain text is one text block."""
    content = message.content
    return [text_block(content)] if isinstance(content, str) else content


def text_block(text: str) -> JsonObject:
    """A text as a block."""
    return {"type": "text", "text": text}


def string_of(block: Mapping[str, JsonValue], key: str) -> str:
    """What a block has under this name, or "" if that is no text."""
    value = block.get(key)
    return value if isinstance(value, str) else ""


def call_ids(message: ApiMessage) -> list[str]:
    """The ids of the message's calls, in order."""
    if isinstance(message.content, str):
        return []
    return [string_of(block, "id") for block in message.content if block.get("type") == "tool_use"]


def result_text(block: JsonObject) -> str:
    """All text of a result."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(string_of(part, "text") for part in _parts(content) if part.get("type") == "text")


def without_images(message: ApiMessage) -> ApiMessage:
    """The message for a model that sees no images: a word in the place of each."""
    if isinstance(message.content, str) or not any(has_image(block) for block in message.content):
        return message
    return message.model_copy(update={"content": [_without_images(block) for block in message.content]})


def without_blanks(message: ApiMessage) -> ApiMessage:
    """The message for a provider that refuses empty ones: a word in the place of each empty text, and where there is nothing."""
    content = message.content
    if isinstance(content, str):
        return message if content.strip() else message.model_copy(update={"content": NOTHING_SAID})
    blocks = [_without_blanks(block) for block in content]
    if all(block.get("type") in _THOUGHTS for block in blocks):
        blocks.append(text_block(NOTHING_SAID))
    same = len(blocks) == len(content) and all(new is old for new, old in zip(blocks, content, strict=True))
    return message if same else message.model_copy(update={"content": blocks})


def has_thoughts(message: ApiMessage) -> bool:
    """Whether the model's thoughts are in it."""
    return not isinstance(message.content, str) and any(block.get("type") in _THOUGHTS for block in message.content)


def without_thoughts(message: ApiMessage) -> ApiMessage:
    """The message for a provider that refuses the thoughts in it: what was said and called alone."""
    content = message.content
    if isinstance(content, str) or not has_thoughts(message):
        return message
    blocks = [block for block in content if block.get("type") not in _THOUGHTS]
    return message.model_copy(update={"content": blocks or [text_block(NOTHING_SAID)]})


def _without_blanks(block: JsonObject) -> JsonObject:
    match block.get("type"):
        case "text" if not string_of(block, "text").strip():
            return {**block, "text": NOTHING_SAID}
        case "tool_result" if not result_text(block).strip() and not has_image(block):
            return {**block, "content": _NO_OUTPUT}
        case _:
            return block


def with_results_replaced(message: ApiMessage, stubs: Mapping[str, str]) -> ApiMessage:
    """The message with other texts in the place of these calls' results."""
    content = message.content
    if message.role == "assistant" or isinstance(content, str) or not any(_is_among(block, stubs) for block in content):
        return message
    return message.model_copy(
        update={
            "content": [
                {**block, "content": stubs[string_of(block, "tool_use_id")]} if _is_among(block, stubs) else block
                for block in content
            ]
        }
    )


def _is_among(block: JsonObject, stubs: Mapping[str, str]) -> bool:
    # A result that was taken back, and has this in its place, is not what was cleared.
    is_there = block.get("type") == "tool_result" and block.get("content") != INTERRUPTED
    return is_there and string_of(block, "tool_use_id") in stubs


def has_image(block: JsonObject) -> bool:
    """Whether a block is an image, or a result with one."""
    return block.get("type") == "image" or any(part.get("type") == "image" for part in _result_parts(block))


def _without_images(block: JsonObject) -> JsonObject:
    if block.get("type") == "image":
        return text_block(IMAGE_OMITTED)
    parts: Sequence[JsonObject] = list(_result_parts(block))
    if not any(part.get("type") == "image" for part in parts):
        return block
    return {**block, "content": [_without_images(part) for part in parts]}


def _result_parts(block: JsonObject) -> Iterator[JsonObject]:
    return _parts(block.get("content")) if block.get("type") == "tool_result" else iter(())


def _parts(content: JsonValue) -> Iterator[JsonObject]:
    return (part for part in content if isinstance(part, dict)) if isinstance(content, list) else iter(())
