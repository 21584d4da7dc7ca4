"""Characters in a command that look like something else than they are, or like nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

__all__ = ["strange_characters"]


def strange_characters(text: str) -> Iterator[str]:
    """What looks like something else than it is, each as the end of a sentence."""
    for char in text:
        category = unicodedata.category(char)
        if category in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co") and char not in "\n\t":
            yield f"it contains the invisible character U+{ord(char):04X}"
        elif category == "Zs" and char != " ":
            yield f"it contains the unusual space U+{ord(char):04X}"
