"""In which passages of a source a word is, and how often: what ``recall_postings`` keeps of each word."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ._dialect import Phrase, PreparedPassage
from ._porter import stem
from ._words import EVERY_PASSAGE

__all__ = ["IndexedSource", "count_phrase", "index_source", "passages_in", "unpack"]

_ENTRY: Final = struct.Struct("<IH")
_MOST_TIMES: Final = 0xFFFF


@dataclass(frozen=True)
class IndexedSource:
    """The words of a source's passages, packed, and how many words each passage has."""

    words: Mapping[str, bytes]
    lengths: Sequence[int]


def index_source(prepared: Sequence[PreparedPassage]) -> IndexedSource:
    """What is kept of these passages, which get the numbers after their source's."""
    words: dict[str, bytearray] = {}
    lengths = []
    for offset, (_, said, concepts) in enumerate(prepared, 1):
        found = [*map(stem, said.split()), *concepts.split()]
        lengths.append(len(found))
        for word, times in Counter(found).items():
            if word != EVERY_PASSAGE:
                words.setdefault(word, bytearray()).extend(_ENTRY.pack(offset, min(times, _MOST_TIMES)))
    return IndexedSource({word: bytes(entries) for word, entries in sorted(words.items())}, lengths)


def unpack(source: int, found: bytes) -> Iterable[tuple[int, int]]:
    """The numbers of the passages, and how often each has the word."""
    return ((source + offset, times) for offset, times in _ENTRY.iter_unpack(found))


def passages_in(found: bytes) -> int:
    """How many passages have the word."""
    return len(found) // _ENTRY.size


def count_phrase(phrase: Phrase, words: Sequence[str]) -> int:
    """How often these stems stand beside each other."""
    count, length = 0, len(phrase)
    for at, word in enumerate(words):
        if word == phrase[0] and tuple(words[at : at + length]) == phrase:
            count += 1
    return count
