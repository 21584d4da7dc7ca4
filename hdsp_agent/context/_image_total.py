"""How much all images of a request may take together: of what is too much, the oldest are left out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject
from ._content_blocks import content_blocks, has_image, string_of, text_block

__all__ = ["PICTURE_LEFT_OUT", "picture_sizes", "within_picture_total"]

PICTURE_LEFT_OUT: Final = "[An image was left out here: together, the images were too large for one request.]"

_STEPS: Final = 4
"""Room is made in steps of such a part of the total: each change of what was sent before costs the provider's cache."""


def within_picture_total(
    messages: Sequence[ApiMessage], most_bytes: int, pictured: Mapping[int, Sequence[int]] | None = None
) -> Sequence[ApiMessage]:
    """The messages with at most so many bytes of images; the same ones where they fit.

    ``pictured`` are the sizes of images by message, where they are known; else all messages are looked at.
    """
    if pictured is None:
        pictured = {place: sizes for place, message in enumerate(messages) if (sizes := picture_sizes(message))}
    total = sum(sum(sizes) for sizes in pictured.values())
    if total <= most_bytes:
        return messages
    step = max(1, most_bytes // _STEPS)
    too_much = math.ceil((total - most_bytes) / step) * step
    fitting = list(messages)
    for place, of_message in pictured.items():
        dropped = 0
        while dropped < len(of_message) and too_much > 0:
            too_much -= of_message[dropped]
            dropped += 1
        if dropped:
            fitting[place] = _without_first(fitting[place], dropped)
        if too_much <= 0:
            break
    return fitting


def picture_sizes(message: ApiMessage) -> list[int]:
    """The bytes of each image of a message, in their order."""
    if isinstance(message.content, str):
        return []
    return [_bytes(picture) for block in message.content if has_image(block) for picture in _pictures(block)]


def _pictures(block: JsonObject) -> Iterator[JsonObject]:
    if block.get("type") == "image":
        yield block
    content = block.get("content")
    if isinstance(content, list):
        yield from (part for part in content if isinstance(part, dict) and part.get("type") == "image")


def _bytes(picture: JsonObject) -> int:
    source = picture.get("source")
    # An image that is only named by its address is no part of the request.
    return len(string_of(source, "data")) * 3 // 4 if isinstance(source, dict) else 0


def _without_first(message: ApiMessage, count: int) -> ApiMessage:
    left = iter(range(count))

    def kept(value: JsonValue) -> JsonValue:
        if not isinstance(value, dict):
            return value
        if value.get("type") == "image":
            return value if next(left, None) is None else text_block(PICTURE_LEFT_OUT)
        if has_image(value) and isinstance(content := value.get("content"), list):
            return {**value, "content": [kept(part) for part in content]}
        return value

    return message.model_copy(update={"content": [kept(block) for block in content_blocks(message)]})
