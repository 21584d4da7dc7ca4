"""A conversation as a notebook carries it in its metadata: the words, masked and bounded, and nothing to be trusted."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import uuid
from collections import deque
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, ValidationError

from ...config import ALL_MASKED_KINDS
from ...errors import InvalidInput
from ...messages import ClineMessage, JsonObject, TaskId, labels_of
from ...wire import WireModel
from .._task_reader import TaskReader
from ..masking._masker import Masker
from ._export_markdown import OUTPUTS, without_pictures
from ._export_parts import history_item_of, past_hits, shown_ui, view_of

__all__ = [
    "EMBEDDED_KEY",
    "EmbeddedConversation",
    "EmbeddedMessage",
    "Speaker",
    "embedded_conversation",
    "embedded_copy_id",
    "read_embedded",
    "speaker_of",
]

EMBEDDED_KEY: Final = "hdsp_conversation"
"""The key of a notebook's metadata that it stands under."""

_VERSION: Final = 1
_IDS: Final = uuid.UUID("5f0f7a52-7f4c-4a35-9f0e-0f6a7c1c2d6b")
_TITLE_CHARACTERS: Final = 200
_TOOL_CHARACTERS: Final = 2_000
_TOOL_END: Final = 600
_INDENT: Final = 5
"""How deep a message stands in a notebook's file."""
_MOST_BYTES: Final = 10_240 * 1024
"""As much as the setting allows anybody to write."""
_MOST_MESSAGES: Final = 20_000
_MOST_VALUES: Final = 8 * _MOST_MESSAGES
_DEEPEST: Final = 4
_LATEST: Final = 4_102_444_800_000
"""The year 2100: what is said later in this conversation gets a later time."""
_PICTURE: Final = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=\s]*")
_AGENT: Final = frozenset({"text", "completion_result", "subtask_result", "followup"})
_PERSON: Final = frozenset({"user_feedback", "user_feedback_diff"})
_TOOL: Final = OUTPUTS | {"tool", "command", "use_mcp_server", "mcp_server_request_started", "cell_executed"}

Speaker = Literal["person", "agent", "tool"]


class _Stored(WireModel):
    model_config = ConfigDict(alias_generator=None, strict=True)


class EmbeddedMessage(_Stored):
    """Something that was said, or what a tool did."""

    ts: Annotated[int, Field(ge=1, le=_LATEST)]
    by: Speaker
    text: str


class EmbeddedConversation(_Stored):
    """All of it, as far as the size allowed; ``left_out`` counts the oldest messages, which are not there."""

    version: Literal[1]
    task_id: Annotated[str, Field(min_length=1, max_length=128)]
    title: Annotated[str, Field(max_length=_TITLE_CHARACTERS)]
    left_out: Annotated[int, Field(ge=0, le=2**31)] = 0
    messages: Annotated[list[EmbeddedMessage], Field(max_length=_MOST_MESSAGES)]


async def embedded_conversation(reader: TaskReader, most_bytes: int) -> JsonObject | None:
    """What a notebook shall carry of a task, in no more than so many bytes of its file; None where nothing was said.

    Secrets are masked whatever the settings say, pictures are left out, and what tools said is shortened. Where all of it
    is too much, the oldest messages are left out.
    """
    masker = Masker(ALL_MASKED_KINDS)
    item = await history_item_of(reader)
    title = masker.mask(" ".join((item.title or item.task or "").split()))[:_TITLE_CHARACTERS]
    head = EmbeddedConversation(
        version=_VERSION, task_id=reader.task_id, title=title, left_out=2**31, messages=[]
    )  # fmt: skip
    left = most_bytes - _size(head)
    kept: deque[tuple[EmbeddedMessage, int]] = deque()
    count, is_first = 0, True
    async for message in shown_ui(reader, await view_of(reader)):
        said = await asyncio.to_thread(_embedded, message, masker, is_first=is_first)
        is_first = False
        if said is None:
            continue
        count += 1
        size = _size(said)
        kept.append((said, size))
        left -= size
        while kept and (left < 0 or len(kept) > _MOST_MESSAGES):
            left += kept.popleft()[1]
    if not count:
        return None
    messages = [said for said, _ in kept]
    return head.model_copy(update={"left_out": count - len(messages), "messages": messages}).to_wire()


def read_embedded(value: object) -> EmbeddedConversation:
    """The conversation in a notebook's metadata, which anybody may have written. Raises InvalidInput saying what is wrong."""
    version = value.get("version") if isinstance(value, dict) else None
    if isinstance(version, int) and version > _VERSION:
        raise InvalidInput(
            "A later version of this agent wrote the conversation in this notebook. Update the agent to open it.",
            why="conversation_newer",
        )
    _require_bounded(value)
    try:
        return EmbeddedConversation.model_validate(value)
    except ValidationError:
        raise InvalidInput(
            "The conversation in this notebook is damaged and cannot be opened.", why="conversation_damaged"
        ) from None


def embedded_copy_id(conversation: EmbeddedConversation, owner: str) -> TaskId:
    """The id of the task that somebody gets of it: the same each time, and another when the notebook says something else."""
    content = hashlib.sha256(conversation.to_json().encode("utf-8", "replace")).hexdigest()
    return TaskId(str(uuid.uuid5(_IDS, f"{content} {owner}")))


def _embedded(message: ClineMessage, masker: Masker, *, is_first: bool) -> EmbeddedMessage | None:
    by = speaker_of(message, is_first=is_first)
    # What was found in other conversations is not for everybody who gets the notebook.
    if by is None or message.partial or past_hits(message):
        return None
    # Masked before it is cut: half a secret is not known as one.
    said = "\n\n".join(part for part in (without_pictures(message), labels_of(message.attachments)) if part)
    text = masker.mask(_PICTURE.sub("[image]", said)).strip()
    # Half a surrogate pair cannot be saved in a notebook.
    text = text.encode("utf-8", "replace").decode()
    if by == "tool" and len(text) > _TOOL_CHARACTERS:
        left_out = len(text) - _TOOL_CHARACTERS
        # With its end, which closes the fence around it.
        text = f"{text[: _TOOL_CHARACTERS - _TOOL_END]}\n[{left_out:,} characters left out]\n{text[-_TOOL_END:]}"
    return EmbeddedMessage(ts=message.ts, by=by, text=text) if text else None


def speaker_of(message: ClineMessage, *, is_first: bool) -> Speaker | None:
    """Who says a message; None for what is about the conversation itself."""
    kind = message.ask or message.say or ""
    if kind in _PERSON or (is_first and message.say == "text"):
        return "person"
    if kind in _TOOL:
        return "tool"
    # The question whether it is done is asked with the same name as its result is said.
    return "agent" if kind in _AGENT and message.ask != "completion_result" else None


def _size(part: WireModel) -> int:
    """What it takes in a notebook's file: each line as deep as it stands there, and what separates it from the next."""
    text = json.dumps(part.to_wire(), ensure_ascii=False, indent=1)
    return len(text.encode("utf-8", "replace")) + _INDENT * (text.count("\n") + 1) + 2


def _require_bounded(value: object) -> None:
    """Look at no more of it than a conversation of ours can have, before anything is made of it."""
    characters, values = _MOST_BYTES, _MOST_VALUES
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        parts: list[object] = []
        match one:
            case str():
                characters -= len(one)
            case dict():
                parts = [*one.keys(), *one.values()]
            case list():
                parts = one
            case _:
                pass
        values -= len(parts)
        if characters < 0 or values < 0 or depth > _DEEPEST:
            raise InvalidInput("The conversation in this notebook is too large to open.", why="conversation_too_large")
        waiting += [(part, depth + 1) for part in parts]
