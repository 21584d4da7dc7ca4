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

_ENGLISH_STOP_WORDS: Final = """
a about after all also am an and any are as at be because been before being between both but by can could did do does
doing don done down during each few for from get got had has have having he her here him his how i if im in into is it
its ive just kind let like made make many me might more most much must my no nor not of off on once only or other our
out over own please s same shall she should so some such t tell than that the their them then there these they this
those through to too under until up us use used very was we were what when where which while who whom whose why will
with would you your
"""
_KOREAN_STOP_PAIRS: Final = """
가 가요 거야 거였 거지 것은 것을 그때 기로 까요 나요 내가 누가 누구 는 는가 니다 다고 더라 도 되는 된다 떻게 라고 려줘 로 로는 를 만 무엇 뭐였 뭐지 세요 습니 아요 알려 어디 어떤 어떻 어요 언제
었던 었습 었지 에 에는 에서 에요 였더 였어 였지 예요 왜요 우리 으로 은 을 을까 의 이 이란 이에 인가 입니 있는 있던 있습 있었 제가 주세 줘요 하게 하고 하기 하기로 하는 하던 한다 합니 해서 해야 해요
했나 했더 했던 했습 했어 했지
"""
_STOP_WORDS: Final = frozenset(_ENGLISH_STOP_WORDS.split())
_STOP_PAIRS: Final = frozenset(_KOREAN_STOP_PAIRS.split())
COMMON_WORDS: Final = _STOP_WORDS | _STOP_PAIRS
"""What says nothing about a text's subject."""
_STOP_KANJI: Final = frozenset("何誰私")


@dataclass(frozen=True)
class QueryWords:
    """Each alternative is one phrase of indexed words; ``shown`` are the folded words that a snippet marks."""

    phrases: tuple[tuple[str, ...], ...]
    concepts: tuple[str, ...]
    shown: tuple[str, ...]
    says_nothing: bool
    """Whether there are only words that every text has."""


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
    return QueryWords(tuple(phrases)[:_MAX_WORDS], tuple(concepts_of(asked)), tuple(_shown(asked, runs)), not chosen)


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
        # One syllable is a particle, or a word that every text has.
        return (pair for pair in _pairs(run) if len(pair) > 1 and pair not in _STOP_PAIRS)
    return (pair for pair in _pairs(run) if not _HIRAGANA.fullmatch(pair) and _STOP_KANJI.isdisjoint(pair))


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
