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
from ._history_dialect import HistoryDialect, Sql, bounded, storable
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
]

MAX_PAGE: Final = 500
_MOST_NEAR: Final = 100
Key = tuple[int | float, ...]


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


def page_sql(
    dialect: HistoryDialect, query: HistoryQuery, near: Mapping[int, int] | None = None
) -> tuple[str, tuple[object, ...]]:
    """A statement for a page and one task more; its rows are (total, row, owner, *key), with all but the total None if none is found.

    ``near`` are the rows to page through instead of those that have the terms as they are, with their ranks.
    """
    terms = search_terms(query.text)
    hits = _hits(dialect, query, terms) if near is None else _near_hits(dialect, query, near)
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
        LEFT JOIN (SELECT row, owner, {", ".join(columns[:-1])} FROM hits {after} ORDER BY {order} LIMIT ?) AS page ON true
        ORDER BY {order}
    """  # noqa: S608 - made of this module's own words; what came from outside is bound
    return statement, (*hits.values, *after_values, page_size(query) + 1)


def near_sql(dialect: HistoryDialect, query: HistoryQuery, term: str) -> tuple[str, tuple[object, ...]]:
    """A statement for the (row, title, task) of those that share most with a term, in either text; few enough to be compared."""
    grams = shared_grams(term)
    if not grams:
        return "SELECT 0, '', '' WHERE false", ()
    shared = dialect.sharing(grams)
    chosen, values = _filters(query)
    # The text of a task is read after the cut, not for each that shares a pair of letters.
    statement = f"""
        SELECT row, title, task FROM history_texts WHERE row IN (
            SELECT tasks.row FROM ({shared.text}) AS likely
            {dialect.joined_in_order} history_tasks AS tasks ON tasks.row = likely.row
            {chosen} {"AND" if chosen else "WHERE"} shared >= ? ORDER BY shared DESC, ts DESC LIMIT ?
        )
    """  # noqa: S608 - as above
    return statement, (*shared.values, *values, least_shared(term), _MOST_NEAR)


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


def _hits(dialect: HistoryDialect, query: HistoryQuery, terms: Sequence[str]) -> Sql:
    """The common table ``hits``: what the query finds, not yet in order."""
    chosen, values = _filters(query)
    if not terms:
        # Looked at twice, for the number and for the page: each time by the index that suits.
        return Sql(f"hits AS NOT MATERIALIZED (SELECT * FROM history_tasks {chosen})", values)  # noqa: S608 - as above
    found = dialect.having(terms)
    rank = _rank(dialect, terms) if query.sort == "mostRelevant" else Sql("0")
    text = f"""
        found (row) AS MATERIALIZED ({found.text}),
        hits AS MATERIALIZED (
            SELECT tasks.row, owner, ts, cost, tokens, {rank.text} AS rank
            FROM found {dialect.joined_in_order} history_tasks AS tasks ON tasks.row = found.row {chosen}
        )
    """  # noqa: S608 - as above
    return Sql(text, (*found.values, *rank.values, *values))


def _near_hits(dialect: HistoryDialect, query: HistoryQuery, near: Mapping[int, int]) -> Sql:
    chosen, values = _filters(query)
    listed = dialect.listed(near)
    text = f"""
        found (row, rank) AS MATERIALIZED ({listed.text}),
        hits AS MATERIALIZED (
            SELECT tasks.row, owner, ts, cost, tokens, rank
            FROM found {dialect.joined_in_order} history_tasks AS tasks ON tasks.row = found.row {chosen}
        )
    """  # noqa: S608 - as above
    return Sql(text, (*listed.values, *values))


def _filters(query: HistoryQuery) -> tuple[str, tuple[object, ...]]:
    wanted: list[tuple[str, tuple[object, ...]]] = []
    if query.workspace is not None:
        wanted.append(("workspace = ?", (storable(query.workspace),)))
    if query.notebook is not None:
        wanted.append(("notebook = ?", (storable(query.notebook),)))
    if query.place is not None:
        place = storable(query.place)
        wanted.append(("(notebook = ? OR substr(notebook, 1, ?) = ?)", (place, len(place) + 1, f"{place}/")))
    if query.owner is not None:
        wanted.append(("owner = ?", (storable(query.owner),)))
    if query.favorites:
        wanted.append(("favorite", ()))
    if query.statuses is not None:
        among = ", ".join("?" for _ in query.statuses)
        wanted.append((f"status IN ({among})" if among else "false", tuple(sorted(query.statuses))))
    if query.since is not None:
        wanted.append(("ts >= ?", (bounded(query.since),)))
    if query.until is not None:
        wanted.append(("ts < ?", (bounded(query.until),)))
    if not wanted:
        return "", ()
    return "WHERE " + " AND ".join(sql for sql, _ in wanted), tuple(value for _, values in wanted for value in values)


def _rank(dialect: HistoryDialect, terms: Sequence[str]) -> Sql:
    # Not how well the words match: such numbers change with every task that is written, and a place in the list would not stay one.
    title, task = dialect.having(terms, "title"), dialect.having(terms, "task")
    return Sql(
        f"CASE WHEN tasks.row IN ({title.text}) THEN 2 ELSE 0 END + CASE WHEN tasks.row IN ({task.text}) THEN 1 ELSE 0 END",
        (*title.values, *task.values),
    )
