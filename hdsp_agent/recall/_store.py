"""Sources and their passages: put, taken out, compared with what there is. Called within a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from ..persistence import bounded, full_text_search, storable
from ._concepts import passage_concepts
from ._records import OutdatedSources, Passage, RecallKind, RecallSource
from ._words import EVERY_PASSAGE, indexed_words

__all__ = ["PreparedPassage", "compare_versions", "is_current", "prepare_passages", "put_source", "remove_sources"]

PreparedPassage = tuple[Passage, str, str]
"""A passage, its indexed words and the concepts it is about."""


def prepare_passages(passages: Iterable[Passage]) -> list[PreparedPassage]:
    """The passages that say anything, with their words: the part of the work that needs no database."""
    return [
        (passage, " ".join(indexed_words(passage.text)), " ".join([EVERY_PASSAGE, *passage_concepts(passage.text)]))
        for passage in passages
        if passage.text.strip()
    ]


def is_current(connection: sqlite3.Connection, source: RecallSource, version: str) -> bool:
    """Whether this version of the source, under this title, is what the index has."""
    known = connection.execute(
        "SELECT version, title, workspace FROM recall_sources WHERE owner = ? AND kind = ? AND id = ?", _key(source)
    ).fetchone()
    wanted = (storable(version), storable(source.title), _optional(source.workspace))
    return known is not None and tuple(known) == wanted


def put_source(
    connection: sqlite3.Connection, source: RecallSource, prepared: Sequence[PreparedPassage], version: str
) -> None:
    """Have exactly these passages of the source."""
    known = connection.execute(
        "SELECT row FROM recall_sources WHERE owner = ? AND kind = ? AND id = ?", _key(source)
    ).fetchone()
    vectors: dict[str, list[tuple[int, bytes]]] = {}
    if known is not None:
        vectors = _vectors_by_text(connection, known[0])
        _remove_rows(connection, [known[0]])
    row = connection.execute(
        "INSERT INTO recall_sources (owner, kind, id, version, title, workspace, stays_here) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*_key(source), storable(version), storable(source.title), _optional(source.workspace), source.stays_here),
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


def remove_sources(connection: sqlite3.Connection, kind: RecallKind, ids: Iterable[str], owner: str | None) -> int:
    """Forget these sources, of one owner or of whoever has them; how many there were."""
    whose, values = ("", ()) if owner is None else ("AND owner = ?", (storable(owner),))
    rows = [
        row
        for (row,) in connection.execute(
            f"SELECT row FROM recall_sources WHERE kind = ? {whose} AND id IN (SELECT value FROM json_each(?))",  # noqa: S608 - this function's own words; what came from outside is bound
            (kind, *values, json.dumps([storable(one) for one in ids])),
        )
    ]
    _remove_rows(connection, rows)
    return len(rows)


def compare_versions(
    connection: sqlite3.Connection, kind: RecallKind, versions: Mapping[str, str], owner: str
) -> OutdatedSources:
    """What of an owner's sources of a kind must be put again or removed, given the versions they have now."""
    known = dict(
        connection.execute(
            "SELECT id, version FROM recall_sources WHERE kind = ? AND owner = ?", (kind, storable(owner))
        )
    )
    stale = frozenset(one for one, version in versions.items() if known.get(storable(one)) != storable(version))
    return OutdatedSources(stale, frozenset(known) - {storable(one) for one in versions})


def _remove_rows(connection: sqlite3.Connection, sources: Sequence[int]) -> None:
    for source in sources:
        of_passages = "(SELECT row FROM recall_passages WHERE source = ?)"
        tables = ["recall_texts", "recall_vectors"]
        if full_text_search():
            connection.execute(f"DELETE FROM recall_words WHERE rowid IN {of_passages}", (source,))  # noqa: S608 - as above
            connection.execute("DELETE FROM recall_titles WHERE rowid = ?", (source,))
        for table in tables:
            connection.execute(f"DELETE FROM {table} WHERE row IN {of_passages}", (source,))  # noqa: S608 - as above
        connection.execute("DELETE FROM recall_passages WHERE source = ?", (source,))
        connection.execute("DELETE FROM recall_sources WHERE row = ?", (source,))


def _vectors_by_text(connection: sqlite3.Connection, source: int) -> dict[str, list[tuple[int, bytes]]]:
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


def _key(source: RecallSource) -> tuple[str, str, str]:
    return storable(source.owner), source.kind, storable(source.id)


def _optional(text: str | None) -> str | None:
    return None if text is None else storable(text)
