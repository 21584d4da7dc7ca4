"""The tables of recall in ``state.db``. Everything here runs in a transaction of its caller.

``recall_words`` and ``recall_titles`` hold texts as indexed words. All can be made anew from what was put in.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from ..persistence import Schema, full_text_search

__all__ = ["RECALL_SCHEMA"]

_WORDS_VERSION: Final = 1
"""Rises when texts are cut into other words than before: then everything is put in anew."""
_WITHOUT_WORDS: Final = -1

_TABLES: Final = ("recall_vectors", "recall_texts", "recall_passages", "recall_sources")
_WORD_TABLES: Final = ("recall_words", "recall_titles")

_MIGRATIONS: Final = (
    (
        """
        CREATE TABLE recall_sources (
            row INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
            version TEXT NOT NULL, title TEXT NOT NULL, workspace TEXT, UNIQUE (owner, kind, id)
        )
        """,
        "CREATE INDEX recall_sources_by_id ON recall_sources (kind, id)",
        # Neighbours in a source have numbers beside each other, and no number is given twice.
        """
        CREATE TABLE recall_passages (
            row INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL, ts INTEGER NOT NULL, author TEXT
        )
        """,
        "CREATE INDEX recall_passages_by_source ON recall_passages (source)",
        "CREATE INDEX recall_passages_by_ts ON recall_passages (ts)",
        # Apart from the columns above, which are read for every candidate.
        "CREATE TABLE recall_texts (row INTEGER PRIMARY KEY, place TEXT NOT NULL, text TEXT NOT NULL)",
        """
        CREATE TABLE recall_vectors (
            number INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL, model INTEGER NOT NULL, vector BLOB NOT NULL,
            UNIQUE (row, model)
        )
        """,
        "CREATE TABLE recall_models (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, used INTEGER NOT NULL)",
        "CREATE TABLE recall_facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL)",
    ),
    # What was put in before, and of which this is not known, stays here until it is put in again.
    ("ALTER TABLE recall_sources ADD COLUMN stays_here INTEGER NOT NULL DEFAULT 1",),
)


def _prepare(connection: sqlite3.Connection) -> None:
    """Have an index of words if this SQLite can. What a SQLite without it put in, or another version, goes and is put in again."""
    wanted = _WORDS_VERSION if full_text_search() else _WITHOUT_WORDS
    row = connection.execute("SELECT value FROM recall_facts WHERE name = 'words'").fetchone()
    if row is not None and row[0] == wanted:
        return
    if full_text_search():
        for table in _WORD_TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
            connection.execute(f"CREATE VIRTUAL TABLE {table} USING fts5 (words, concepts, tokenize = 'porter ascii')")
    if row is not None:
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of this module
    connection.execute("INSERT OR REPLACE INTO recall_facts VALUES ('words', ?)", (wanted,))


RECALL_SCHEMA: Final = Schema("recall", _MIGRATIONS, _prepare)
