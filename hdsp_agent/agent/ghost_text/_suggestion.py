"""What a model wrote into a gap, as it can be shown: no more than fits there, and nothing that is there already."""

from __future__ import annotations

import re
from typing import Final

from ._place import Place, empty_block, indentation_of, line_below, takes_lines

__all__ = ["suggestion"]

_MARKS: Final = re.compile(r"<\|[\w ]+\|>|<(?:fim|file)_\w+>")
_FENCE: Final = re.compile(r"^```", re.MULTILINE)
"""Models that are made for conversations end code so."""
_MOST_LINES: Final = 10
_CLOSERS: Final = {")": "(", "]": "[", "}": "{"}
_QUOTES: Final = "\"'`"
_SHORTEST: Final = 2
"""Letters. What has fewer, such as a bracket, comes again and again, as ``end`` does."""


def suggestion(written: str, place: Place, *, is_cut: bool) -> str:
    """The text to show; empty if there is nothing worth it. ``is_cut`` tells that the model had not come to an end."""
    text = _MARKS.split(written.replace("\r\n", "\n"), maxsplit=1)[0]
    if place.kind == "code":
        text = _FENCE.split(text, maxsplit=1)[0]
    text = _block(text, place, is_cut) if takes_lines(place) else text.partition("\n")[0]
    text = _without_repeated_line(_without_what_follows(text, place), place.before).rstrip()
    return text if text.strip() else ""


def _block(text: str, place: Place, is_cut: bool) -> str:
    """The first block, in whole lines."""
    lead = len(text) - len(text.lstrip("\n"))
    block, _, rest = text[lead:].partition("\n\n")
    lines = block.split("\n")
    if is_cut and not rest and len(lines) > 1:
        lines = lines[:-1]
    opened = empty_block(place)
    if opened is not None:
        lines = _inside(lines, opened, line_below(place))
    return text[: min(lead, 1)] + "\n".join(lines[:_MOST_LINES])


def _inside(lines: list[str], opened: int, below: str) -> list[str]:
    """Those inside the block, with the bracket that closes it, if that does not follow."""
    for at, line in enumerate(lines):
        if at and line.strip() and indentation_of(line) <= opened:
            closes = line.strip()[0] in _CLOSERS and line.strip()[0] != below.strip()[0]
            return lines[: at + closes]
    return lines


def _without_what_follows(text: str, place: Place) -> str:
    """Without its end, where that is what comes behind the cursor."""
    line = place.after.partition("\n")[0].strip()
    if line:
        return _without_overlap(_without_surplus_closers(text, line), line, place.before)
    following = next((one.rstrip() for one in place.after.split("\n") if one.strip()), None)
    lines = text.split("\n")
    whole = [f"{place.before.rpartition(chr(10))[2]}{lines[0]}", *lines[1:]]
    return "\n".join(lines[: whole.index(following)]) if following in whole else text


def _without_surplus_closers(text: str, line: str) -> str:
    """Without closing brackets and quotes at its end that nothing in it opened, and that come behind it."""
    surplus = _surplus(text)
    length = 0
    while length < len(text) and len(text) - 1 - length in surplus:
        length += 1
    for kept in range(length, 0, -1):
        if line.startswith(text[-kept:]):
            return text[:-kept]
    return text


def _without_overlap(text: str, line: str, before: str) -> str:
    """Without the words at its end with which the rest of the line begins."""
    for length in range(min(len(text), len(line)), 0, -1):
        end, kept = text[-length:], text[:-length]
        if not line.startswith(end) or not any(letter.isalnum() or letter in "=+-*/<>,:" for letter in end):
            continue
        is_word_cut = f"{before}{kept}"[-1:].isalnum() and end[0].isalnum()
        if not is_word_cut and _open_count(kept) <= _open_count(text):
            return kept
    return text


def _surplus(text: str) -> set[int]:
    """The places of closing brackets and quotes that nothing before them opened."""
    waiting: list[str] = []
    found: set[int] = set()
    for at, letter in enumerate(text):
        if letter in _CLOSERS.values():
            waiting.append(letter)
        elif letter in _CLOSERS:
            if waiting and waiting[-1] == _CLOSERS[letter]:
                waiting.pop()
            else:
                found.add(at)
    found |= {text.rindex(quote) for quote in _QUOTES if text.count(quote) % 2}
    return found


def _open_count(text: str) -> int:
    return sum(map(text.count, _CLOSERS.values())) - sum(map(text.count, _CLOSERS))


def _without_repeated_line(text: str, before: str) -> str:
    """Without its first line, if that is the line before once more."""
    typed = before.rpartition("\n")[2]
    earlier = before[: len(before) - len(typed)].rstrip("\n").rpartition("\n")[2]
    first, _, rest = text.partition("\n")
    is_same = f"{typed}{first}".rstrip() == earlier.rstrip()
    if is_same and sum(map(str.isalnum, earlier)) >= _SHORTEST and earlier.strip() != "end":
        return rest if not typed.strip() else ""
    return text
