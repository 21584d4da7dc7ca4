"""Text as words that the index compares. Languages without spaces, and Korean with its particles, are cut into pairs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ..persistence import fold
from ._concepts import concepts_of

__all__ = ["COMMON_WORDS", "EVERY_PASSAGE", "QueryWords", "indexed_words", "query_words"]

EVERY_PASSAGE: Final = "\ue000"
"""A word that every passage has and nobody can ask for."""

_MAX_QUERY: Final = 2_000
_MAX_WORDS: Final = 40
_MAX_WORD: Final = 64

# One run of one script: what is written together in two scripts, such as a column's name and a particle, is two words.
_RUN: Final = re.compile(
    "(?P<hangul>[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]+)"
    "|(?P<unspaced>[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+)"
    "|(?P<word>[^\\W_\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3131-\u318e\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003134f]+)"
)
_CAMEL_WORD: Final = re.compile(r"\b[A-Za-z][a-z0-9]*[A-Z][A-Za-z0-9]*\b", re.ASCII)
_CAMEL_PART: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HIRAGANA: Final = re.compile("[\u3040-\u309f]+")
_QUOTED: Final = re.compile(r'"([^"]{2,})"|“([^”]{2,})”|「([^」]{2,})」|`([^`]{2,})`')
# A path, a file, a column, a setting: words joined by something else than a space.
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9]+(?:[_./\\-]+[A-Za-z0-9]+)+")

_STOP_WORDS: Final = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "done",
        "don",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "get",
        "got",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "him",
        "his",
        "how",
        "i",
        "if",
        "im",
        "in",
        "into",
        "is",
        "it",
        "its",
        "ive",
        "just",
        "kind",
        "let",
        "like",
        "made",
        "make",
        "many",
        "me",
        "might",
        "more",
        "most",
        "much",
        "must",
        "my",
        "no",
        "nor",
        "not",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "own",
        "please",
        "s",
        "same",
        "shall",
        "she",
        "should",
        "so",
        "some",
        "such",
        "t",
        "tell",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "us",
        "use",
        "used",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
_STOP_PAIRS: Final = frozenset(
    [
        "니다",
        "습니",
        "합니",
        "입니",
        "했습",
        "있습",
        "었습",
        "었던",
        "했던",
        "하던",
        "하는",
        "한다",
        "하고",
        "하기",
        "하게",
        "해서",
        "해야",
        "되는",
        "된다",
        "에서",
        "에는",
        "으로",
        "로는",
        "이란",
        "라고",
        "다고",
        "어떤",
        "어떻",
        "떻게",
        "무엇",
        "뭐였",
        "뭐지",
        "였지",
        "었지",
        "했지",
        "였더",
        "더라",
        "인가",
        "는가",
        "나요",
        "까요",
        "을까",
        "가요",
        "어요",
        "아요",
        "예요",
        "이에",
        "에요",
        "세요",
        "해요",
        "였어",
        "했어",
        "있는",
        "있던",
        "있었",
        "그때",
        "우리",
        "내가",
        "제가",
        "언제",
        "어디",
        "누가",
        "누구",
        "왜요",
        "것은",
        "것을",
        "거야",
        "거지",
        "거였",
        "주세",
        "줘요",
        "알려",
        "려줘",
        "했나",
        "했더",
        "하기로",
        "기로",
        "로",
        "를",
        "을",
        "은",
        "는",
        "이",
        "가",
        "의",
        "에",
        "도",
        "만",
    ]
)
COMMON_WORDS: Final = _STOP_WORDS | _STOP_PAIRS
"""What says nothing about a text's subject."""
_STOP_KANJI: Final = frozenset(("何", "誰", "私", "我", "我々", "時", "事", "今", "度"))


@dataclass(frozen=True)
class QueryWords:
    """Each alternative is one phrase of indexed words; ``shown`` are the folded words that a snippet marks."""

    phrases: tuple[tuple[str, ...], ...]
    concepts: tuple[str, ...]
    shown: tuple[str, ...]


def indexed_words(text: str) -> list[str]:
    """The words by which a passage is found, in their order."""
    words: list[str] = []
    for kind, run in _runs(_CAMEL_WORD.sub(_with_parts, text)):
        if kind == "word":
            words.append(run[:_MAX_WORD])
        else:
            words += _pairs(run)
    return words


def query_words(text: str) -> QueryWords:
    """What to look for; common words only if there are no others."""
    asked = text[:_MAX_QUERY]
    phrases: dict[tuple[str, ...], None] = {}
    for part in itertools.chain.from_iterable(_QUOTED.findall(asked)):
        _add(phrases, indexed_words(part))
    for part in _IDENTIFIER.findall(asked):
        _add(phrases, [run for _, run in _runs(part)])
    for part in _CAMEL_WORD.findall(asked):
        _add(phrases, [run for _, run in _runs(_parted(part))])
    runs = list(_runs(asked))
    chosen = [word for kind, run in runs for word in _asked(kind, run)]
    for word in chosen or [
        word for kind, run in runs for word in (_pairs(run) if kind != "word" else [run[:_MAX_WORD]])
    ]:
        _add(phrases, [word])
    return QueryWords(tuple(phrases)[:_MAX_WORDS], tuple(concepts_of(asked)), tuple(_shown(asked, runs)))


def _runs(text: str) -> Iterator[tuple[str, str]]:
    for match in _RUN.finditer(fold(text)):
        yield str(match.lastgroup), match.group()


def _with_parts(word: re.Match[str]) -> str:
    return f"{word.group()} {_parted(word.group())}"


def _parted(word: str) -> str:
    """A word in parts, where its case changes: ``customerId`` is found as ``customer_id`` too."""
    return _CAMEL_PART.sub(" ", word)


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [first + second for first, second in itertools.pairwise(run)]


def _asked(kind: str, run: str) -> Iterable[str]:
    if kind == "word":
        return () if run in _STOP_WORDS or (len(run) == 1 and not run.isdigit()) else (run[:_MAX_WORD],)
    if kind == "hangul":
        return (pair for pair in _pairs(run) if pair not in _STOP_PAIRS)
    return (pair for pair in _pairs(run) if not _HIRAGANA.fullmatch(pair) and pair not in _STOP_KANJI)


def _add(phrases: dict[tuple[str, ...], None], words: list[str]) -> None:
    if words:
        phrases[tuple(words[:_MAX_WORDS])] = None


def _shown(asked: str, runs: list[tuple[str, str]]) -> Iterator[str]:
    for groups in _QUOTED.findall(asked):
        yield from (fold(part).strip() for part in groups if part.strip())
    yield from (fold(part) for part in _IDENTIFIER.findall(asked))
    for kind, run in runs:
        if kind != "word" or (run not in _STOP_WORDS and len(run) > 1):
            yield run
