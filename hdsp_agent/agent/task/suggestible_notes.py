"""Which of the notes that a model proposes with its result the person is shown."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ...errors import HdspAgentError
from ...messages import NoteSuggestion

if TYPE_CHECKING:
    from ...memory import TaskMemory
    from .task_state import TaskState

__all__ = ["may_suggest"]


async def may_suggest(state: TaskState, suggestion: NoteSuggestion) -> bool:
    """Whether the note is shown to the person: of a conversation of theirs, and only what is not remembered already."""
    settings = state.settings
    if state.memory is None or state.parent is not None:
        return False
    if not settings.memory_enabled or not settings.note_suggestions_enabled:
        return False
    if state.conversation.log.state.has_external_content and not settings.memory_from_external_content:
        # It may be what a stranger wants remembered.
        return False
    return await asyncio.to_thread(_is_new, state.memory, suggestion)


def _is_new(memory: TaskMemory, suggestion: NoteSuggestion) -> bool:
    try:
        memory.check(suggestion.scope)
    except HdspAgentError:
        return False
    said = " ".join(suggestion.text.split()).casefold()
    return all(" ".join(note.text.split()).casefold() != said for note in memory.notes())
