"""What a model wrote into a gap, as it can be shown: no more than fits there, and nothing that is there already."""

from __future__ import annotations

import re
from typing import Final

from ._place import Place, takes_lines

__all__ = ["suggestion"]

_MARKS: Final = re.compile(r"<\|[\w ]+\|>|<(?:fim|file)_\w+>")
_MOST_LINES: Final = 10
_CLOSING: Final = ")]}\"'`"


def suggestion(written: str, place: Place, *, is_cut: bool) -> str:
    """The text to show; empty if there is nothing worth it. ``is_cut`` tells that the model had not come to an end."""
    text = _MARKS.split(written.replace("\r\n", "\n"), maxsplit=1)[0]
    text = _lines(text, is_cut) if takes_lines(place) else text.partition("\n")[0]
    text = _without_what_follows(text, place.after).rstrip()
    return "" if not text.strip() or _repeats(text, place) else text


def _lines(text: str, is_cut: bool) -> str:
    """The first block, in whole lines."""
    lead = len(text) - len(text.lstrip("\n"))
    block, _, rest = text[lead:].partition("\n\n")
    lines = block.split("\n")
    if is_cut and not rest and len(lines) > 1:
        lines = lines[:-1]
    return text[: min(lead, 1)] + "\n".join(lines[:_MOST_LINES])


def _without_what_follows(text: str, after: str) -> str:
    """Without its end, where that is what comes behind the cursor."""
    line = after.partition("\n")[0].strip()
    if line:
        for length in range(min(len(text), len(line)), 0, -1):
            end = text[-length:]
            if line.startswith(end) and (length > 1 or end in _CLOSING):
                return text[:-length]
        return text
    following = next((one.rstrip() for one in after.split("\n") if one.strip()), None)
    lines = text.split("\n")
    return "\n".join(lines[: lines.index(following)]) if following in lines else text


def _repeats(text: str, place: Place) -> bool:
    """Whether it writes again the line before."""
    before = place.before.rstrip("\n").split("\n")
    own = f"{before[-1] if not place.before.endswith(chr(10)) else ''}{text}".strip().split("\n")[0]
    earlier = before[-1] if place.before.endswith("\n") else before[-2] if len(before) > 1 else ""
    return own == earlier.strip()
