"""English words without their endings, exactly as the tokenizer ``porter`` of SQLite's FTS5 has them."""

from __future__ import annotations

import functools
import itertools
from typing import Final

__all__ = ["stem"]

_SHORTEST: Final = 3
_LONGEST: Final = 64
"""Bytes of the words that are looked at; others stay as they are."""

# Of those that end alike the first one counts, even if what stands before it is too short.
_STEP_2: Final = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("logi", "log"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3: Final = (
    ("ical", "ic"), ("ness", ""), ("icate", "ic"), ("iciti", "ic"), ("ful", ""), ("ative", ""), ("alize", "al"),
)  # fmt: skip
_STEP_4: Final = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip
_DOUBLED: Final = frozenset("lsz")


@functools.lru_cache(65_536)
def stem(word: str) -> str:
    """The word as it is compared. Letters that are not ASCII are consonants, one for each of their bytes."""
    letters = word if word.isascii() else word.encode().decode("latin-1")
    if not _SHORTEST <= len(letters) <= _LONGEST:
        return word
    letters = _without_past(_without_plural(letters))
    if letters.endswith("y") and _has_vowel(letters[:-1]):
        letters = letters[:-1] + "i"
    for endings in (_STEP_2, _STEP_3):
        letters = _replaced(letters, endings)
    letters = _without_suffix(letters)
    if letters.endswith("e"):
        rest, measure = letters[:-1], _measure(letters[:-1])
        if measure > 1 or (measure == 1 and not _is_short(rest)):
            letters = rest
    if letters.endswith("ll") and _measure(letters[:-1]) > 1:
        letters = letters[:-1]
    return letters if word.isascii() else letters.encode("latin-1").decode("utf-8", "replace")


def _without_plural(letters: str) -> str:
    if not letters.endswith("s"):
        return letters
    if letters.endswith("es"):
        cut = (len(letters) > 4 and letters[-4:-2] == "ss") or (len(letters) > 3 and letters[-3] == "i")
        return letters[:-2] if cut else letters[:-1]
    return letters if letters.endswith("ss") else letters[:-1]


def _without_past(letters: str) -> str:
    if letters.endswith("eed") and len(letters) > 3:
        return letters[:-1] if _measure(letters[:-3]) else letters
    for ending in ("ed", "ing"):
        if letters.endswith(ending) and len(letters) > len(ending):
            rest = letters.removesuffix(ending)
            return _completed(rest) if _has_vowel(rest) else letters
    return letters


def _completed(rest: str) -> str:
    if len(rest) > 2 and rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    last = rest[-1]
    if len(rest) > 1 and last not in "aeiou" and last not in _DOUBLED and last == rest[-2]:
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest


def _replaced(letters: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, other in endings:
        if letters.endswith(ending) and len(letters) > len(ending):
            rest = letters.removesuffix(ending)
            return rest + other if _measure(rest) else letters
    return letters


def _without_suffix(letters: str) -> str:
    for ending in _STEP_4:
        if letters.endswith(ending) and len(letters) > len(ending):
            rest = letters.removesuffix(ending)
            goes = _measure(rest) > 1 and (ending != "ion" or rest[-1] in "st")
            return rest if goes else letters
    return letters


def _consonants(letters: str) -> list[bool]:
    """Which letters are consonants; y is none after one."""
    found: list[bool] = []
    before = False
    for letter in letters:
        before = not (letter in "aeiou" or (letter == "y" and before))
        found.append(before)
    return found


def _measure(letters: str) -> int:
    """How often a consonant follows a vowel."""
    found = _consonants(letters)
    return sum(not one and other for one, other in itertools.pairwise(found))


def _has_vowel(letters: str) -> bool:
    return any(letter in "aeiou" or (letter == "y" and at > 0) for at, letter in enumerate(letters))


def _is_short(letters: str) -> bool:
    """Whether it ends like "hop": consonant, vowel, consonant, the last none of w, x and y."""
    return letters[-1:] not in ("w", "x", "y") and _consonants(letters)[-3:] == [True, False, True]
