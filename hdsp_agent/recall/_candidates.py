"""The passages that have words of a question, with their bm25 score: few enough to be ranked in Python.

A word that thousands of passages have finds nothing by itself; it only counts in passages that have a rarer one.
"""

from __future__ import annotations

import heapq
import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..persistence import bounded, fold, full_text_search, storable
from ._records import PassageAuthor, RecallQuery
from ._words import EVERY_PASSAGE, QueryWords

__all__ = [
    "KeywordMatches",
    "PassageCandidate",
    "Phrase",
    "SourceFilter",
    "filter_of",
    "find_period",
    "find_words",
    "first_passages",
    "load_candidates",
]

_MOST_COUNTED: Final = 2_000
"""Passages looked at for one search: what fits into a few milliseconds."""
_MOST_COMMON: Final = 5
"""Words beyond those that may find passages: they say little and cost most."""
_MOST_KEPT: Final = 150
_CONCEPT_WEIGHT: Final = 1.5
_MOST_TITLES: Final = 50
_MOST_TITLES_COUNTED: Final = 500
_MOST_SCANNED: Final = 50_000

Phrase = tuple[str, ...]
"""Words that stand beside each other."""


@dataclass(frozen=True)
class PassageCandidate:
    """A passage as ranking sees it: where it belongs, when and by whom it was written."""

    row: int
    source: int
    ts: int
    author: PassageAuthor | None


@dataclass(frozen=True)
class KeywordMatches:
    """Passages and titles of sources with their scores, the higher the better, and how rare each phrase is."""

    passages: Mapping[int, float]
    titles: Mapping[int, float]
    rarity: Mapping[Phrase, float]


@dataclass(frozen=True)
class SourceFilter:
    """A condition on ``recall_passages AS p`` joined with ``recall_sources AS s``, and its values."""

    sql: str
    values: tuple[str | int, ...]


def filter_of(query: RecallQuery) -> SourceFilter:
    """What a query may see. Its owner is always part of it."""
    wanted: list[tuple[str, tuple[str | int, ...]]] = [("s.owner = ?", (storable(query.owner),))]
    if query.kinds is not None:
        wanted.append(("s.kind IN (SELECT value FROM json_each(?))", (json.dumps(sorted(query.kinds)),)))
    if query.workspace is not None:
        wanted.append(("s.workspace = ?", (storable(query.workspace),)))
    if query.sources is not None:
        ids = json.dumps([storable(one) for one in sorted(query.sources)])
        wanted.append(("s.id IN (SELECT value FROM json_each(?))", (ids,)))
    if query.since is not None:
        wanted.append(("p.ts >= ?", (bounded(query.since),)))
    if query.until is not None:
        wanted.append(("p.ts < ?", (bounded(query.until),)))
    return SourceFilter(
        " AND ".join(sql for sql, _ in wanted), tuple(value for _, values in wanted for value in values)
    )


def find_words(connection: sqlite3.Connection, words: QueryWords, chosen: SourceFilter) -> KeywordMatches:
    """The best passages and titles by words alone."""
    if not words.phrases:
        return KeywordMatches({}, {}, {})
    if not full_text_search():
        return _scan(connection, words, chosen)
    phrases = (*words.phrases, *((concept,) for concept in words.concepts))
    counts = {phrase: _count(connection, phrase) for phrase in phrases}
    expression = _expression(counts)
    rows = connection.execute(
        f"""
        SELECT p.row, -bm25(recall_words, 1.0, {_CONCEPT_WEIGHT}) FROM recall_words
        CROSS JOIN recall_passages AS p ON p.row = recall_words.rowid
        CROSS JOIN recall_sources AS s ON s.row = p.source
        WHERE recall_words MATCH ? AND {chosen.sql} ORDER BY recall_words.rowid DESC LIMIT ?
        """,  # noqa: S608 - made of this module's own words; what came from outside is bound
        (expression, *chosen.values, _MOST_COUNTED),
    )
    best = heapq.nlargest(_MOST_KEPT, rows, key=lambda row: row[1])
    total = connection.execute("SELECT max(row) FROM recall_passages").fetchone()[0] or 0
    rarity = {phrase: math.log(1 + total / count) for phrase, count in counts.items() if count}
    return KeywordMatches(dict(best), _find_titles(connection, words.phrases, chosen), rarity)


def load_candidates(
    connection: sqlite3.Connection, rows: Iterable[int], chosen: SourceFilter
) -> dict[int, PassageCandidate]:
    """Those of the passages that are there and may be seen."""
    found = connection.execute(
        f"""
        SELECT p.row, p.source, p.ts, p.author FROM json_each(?) AS wanted
        CROSS JOIN recall_passages AS p ON p.row = wanted.value CROSS JOIN recall_sources AS s ON s.row = p.source
        WHERE {chosen.sql}
        """,  # noqa: S608 - as above
        (json.dumps(list(rows)), *chosen.values),
    )
    return {row: PassageCandidate(row, source, ts, author) for row, source, ts, author in found}


def find_period(connection: sqlite3.Connection, period: tuple[int, int], chosen: SourceFilter) -> KeywordMatches:
    """What was said in a time, the newest first; what people said before what they were answered."""
    rows = connection.execute(
        f"""
        SELECT p.row FROM recall_passages AS p INDEXED BY recall_passages_by_ts
        CROSS JOIN recall_sources AS s ON s.row = p.source
        WHERE p.ts >= ? AND p.ts < ? AND {chosen.sql} ORDER BY p.ts DESC, p.row DESC LIMIT ?
        """,  # noqa: S608 - as above
        (*period, *chosen.values, _MOST_KEPT),
    ).fetchall()
    return KeywordMatches({row: 1 - place / (2 * _MOST_KEPT) for place, (row,) in enumerate(rows)}, {}, {})


def first_passages(connection: sqlite3.Connection, sources: Iterable[int]) -> list[int]:
    """Where each of the sources begins."""
    found = connection.execute(
        "SELECT (SELECT min(row) FROM recall_passages WHERE source = wanted.value) FROM json_each(?) AS wanted",
        (json.dumps(list(sources)),),
    )
    return [row for (row,) in found if row is not None]


def _find_titles(connection: sqlite3.Connection, phrases: Sequence[Phrase], chosen: SourceFilter) -> dict[int, float]:
    rows = connection.execute(
        f"""
        SELECT s.row, -bm25(recall_titles) FROM recall_titles
        CROSS JOIN recall_sources AS s ON s.row = recall_titles.rowid
        CROSS JOIN recall_passages AS p ON p.row = (SELECT min(row) FROM recall_passages WHERE source = s.row)
        WHERE recall_titles MATCH ? AND {chosen.sql} ORDER BY recall_titles.rowid DESC LIMIT ?
        """,  # noqa: S608 - as above
        (" OR ".join(map(_quoted, phrases)), *chosen.values, _MOST_TITLES_COUNTED),
    )
    return dict(heapq.nlargest(_MOST_TITLES, rows, key=lambda row: row[1]))


def _expression(counts: Mapping[Phrase, int]) -> str:
    """What to match: any of the words that are rare enough; the others count where one of those is."""
    known = sorted((phrase for phrase, count in counts.items() if count), key=lambda phrase: counts[phrase])
    needed: list[Phrase] = []
    left = _MOST_COUNTED
    for phrase in known:
        if counts[phrase] <= left:
            needed.append(phrase)
            left -= counts[phrase]
    if not needed:
        # All are common. What has the most of them is found first, and the newest of those.
        together = " AND ".join(map(_quoted, known[:3])) or _quoted(next(iter(counts)))
        return f"({together}) AND ({_any([(EVERY_PASSAGE,), *known[3 : 3 + _MOST_COMMON]])})"
    others = [phrase for phrase in known if phrase not in needed][:_MOST_COMMON]
    return f"({_any(needed)}) AND ({_any([(EVERY_PASSAGE,), *others])})"


def _count(connection: sqlite3.Connection, phrase: Phrase) -> int:
    """How many passages have a phrase, counted no further than matters."""
    found = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM recall_words WHERE recall_words MATCH ? LIMIT ?)",
        (_quoted(phrase), _MOST_COUNTED + 1),
    ).fetchone()
    return int(found[0])


def _any(phrases: Iterable[Phrase]) -> str:
    return " OR ".join(map(_quoted, phrases))


def _quoted(phrase: Phrase) -> str:
    return '"' + " ".join(phrase) + '"'


def _scan(connection: sqlite3.Connection, words: QueryWords, chosen: SourceFilter) -> KeywordMatches:
    """The same without an index: the newest passages looked at one by one, rare words counting more."""
    rows = connection.execute(
        f"""
        SELECT p.row, texts.text FROM recall_passages AS p CROSS JOIN recall_sources AS s ON s.row = p.source
        CROSS JOIN recall_texts AS texts ON texts.row = p.row
        WHERE {chosen.sql} ORDER BY p.row DESC LIMIT ?
        """,  # noqa: S608 - as above
        (*chosen.values, _MOST_SCANNED),
    )
    having: dict[Phrase, list[int]] = {phrase: [] for phrase in words.phrases}
    total = 0
    for row, text in rows:
        total += 1
        folded = fold(text)
        for phrase, found in having.items():
            if all(word in folded for word in phrase):
                found.append(row)
    rarity = {phrase: math.log(1 + total / len(found)) for phrase, found in having.items() if found}
    scores: dict[int, float] = {}
    for phrase, weight in rarity.items():
        for row in having[phrase]:
            scores[row] = scores.get(row, 0.0) + weight
    return KeywordMatches(dict(heapq.nlargest(_MOST_KEPT, scores.items(), key=lambda item: item[1])), {}, rarity)
