"""What is asked of the history, as SQL: which tasks, in what order, from where on."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from ...errors import InvalidInput
from ...messages import HistoryItem, HistorySort, HistoryStatus
from ._fuzzy_terms import least_shared, shared_grams
from ._history_schema import bounded, gram, storable
from ._snippets import Snippet
from ._text_normalization import search_terms

__all__ = [
    "MAX_PAGE",
    "HistoryHit",
    "HistoryPage",
    "HistoryQuery",
    "Key",
    "cursor_of",
    "near_sql",
    "page_size",
    "page_sql",
    "term_sql",
]

MAX_PAGE: Final = 500
_MOST_NEAR: Final = 100
Key = tuple[int | float, ...]
_Value = str | int | float


@dataclass(frozen=True)
class HistoryQuery:
    """Which tasks, in what order, how many, and after which ``cursor``. Times are milliseconds: ``since`` ≤ ts < ``until``."""

    text: str = ""
    sort: HistorySort = "newest"
    workspace: str | None = None
    notebook: str | None = None
    place: str | None = None
    """A notebook, or a folder that notebooks are in."""
    favorites: bool = False
    statuses: frozenset[HistoryStatus] | None = None
    owner: str | None = None
    since: int | None = None
    until: int | None = None
    limit: int = 50
    cursor: str | None = None


@dataclass(frozen=True)
class HistoryHit:
    """A task that was found. ``rank`` is 2 for a match in the title plus 1 for one in the task; 0 in the conversation only, and for a near word."""

    item: HistoryItem
    owner: str
    rank: int = 0
    snippet: Snippet | None = None


@dataclass(frozen=True)
class HistoryPage:
    """Some of the tasks found, how many there are in all, and the cursor of what follows, if anything does."""

    hits: tuple[HistoryHit, ...]
    total: int
    next: str | None


@dataclass(frozen=True)
class _Sql:
    text: str
    values: tuple[_Value, ...] = ()


def page_sql(
    query: HistoryQuery, *, indexed: bool, near: Mapping[int, int] | None = None
) -> tuple[str, tuple[_Value, ...]]:
    """A statement for a page and one task more; its rows are (total, row, owner, *key), with all but the total None if none is found.

    ``near`` are the rows to page through instead of those that have the terms as they are, with their ranks.
    """
    terms = search_terms(query.text)
    hits = _hits(query, terms, indexed) if near is None else _near_hits(query, near)
    columns, direction = _order(query.sort, bool(terms))
    after, after_values = "", _read_cursor(query.sort, query.cursor, len(columns))
    if after_values:
        sign = "<" if direction == "DESC" else ">"
        after = f"WHERE ({', '.join(columns)}) {sign} ({', '.join('?' for _ in columns)})"
    order = ", ".join(f"{column} {direction}" for column in columns)
    statement = f"""
        WITH {hits.text}
        SELECT amount.total, page.row, page.owner, {", ".join(f"page.{column}" for column in columns)}
        FROM (SELECT count(*) AS total FROM hits) AS amount
        LEFT JOIN (SELECT row, owner, {", ".join(columns[:-1])} FROM hits {after} ORDER BY {order} LIMIT ?) AS page
        ORDER BY {order}
    """  # noqa: S608 - made of this module's own words; what came from outside is bound
    return statement, (*hits.values, *after_values, page_size(query) + 1)


def term_sql(term: str, *, indexed: bool) -> tuple[str, tuple[_Value, ...]]:
    """A statement for the rows that have a term as it is."""
    found = _found([term], indexed, None)
    return found.text, found.values


def near_sql(query: HistoryQuery, term: str, *, indexed: bool) -> tuple[str, tuple[_Value, ...]]:
    """A statement for the (row, title, task) of those that share most with a term, in either text; few enough to be compared."""
    grams = shared_grams(term)
    if not grams:
        return "SELECT 0, '', '' WHERE 0", ()
    counted: tuple[_Value, ...]
    if indexed:
        each = " UNION ALL ".join("SELECT rowid AS row FROM history_grams(?)" for _ in grams)
        shared = f"SELECT row, count(*) AS shared FROM ({each}) GROUP BY row"  # noqa: S608 - as above
        counted = tuple(f"{gram(pair, 't')} OR {gram(pair, 'k')}" for pair in grams)
    else:
        each = " + ".join("(instr(title, ?) > 0 OR instr(task, ?) > 0)" for _ in grams)
        shared = f"SELECT row, {each} AS shared FROM history_texts"  # noqa: S608 - as above
        counted = tuple(pair for pair in grams for _ in "tk")
    chosen, values = _filters(query)
    # The text of a task is read after the cut, not for each that shares a pair of letters.
    statement = f"""
        SELECT row, title, task FROM history_texts WHERE row IN (
            SELECT tasks.row FROM ({shared}) AS likely CROSS JOIN history_tasks AS tasks ON tasks.row = likely.row
            {chosen} {"AND" if chosen else "WHERE"} shared >= ? ORDER BY shared DESC, ts DESC LIMIT ?
        )
    """  # noqa: S608 - as above
    return statement, (*counted, *values, least_shared(term), _MOST_NEAR)


def page_size(query: HistoryQuery) -> int:
    """How many tasks a page holds."""
    return max(1, min(query.limit, MAX_PAGE))


def cursor_of(sort: HistorySort, key: Key) -> str:
    """The place after the task with this key, as text that a page may hold on to."""
    return base64.urlsafe_b64encode(json.dumps([sort, *key]).encode()).decode()


def _read_cursor(sort: HistorySort, cursor: str | None, length: int) -> Key:
    if cursor is None:
        return ()
    try:
        said, *key = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        numbers = [number for number in key if isinstance(number, (int, float)) and math.isfinite(number)]
    except (binascii.Error, ValueError, TypeError, OverflowError):
        said, key, numbers = None, [], []
    if said != sort or len(numbers) != length or len(key) != length or any(abs(n) >= 2**63 for n in numbers):
        raise InvalidInput(
            "This place is not in the requested list. Load the list from its beginning.",
            field="cursor",
        )
    return tuple(numbers)


def _order(sort: HistorySort, searched: bool) -> tuple[tuple[str, ...], str]:
    """The columns a page is ordered by; the last one is never the same twice, so a place in the list is unambiguous."""
    if sort == "newest" or (sort == "mostRelevant" and not searched):
        return ("ts", "row"), "DESC"
    if sort == "oldest":
        return ("ts", "row"), "ASC"
    if sort == "mostExpensive":
        return ("cost", "ts", "row"), "DESC"
    if sort == "mostTokens":
        return ("tokens", "ts", "row"), "DESC"
    if sort == "mostRelevant":
        return ("rank", "ts", "row"), "DESC"
    assert_never(sort)


def _hits(query: HistoryQuery, terms: Sequence[str], indexed: bool) -> _Sql:
    """The common table ``hits``: what the query finds, not yet in order."""
    chosen, values = _filters(query)
    if not terms:
        # Looked at twice, for the number and for the page: each time by the index that suits.
        return _Sql(f"hits AS NOT MATERIALIZED (SELECT * FROM history_tasks {chosen})", values)  # noqa: S608 - as above
    found = _found(terms, indexed, None)
    rank = _rank(terms, indexed) if query.sort == "mostRelevant" else _Sql("0")
    # The tables are joined in the order they are written in, or SQLite may ask the text index once for each task.
    text = f"""
        found (row) AS MATERIALIZED ({found.text}),
        hits AS MATERIALIZED (
            SELECT tasks.row, owner, ts, cost, tokens, {rank.text} AS rank
            FROM found CROSS JOIN history_tasks AS tasks ON tasks.row = found.row {chosen}
        )
    """  # noqa: S608 - as above
    return _Sql(text, (*found.values, *rank.values, *values))


def _near_hits(query: HistoryQuery, near: Mapping[int, int]) -> _Sql:
    chosen, values = _filters(query)
    text = f"""
        found (row, rank) AS MATERIALIZED (SELECT CAST(key AS INTEGER), value FROM json_each(?)),
        hits AS MATERIALIZED (
            SELECT tasks.row, owner, ts, cost, tokens, rank
            FROM found CROSS JOIN history_tasks AS tasks ON tasks.row = found.row {chosen}
        )
    """  # noqa: S608 - as above
    return _Sql(text, (json.dumps(near), *values))


def _filters(query: HistoryQuery) -> tuple[str, tuple[_Value, ...]]:
    wanted: list[tuple[str, tuple[_Value, ...]]] = []
    if query.workspace is not None:
        wanted.append(("workspace = ?", (storable(query.workspace),)))
    if query.notebook is not None:
        wanted.append(("notebook = ?", (storable(query.notebook),)))
    if query.place is not None:
        place = storable(query.place)
        wanted.append(("(notebook = ? OR instr(notebook, ?) = 1)", (place, f"{place}/")))
    if query.owner is not None:
        wanted.append(("owner = ?", (storable(query.owner),)))
    if query.favorites:
        wanted.append(("favorite", ()))
    if query.statuses is not None:
        wanted.append((f"status IN ({', '.join('?' for _ in query.statuses)})", tuple(sorted(query.statuses))))
    if query.since is not None:
        wanted.append(("ts >= ?", (bounded(query.since),)))
    if query.until is not None:
        wanted.append(("ts < ?", (bounded(query.until),)))
    if not wanted:
        return "", ()
    return "WHERE " + " AND ".join(sql for sql, _ in wanted), tuple(value for _, values in wanted for value in values)


def _found(terms: Sequence[str], indexed: bool, column: str | None) -> _Sql:
    """The rows of the tasks that have every term, in one of the texts or in this one."""
    if not indexed:
        columns = ("title", "task", "body") if column is None else (column,)
        either = " OR ".join(f"instr({name}, ?)" for name in columns)
        every = " AND ".join(f"({either})" for _ in terms)
        return _Sql(
            f"SELECT row FROM history_texts WHERE {every}",  # noqa: S608 - column names of this module
            tuple(term for term in terms for _ in columns),
        )
    long = [term for term in terms if len(term) > 2]
    short = [term for term in terms if len(term) <= 2]
    parts: list[_Sql] = []
    if long:
        phrases = " AND ".join('"' + term.replace('"', '""') + '"' for term in long)
        within = f"{column} : ({phrases})" if column else phrases
        parts.append(_Sql("SELECT rowid FROM history_trigrams(?)", (within,)))
    if short:
        prefix = {"title": "t", "task": "k", None: "a"}[column]
        parts.append(_Sql("SELECT rowid FROM history_grams(?)", (" AND ".join(gram(term, prefix) for term in short),)))
    return _Sql(" INTERSECT ".join(part.text for part in parts), tuple(v for part in parts for v in part.values))


def _rank(terms: Sequence[str], indexed: bool) -> _Sql:
    # Not bm25: its numbers change with every task that is written, and a place in the list would not stay one.
    title, task = _found(terms, indexed, "title"), _found(terms, indexed, "task")
    return _Sql(f"2 * (tasks.row IN ({title.text})) + (tasks.row IN ({task.text}))", (*title.values, *task.values))
