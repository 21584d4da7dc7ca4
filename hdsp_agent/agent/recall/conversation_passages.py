"""A conversation as passages: what the person and the agent said, without what was taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

from ...messages import ClineMessage, words_of
from ...persistence import TaskReader, effective_ui
from ...recall import Passage, split_text
from .indexed_text import index_masker

__all__ = ["conversation_passages", "read_conversation_passages"]

_BY_AGENT: Final = frozenset({"completion_result"})
_BY_PERSON: Final = frozenset({"user_feedback"})
_MOST_CHARACTERS: Final = 400_000
"""Of one conversation: who writes a book in it finds its beginning."""


async def read_conversation_passages(reader: TaskReader) -> list[Passage]:
    """What can be found of a conversation. Raises StorageUnavailable."""
    marks = [mark async for mark in reader.marks.iterate()]
    messages = [message async for message in reader.ui.iterate()]
    return await asyncio.to_thread(lambda: list(conversation_passages(effective_ui(messages, marks))))


def conversation_passages(messages: Iterable[ClineMessage]) -> Iterator[Passage]:
    """The messages in words; its time is the place of each."""
    left = _MOST_CHARACTERS
    masker = index_masker()
    for at, message in enumerate(messages):
        # What a task begins with is shown as text, like the agent's own.
        is_person = message.say in _BY_PERSON or (at == 0 and message.say == "text")
        if not (is_person or message.say == "text" or message.say in _BY_AGENT):
            continue
        text = masker.mask(words_of(message).strip())[:left]
        if not text:
            continue
        left -= len(text)
        for piece in split_text(text):
            yield Passage(piece, str(message.ts), message.ts, "person" if is_person else "agent")
