"""The tables of the history in ``state.db`` and the index of its texts. Everything here runs in a transaction of its caller.

Texts are kept folded. ``history_trigrams`` finds what has three characters or more anywhere in a text; one and two
characters, whole words in Korean and Japanese, are found in ``history_grams``: one entry per different character and pair of
each task, in all its texts, in its title, in its task.
"""

from __future__ import annotations

import functools
import json
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from ..tables._sql import SqlConnection
from ._facts import COMPLETE, fact, set_fact
from ._history_dialect import HistoryDialect, Sql, TextColumn, Texts, pairs
from ._state_database import Schema

__all__ = ["HISTORY_SCHEMA", "SQLITE_HISTORY", "full_text_search"]

logger = logging.getLogger(__name__)

_MIGRATIONS: Final = (
    (
        """
        CREATE TABLE history_tasks (
            row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT, owner TEXT NOT NULL,
            ts INTEGER NOT NULL, cost REAL NOT NULL, tokens INTEGER NOT NULL, favorite INTEGER NOT NULL,
            status TEXT, workspace TEXT, notebook TEXT, change INTEGER NOT NULL, writer INTEGER NOT NULL
        )
        """,
        "CREATE INDEX history_tasks_by_parent ON history_tasks (parent)",
        "CREATE INDEX history_tasks_by_ts ON history_tasks (ts)",
        "CREATE INDEX history_tasks_by_change ON history_tasks (change)",
        # Apart from the columns above, which are read for every task when a page is put in order.
        "CREATE TABLE history_items (row INTEGER PRIMARY KEY, item TEXT NOT NULL)",
        "CREATE TABLE history_links (parent TEXT, child TEXT, PRIMARY KEY (parent, child)) WITHOUT ROWID",
        """
        CREATE TABLE history_texts (
            row INTEGER PRIMARY KEY, title TEXT NOT NULL, task TEXT NOT NULL, body TEXT NOT NULL, shown TEXT NOT NULL
        )
        """,
        "CREATE TABLE history_removed (id TEXT PRIMARY KEY, change INTEGER NOT NULL, writer INTEGER NOT NULL)",
        "CREATE TABLE history_facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL)",
    ),
)

_TRIGRAMS: Final = """
    CREATE VIRTUAL TABLE history_trigrams USING fts5 (
        title, task, body, content = 'history_texts', content_rowid = 'row', tokenize = 'trigram case_sensitive 1'
    )
"""
_GRAMS: Final = """
    CREATE VIRTUAL TABLE history_grams USING fts5 (grams, content = '', tokenize = 'ascii', detail = none, columnsize = 0)
"""
_UNINDEXED: Final = "unindexed"


@functools.cache
def full_text_search() -> bool:
    """Whether this Python's SQLite was built with FTS5. Without it texts are searched one by one: slower, same results."""
    try:
        connection = sqlite3.connect(":memory:")
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text, tokenize = 'trigram')")
        finally:
            connection.close()
    except sqlite3.Error as error:
        logger.warning("This Python's SQLite has no full-text search (%s); searching the history will be slow", error)
        return False
    return True


class _SqliteHistory(HistoryDialect):
    """See ``HistoryDialect`` for what it does."""

    # Or SQLite may ask the text index once for each task.
    joined_in_order = "CROSS JOIN"
    family = """
        WITH RECURSIVE family (id) AS (
            SELECT id FROM history_tasks WHERE id = ?
            UNION
            SELECT child.id FROM family JOIN history_tasks AS child ON child.parent = family.id
            UNION
            SELECT child.id FROM family JOIN history_links ON history_links.parent = family.id
            JOIN history_tasks AS child ON child.id = history_links.child AND child.parent IS NULL
        )
        SELECT id, cost, tokens FROM family JOIN history_tasks USING (id)
    """

    def put_texts(self, connection: SqlConnection, row: int, texts: Texts, shown: str) -> bool:
        old = connection.execute("SELECT title, task, body, shown FROM history_texts WHERE row = ?", (row,)).fetchone()
        if old == (*texts, shown):
            return False
        if old is not None:
            self.remove_texts(connection, row)
        connection.execute("INSERT INTO history_texts VALUES (?, ?, ?, ?, ?)", (row, *texts, shown))
        if full_text_search():
            connection.execute(
                "INSERT INTO history_trigrams (rowid, title, task, body) VALUES (?, ?, ?, ?)", (row, *texts)
            )
            connection.execute("INSERT INTO history_grams (rowid, grams) VALUES (?, ?)", (row, _grams(texts)))
        else:
            set_fact(connection, _UNINDEXED, 1)
        return True

    def remove_texts(self, connection: SqlConnection, row: int) -> None:
        # The index is told what it had, for it keeps no copy.
        texts = connection.execute("SELECT title, task, body FROM history_texts WHERE row = ?", (row,)).fetchone()
        if texts is None:
            return
        if full_text_search():
            connection.execute(
                "INSERT INTO history_trigrams (history_trigrams, rowid, title, task, body) VALUES ('delete', ?, ?, ?, ?)",
                (row, *texts),
            )
            connection.execute(
                "INSERT INTO history_grams (history_grams, rowid, grams) VALUES ('delete', ?, ?)", (row, _grams(texts))
            )
        else:
            set_fact(connection, _UNINDEXED, 1)
        connection.execute("DELETE FROM history_texts WHERE row = ?", (row,))

    def having(self, terms: Sequence[str], column: TextColumn | None = None) -> Sql:
        if not full_text_search():
            columns = ("title", "task", "body") if column is None else (column,)
            either = " OR ".join(f"instr({name}, ?)" for name in columns)
            every = " AND ".join(f"({either})" for _ in terms)
            return Sql(
                f"SELECT row FROM history_texts WHERE {every}",  # noqa: S608 - column names of this module
                tuple(term for term in terms for _ in columns),
            )
        long = [term for term in terms if len(term) > 2]
        short = [term for term in terms if len(term) <= 2]
        parts: list[Sql] = []
        if long:
            phrases = " AND ".join('"' + term.replace('"', '""') + '"' for term in long)
            within = f"{column} : ({phrases})" if column else phrases
            parts.append(Sql("SELECT rowid FROM history_trigrams(?)", (within,)))
        if short:
            prefix = {"title": "t", "task": "k", None: "a"}[column]
            wanted = " AND ".join(_gram(term, prefix) for term in short)
            parts.append(Sql("SELECT rowid FROM history_grams(?)", (wanted,)))
        return Sql(" INTERSECT ".join(part.text for part in parts), tuple(v for part in parts for v in part.values))

    def sharing(self, grams: Sequence[str]) -> Sql:
        if not full_text_search():
            each = " + ".join("(instr(title, ?) > 0 OR instr(task, ?) > 0)" for _ in grams)
            return Sql(
                f"SELECT row, {each} AS shared FROM history_texts",  # noqa: S608 - question marks
                tuple(pair for pair in grams for _ in "tk"),
            )
        each = " UNION ALL ".join("SELECT rowid AS row FROM history_grams(?)" for _ in grams)
        return Sql(
            f"SELECT row, count(*) AS shared FROM ({each}) GROUP BY row",  # noqa: S608 - question marks
            tuple(f"{_gram(pair, 't')} OR {_gram(pair, 'k')}" for pair in grams),
        )

    def listed(self, ranks: Mapping[int, int]) -> Sql:
        return Sql("SELECT CAST(key AS INTEGER), value FROM json_each(?)", (json.dumps(ranks),))

    def problems(self, connection: SqlConnection) -> list[str]:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        if full_text_search():
            try:
                connection.execute(
                    "INSERT INTO history_trigrams (history_trigrams, rank) VALUES ('integrity-check', 1)"
                )
            except sqlite3.DatabaseError as error:
                found.append(f"The text index does not agree with the texts: {error}")
        return found


def _gram(term: str, prefix: str) -> str:
    """One or two characters as a word of letters and digits; the prefix says where they were found."""
    return prefix + "x".join(f"{ord(character):x}" for character in term)


def _grams(texts: Sequence[str]) -> str:
    title, task, body = texts
    words = [_gram(pair, "t") for pair in pairs(title)]
    words += [_gram(pair, "k") for pair in pairs(task)]
    # Both sets come from the kept texts by cutting alone, so that any version of Python takes out what another put in.
    words += [_gram(pair, "a") for pair in pairs(title) | pairs(task) | pairs(body)]
    return " ".join(words)


def _prepare(connection: sqlite3.Connection) -> None:
    """Have an index if this SQLite can, and one that knows what a SQLite without it wrote."""
    if not full_text_search():
        return
    tables = connection.execute("SELECT name FROM sqlite_master WHERE name IN ('history_trigrams', 'history_grams')")
    if len(tables.fetchall()) == 2 and not fact(connection, _UNINDEXED):
        return
    for table in ("history_trigrams", "history_grams"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(_TRIGRAMS)
    connection.execute(_GRAMS)
    # The rebuilding that this asks for puts them in again, a few tasks at a time.
    connection.execute("DELETE FROM history_texts")
    set_fact(connection, _UNINDEXED, 0)
    set_fact(connection, COMPLETE, 0)


HISTORY_SCHEMA: Final = Schema("history", _MIGRATIONS, _prepare)
SQLITE_HISTORY: Final = _SqliteHistory()
