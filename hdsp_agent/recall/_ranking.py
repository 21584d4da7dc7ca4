"""The order of what was found. Pure: nothing here knows the database.

A passage stands the higher, the better it matches by itself, the better those beside it do, and the more its source has
of it. The shares were chosen on LoCoMo, BEAM and our tuned probes; ``benchmarks/recall.py`` has held-out ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ._concepts import TELLING_CONCEPTS
from ._dialect import PassageCandidate

__all__ = [
    "RankedPassage",
    "RankingSignals",
    "Statement",
    "compared_with_each_other",
    "neighbours",
    "rank_passages",
    "updates_first",
]

_NEIGHBOURS: Final = ((-1, 0.3), (1, 0.3), (-2, 0.15), (2, 0.15))
"""What a question and its answer lend each other."""
_SOURCE_SHARE: Final = 0.5
_SOURCE_DECAY: Final = 0.7
_MOST_OF_A_SOURCE: Final = 20
_TITLE_SHARE: Final = 0.3
_MEANING_SHARE: Final = 0.5
_AGENT_SHARE: Final = 0.6
"""What people look for is mostly what they said, decided or were asked for; agents write more words about it."""
_IN_PERIOD: Final = 0.5
_NEWER: Final = 0.01

_QUESTION_SHARE: Final = 0.85
"""A question answers no other."""
_TELLING_SHARE: Final = 0.3
_SAME_QUESTION: Final = 0.8
_ALIKE: Final = 0.5
_SAME_QUESTION_IF_CHANGED: Final = 0.4
_ALIKE_IF_CHANGED: Final = 0.25
"""Two passages are about one thing if they share so much of what was asked and so much else; a change need not repeat all."""


@dataclass(frozen=True)
class RankingSignals:
    """What speaks for passages: shared words, shared meaning, the titles of their sources, and the time that was named."""

    words: Mapping[int, float]
    meaning: Mapping[int, float]
    titles: Mapping[int, float]
    period: tuple[int, int] | None = None


@dataclass(frozen=True)
class RankedPassage:
    """A passage and how much speaks for it."""

    candidate: PassageCandidate
    score: float


def neighbours(row: int) -> tuple[int, int]:
    """The numbers of the passages right beside one; whether they are of the same source is not said."""
    return row - 1, row + 1


def rank_passages(candidates: Mapping[int, PassageCandidate], signals: RankingSignals) -> list[RankedPassage]:
    """All candidates, the best first."""
    words = _Signal(candidates, _scaled(signals.words))
    meaning = _Signal(candidates, _scaled(signals.meaning))
    titles = _scaled(signals.titles)
    newest = sorted({candidate.ts for candidate in candidates.values()})
    age = {ts: place / len(newest) for place, ts in enumerate(newest, 1)}
    ranked = []
    for candidate in candidates.values():
        own = words.of(candidate) + _MEANING_SHARE * meaning.of(candidate)
        if own <= 0 and candidate.source not in titles:
            continue  # it only has the number beside that of a match in another source
        score = own * _share(candidate)
        score += _SOURCE_SHARE * (words.of_source(candidate) + _MEANING_SHARE * meaning.of_source(candidate))
        score += _TITLE_SHARE * titles.get(candidate.source, 0.0)
        if signals.period and signals.period[0] <= candidate.ts < signals.period[1]:
            score += _IN_PERIOD
        ranked.append(RankedPassage(candidate, score + _NEWER * age[candidate.ts]))
    return sorted(ranked, key=lambda one: (-one.score, -one.candidate.row))


@dataclass(frozen=True)
class Statement:
    """What a passage is about: its words and concepts, whether it sounds as if it changed something, or only asks."""

    about: frozenset[str]
    changes: bool
    asks: bool


def compared_with_each_other(
    ranked: Sequence[RankedPassage], statements: Mapping[int, Statement], weights: Mapping[str, float]
) -> list[RankedPassage]:
    """Put first what says something of the question that the others do not, among the passages whose statements are given.

    In conversations about one thing everything names that thing; what was asked about it is in a few passages only.
    """
    telling = {
        word: weight * math.log(len(statements) / having)
        for word, weight in weights.items()
        if (having := sum(word in one.about for one in statements.values()))
    }
    said = _scaled({row: sum(telling.get(word, 0.0) for word in one.about) for row, one in statements.items()})
    highest = max((one.score for one in ranked), default=0.0)
    compared = []
    for one in ranked:
        row = one.candidate.row
        score = one.score + _TELLING_SHARE * highest * said.get(row, 0.0) * _share(one.candidate)
        if row in statements and statements[row].asks:
            score *= _QUESTION_SHARE
        compared.append(RankedPassage(one.candidate, score))
    return sorted(compared, key=lambda one: (-one.score, -one.candidate.row))


def updates_first(
    ranked: Sequence[RankedPassage], statements: Mapping[int, Statement], weights: Mapping[str, float]
) -> list[RankedPassage]:
    """Let what is newer change places with what it brings up to date, among the passages whose statements are given.

    ``weights`` are the words of the question and how rare each is: only what both say about those is compared.
    """
    order = [one.candidate for one in ranked]
    place = 0
    while place < len(order) and order[place].row in statements:
        newer = [
            other
            for other in order[place + 1 :]
            if other.row in statements and _updates(other, order[place], statements, weights)
        ]
        if newer:
            newest = max(newer, key=lambda other: other.ts)
            order.remove(newest)
            order.insert(place, newest)
            place += 1
        place += 1
    # The scores stay where they were, so that they go on falling.
    return [RankedPassage(candidate, one.score) for candidate, one in zip(order, ranked, strict=True)]


def _share(candidate: PassageCandidate) -> float:
    return _AGENT_SHARE if candidate.author == "agent" else 1.0


def _updates(
    newer: PassageCandidate,
    older: PassageCandidate,
    statements: Mapping[int, Statement],
    weights: Mapping[str, float],
) -> bool:
    if newer.ts <= older.ts or newer.author == "agent":
        return False
    new, old = statements[newer.row], statements[older.row]
    asked = sum(weights.get(word, 0.0) for word in old.about)
    shared = sum(weights.get(word, 0.0) for word in old.about & new.about)
    if not asked or not _about_the_same(old.about, new.about, frozenset(weights)):
        return False
    alike = len(old.about & new.about) / max(1, min(len(old.about), len(new.about)))
    if new.changes:
        return shared >= _SAME_QUESTION_IF_CHANGED * asked and alike >= _ALIKE_IF_CHANGED
    return shared >= _SAME_QUESTION * asked and alike >= _ALIKE


def _about_the_same(old: frozenset[str], new: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether both are about a concept that was asked for, if one of them is about any."""
    concepts = TELLING_CONCEPTS & asked & (old | new)
    return not concepts or bool(concepts & old & new)


class _Signal:
    """One kind of score, as it spreads to passages beside it and to its source."""

    def __init__(self, candidates: Mapping[int, PassageCandidate], scores: Mapping[int, float]) -> None:
        self._candidates = candidates
        self._scores = scores
        by_source: dict[int, list[float]] = {}
        for row, score in scores.items():
            if row in candidates:
                by_source.setdefault(candidates[row].source, []).append(score)
        self._sources = _scaled({source: _together(found) for source, found in by_source.items()})

    def of(self, candidate: PassageCandidate) -> float:
        score = self._scores.get(candidate.row, 0.0)
        for step, share in _NEIGHBOURS:
            beside = self._candidates.get(candidate.row + step)
            if beside is not None and beside.source == candidate.source:
                score += share * self._scores.get(beside.row, 0.0)
        return score

    def of_source(self, candidate: PassageCandidate) -> float:
        return self._sources.get(candidate.source, 0.0)


def _together(scores: list[float]) -> float:
    """Many passages say more than one, but a long conversation does not win by its length."""
    best = islice(sorted(scores, reverse=True), _MOST_OF_A_SOURCE)
    return sum(score * _SOURCE_DECAY**place for place, score in enumerate(best))


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    highest = max(scores.values(), default=0.0)
    return {row: score / highest for row, score in scores.items()} if highest > 0 else dict(scores)
