"""What a server answered, as text and pictures within bounds."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from ...tools import McpAnswer, McpImage, McpPart

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult

__all__ = ["answer_of", "content_of", "prompt_text"]

_MOST_CHARACTERS: Final = 4_000_000
_MOST_IMAGES: Final = 20
_LARGEST_IMAGE: Final = 10_000_000
_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def answer_of(result: CallToolResult) -> McpAnswer:
    """What a tool gave back. Its structured content comes along where its text does not say the same."""
    parts = list(_bounded(_parts(result.content)))
    if result.structured_content is not None and not _says(parts, result.structured_content):
        text = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
        parts.append(text[:_MOST_CHARACTERS])
    return McpAnswer(tuple(parts), bool(result.is_error))


def content_of(result: ReadResourceResult) -> McpAnswer:
    """What a resource holds."""
    return McpAnswer(tuple(_bounded(_resource_parts(result))))


def prompt_text(result: GetPromptResult) -> str:
    """A prompt as one text. What an assistant would have said in it is marked as such."""
    texts: list[str] = []
    for message in result.messages:
        words = "\n".join(part for part in _parts([message.content]) if isinstance(part, str))
        texts.append(words if message.role == "user" else f"[As the assistant:]\n{words}")
    return "\n\n".join(texts)[:_MOST_CHARACTERS]


def _parts(content: Sequence[ContentBlock]) -> Iterator[McpPart]:
    for block in content:
        match block.type:
            case "text":
                yield block.text
            case "image":
                yield _image(block.data, block.mime_type)
            case "audio":
                yield f"[A sound, {block.mime_type[:100]}. It cannot be played here.]"
            case "resource_link":
                yield f"[A resource that can be read: {block.uri} ({block.name})]"
            case "resource":
                yield from _embedded(block.resource)


def _resource_parts(result: ReadResourceResult) -> Iterator[McpPart]:
    for one in result.contents:
        yield from _embedded(one)


def _embedded(resource: object) -> Iterator[McpPart]:
    text, blob = getattr(resource, "text", None), getattr(resource, "blob", None)
    kind = str(getattr(resource, "mime_type", None) or "of no known kind")[:100]
    if isinstance(text, str):
        yield text
    elif isinstance(blob, str):
        yield _image(blob, kind) if kind in _IMAGES else f"[A file, {kind}, of {len(blob) * 3 // 4:,} bytes.]"


def _image(data: str, media_type: str) -> McpPart:
    if media_type not in _IMAGES:
        return f"[A picture of a kind that cannot be shown: {media_type[:100]}.]"
    if len(data) * 3 // 4 > _LARGEST_IMAGE:
        return f"[A picture of more than {_LARGEST_IMAGE:,} bytes. It was left out.]"
    try:
        return McpImage(base64.b64decode(data, validate=True), media_type)
    except binascii.Error:
        return "[A picture that is damaged.]"


def _bounded(parts: Iterator[McpPart]) -> Iterator[McpPart]:
    left, images = _MOST_CHARACTERS, 0
    for part in parts:
        if isinstance(part, McpImage):
            images += 1
            if images <= _MOST_IMAGES:
                yield part
        elif left > 0:
            yield part[:left]
            left -= len(part)


def _says(parts: Sequence[McpPart], structured: JsonValue) -> bool:
    """Whether a text among the parts is the same as JSON, as the specification wants it, or all there is to it."""
    if isinstance(structured, dict) and len(structured) == 1 and next(iter(structured.values())) in parts:
        return True
    for part in parts:
        if isinstance(part, str) and part.lstrip()[:1] in ("{", "[") and len(part) < _MOST_CHARACTERS:
            try:
                if json.loads(part) == structured:
                    return True
            except (ValueError, RecursionError):
                continue
    return False
