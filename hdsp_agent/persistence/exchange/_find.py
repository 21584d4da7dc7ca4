"""Which messages of one conversation have a text, of all that a person can see of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from pydantic import JsonValue

from ...messages import ClineMessage
from .._task_reader import TaskReader
from ..history._text_normalization import fold
from ._export_markdown import is_silent
from ._export_parts import shown_ui, view_of

__all__ = ["find_messages"]

_NAMES: Final = frozenset({"tool", "type", "kind", "state", "status", "id", "cellId", "executionId", "images"})
"""Keys whose values are for the page, and are not shown as they are."""


async def find_messages(reader: TaskReader, text: str, limit: int) -> tuple[list[int], bool]:
    """The times of the messages that have the text, oldest first, and whether there are more than ``limit``."""
    wanted = fold(text).strip()
    found: list[int] = []
    if not wanted:
        return found, False
    async for message in shown_ui(reader, await view_of(reader)):
        if not is_silent(message) and any(wanted in fold(words) for words in _words(message)):
            if len(found) == limit:
                return found, True
            found.append(message.ts)
    return found, False


def _words(message: ClineMessage) -> Iterator[str]:
    """What a message shows as words."""
    if message.text:
        yield from _words_in(message.text)
    for attachment in message.attachments or ():
        yield f"{attachment.label}\n{attachment.content or ''}"
    if message.reasoning:
        yield message.reasoning
    if message.context_condense is not None:
        yield message.context_condense.summary


def _words_in(text: str) -> Iterator[str]:
    if text.startswith("{"):
        with suppress(ValueError, RecursionError):
            yield from _leaves(json.loads(text))
            return
    yield text


def _leaves(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _leaves(item)
        case dict():
            for name, item in value.items():
                if name not in _NAMES:
                    yield from _leaves(item)
        case _:
            return
