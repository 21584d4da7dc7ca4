"""A conversation as a link shows it to others: what was said and done, masked, with its images and long outputs."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from ...config import ALL_MASKED_KINDS
from ...errors import HdspAgentError, InvalidInput
from ...messages import Attachment, CellExecuted, ClineMessage
from ...wire import WireModel
from .._task_reader import TaskReader
from ..masking._masker import Masker
from ._embedded import Speaker, speaker_of
from ._export_markdown import fenced, without_pictures
from ._export_parts import history_item_of, past_hits, shown_ui, view_of
from ._import_images import with_linked_images

__all__ = ["SharedConversation", "SharedImage", "SharedMessage", "SharedOutput", "shared_conversation"]

_VERSION: Final = 1
_TITLE_CHARACTERS: Final = 200
_MOST_MESSAGES: Final = 20_000
_LATEST: Final = 4_102_444_800_000
"""The year 2100."""
_FRAME_BYTES: Final = 200
"""What a message, an image or an output takes beside what it holds."""
_HEAD_BYTES: Final = 4_000
"""What there is beside messages."""
_ARTIFACT: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_PICTURE_TEXT: Final = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=\s]*")
_PICTURE: Final = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})")

ImageKind = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]


class SharedImage(WireModel):
    """An image that a browser shows without running anything."""

    media_type: ImageKind
    data: str
    """In base64."""


class SharedOutput(WireModel):
    """A long output whose message has only its beginning and end."""

    name: Annotated[str, Field(max_length=64)]
    text: str


class SharedMessage(WireModel):
    """Something that was said, or what a tool did. ``text`` is Markdown."""

    ts: Annotated[int, Field(ge=0, le=_LATEST)]
    by: Speaker
    text: str
    table: str | None = None
    """A table that a cell showed, as HTML."""
    images: tuple[SharedImage, ...] = ()
    outputs: tuple[SharedOutput, ...] = ()


class SharedConversation(WireModel):
    """All that is shared. Images and outputs for which there was no room, or which no page shows, are only counted."""

    version: Literal[1] = 1
    title: Annotated[str, Field(max_length=_TITLE_CHARACTERS)]
    as_of: Annotated[int, Field(ge=0, le=_LATEST)]
    """When the conversation was last added to."""
    images_left_out: Annotated[int, Field(ge=0, le=2**31)] = 0
    outputs_left_out: Annotated[int, Field(ge=0, le=2**31)] = 0
    messages: Annotated[list[SharedMessage], Field(min_length=1, max_length=_MOST_MESSAGES)]


async def shared_conversation(reader: TaskReader, most_bytes: int) -> SharedConversation:
    """What a link is to show of a task. Raises InvalidInput where there is nothing, or the text alone is too much.

    Secrets are masked whatever the settings say. What was found in other conversations, notebooks and memory stays out.
    """
    found, left = await _messages(reader, most_bytes)
    pictures = _Pictures(reader)
    outputs = _Outputs(reader)
    messages: list[SharedMessage] = []
    for source, message in found:
        images, left = await pictures.of(source, left)
        kept, left = await outputs.of(source, left)
        if message.text or images or kept or message.table:
            messages.append(message.model_copy(update={"images": tuple(images), "outputs": tuple(kept)}))
    if not messages:
        raise InvalidInput("There is nothing to share in this conversation yet.", why="nothing_to_share")
    item = await history_item_of(reader)
    masker = Masker(ALL_MASKED_KINDS)
    return SharedConversation(
        title=_plain(masker.mask(" ".join((item.title or item.task or "").split())))[:_TITLE_CHARACTERS],
        as_of=min(max(messages[-1].ts, 0), _LATEST),
        images_left_out=pictures.left_out,
        outputs_left_out=outputs.left_out,
        messages=messages,
    )


async def _messages(reader: TaskReader, most_bytes: int) -> tuple[list[tuple[ClineMessage, SharedMessage]], int]:
    """The messages with their text, and how many bytes are left for what goes with them."""
    masker = Masker(ALL_MASKED_KINDS)
    found: list[tuple[ClineMessage, SharedMessage]] = []
    left, is_first = most_bytes - _HEAD_BYTES, True
    async for message in shown_ui(reader, await view_of(reader)):
        shared = await asyncio.to_thread(_shared, message, masker, is_first=is_first)
        is_first = False
        if shared is None:
            continue
        left -= _size(shared.text) + _size(shared.table or "") + _FRAME_BYTES
        if left < 0 or len(found) == _MOST_MESSAGES:
            raise InvalidInput(
                "This conversation is too long to share as a link. Export it, or fork an earlier message and share that.",
                why="too_long_to_share",
            )
        found.append((message, shared))
    return found, left


def _shared(message: ClineMessage, masker: Masker, *, is_first: bool) -> SharedMessage | None:
    if message.partial or past_hits(message):
        return None
    parts = [without_pictures(message), *map(_attachment, message.attachments or ())]
    text = masker.mask(_PICTURE_TEXT.sub("[image]", "\n\n".join(part for part in parts if part))).strip()
    table = _table(message)
    if not text and not message.images and table is None:
        return None
    return SharedMessage(
        ts=min(max(message.ts, 0), _LATEST),
        by=speaker_of(message, is_first=is_first) or "agent",
        text=_plain(text),
        table=None if table is None else _plain(masker.mask(table)),
    )


def _attachment(attachment: Attachment) -> str:
    label = f"**{attachment.label or attachment.path}**"
    # Another conversation is not this one.
    is_own = attachment.content is not None and attachment.kind != "conversation"
    return f"{label}\n\n{fenced(attachment.content or '')}" if is_own else label


def _table(message: ClineMessage) -> str | None:
    if message.say != "cell_executed":
        return None
    try:
        return CellExecuted.model_validate_json(message.text or "").table
    except ValidationError:
        return None


class _Pictures:
    """The images of messages, while there is room."""

    def __init__(self, reader: TaskReader) -> None:
        self._reader = reader
        self.left_out = 0

    async def of(self, message: ClineMessage, left: int) -> tuple[list[SharedImage], int]:
        """Those of a message, and how many bytes are left then."""
        images: list[SharedImage] = []
        for link in message.images or ():
            [url] = await with_linked_images(self._reader, [link])
            found = _PICTURE.fullmatch(url)
            if found is None or len(found[2]) + _FRAME_BYTES > left:
                self.left_out += 1
                continue
            left -= len(found[2]) + _FRAME_BYTES
            images.append(SharedImage.model_validate({"mediaType": found[1], "data": found[2]}))
        return images, left


class _Outputs:
    """Long outputs that messages name, each once, while there is room."""

    def __init__(self, reader: TaskReader) -> None:
        self._reader = reader
        self._masker = Masker(ALL_MASKED_KINDS)
        self._seen: set[str] = set()
        self.left_out = 0

    async def of(self, message: ClineMessage, left: int) -> tuple[list[SharedOutput], int]:
        """Those of a message, and how many bytes are left then."""
        outputs: list[SharedOutput] = []
        for name in self._new(message.text or ""):
            text = await self._text(name, left)
            # What has too many characters need not be measured, which takes long.
            if text is None or len(text) > left or _size(text) + _FRAME_BYTES > left:
                self.left_out += text is not None
                continue
            left -= _size(text) + _FRAME_BYTES
            outputs.append(SharedOutput(name=name[:12], text=text))
        return outputs, left

    def _new(self, text: str) -> Iterator[str]:
        for name in dict.fromkeys(_ARTIFACT.findall(text)):
            if name not in self._seen:
                self._seen.add(name)
                yield name

    async def _text(self, name: str, left: int) -> str | None:
        """None if there is no such output, or it is no text."""
        try:
            data = await self._reader.read_artifact(name)
            text = data.decode()
        except (HdspAgentError, UnicodeDecodeError):
            return None
        # What is too long in any case need not be looked through.
        return text if len(data) > left else _plain(await asyncio.to_thread(self._masker.mask, text))


def _plain(text: str) -> str:
    """Half a surrogate pair cannot be sent."""
    return text.encode("utf-8", "replace").decode()


def _size(text: str) -> int:
    """What it takes in JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))
