"""The index in PostgreSQL, which all servers of a person feed and search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ..persistence import SqlConnection, bounded, storable
from ._dialect import KeywordMatches, PreparedPassage, RecallDialect, SourceFilter, listed
from ._porter import stem
from ._postgres_words import find_words
from ._postings import index_source, passages_in
from ._records import RecallKind, RecallSource
from ._words import QueryWords, indexed_words

if TYPE_CHECKING:
    from ._dialect import Floats

__all__ = ["PostgresRecall"]

_PGVECTOR: Final = """
SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
WHERE extname = 'vector' AND has_schema_privilege(pg_namespace.oid, 'USAGE')"""
"""Finds where the extension is, if it is in this database and may be used."""


@dataclass
class _Change:
    """How many passages and titles there are more, in all and with each word."""

    passages: int = 0
    words: int = 0
    titles: int = 0
    title_words: int = 0
    passages_with: Counter[str] = field(default_factory=Counter)
    titles_with: Counter[str] = field(default_factory=Counter)


class PostgresRecall(RecallDialect):
    """See ``RecallDialect`` for what it does. Whoever writes keeps the person's other servers from writing.

    Conversations are in the database, and so are their passages' for all servers. What memory and notebooks have is in
    files: those of the folder named by ``place`` are put in, taken out and found by the servers of that folder alone.
    """

    is_shared = True
    joined = "JOIN"
    numbers = "(SELECT value::bigint AS value FROM jsonb_array_elements_text(?::jsonb) AS value)"
    texts = "(SELECT value FROM jsonb_array_elements_text(?::jsonb) AS value)"
    by_time = ""
    vector = "array_send(known.vector)"
    dimensions = "cardinality(known.vector)"

    def __init__(self, place: Callable[[], str]) -> None:
        """``place`` may block; it is called in threads."""
        self._place = place

    def visible(self) -> tuple[str, tuple[str, ...]]:
        return "s.place IN ('', ?)", (self._place(),)

    def kept(self, kind: RecallKind) -> tuple[str, tuple[str, ...]]:
        return "place = ?", ("" if kind == "conversation" else self._place(),)

    def find_words(self, connection: SqlConnection, words: QueryWords, chosen: SourceFilter) -> KeywordMatches:
        return find_words(connection, self, words, chosen)

    def read_words(self, connection: SqlConnection, rows: Sequence[int]) -> dict[int, tuple[str, str]]:
        found = connection.execute(
            f"SELECT row, words, concepts FROM recall_texts WHERE row IN (SELECT value FROM {self.numbers} AS wanted)",  # noqa: S608 - our own names
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
        person = _person(connection)
        connection.execute("INSERT INTO recall_totals (person) VALUES (?) ON CONFLICT DO NOTHING", (person,))
        row = int(connection.execute("SELECT newest + 1 FROM recall_totals").fetchone()[0])
        change = _Change()
        if known is not None:
            # Another row of the same name takes its place.
            self._remove_names(connection, [known], change)
        self._insert(connection, person, row, source, prepared, version, change)
        connection.execute("UPDATE recall_totals SET newest = ?", (row + len(prepared),))
        if known is not None:
            # A conversation that goes on is put again with what it had, and making vectors costs most.
            _take_vectors(connection, person, known, row)
            self._remove_passages(connection, [known], change)
        self._count(connection, person, change)

    def remove_sources(self, connection: SqlConnection, rows: Sequence[int]) -> None:
        change = _Change()
        self._remove_names(connection, rows, change)
        self._remove_passages(connection, rows, change)
        self._count(connection, _person(connection), change)

    def use_model(self, connection: SqlConnection, name: str, used: int) -> None:
        connection.execute(
            """
            INSERT INTO recall_models (person, number, name, used)
            SELECT ?, coalesce(max(number), 0) + 1, ?, ? FROM recall_models
            ON CONFLICT (person, name) DO UPDATE SET used = excluded.used
            """,
            (_person(connection), name, used),
        )

    def put_vectors(self, connection: SqlConnection, model: int, vectors: Iterable[tuple[int, Floats]]) -> None:
        import numpy as np

        person = _person(connection)
        newest = connection.execute("SELECT newest_vector FROM recall_totals").fetchone()
        if newest is None:
            return
        rows = [
            (person, number, model, np.nan_to_num(vector).tolist(), row)
            for number, (row, vector) in enumerate(vectors, newest[0] + 1)
        ]
        connection.executemany(
            """
            INSERT INTO recall_vectors (person, number, row, model, vector)
            SELECT ?, ?, p.row, ?, ?::real[] FROM recall_passages AS p WHERE p.row = ? ON CONFLICT DO NOTHING
            """,
            rows,
        )
        connection.execute("UPDATE recall_totals SET newest_vector = newest_vector + ?", (len(rows),))

    def nearest(
        self, connection: SqlConnection, question: Floats, model: int, chosen: SourceFilter, limit: int
    ) -> list[tuple[int, float]] | None:
        # With pgvector, exactly: an index over everybody's vectors would find others' nearest, of which one sees none.
        extension = connection.execute(_PGVECTOR).fetchone()
        if extension is None:
            return None
        (schema,) = extension
        cosine = f"-(known.vector::{schema}.vector OPERATOR({schema}.<#>) ?::real[]::{schema}.vector)"
        found = connection.execute(
            f"""
            SELECT known.row, CASE WHEN {self.dimensions} = ? THEN {cosine} END AS cosine FROM recall_vectors AS known
            JOIN recall_passages AS p ON p.row = known.row JOIN recall_sources AS s ON s.row = p.source
            WHERE known.model = ? AND {chosen.sql} ORDER BY cosine DESC NULLS LAST LIMIT ?
            """,  # noqa: S608 - our own names and the catalogue's; what came from outside is bound
            (len(question), question.tolist(), model, *chosen.values, limit),
        )
        return [(row, cosine) for row, cosine in found if cosine is not None]

    def vector_bytes(self, vector: bytes) -> bytes:
        import numpy as np

        # As PostgreSQL sends an array: twenty bytes about it, then the length of each number and the number.
        return np.frombuffer(vector, ">f4", offset=20)[1::2].astype(np.float32).tobytes()

    def _insert(
        self,
        connection: SqlConnection,
        person: int,
        row: int,
        source: RecallSource,
        prepared: Sequence[PreparedPassage],
        version: str,
        change: _Change,
    ) -> None:
        title = Counter(map(stem, indexed_words(source.title)))
        workspace = None if source.workspace is None else storable(source.workspace)
        _, (place,) = self.kept(source.kind)
        connection.execute(
            """
            INSERT INTO recall_sources
            (person, row, place, owner, kind, id, version, title, title_length, workspace, stays_here)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            (
                person, row, place, storable(source.owner), source.kind, storable(source.id), storable(version),
                storable(source.title), title.total(), workspace, int(source.stays_here),
            ),
        )  # fmt: skip
        connection.execute(
            """
            INSERT INTO recall_titles (person, source, word, times)
            SELECT ?, ?, word, times FROM unnest(?::text[], ?::integer[]) AS one (word, times)
            """,
            (person, row, list(title), list(title.values())),
        )
        indexed = index_source(prepared)
        passages = [passage for passage, _, _ in prepared]
        connection.execute(
            """
            INSERT INTO recall_passages (person, row, source, ts, author, length)
            SELECT ?, ?::bigint + at, ?, ts, author, length
            FROM unnest(?::bigint[], ?::text[], ?::integer[]) WITH ORDINALITY AS one (ts, author, length, at)
            """,
            (person, row, row, [bounded(one.ts) for one in passages], [one.author for one in passages], list(indexed.lengths)),
        )  # fmt: skip
        connection.execute(
            """
            INSERT INTO recall_texts (person, row, place, text, words, concepts)
            SELECT ?, ?::bigint + at, place, text, words, concepts
            FROM unnest(?::text[], ?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS one (place, text, words, concepts, at)
            """,
            (
                person, row, [storable(one.place) for one in passages], [storable(one.text) for one in passages],
                [words for _, words, _ in prepared], [concepts for _, _, concepts in prepared],
            ),
        )  # fmt: skip
        connection.execute(
            """
            INSERT INTO recall_postings (person, source, word, found)
            SELECT ?, ?, word, found FROM unnest(?::text[], ?::bytea[]) AS one (word, found)
            """,
            (person, row, list(indexed.words), list(indexed.words.values())),
        )
        change.titles += 1
        change.title_words += title.total()
        change.titles_with.update(dict.fromkeys(title, 1))
        change.passages += len(passages)
        change.words += sum(indexed.lengths)
        change.passages_with.update({word: passages_in(found) for word, found in indexed.words.items()})

    def _remove_names(self, connection: SqlConnection, sources: Sequence[int], change: _Change) -> None:
        among = f"IN (SELECT value FROM {self.numbers} AS sources)"  # noqa: S608 - our own names
        values = (listed(sources),)
        removed = connection.execute(f"DELETE FROM recall_sources WHERE row {among} RETURNING title_length", values)  # noqa: S608 - as above
        for (length,) in removed.fetchall():
            change.titles -= 1
            change.title_words -= length
        words = connection.execute(f"DELETE FROM recall_titles WHERE source {among} RETURNING word", values)  # noqa: S608 - as above
        change.titles_with.subtract(word for (word,) in words.fetchall())

    def _remove_passages(self, connection: SqlConnection, sources: Sequence[int], change: _Change) -> None:
        among = f"IN (SELECT value FROM {self.numbers} AS sources)"  # noqa: S608 - as above
        values = (listed(sources),)
        words = connection.execute(f"DELETE FROM recall_postings WHERE source {among} RETURNING word, found", values)  # noqa: S608 - as above
        for word, found in words.fetchall():
            change.passages_with[word] -= passages_in(found)
        removed = connection.execute(f"DELETE FROM recall_passages WHERE source {among} RETURNING row, length", values)  # noqa: S608 - as above
        rows = removed.fetchall()
        change.passages -= len(rows)
        change.words -= sum(length for _, length in rows)
        for table in ("recall_texts", "recall_vectors"):
            connection.execute(f"DELETE FROM {table} WHERE row {among}", (listed(row for row, _ in rows),))  # noqa: S608 - as above

    def _count(self, connection: SqlConnection, person: int, change: _Change) -> None:
        connection.execute(
            """
            UPDATE recall_totals SET passages = passages + ?, words = words + ?, titles = titles + ?,
            title_words = title_words + ?
            """,
            (change.passages, change.words, change.titles, change.title_words),
        )
        changed = sorted(
            word
            for word in change.passages_with.keys() | change.titles_with.keys()
            if change.passages_with[word] or change.titles_with[word]
        )
        connection.execute(
            """
            INSERT INTO recall_words (person, word, passages, titles)
            SELECT ?, word, passages, titles
            FROM unnest(?::text[], ?::bigint[], ?::bigint[]) AS one (word, passages, titles)
            ON CONFLICT (person, word) DO UPDATE
            SET passages = recall_words.passages + excluded.passages, titles = recall_words.titles + excluded.titles
            """,
            (
                person, changed, [change.passages_with[word] for word in changed],
                [change.titles_with[word] for word in changed],
            ),
        )  # fmt: skip
        fewer = [word for word in changed if change.passages_with[word] < 0 or change.titles_with[word] < 0]
        if fewer:
            connection.execute(
                f"""
                DELETE FROM recall_words
                WHERE word IN (SELECT value FROM {self.texts} AS words) AND passages <= 0 AND titles <= 0
                """,  # noqa: S608 - as above
                (listed(fewer),),
            )


def _person(connection: SqlConnection) -> int:
    """The number of who logs in, who has one since the history was opened."""
    return int(connection.execute("SELECT number FROM history_people WHERE role = current_user").fetchone()[0])


def _take_vectors(connection: SqlConnection, person: int, before: int, now: int) -> None:
    """Give the passages of a source the vectors of the same texts of the one whose place it takes."""
    taken = connection.execute(
        """
        INSERT INTO recall_vectors (person, number, row, model, vector)
        SELECT ?, (SELECT newest_vector FROM recall_totals) + row_number() OVER (), row, model, vector FROM (
            SELECT DISTINCT ON (texts.row, known.model) texts.row, known.model, known.vector
            FROM recall_passages AS p JOIN recall_texts AS texts ON texts.row = p.row
            JOIN recall_passages AS old ON old.source = ? JOIN recall_texts AS earlier ON earlier.row = old.row
            JOIN recall_vectors AS known ON known.row = old.row
            WHERE p.source = ? AND earlier.text = texts.text
        ) AS kept
        """,
        (person, before, now),
    )
    connection.execute("UPDATE recall_totals SET newest_vector = newest_vector + ?", (taken.rowcount,))
