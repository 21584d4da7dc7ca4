"""Long texts as passages: pieces of some sentences, which say one thing and fit into a vector."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["split_text"]

_ENDS: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_LONGEST: Final = 600


def split_text(text: str, longest: int = _LONGEST) -> Iterator[str]:
    """The text in pieces of at most so many characters, parted at the ends of sentences or lines where there are any."""
    if len(text) <= longest:
        yield text
        return
    piece = ""
    for sentence in _ENDS.split(text):
        if piece and len(piece) + len(sentence) >= longest:
            yield piece
            piece = ""
        while len(sentence) > longest:
            yield sentence[:longest]
            sentence = sentence[longest:]
        if sentence:
            piece = f"{piece}\n{sentence}" if piece else sentence
    if piece:
        yield piece
