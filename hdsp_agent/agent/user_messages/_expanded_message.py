"""A person's message as the model is told it: commands filled in, and what it names attached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ...messages import Attachment, JsonObject, attachments_text
from ..conversation.conversation import text_block
from ..conversation.user_text import Spoken, said

if TYPE_CHECKING:
    from ._mentions import Mentioned

__all__ = ["Expand", "ExpandedMessage", "attached_text"]


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


def attached_text(attachments: Iterable[Attachment], named: Mentioned) -> str:
    """What goes along with the words, in one text."""
    return "\n\n".join(part for part in (attachments_text(attachments), named.text) if part)
