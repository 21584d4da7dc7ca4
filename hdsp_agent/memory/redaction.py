"""What must not be remembered: keys, passwords and addresses, also as the placeholders a conversation had for them."""

from __future__ import annotations

from ..config import ALL_MASKED_KINDS
from ..persistence import PLACEHOLDER, Masker

__all__ = ["REDACTED", "redact"]

REDACTED = "[REDACTED_SECRET]"


def redact(text: str) -> str:
    """The text with one word in place of every secret. Blocks."""
    # A placeholder means nothing in another conversation.
    return PLACEHOLDER.sub(REDACTED, Masker(ALL_MASKED_KINDS).mask(text))
