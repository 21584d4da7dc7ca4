"""Where a found task says what was searched for."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ._text_normalization import fold

__all__ = ["Snippet", "SnippetField", "SnippetPart", "cut_snippet"]

SnippetField = Literal["title", "task", "text"]

_BEFORE: Final = 40
_LENGTH: Final = 160
_STRIDE: Final = 128
# What is one letter to a reader: accents, and the voicing marks that stand alone behind half-width kana.
_LETTER: Final = re.compile("[\\s\\S][\\u0300-\\u036f\\u3099\\u309a\\uff9e\\uff9f]*")


@dataclass(frozen=True)
class SnippetPart:
    """A stretch of a snippet, and whether it is what was searched for."""

    text: str
    found: bool


@dataclass(frozen=True)
class Snippet:
    """A line out of a task's title, first message or conversation. Parts, because offsets differ between languages."""

    field: SnippetField
    parts: tuple[SnippetPart, ...]

    @property
    def text(self) -> str:
        """The line without marks."""
        return "".join(part.text for part in self.parts)


def cut_snippet(shown: Sequence[tuple[SnippetField, str, str]], terms: Sequence[str]) -> Snippet | None:
    """The line around the longest term, from the first of the fields (name, text, folded text) that has it."""
    for term in sorted(terms, key=len, reverse=True):
        for field, text, folded in shown:
            at = folded.find(term)
            if at >= 0:
                return Snippet(field, _parts(text, _origin(text, folded, at, term), terms))
    return None


def _origin(text: str, folded: str, at: int, term: str) -> int:
    """Where in the text the place ``at`` of its folded form comes from."""
    if len(text) == len(folded) and fold(text[at : at + len(term)]) == term:
        return at
    passed = 0
    for start in range(0, len(text), _STRIDE):
        width = len(fold(text[start : start + _STRIDE]))
        if passed + width > at:
            return _origin_within(text, start, at - passed)
        passed += width
    return max(0, len(text) - _STRIDE)


def _origin_within(text: str, start: int, at: int) -> int:
    passed = 0
    for letter in _LETTER.finditer(text, start, start + _STRIDE):
        passed += len(_fold_letter(letter.group()))
        if passed > at:
            return letter.start()
    return start


@functools.lru_cache(8_192)
def _fold_letter(letter: str) -> str:
    return fold(letter)


def _parts(text: str, origin: int, terms: Sequence[str]) -> tuple[SnippetPart, ...]:
    start = _boundary(text, max(0, origin - _BEFORE))
    end = _boundary(text, min(len(text), start + _LENGTH))
    window = text[start:end]
    parts = [SnippetPart("…", False)] if start else []
    place = 0
    for begin, finish in _matches(window, terms):
        if begin > place:
            parts.append(SnippetPart(window[place:begin], False))
        parts.append(SnippetPart(window[begin:finish], True))
        place = finish
    rest = window[place:] + ("…" if end < len(text) else "")
    if rest:
        parts.append(SnippetPart(rest, False))
    return tuple(parts)


def _boundary(text: str, place: int) -> int:
    """The next place that does not part a letter from its marks, or an emoji from what it is joined to."""
    while 0 < place < len(text) and (
        unicodedata.combining(text[place]) or text[place] in "\u200d\ufe0e\ufe0f" or text[place - 1] == "\u200d"
    ):
        place += 1
    return place


def _matches(window: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """The stretches of the window whose folded form is a term, without overlaps."""
    letters = list(_LETTER.finditer(window))
    pieces = [_fold_letter(letter.group()) for letter in letters]
    owners = [place for place, piece in enumerate(pieces) for _ in piece]
    longest_first = "|".join(re.escape(term) for term in sorted(terms, key=len, reverse=True))
    matches: list[tuple[int, int]] = []
    for match in re.finditer(longest_first, "".join(pieces)):
        first, last = owners[match.start()], owners[match.end() - 1]
        # What folds to nothing, such as the selector that colours an emoji, belongs to what is before it.
        while last + 1 < len(pieces) and not pieces[last + 1]:
            last += 1
        begin, finish = letters[first].start(), letters[last].end()
        if not matches or begin >= matches[-1][1]:
            matches.append((begin, finish))
    return matches
