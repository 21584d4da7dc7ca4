"""What a person says, as the model reads it."""

from __future__ import annotations

from collections.abc import Sequence

from ...messages import JsonObject
from .conversation import image_block, text_block

__all__ = ["CUT_OFF", "RESUMPTION", "said"]

CUT_OFF = "\n\n[Response interrupted by user]"
"""Ends what the model had said when it was interrupted."""
_NO_PICTURE = "[A picture of the user could not be read.]"
RESUMPTION = "[TASK RESUMPTION] Resuming task..."


def said(text: str | None, images: Sequence[str] = ()) -> list[JsonObject]:
    """The words and pictures as content blocks."""
    blocks = [text_block(f"<user_message>\n{text}\n</user_message>")] if text else []
    return [*blocks, *(image_block(image) or text_block(_NO_PICTURE) for image in images)]
