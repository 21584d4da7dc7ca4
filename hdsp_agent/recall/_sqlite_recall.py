"""The index in ``state.db``: words are found by SQLite's FTS5, or by looking through the newest passages where it has none."""

from __future__ import annotations

import heapq
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..persistence import SqlConnection, bounded, fold, full_text_search, storable
from ._concepts import passage_concepts
from ._dialect import KeywordMatches, Phrase, PreparedPassage, RecallDialect, SourceFilter, listed
from ._records import RecallSource
from ._word_choice import CONCEPT_WEIGHT, MOST_COUNTED, MOST_KEPT, MOST_TITLES, MOST_TITLES_COUNTED, choose
from ._words import EVERY_PASSAGE, QueryWords, indexed_words

if TYPE_CHECKING:
    from ._dialect import Floats

__all__ = ["SqliteRecall"]

_MOST_SCANNED: Final = 50_000


class SqliteRecall(RecallDialect):
    """See ``RecallDialect`` for what it does."""

    joined = "CROSS JOIN"
    numbers = "json_each(?)"
    texts = "json_each(?)"
    by_time = "INDEXED BY recall_passages_by_ts"
    vector = "known.vector"
    dimensions = "length(known.vector) / 4"

    def find_words(self, connection: SqlConnection, words: QueryWords, chosen: SourceFilter) -> KeywordMatches:
        if not words.phrases:
            return KeywordMatches({}, {}, {})
        if not full_text_search():
            return _scan(connection, words, chosen)
        phrases = (*words.phrases, *((concept,) for concept in words.concepts))
        counts = {phrase: _count(connection, phrase) for phrase in phrases}
        rows = connection.execute(
            f"""
            SELECT p.row, -bm25(recall_words, 1.0, {CONCEPT_WEIGHT}) FROM recall_words
            CROSS JOIN recall_passages AS p ON p.row = recall_words.rowid
            CROSS JOIN recall_sources AS s ON s.row = p.source
            WHERE recall_words MATCH ? AND {chosen.sql} ORDER BY recall_words.rowid DESC LIMIT ?
            """,  # noqa: S608 - made of this module's own words; what came from outside is bound
            (_expression(counts), *chosen.values, MOST_COUNTED),
        )
        best = heapq.nlargest(MOST_KEPT, rows, key=lambda row: row[1])
        total = connection.execute("SELECT max(row) FROM recall_passages").fetchone()[0] or 0
        rarity = {phrase: math.log(1 + total / count) for phrase, count in counts.items() if count}
        return KeywordMatches(dict(best), _find_titles(connection, words.phrases, chosen), rarity)

    def read_words(self, connection: SqlConnection, rows: Sequence[int]) -> dict[int, tuple[str, str]]:
        if not full_text_search():
            texts = connection.execute(
                "SELECT row, text FROM recall_texts WHERE row IN (SELECT value FROM json_each(?))", (listed(rows),)
            )
            return {row: (" ".join(indexed_words(text)), " ".join(passage_concepts(text))) for row, text in texts}
        found = connection.execute(
            """
            SELECT words.rowid, words.words, words.concepts FROM json_each(?) AS wanted
            CROSS JOIN recall_words AS words ON words.rowid = wanted.value
            """,
            (listed(rows),),
        )
        return {row: (words, concepts) for row, words, concepts in found}

    def put_source(
        self,
        connection: SqlConnection,
        source: RecallSource,
        prepared: Sequence[PreparedPassage],
        version: str,
        known: int | None,
    ) -> None:
        assert isinstance(connection, sqlite3.Connection)
        vectors: dict[str, list[tuple[int, bytes]]] = {}
        if known is not None:
            vectors = _vectors_by_text(connection, known)
            self.remove_sources(connection, [known])
        workspace = None if source.workspace is None else storable(source.workspace)
        key = (storable(source.owner), source.kind, storable(source.id))
        row = connection.execute(
            "INSERT INTO recall_sources (owner, kind, id, version, title, workspace, stays_here) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*key, storable(version), storable(source.title), workspace, source.stays_here),
        ).lastrowid
        indexed = full_text_search()
        if indexed:
            title = " ".join(indexed_words(source.title))
            connection.execute("INSERT INTO recall_titles (rowid, words, concepts) VALUES (?, ?, '')", (row, title))
        for passage, words, concepts in prepared:
            number = connection.execute(
                "INSERT INTO recall_passages (source, ts, author) VALUES (?, ?, ?)",
                (row, bounded(passage.ts), passage.author),
            ).lastrowid
            connection.execute(
                "INSERT INTO recall_texts VALUES (?, ?, ?)", (number, storable(passage.place), storable(passage.text))
            )
            if indexed:
                connection.execute(
                    "INSERT INTO recall_words (rowid, words, concepts) VALUES (?, ?, ?)", (number, words, concepts)
                )
            # A conversation that goes on is put again with what it had, and making vectors costs most.
            connection.executemany(
                "INSERT INTO recall_vectors (row, model, vector) VALUES (?, ?, ?)",
                [(number, model, vector) for model, vector in vectors.get(storable(passage.text), ())],
            )

    def remove_sources(self, connection: SqlConnection, rows: Sequence[int]) -> None:
        for source in rows:
            of_passages = "(SELECT row FROM recall_passages WHERE source = ?)"
            if full_text_search():
                connection.execute(f"DELETE FROM recall_words WHERE rowid IN {of_passages}", (source,))  # noqa: S608 - as above
                connection.execute("DELETE FROM recall_titles WHERE rowid = ?", (source,))
            for table in ("recall_texts", "recall_vectors"):
                connection.execute(f"DELETE FROM {table} WHERE row IN {of_passages}", (source,))  # noqa: S608 - as above
            connection.execute("DELETE FROM recall_passages WHERE source = ?", (source,))
            connection.execute("DELETE FROM recall_sources WHERE row = ?", (source,))

    def use_model(self, connection: SqlConnection, name: str, used: int) -> None:
        connection.execute(
            "INSERT INTO recall_models (name, used) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET used = excluded.used",
            (name, used),
        )

    def put_vectors(self, connection: SqlConnection, model: int, vectors: Iterable[tuple[int, Floats]]) -> None:
        connection.executemany(
            """
            INSERT OR IGNORE INTO recall_vectors (row, model, vector)
            SELECT row, ?, ? FROM recall_passages WHERE row = ?
            """,
            [(model, vector.tobytes(), row) for row, vector in vectors],
        )

    def vector_bytes(self, vector: bytes) -> bytes:
        return vector


def _find_titles(connection: SqlConnection, phrases: Sequence[Phrase], chosen: SourceFilter) -> dict[int, float]:
    rows = connection.execute(
        f"""
        SELECT s.row, -bm25(recall_titles) FROM recall_titles
        CROSS JOIN recall_sources AS s ON s.row = recall_titles.rowid
        CROSS JOIN recall_passages AS p ON p.row = (SELECT min(row) FROM recall_passages WHERE source = s.row)
        WHERE recall_titles MATCH ? AND {chosen.sql} ORDER BY recall_titles.rowid DESC LIMIT ?
        """,  # noqa: S608 - as above
        (_any(phrases), *chosen.values, MOST_TITLES_COUNTED),
    )
    return dict(heapq.nlargest(MOST_TITLES, rows, key=lambda row: row[1]))


def _expression(counts: Mapping[Phrase, int]) -> str:
    """What to match. Every passage has one of its last words: those only count."""
    chosen = choose(counts)
    found = _any(chosen.either) or " AND ".join(map(_quoted, chosen.together)) or _quoted(next(iter(counts)))
    return f"({found}) AND ({_any([(EVERY_PASSAGE,), *chosen.others])})"


def _count(connection: SqlConnection, phrase: Phrase) -> int:
    """How many passages have a phrase, counted no further than matters."""
    found = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM recall_words WHERE recall_words MATCH ? LIMIT ?)",
        (_quoted(phrase), MOST_COUNTED + 1),
    ).fetchone()
    return int(found[0])


def _any(phrases: Iterable[Phrase]) -> str:
    return " OR ".join(map(_quoted, phrases))


def _quoted(phrase: Phrase) -> str:
    return '"' + " ".join(phrase) + '"'


def _scan(connection: SqlConnection, words: QueryWords, chosen: SourceFilter) -> KeywordMatches:
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
    return KeywordMatches(dict(heapq.nlargest(MOST_KEPT, scores.items(), key=lambda item: item[1])), {}, rarity)


def _vectors_by_text(connection: SqlConnection, source: int) -> dict[str, list[tuple[int, bytes]]]:
    found = connection.execute(
        """
        SELECT texts.text, known.model, known.vector FROM recall_passages AS p
        CROSS JOIN recall_texts AS texts ON texts.row = p.row CROSS JOIN recall_vectors AS known ON known.row = p.row
        WHERE p.source = ?
        """,
        (source,),
    )
    vectors: dict[str, dict[int, bytes]] = {}
    for text, model, vector in found:
        vectors.setdefault(text, {})[model] = vector
    return {text: list(by_model.items()) for text, by_model in vectors.items()}
