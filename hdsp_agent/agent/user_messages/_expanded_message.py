"""A person's message as the model is told it: commands filled in, and what it names attached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from ...messages import JsonObject
from ..conversation.conversation import text_block
from ..conversation.user_text import Spoken, said

__all__ = ["Expand", "ExpandedMessage"]


@dataclass(frozen=True)
class ExpandedMessage:
    """A message as the model is told it."""

    words: str | None
    images: tuple[str, ...] = ()
    attached: str = ""

    @property
    def text(self) -> str | None:
        """All of it in one text, where there is room for one only."""
        return "\n\n".join(part for part in (self.words, self.attached) if part) or None

    @property
    def blocks(self) -> list[JsonObject]:
        """As content of the user's turn."""
        words, images = said(self.words), said(None, self.images)
        return [*words, *([text_block(self.attached)] if self.attached else []), *images]


Expand: TypeAlias = Callable[[Spoken], Awaitable[ExpandedMessage]]
"""Makes a message whole."""
