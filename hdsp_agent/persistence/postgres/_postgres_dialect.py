"""How the history is searched in PostgreSQL: by its full-text index, for words that we cut ourselves.

What people type may be a part of a word, and Korean and Japanese words have no spaces where they end. So of every text these
are kept: its different characters, what two are next to each other, and of each place within a word the rest of the word, or
its first 24 bytes. A term of one or two characters is looked up as it is, a longer one as the beginning of such a rest: both
find exactly the texts that contain it. Of a longer word still, or words with spaces, the parts are looked up and the texts read.

Each kept word begins with the number of the person and with where it is from, so that a search costs as much as the person's
own history is large, however many share the database. ``pg_trgm`` is not used: what is shorter than three characters it cannot
look up, in a database with the locale C it knows neither Korean nor Japanese, and somebody would have to install it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from ..history._history_dialect import HistoryDialect, Sql, TextColumn, Texts, pairs
from ..tables._sql import SqlConnection

__all__ = ["PostgresDialect"]

_Field = Literal["t", "k", "b"]
_FIELDS: Final[tuple[_Field, _Field, _Field]] = ("t", "k", "b")
_BYTES: Final = 24
_MOST_PARTS: Final = 16
_FOUND: Final = "SELECT row FROM history_found(?::jsonb, ?::text[]) AS row"
_WITHOUT_GRAMS: Final = """
SELECT count(*) FROM history_texts WHERE row NOT IN (SELECT row FROM history_grams)"""
_WITHOUT_TEXTS: Final = """
SELECT count(*) FROM history_tasks
WHERE row NOT IN (SELECT row FROM history_texts) OR row NOT IN (SELECT row FROM history_items)"""


class PostgresDialect(HistoryDialect):
    """See ``HistoryDialect`` for what it does. ``person`` is the number of who logs in; it is known once the history is open."""

    joined_in_order = "JOIN"
    family = """
        WITH RECURSIVE family (id) AS (
            SELECT id FROM history_tasks WHERE id = ?
            UNION
            SELECT child.id FROM family CROSS JOIN LATERAL (
                SELECT id FROM history_tasks WHERE parent = family.id
                UNION ALL
                SELECT task.id FROM history_links AS link
                JOIN history_tasks AS task ON task.id = link.child AND task.parent IS NULL
                WHERE link.parent = family.id
            ) AS child
        )
        SELECT id, cost, tokens FROM family JOIN history_tasks USING (id)
    """

    def __init__(self) -> None:
        self.person = 0

    def put_texts(self, connection: SqlConnection, row: int, texts: Texts, shown: str) -> bool:
        old = connection.execute("SELECT title, task, body, shown FROM history_texts WHERE row = ?", (row,)).fetchone()
        if old == (*texts, shown):
            return False
        if old is not None:
            self.remove_texts(connection, row)
        connection.execute(
            "INSERT INTO history_texts (row, title, task, body, shown) VALUES (?, ?, ?, ?, ?)", (row, *texts, shown)
        )
        kept = [
            f"{self.person}{field}{gram}" for field, text in zip(_FIELDS, texts, strict=True) for gram in _grams(text)
        ]
        connection.execute(
            "INSERT INTO history_grams (row, grams) VALUES (?, array_to_tsvector(?::text[]))", (row, kept)
        )
        return True

    def remove_texts(self, connection: SqlConnection, row: int) -> None:
        connection.execute("DELETE FROM history_grams WHERE row = ?", (row,))
        connection.execute("DELETE FROM history_texts WHERE row = ?", (row,))

    def having(self, terms: Sequence[str], column: TextColumn | None = None) -> Sql:
        fields: Sequence[_Field] = _FIELDS if column is None else ("t",) if column == "title" else ("k",)
        wanted = (_wanted(terms), list(fields))
        unsure = [term for term in terms if " " in term or len(term.encode()) > _BYTES]
        if not unsure:
            return Sql(_FOUND, wanted)
        columns = ("title", "task", "body") if column is None else (column,)
        either = " OR ".join(f"strpos({name}, ?) > 0" for name in columns)
        every = " AND ".join(f"({either})" for _ in unsure)
        return Sql(
            f"SELECT row FROM history_texts WHERE row IN ({_FOUND}) AND {every}",  # noqa: S608 -- our own names
            (*wanted, *(term for term in unsure for _ in columns)),
        )

    def sharing(self, grams: Sequence[str]) -> Sql:
        each = " UNION ALL ".join(_FOUND for _ in grams)
        return Sql(
            f"SELECT row, count(*) AS shared FROM ({each}) AS one GROUP BY row",  # noqa: S608 -- question marks
            tuple(value for pair in grams for value in (_wanted([pair]), ["t", "k"])),
        )

    def listed(self, ranks: Mapping[int, int]) -> Sql:
        return Sql("SELECT * FROM unnest(?::bigint[], ?::bigint[])", (list(ranks), list(ranks.values())))

    def problems(self, connection: SqlConnection) -> list[str]:
        # Of the server itself whoever looks after it knows; it has pg_amcheck.
        unfound, incomplete = (connection.execute(query).fetchone()[0] for query in (_WITHOUT_GRAMS, _WITHOUT_TEXTS))
        problems = []
        if unfound:
            problems.append(f"The texts of {unfound} tasks are not in the text index")
        if incomplete:
            problems.append(f"{incomplete} tasks of the history are there in part only")
        return problems


def _wanted(terms: Sequence[str]) -> str:
    """The parts of each term, which are all to be in one field."""
    return json.dumps([list(dict.fromkeys(_parts(term)))[:_MOST_PARTS] for term in terms], ensure_ascii=False)


def _grams(text: str) -> set[str]:
    """What of a text is kept, but for a prefix."""
    return pairs(text).union(*(_rests(word) for word in set(text.split(" "))))


def _rests(word: str) -> Iterator[str]:
    return (_head(word[start : start + _BYTES]) for start in range(len(word) - 2))


def _head(text: str) -> str:
    return text if text.isascii() else text.encode()[:_BYTES].decode("utf-8", "ignore")


def _parts(term: str) -> Iterator[str]:
    """What a text that has the term has kept: all of them if it is one short word, else some."""
    for word in filter(None, term.split(" ")):
        for start in range(len(word)):
            head = _head(word[start : start + _BYTES])
            yield head
            if start + len(head) == len(word):
                break
