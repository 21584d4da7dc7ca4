"""Words that are nearly what was typed: a letter wrong, missing, too many, or two that changed places."""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

__all__ = ["least_shared", "near_word", "shared_grams"]

_LOOKED_AT: Final = 300
_WORD: Final = re.compile(r"\w+")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]+")
# Kana and Han run on without spaces between words.
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_SHORT: Final = 4


def near_word(term: str, text: str) -> tuple[int, str] | None:
    """How many letters apart the nearest word of a folded text is, and the word; None if none is near."""
    best: tuple[int, str] | None = None
    for word in _WORD.findall(text[:_LOOKED_AT]):
        near = _near(term, word)
        if near is not None and (best is None or near[0] < best[0]):
            best = near
    return best


@functools.lru_cache(16_384)
def _near(term: str, word: str) -> tuple[int, str] | None:
    allowed = _allowed(term)
    if not allowed:
        return None
    letters = _letters(term)
    wanted = set(letters)
    best: tuple[int, str] | None = None
    for part in _parts(term, word):
        written = _letters(part)
        if len(written) < len(letters) - allowed or len(wanted - set(written)) > allowed:
            continue
        distance = _distance(letters, written, goes_on=_goes_on(term))
        if distance <= allowed and (best is None or distance < best[0]):
            best = distance, part
    return best


def shared_grams(term: str) -> list[str]:
    """What a text with a near word shares some of: pairs of characters, and for a short term the characters too."""
    if not _allowed(term):
        return []
    pairs = dict.fromkeys(first + second for first, second in itertools.pairwise(term))
    return [*pairs, *(dict.fromkeys(term) if len(term) <= _SHORT else ())]


def least_shared(term: str) -> int:
    """How many of those at least: one letter touches a character and two pairs, two that change places three pairs."""
    return max(1, len(shared_grams(term)) - 3 * _allowed(term))


def _allowed(term: str) -> int:
    """How many letters may differ. What is not one word, or too short to tell from others, has to be as it is."""
    if not _WORD.fullmatch(term) or term.isdigit():
        return 0
    if _HANGUL.fullmatch(term):
        return 1 if len(term) > 1 else 0
    if _UNSPACED.search(term):
        return 1 if len(term) > 2 else 0
    return 0 if len(term) < 4 else 1 if len(term) < 6 else 2


def _goes_on(term: str) -> bool:
    """Whether what follows in the word does not count: endings, particles, the rest of a line without spaces."""
    return len(term) > 5 or not term.isascii()


def _parts(term: str, word: str) -> Iterator[str]:
    if _UNSPACED.search(term):
        yield from (word[start : start + len(term) + 1] for start in range(len(word)))
    else:
        yield word


def _letters(word: str) -> str:
    # A Korean syllable is two or three letters, and a slip of the keyboard is one of them.
    return unicodedata.normalize("NFD", word) if _HANGUL.search(word) else word


def _distance(term: str, word: str, *, goes_on: bool) -> int:
    """Letters to change, to add, to leave out or to exchange with the next, from the term to the word."""
    before: list[int] = []
    above = list(range(len(word) + 1))
    for row, letter in enumerate(term, 1):
        line = [row]
        for column, other in enumerate(word, 1):
            cost = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == word[column - 2] and term[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        before, above = above, line
    return min(above) if goes_on else above[-1]
