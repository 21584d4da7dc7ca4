"""Images of a conversation as artifacts: a large one is kept once, beside the logs, and a link stands in its place."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Final, NamedTuple

from ...errors import HdspAgentError
from ...messages import JsonObject
from .._task_reader import TaskReader

__all__ = [
    "KeptImage", "artifact_of_block", "artifact_of_link", "image_block", "image_link", "kept_apart", "kept_block",
    "with_images", "with_linked_images",
]  # fmt: skip

LARGE_IMAGE_CHARACTERS: Final = 16 * 1024
"""A smaller image stays where it is: reading it with its message costs less than opening a file."""

_DATA_URL: Final = re.compile(r"data:(?P<media>[a-zA-Z0-9.+/-]{1,100});base64,")
_LINK: Final = re.compile(r"artifact:(?P<name>[0-9a-f]{64})\?type=(?P<media>[a-zA-Z0-9.+/-]{1,100})")


class KeptImage(NamedTuple):
    """An image that becomes an artifact: its name, its kind and its bytes."""

    name: str
    media: str
    data: bytes


def image_link(name: str, media: str) -> str:
    """What stands among a message's ``images`` for an artifact."""
    return f"artifact:{name}?type={media}"


def artifact_of_link(link: str) -> tuple[str, str] | None:
    """The name and kind of the artifact a link is to."""
    found = _LINK.fullmatch(link)
    return (found["name"], found["media"]) if found else None


def image_block(name: str, media: str) -> JsonObject:
    """The content block of the API history that stands for an artifact."""
    return {"type": "image", "source": {"type": "artifact", "media_type": media, "name": name}}


def artifact_of_block(block: JsonObject) -> tuple[str, str] | None:
    """The name and kind of the artifact that a content block stands for."""
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict) or source.get("type") != "artifact":
        return None
    name, media = source.get("name"), source.get("media_type")
    return (name, media) if isinstance(name, str) and isinstance(media, str) else None


def kept_apart(url: str) -> KeptImage | None:
    """The image of a data URL, if it is large enough to be kept apart and can be read."""
    found = _DATA_URL.match(url)
    return None if found is None else _kept(found["media"], url[found.end() :])


def kept_block(block: JsonObject) -> KeptImage | None:
    """The image of a content block, if it is large enough to be kept apart and can be read."""
    source = block.get("source")
    if not isinstance(source, dict) or source.get("type") != "base64":
        return None
    media, data = source.get("media_type"), source.get("data")
    return _kept(media, data) if isinstance(media, str) and isinstance(data, str) else None


async def with_linked_images(reader: TaskReader, images: list[str]) -> list[str]:
    """The images with those that are artifacts as data URLs; a link to one that is gone stays."""
    return [await _data_url(reader, image) for image in images]


async def with_images(reader: TaskReader, content: list[JsonObject]) -> list[JsonObject]:
    """The content blocks with the images that are artifacts in them, as Roo Code and the providers want them."""
    blocks: list[JsonObject] = []
    for block in content:
        kept = artifact_of_block(block)
        inner = block.get("content")
        if kept is not None:
            blocks.append(await _filled_block(reader, block, *kept))
        elif isinstance(inner, list):
            whole: list[JsonObject] = [part for part in inner if isinstance(part, dict)]
            same = len(whole) == len(inner)
            blocks.append({**block, "content": [*await with_images(reader, whole)]} if same else block)
        else:
            blocks.append(block)
    return blocks


async def _data_url(reader: TaskReader, image: str) -> str:
    kept = artifact_of_link(image)
    if kept is None:
        return image
    try:
        data = await reader.read_artifact(kept[0])
    except HdspAgentError:
        return image
    return f"data:{kept[1]};base64,{base64.b64encode(data).decode()}"


async def _filled_block(reader: TaskReader, block: JsonObject, name: str, media: str) -> JsonObject:
    try:
        data = await reader.read_artifact(name)
    except HdspAgentError:
        return {"type": "text", "text": "[An image that is no longer kept]"}
    source: JsonObject = {"type": "base64", "media_type": media, "data": base64.b64encode(data).decode()}
    return {**block, "source": source}


def _kept(media: str, text: str) -> KeptImage | None:
    if len(text) < LARGE_IMAGE_CHARACTERS or not _LINK.fullmatch(image_link("0" * 64, media)):
        return None
    try:
        data = base64.b64decode(text)
    except (binascii.Error, ValueError):
        return None
    return KeptImage(hashlib.sha256(data).hexdigest(), media, data)
