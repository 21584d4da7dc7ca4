"""The tables of the history in ``state.db`` and the index of its texts. Everything here runs in a transaction of its caller.

Texts are kept folded. ``history_trigrams`` finds what has three characters or more anywhere in a text; one and two
characters, whole words in Korean and Japanese, are found in ``history_grams``: one entry per different character and pair of
each task, in all its texts, in its title, in its task.
"""

from __future__ import annotations

import functools
import itertools
import logging
import sqlite3
from collections.abc import Sequence
from typing import Final

from ._state_database import Schema

__all__ = [
    "HISTORY_SCHEMA",
    "Texts",
    "bounded",
    "fact",
    "full_text_search",
    "gram",
    "is_filled",
    "mark_filled",
    "put_texts",
    "remove_texts",
    "set_fact",
    "storable",
]

logger = logging.getLogger(__name__)

_COMPLETE: Final = "complete"
_FILLED: Final = 2
"""As which a complete index is marked. 1 knew no numbers, sizes and states of tasks: it is filled anew."""

Texts = tuple[str, str, str]
"""Title, task and conversation."""

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


def storable(text: str) -> str:
    """The text as a column can hold it: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def bounded(number: int) -> int:
    """The number as a column can hold it."""
    return max(-(2**63), min(number, 2**63 - 1))


def fact(connection: sqlite3.Connection, name: str) -> int:
    """A number kept beside the tables; 0 if it was never set."""
    row = connection.execute("SELECT value FROM history_facts WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def set_fact(connection: sqlite3.Connection, name: str, value: int) -> None:
    """Keep a number."""
    connection.execute("INSERT OR REPLACE INTO history_facts VALUES (?, ?)", (name, value))


def is_filled(connection: sqlite3.Connection) -> bool:
    """Whether the index has been built from the folders since its file was made."""
    return fact(connection, _COMPLETE) >= _FILLED


def mark_filled(connection: sqlite3.Connection) -> None:
    """It has been."""
    set_fact(connection, _COMPLETE, _FILLED)


def put_texts(connection: sqlite3.Connection, row: int, texts: Texts, shown: str) -> None:
    """Keep a task's folded texts, in place of those it had, and make them findable."""
    old = connection.execute("SELECT title, task, body, shown FROM history_texts WHERE row = ?", (row,)).fetchone()
    if old == (*texts, shown):
        return
    if old is not None:
        remove_texts(connection, row)
    connection.execute("INSERT INTO history_texts VALUES (?, ?, ?, ?, ?)", (row, *texts, shown))
    if full_text_search():
        connection.execute("INSERT INTO history_trigrams (rowid, title, task, body) VALUES (?, ?, ?, ?)", (row, *texts))
        connection.execute("INSERT INTO history_grams (rowid, grams) VALUES (?, ?)", (row, _grams(texts)))
    else:
        set_fact(connection, _UNINDEXED, 1)


def remove_texts(connection: sqlite3.Connection, row: int) -> None:
    """Forget a task's texts. The index is told what it had, for it keeps no copy."""
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


def gram(term: str, prefix: str) -> str:
    """One or two characters as a word of letters and digits; the prefix says where they were found."""
    return prefix + "x".join(f"{ord(character):x}" for character in term)


def _grams(texts: Sequence[str]) -> str:
    title, task, body = texts
    words = [gram(pair, "t") for pair in _pairs(title)]
    words += [gram(pair, "k") for pair in _pairs(task)]
    # Both sets come from the kept texts by cutting alone, so that any version of Python takes out what another put in.
    words += [gram(pair, "a") for pair in _pairs(title) | _pairs(task) | _pairs(body)]
    return " ".join(words)


def _pairs(text: str) -> set[str]:
    pairs = {first + second for first, second in itertools.pairwise(text) if first != " " != second}
    return pairs | set(text) - {" "}


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
    set_fact(connection, _COMPLETE, 0)


HISTORY_SCHEMA: Final = Schema("history", _MIGRATIONS, _prepare)
