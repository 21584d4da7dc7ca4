"""The passages and titles in PostgreSQL that have words of a question, with the bm25 score that SQLite's FTS5 would give them."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..persistence import SqlConnection
from ._bm25 import TextStatistics, bm25
from ._dialect import KeywordMatches, Phrase, RecallDialect, SourceFilter, listed
from ._porter import stem
from ._postings import count_phrase, unpack
from ._word_choice import (
    CONCEPT_WEIGHT,
    MOST_COUNTED,
    MOST_KEPT,
    MOST_TITLES,
    MOST_TITLES_COUNTED,
    WordChoice,
    choose,
)
from ._words import QueryWords, indexed_words

__all__ = ["find_words"]

_SOURCES_AT_ONCE: Final = 1_000

Times = Mapping[int, int]
"""How often each passage has a word or phrase."""


def find_words(
    connection: SqlConnection, dialect: RecallDialect, words: QueryWords, chosen: SourceFilter
) -> KeywordMatches:
    """The best passages and titles by words alone."""
    if not words.phrases:
        return KeywordMatches({}, {}, {})
    return _WordSearch(connection, dialect, words, chosen).matches()


@dataclass(frozen=True)
class _FoundPhrase:
    """The newest passages that have a phrase of several words, and how many have it, as far as that is known."""

    times: Times
    having: int


class _WordSearch:
    """One search. A phrase is looked for by the stems of its words."""

    def __init__(
        self, connection: SqlConnection, dialect: RecallDialect, words: QueryWords, chosen: SourceFilter
    ) -> None:
        self._connection = connection
        self._dialect = dialect
        self._chosen = chosen
        self._phrases = words.phrases
        concepts = [(concept,) for concept in words.concepts]
        self._concepts = frozenset(concepts)
        self._stems = {phrase: tuple(map(stem, phrase)) for phrase in (*words.phrases, *concepts)}
        totals = connection.execute("SELECT passages, words, titles, title_words FROM recall_totals").fetchone()
        passages, all_words, titles, title_words = totals or (0, 0, 0, 0)
        self._statistics = TextStatistics(passages, all_words)
        self._title_statistics = TextStatistics(titles, title_words)
        known = connection.execute(
            f"SELECT word, passages, titles FROM recall_words WHERE word IN (SELECT value FROM {dialect.texts} AS words)",  # noqa: S608 - our own words; what came from outside is bound
            (listed(sorted({word for stems in self._stems.values() for word in stems})),),
        ).fetchall()
        self._having = {word: having for word, having, _ in known}
        self._titles_having = {word: having for word, _, having in known}
        self._found = {phrase: self._find_phrase(stems) for phrase, stems in self._stems.items() if len(stems) > 1}

    def matches(self) -> KeywordMatches:
        having = {phrase: self._count(phrase) for phrase in self._stems}
        counts = {phrase: min(count, MOST_COUNTED + 1) for phrase, count in having.items()}
        rarity = {phrase: math.log(1 + self._statistics.texts / count) for phrase, count in counts.items() if count}
        return KeywordMatches(self._passages(choose(counts), having), self._titles(), rarity)

    def _count(self, phrase: Phrase) -> int:
        found = self._found.get(phrase)
        return self._having.get(self._stems[phrase][0], 0) if found is None else found.having

    # ---- passages

    def _passages(self, choice: WordChoice, having: Mapping[Phrase, int]) -> dict[int, float]:
        times = self._times(choice.either, None)
        if choice.either:
            rows = self._visible({row for found in times.values() for row in found})
        elif choice.together:
            rows = self._having_all(choice.together)
        else:
            return {}
        newest = sorted(rows, reverse=True)[:MOST_COUNTED]
        sources = {rows[row][0] for row in newest}
        times |= self._times([*choice.together, *choice.others], sources)
        weights = {phrase: self._statistics.weight(having[phrase]) for phrase in times}
        every = self._statistics.weight(self._statistics.texts)

        def score(row: int) -> float:
            found = [
                (weights[phrase], passages.get(row, 0) * (CONCEPT_WEIGHT if phrase in self._concepts else 1.0))
                for phrase, passages in times.items()
            ]
            return bm25(self._statistics, rows[row][1], [*found, (every, CONCEPT_WEIGHT)])

        scores = [(row, score(row)) for row in newest]
        return dict(heapq.nlargest(MOST_KEPT, scores, key=lambda one: one[1]))

    def _times(self, phrases: Iterable[Phrase], sources: Collection[int] | None) -> dict[Phrase, Times]:
        """How often passages have each phrase: all that have it, or those of these sources."""
        wanted = list(phrases)
        single = {self._stems[phrase][0] for phrase in wanted if phrase not in self._found}
        postings = self._postings(single, sources) if single else {}
        return {
            phrase: postings.get(self._stems[phrase][0], {})
            if (found := self._found.get(phrase)) is None
            else found.times
            for phrase in wanted
        }

    def _postings(self, words: Collection[str], sources: Collection[int] | None) -> dict[str, dict[int, int]]:
        condition = f"word IN (SELECT value FROM {self._dialect.texts} AS words)"  # noqa: S608 - as above
        values = [listed(sorted(words))]
        if sources is not None:
            condition += f" AND source IN (SELECT value FROM {self._dialect.numbers} AS sources)"  # noqa: S608 - as above
            values.append(listed(sorted(sources)))
        rows = self._connection.execute(f"SELECT word, source, found FROM recall_postings WHERE {condition}", values)  # noqa: S608 - as above
        postings: dict[str, dict[int, int]] = defaultdict(dict)
        for word, source, found in rows:
            postings[word].update(unpack(source, found))
        return postings

    def _visible(self, rows: Collection[int]) -> dict[int, tuple[int, int]]:
        """Those of the passages that may be seen, each with its source and its length."""
        found = self._connection.execute(
            f"""
            SELECT p.row, p.source, p.length FROM {self._dialect.numbers} AS wanted
            JOIN recall_passages AS p ON p.row = wanted.value JOIN recall_sources AS s ON s.row = p.source
            WHERE {self._chosen.sql}
            """,  # noqa: S608 - as above
            (listed(rows), *self._chosen.values),
        )
        return {row: (source, length) for row, source, length in found}

    def _having_all(self, phrases: Sequence[Phrase]) -> dict[int, tuple[int, int]]:
        """The newest of the passages that have all the phrases and may be seen."""
        words = {word for phrase in phrases for word in self._stems[phrase]}
        found = [self._found[phrase].times for phrase in phrases if phrase in self._found]
        rows: dict[int, tuple[int, int]] = {}
        for having, _ in self._together(words):
            rows |= self._visible([row for row in having if all(row in times for times in found)])
            if len(rows) >= MOST_COUNTED:
                break
        return rows

    def _together(self, words: Collection[str]) -> Iterator[tuple[list[int], int]]:
        """The passages that have all these words, from the newest on, and how many with the rarest were looked at for them."""
        rarest, *others = sorted(words, key=lambda word: (self._having.get(word, 0), word))
        columns = "".join(f", other{at}.found" for at in range(len(others)))
        joins = "".join(
            f" JOIN recall_postings AS other{at} ON other{at}.source = rarest.source AND other{at}.word = ?"
            for at in range(len(others))
        )
        before = 2**63 - 1
        while True:
            page = self._connection.execute(
                f"""
                SELECT rarest.source, rarest.found{columns} FROM recall_postings AS rarest{joins}
                WHERE rarest.word = ? AND rarest.source < ? ORDER BY rarest.source DESC LIMIT ?
                """,  # noqa: S608 - as above
                (*others, rarest, before, _SOURCES_AT_ONCE),
            ).fetchall()
            rows: list[int] = []
            looked_at = 0
            for source, *found in page:
                first, *rest = (dict(unpack(source, one)) for one in found)
                looked_at += len(first)
                rows += sorted((row for row in first if all(row in other for other in rest)), reverse=True)
            yield rows, looked_at
            if len(page) < _SOURCES_AT_ONCE:
                return
            before = page[-1][0]

    def _find_phrase(self, stems: Phrase) -> _FoundPhrase:
        """The newest passages in which the words stand beside each other. How many more have them is estimated from those."""
        if not all(self._having.get(word) for word in stems):
            return _FoundPhrase({}, 0)
        times: dict[int, int] = {}
        read = 0
        is_complete = True
        for rows, _ in self._together(set(stems)):
            looked_at = rows[: MOST_COUNTED - read]
            read += len(looked_at)
            for row, (words, _) in self._dialect.read_words(self._connection, looked_at).items():
                if count := count_phrase(stems, [stem(word) for word in words.split()]):
                    times[row] = count
            if read >= MOST_COUNTED:
                is_complete = False
                break
        if is_complete:
            return _FoundPhrase(times, len(times))
        rarest = min(self._having[word] for word in stems)
        return _FoundPhrase(times, max(len(times), rarest * len(times) // read))

    # ---- titles

    def _titles(self) -> dict[int, float]:
        times: dict[int, Counter[str]] = defaultdict(Counter)
        about: dict[int, tuple[int, str]] = {}
        words = sorted(
            {word for phrase in self._phrases for word in self._stems[phrase] if self._titles_having.get(word)}
        )
        rows = self._connection.execute(
            f"""
            SELECT wanted.value, found.source, found.times, found.title_length, found.title
            FROM {self._dialect.texts} AS wanted CROSS JOIN LATERAL (
                SELECT t.source, t.times, s.title_length, s.title FROM recall_titles AS t
                JOIN recall_sources AS s ON s.row = t.source JOIN recall_passages AS p ON p.row = t.source + 1
                WHERE t.word = wanted.value AND {self._chosen.sql} ORDER BY t.source DESC LIMIT ?
            ) AS found
            """,  # noqa: S608 - as above
            (listed(words), *self._chosen.values, MOST_TITLES_COUNTED),
        )
        for word, source, count, length, title in rows:
            times[source][word] = count
            about[source] = length, title
        newest = sorted(times, reverse=True)[:MOST_TITLES_COUNTED]
        found = {source: self._in_title(times[source], about[source][1]) for source in newest}
        having = {
            phrase: self._titles_having.get(self._stems[phrase][0], 0)
            if len(phrase) == 1
            else sum(phrase in phrases for phrases in found.values())
            for phrase in self._phrases
        }
        scores = [
            (
                source,
                bm25(
                    self._title_statistics,
                    about[source][0],
                    [(self._title_statistics.weight(having[phrase]), count) for phrase, count in found[source].items()],
                ),
            )
            for source in newest
            if found[source]
        ]
        return dict(heapq.nlargest(MOST_TITLES, scores, key=lambda one: one[1]))

    def _in_title(self, times: Mapping[str, int], title: str) -> dict[Phrase, int]:
        found = {}
        for phrase in self._phrases:
            stems = self._stems[phrase]
            if len(stems) == 1:
                count = times.get(stems[0], 0)
            elif all(word in times for word in stems):
                count = count_phrase(stems, [stem(word) for word in indexed_words(title)])
            else:
                count = 0
            if count:
                found[phrase] = count
        return found
