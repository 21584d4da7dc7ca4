"""What a person says, as the model reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...messages import Attachment, JsonObject, attachments_text
from .conversation import image_block, text_block

__all__ = ["CUT_OFF", "RESUMPTION", "Spoken", "said", "says_something", "word_for_word"]

CUT_OFF = "\n\n[Response interrupted by user]"
"""Ends what the model had said when it was interrupted."""
_NO_PICTURE = "[A picture of the user could not be read.]"
RESUMPTION = "[TASK RESUMPTION] Resuming task..."


class Spoken(Protocol):
    """What a person says, and what goes along with it."""

    @property
    def text(self) -> str | None:
        """The words."""

    @property
    def images(self) -> Sequence[str] | None:
        """Pictures as data URLs."""

    @property
    def attachments(self) -> Sequence[Attachment] | None:
        """What they point at."""


def says_something(spoken: Spoken) -> bool:
    """Whether there is anything in it."""
    return bool((spoken.text or "").strip() or spoken.images or spoken.attachments)


def word_for_word(spoken: Spoken) -> list[JsonObject]:
    """All of it as content blocks, with nothing read that it names."""
    along = attachments_text(spoken.attachments or ())
    return [*said(spoken.text), *([text_block(along)] if along else []), *said(None, spoken.images or ())]


def said(text: str | None, images: Sequence[str] = ()) -> list[JsonObject]:
    """The words and pictures as content blocks."""
    blocks = [text_block(f"<user_message>\n{text}\n</user_message>")] if text else []
    return [*blocks, *(image_block(image) or text_block(_NO_PICTURE) for image in images)]
