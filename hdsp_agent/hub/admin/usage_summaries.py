"""What administrators are shown of the use of models: sums that the database makes, however many rows there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

if TYPE_CHECKING:
    from ..usage_store import UsageStore

__all__ = [
    "PAGE_ROWS",
    "DaySum",
    "PersonSum",
    "ProviderState",
    "SortedBy",
    "UsageFilter",
    "UsageSum",
    "by_day",
    "by_person",
    "people_since",
    "provider_states",
    "sorted_by",
]

PAGE_ROWS: Final = 100
"""Of a table on one page."""

SortedBy = Literal["money", "tokens", "requests", "errors", "user", "last_error"]

_SUMS: Final = """
    COUNT(*), TOTAL(tokens_in), TOTAL(tokens_cached), TOTAL(tokens_out), TOTAL(COALESCE(ended.money, started.money)),
    TOTAL(error <> 'client_gone'),
    MAX(CASE WHEN error <> 'client_gone' THEN printf('%014.3f %s', ended.time, error) END),
    TOTAL(estimated OR ended.id IS NULL)
"""
_FROM: Final = """
FROM started LEFT JOIN ended USING (id)
WHERE started.time >= ? AND started.time < ? AND (? = '' OR user = ?)
    AND instr(lower(user), lower(?)) > 0 AND instr(lower(model), lower(?)) > 0
"""
_ORDERS: Final[dict[SortedBy, str]] = {
    "money": "9 DESC",
    "tokens": "TOTAL(tokens_in + tokens_cached + tokens_out) DESC",
    "requests": "5 DESC",
    "errors": "10 DESC",
    "user": "1",
    "last_error": "11 DESC",
}


@dataclass(frozen=True)
class UsageFilter:
    """Whose use of what and when. ``name`` and ``model`` are parts of names; ``person`` is all of one."""

    since: float
    until: float
    person: str = ""
    name: str = ""
    model: str = ""

    @property
    def values(self) -> list[object]:
        """As the query wants them."""
        return [self.since, self.until, self.person, self.person, self.name, self.model]


@dataclass(frozen=True)
class UsageSum:
    """Requests that began, what they used, and how many failed. ``last_error`` is the provider's code and when it was.

    Of ``estimated`` requests the provider has not said what they used. While one is under way, its money is reserved.
    """

    requests: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    money: float
    errors: int
    last_error: tuple[float, str] | None
    estimated: int

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.tokens_in + self.tokens_cached + self.tokens_out


@dataclass(frozen=True)
class PersonSum:
    """What a person used of a model."""

    user: str
    group: str
    provider: str
    model: str
    sum: UsageSum


@dataclass(frozen=True)
class DaySum:
    """What was used on a day (UTC)."""

    day: str
    sum: UsageSum


@dataclass(frozen=True)
class ProviderState:
    """How a provider answered of late."""

    provider: str
    requests: int
    errors: int
    last_answer: float | None
    last_error: tuple[float, str] | None


async def by_person(
    store: UsageStore, wanted: UsageFilter, sorted_by: SortedBy, first: int
) -> tuple[list[PersonSum], UsageSum, int]:
    """A page of rows, the sum of all there are, and how many there are."""
    rows = await store.report(
        f"SELECT user, user_group, provider, model, {_SUMS} {_FROM} GROUP BY user, user_group, provider, model"
        f" ORDER BY {_ORDERS[sorted_by]}, user, model, provider, user_group LIMIT ? OFFSET ?",
        [*wanted.values, PAGE_ROWS, first],
    )
    [whole] = await store.report(f"SELECT {_SUMS} {_FROM}", wanted.values)
    [[count]] = await store.report(
        f"SELECT COUNT(*) FROM (SELECT 1 {_FROM} GROUP BY user, user_group, provider, model)",  # noqa: S608
        wanted.values,
    )
    return (
        [PersonSum(str(row[0]), str(row[1]), str(row[2]), str(row[3]), _sum(row[4:])) for row in rows],
        _sum(whole),
        int(count),
    )


async def by_day(store: UsageStore, wanted: UsageFilter) -> list[DaySum]:
    """The days on which something was used."""
    query = f"SELECT date(started.time, 'unixepoch'), {_SUMS} {_FROM} GROUP BY 1 ORDER BY 1"
    return [DaySum(str(row[0]), _sum(row[1:])) for row in await store.report(query, wanted.values)]


async def people_since(store: UsageStore, since: float, person: str = "") -> dict[str, tuple[str, float]]:
    """Who has sent a request since then, of all or of one: under which policy the last one was, and when."""
    query = "SELECT user, user_group, MAX(time) FROM started WHERE time >= ? GROUP BY user"
    values: list[object] = [since]
    if person:
        query = query.replace("WHERE", "WHERE user = ? AND")
        values.insert(0, person)
    return {str(user): (str(group), float(time)) for user, group, time in await store.report(query, values)}


async def provider_states(store: UsageStore, since: float) -> list[ProviderState]:
    """How each provider that was asked since then answered."""
    query = """
        SELECT provider, COUNT(*), TOTAL(error <> 'client_gone'),
            MAX(CASE WHEN error IS NULL AND status BETWEEN 200 AND 299 THEN ended.time END),
            MAX(CASE WHEN error <> 'client_gone' THEN printf('%014.3f %s', ended.time, error) END)
        FROM started JOIN ended USING (id) WHERE started.time >= ? GROUP BY provider ORDER BY provider
    """
    return [
        ProviderState(str(row[0]), int(row[1]), int(row[2]), row[3], _error(row[4]))
        for row in await store.report(query, [since])
    ]


def sorted_by(value: str) -> SortedBy:
    """A column that one can sort by; the cost for any other."""
    return next((known for known in get_args(SortedBy) if known == value), "money")


def _sum(row: Sequence[Any]) -> UsageSum:
    requests, tokens_in, cached, out, money, errors, last, estimated = row
    return UsageSum(
        int(requests), int(tokens_in), int(cached), int(out), float(money), int(errors), _error(last), int(estimated)
    )


def _error(value: object) -> tuple[float, str] | None:
    if value is None:
        return None
    time, _, code = str(value).partition(" ")
    return float(time), code
