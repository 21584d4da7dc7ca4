"""Text as it is compared: without regard to case, width, accents and white space. Korean and Japanese stay whole."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["MAX_TERMS", "fold", "search_terms", "tidy"]

MAX_TERMS: Final = 32
_MAX_QUERY: Final = 1_000

_BLANK: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
# Soft hyphens, joiners, direction marks and variation selectors: a person sees and types none of them.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
# The accents of Latin, Greek and Cyrillic. Voicing marks of kana (U+3099, U+309A) and vowel signs tell words apart and stay.
_ACCENT: Final = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_MAYBE_ACCENTED: Final = re.compile("[\u00c0-\u024f\u0300-\u052f\u1ab0-\u1aff\u1dc0-\u1fff\u20d0-\u20ff\ufe20-\ufe2f]")
_TERM: Final = re.compile(r'"([^"]*)(?:"|$)|([^\s"]+)')


def tidy(text: str, limit: int) -> str:
    """The beginning of a text on one line, fit to be stored and shown in a snippet."""
    # White space may be most of a notebook's output; what is cut off is measured after it is gone.
    head = _BLANK.sub(" ", text[: 4 * limit]).strip()[:limit]
    return unicodedata.normalize("NFC", _SURROGATE.sub("\ufffd", head))


def fold(text: str) -> str:
    """The form in which two texts are the same when a person would call them so."""
    if text.isascii():
        return _BLANK.sub(" ", text).lower()
    folded = unicodedata.normalize("NFKC", _SURROGATE.sub("\ufffd", text)).casefold()
    if _MAYBE_ACCENTED.search(folded):
        folded = _ACCENT.sub("", unicodedata.normalize("NFD", folded))
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", folded))
    return _BLANK.sub(" ", folded)


def search_terms(query: str) -> list[str]:
    """What a query asks for, folded: words, and phrases between quotation marks. All must be found."""
    found = (phrase.strip() or word for phrase, word in _TERM.findall(fold(query[:_MAX_QUERY])))
    return list(dict.fromkeys(term for term in found if term))[:MAX_TERMS]
