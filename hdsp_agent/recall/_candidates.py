"""The passages that are ranked, whatever found them."""

from __future__ import annotations

from collections.abc import Iterable

from ..persistence import SqlConnection
from ._dialect import KeywordMatches, PassageCandidate, RecallDialect, SourceFilter, listed
from ._word_choice import MOST_KEPT

__all__ = ["find_period", "first_passages", "load_candidates"]


def load_candidates(
    connection: SqlConnection, dialect: RecallDialect, rows: Iterable[int], chosen: SourceFilter
) -> dict[int, PassageCandidate]:
    """Those of the passages that are there and may be seen."""
    found = connection.execute(
        f"""
        SELECT p.row, p.source, p.ts, p.author FROM {dialect.numbers} AS wanted
        {dialect.joined} recall_passages AS p ON p.row = wanted.value
        {dialect.joined} recall_sources AS s ON s.row = p.source
        WHERE {chosen.sql}
        """,  # noqa: S608 - made of the module's own words; what came from outside is bound
        (listed(rows), *chosen.values),
    )
    return {row: PassageCandidate(row, source, ts, author) for row, source, ts, author in found}


def find_period(
    connection: SqlConnection, dialect: RecallDialect, period: tuple[int, int], chosen: SourceFilter
) -> KeywordMatches:
    """What was said in a time, the newest first; what people said before what they were answered."""
    rows = connection.execute(
        f"""
        SELECT p.row FROM recall_passages AS p {dialect.by_time}
        {dialect.joined} recall_sources AS s ON s.row = p.source
        WHERE p.ts >= ? AND p.ts < ? AND {chosen.sql} ORDER BY p.ts DESC, p.row DESC LIMIT ?
        """,  # noqa: S608 - as above
        (*period, *chosen.values, MOST_KEPT),
    ).fetchall()
    return KeywordMatches({row: 1 - place / (2 * MOST_KEPT) for place, (row,) in enumerate(rows)}, {}, {})


def first_passages(connection: SqlConnection, dialect: RecallDialect, sources: Iterable[int]) -> list[int]:
    """Where each of the sources begins."""
    found = connection.execute(
        f"SELECT (SELECT min(row) FROM recall_passages WHERE source = wanted.value) FROM {dialect.numbers} AS wanted",  # noqa: S608 - as above
        (listed(sources),),
    )
    return [row for (row,) in found if row is not None]
