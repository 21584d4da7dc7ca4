"""What the model sees of a task, as REST tells it: a page of the messages, and where a text is among all of them."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from ...context import is_hand_over
from ...messages import ApiMessage, JsonObject
from ._history_bodies import SeenContext, SeenMessage, SeenQuery, SeenTokens, SeenTool

if TYPE_CHECKING:
    from ...agent import SeenRequest

__all__ = ["seen_context"]

_LONGEST_ADDRESS: Final = 1_000
"""Of a picture. What is longer is the picture itself."""


async def seen_context(seen: SeenRequest, query: SeenQuery) -> SeenContext:
    """The page that is asked for."""
    return await asyncio.to_thread(_seen_context, seen, query)


def _seen_context(seen: SeenRequest, query: SeenQuery) -> SeenContext:
    request, parts, kinds = seen.request, seen.parts, seen.kinds
    last = len(request.messages) if query.limit is None else query.first + query.limit
    whole = query.only is None
    return SeenContext(
        mode=seen.mode,
        profile=seen.profile,
        model=seen.model.id,
        context_window=seen.model.context_window,
        reserved=seen.room.reserved,
        condense_at=seen.room.condense_at,
        is_shortened=seen.is_shortened,
        count=len(request.messages),
        first=query.first,
        found=None if query.find is None else _found(seen, query.find),
        marks=None if seen.marks is None else list(seen.marks),
        tokens=SeenTokens(
            system=parts.system,
            tools=parts.tools,
            messages=parts.messages,
            total=parts.total,
            summaries=kinds.summaries,
            words=kinds.words,
            answers=kinds.answers,
            outputs=kinds.outputs,
            pictures=kinds.pictures,
            each_message=list(seen.sizes),
        ),
        system=request.system if whole else "",
        tools=[
            SeenTool(name=tool.name, description=tool.description, parameters=tool.parameters)
            for tool in (request.tools if whole else ())
        ],
        messages=[
            SeenMessage(role=message.role, content=_content(message), is_summary=is_hand_over(message) or None)
            for message in request.messages[query.first : last]
        ],
    )


def _found(seen: SeenRequest, text: str) -> list[int]:
    wanted = text.casefold()
    return [index for index, message in enumerate(seen.request.messages) if wanted in _words(message).casefold()]


def _words(message: ApiMessage) -> str:
    content = message.content
    return content if isinstance(content, str) else "\n".join(map(_words_of, content))


def _words_of(value: JsonValue) -> str:
    """What a person reads of it: texts as they are, and not with the escapes they have in JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        parts = value.values() if value.get("type") != "image" else ()
        return "\n".join(map(_words_of, parts))
    if isinstance(value, list):
        return "\n".join(map(_words_of, value))
    return json.dumps(value)


def _content(message: ApiMessage) -> str | list[JsonObject]:
    content = message.content
    return content if isinstance(content, str) else [_block(block) for block in content]


def _block(block: JsonObject) -> JsonObject:
    """The block, without what is in a picture."""
    source, inner = block.get("source"), block.get("content")
    if block.get("type") == "image" and isinstance(source, dict):
        return {**block, "source": {key: _shortened(part) for key, part in source.items()}}
    if isinstance(inner, list):
        return {**block, "content": [_block(part) if isinstance(part, dict) else part for part in inner]}
    return block


def _shortened(part: JsonValue) -> JsonValue:
    if not isinstance(part, str) or len(part) <= _LONGEST_ADDRESS:
        return part
    return f"{part[:40]}… ({len(part):,} characters)"
