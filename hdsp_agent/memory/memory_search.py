"""Finding something in what is remembered: the passages that share most with the words asked for."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..persistence import fold
from .note_text import Note

__all__ = ["MemoryHit", "MemoryPassage", "passages_of", "ranked"]

_WORD: Final = re.compile(r"[^\W_]+")
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_HEADING: Final = re.compile(r"#+ ")
_LONGEST: Final = 1_200
"""Characters of a passage; a longer section is several."""
_STOP_WORDS: Final = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "how",
        "i",
        "in",
        "is",
        "it",
        "its",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "that",
        "the",
        "their",
        "this",
        "to",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "you",
        "your",
    ]
)


@dataclass(frozen=True)
class MemoryPassage:
    """A part of a memory file."""

    path: str
    """The file's name, or whose notes it is of."""
    line: int
    """Where it begins, counted from 1."""
    heading: str
    text: str
    note: Note | None = None
    """The note that it is."""


@dataclass(frozen=True)
class MemoryHit:
    """A passage that was found, and how well it suits."""

    passage: MemoryPassage
    score: float


def passages_of(path: str, text: str) -> Iterator[MemoryPassage]:
    """The sections of a Markdown file, long ones in pieces."""
    heading, begin, lines, size = "", 1, list[str](), 0
    for number, line in enumerate(text.split("\n"), 1):
        is_heading = _HEADING.match(line) is not None
        if lines and (is_heading or size > _LONGEST):
            yield from _passage(path, begin, heading, lines)
            lines, size = [], 0
        if not lines:
            begin = number
        if is_heading:
            heading = line.lstrip("#").strip()
        lines.append(line)
        size += len(line)
    if lines:
        yield from _passage(path, begin, heading, lines)


def ranked(passages: Iterable[MemoryPassage], query: str, limit: int) -> list[MemoryHit]:
    """The passages that have most of the query's words; rare words count more. Blocks."""
    wanted = set(_terms(query))
    if not wanted:
        return []
    found = [(passage, Counter(_terms(f"{passage.heading}\n{passage.text}"))) for passage in passages]
    rarity = {term: math.log(1 + len(found) / (1 + sum(term in counts for _, counts in found))) for term in wanted}
    hits = [
        MemoryHit(passage, sum(rarity[term] * (1 + math.log(counts[term])) for term in wanted if counts[term]))
        for passage, counts in found
    ]
    hits = [hit for hit in hits if hit.score > 0]
    hits.sort(key=lambda hit: (-hit.score, hit.passage.path, hit.passage.line))
    return hits[:limit]


def _passage(path: str, begin: int, heading: str, lines: Sequence[str]) -> Iterator[MemoryPassage]:
    text = "\n".join(lines).strip()
    if text and not (len(lines) == 1 and _HEADING.match(text)):
        yield MemoryPassage(path, begin, heading, text)


def _terms(text: str) -> Iterator[str]:
    """Words, names in their parts, and pairs of characters of languages that are written without spaces."""
    for word in _WORD.findall(fold(text)):
        if _CJK.search(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in _STOP_WORDS:
            yield word[:-1] if len(word) > 3 and word.endswith("s") else word
