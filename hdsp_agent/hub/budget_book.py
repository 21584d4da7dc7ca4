"""How much of each budget is used and reserved, and whether one more request may begin.

A request reserves what it may use before it is sent, and what it did use takes that place when it ends. So many requests
at once pass a limit by no more than what each of them used beyond its reservation, and the last one by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from .periods import period_around
from .policies import BudgetScope, GroupPolicy, HubPolicies, Period, UsageBudget, matches
from .usage_store import Amounts, RequestEnd, RequestStart, UsageStore

__all__ = ["AdmittedRequest", "BudgetBook", "BudgetRefusal", "BudgetUse"]

_NOTICE_SHARE: Final = 0.8


@dataclass(frozen=True)
class BudgetUse:
    """How a budget stands. ``limit`` and ``used`` are tokens or US dollars."""

    budget: UsageBudget
    group: str
    unit: str
    used: float
    reserved: float
    limit: float
    ends: datetime

    @property
    def share(self) -> float:
        """How much of it is used; 1 is all."""
        return self.used / self.limit

    @property
    def is_nearly_used(self) -> bool:
        """Whether people are to be told."""
        return self.share >= _NOTICE_SHARE

    def to_json(self) -> dict[str, JsonValue]:
        """As programs read it."""
        return {
            "per": self.budget.per,
            "period": self.budget.period,
            "models": list(self.budget.models),
            "unit": self.unit,
            "used": round(self.used, 6),
            "reserved": round(self.reserved, 6),
            "limit": self.limit,
            "percent": int(self.share * 100),
            "ends": self.ends.isoformat(),
        }


class BudgetRefusal(Exception):
    """A budget has no room for a request. ``is_held`` is whether it may have when those under way end."""

    def __init__(self, use: BudgetUse) -> None:
        super().__init__(use.unit)
        self.use = use
        self.is_held = use.used < use.limit


@dataclass(frozen=True)
class _CounterKey:
    per: BudgetScope
    subject: str
    models: tuple[str, ...]
    period: Period
    start: float

    def counts(self, request: RequestStart) -> bool:
        """Whether a request counts here."""
        subject = {"user": request.user, "group": request.group, "all": ""}[self.per]
        return subject == self.subject and request.time >= self.start and matches(request.model, self.models)


@dataclass
class _Counter:
    ends: float
    tokens: int = 0
    money: float = 0.0
    reserved_tokens: int = 0
    reserved_money: float = 0.0

    def reserve(self, amounts: Amounts, sign: int = 1) -> None:
        self.reserved_tokens += sign * amounts.tokens
        self.reserved_money += sign * amounts.money

    def use(self, amounts: Amounts) -> None:
        self.tokens += amounts.tokens
        self.money += amounts.money


@dataclass(eq=False)
class AdmittedRequest:
    """A request that may begin, or is under way."""

    start: RequestStart
    number: int = 0
    uses: list[BudgetUse] = field(default_factory=list)
    """The budgets it counts against, as they stood before it."""
    used: Amounts | None = None
    """What it did use, once it has ended."""
    task: asyncio.Task[None] | None = None
    """What passes its answer on."""
    recorded: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the store has it, or has refused it."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it has ended and counts."""
    _counters: list[_Counter] = field(default_factory=list)

    def hold(self, counter: _Counter) -> None:
        """Count it there."""
        self._counters.append(counter)
        if self.used is None:
            counter.reserve(self.start.reserved)
        else:
            counter.use(self.used)

    def settle(self, used: Amounts) -> None:
        """What it used takes the place of what was reserved."""
        self.used = used
        for counter in self._counters:
            counter.reserve(self.start.reserved, -1)
            counter.use(used)


class BudgetBook:
    """All budgets of one service. What was used before it started is read from the store when it is first needed."""

    def __init__(self, store: UsageStore) -> None:
        self._store = store
        self._counters: dict[_CounterKey, _Counter] = {}
        self._loading: dict[_CounterKey, asyncio.Task[_Counter]] = {}
        self._under_way: set[AdmittedRequest] = set()

    @property
    def under_way(self) -> list[AdmittedRequest]:
        """The requests that have not ended, the oldest first."""
        return sorted(self._under_way, key=lambda request: request.start.time)

    async def admit(self, start: RequestStart, policies: HubPolicies, policy: GroupPolicy) -> AdmittedRequest:
        """Reserve what a request may use. Raises BudgetRefusal, and StorageUnavailable if it cannot be recorded.

        Whoever waits for this is not to be cancelled: its row could stay without an end.
        """
        budgets = list(policies.budgets_for(policy, start.model))
        counters = [await self._counter(budget, start.user, start.group, start.time, policies) for budget in budgets]
        # No other request gets in between here and the reservation.
        uses = list(_uses(budgets, counters, start.group, policies))
        for use in uses:
            if use.used + use.reserved >= use.limit:
                raise BudgetRefusal(use)
        request = AdmittedRequest(start, uses=uses)
        self._under_way.add(request)
        # Two budgets with other limits may count the same.
        for counter in {id(counter): counter for counter in counters}.values():
            request.hold(counter)
        try:
            request.number = await self._store.start(start)
        except BaseException:
            self._under_way.discard(request)
            request.settle(Amounts(0, 0.0))
            raise
        finally:
            request.recorded.set()
        return request

    async def settle(self, request: AdmittedRequest, end: RequestEnd) -> None:
        """Count what a request used. Raises StorageUnavailable; then its reservation counts at the next start."""
        request.settle(end.amounts)
        try:
            await self._store.end(request.number, end)
        finally:
            # Not before: a budget that is loaded meanwhile would count its reservation.
            self._under_way.discard(request)
            request.settled.set()

    async def standing(
        self, user: str, group: str, now: float, policies: HubPolicies, policy: GroupPolicy
    ) -> list[BudgetUse]:
        """How a person's budgets stand."""
        budgets = [*policy.budgets, *policies.budgets]
        counters = [await self._counter(budget, user, group, now, policies) for budget in budgets]
        return list(_uses(budgets, counters, group, policies))

    async def _counter(self, budget: UsageBudget, user: str, group: str, now: float, policies: HubPolicies) -> _Counter:
        subject = {"user": user, "group": group, "all": ""}[budget.per]
        start, ends = period_around(now, budget.period, policies.zone)
        key = _CounterKey(budget.per, subject, budget.models, budget.period, start)
        if (counter := self._counters.get(key)) is not None:
            return counter
        if key not in self._loading:
            self._loading[key] = asyncio.create_task(self._load(key, ends), name="hdsp-agent hub budget")
        return await asyncio.shield(self._loading[key])

    async def _load(self, key: _CounterKey, ends: float) -> _Counter:
        try:
            under_way = [request for request in self._under_way if key.counts(request.start)]
            for request in under_way:
                await request.recorded.wait()
            used = await self._store.total(
                key.start,
                key.models,
                user=key.subject if key.per == "user" else None,
                group=key.subject if key.per == "group" else None,
                without=[request.number for request in under_way],
            )
            counter = _Counter(ends, used.tokens, used.money)
            for request in under_way:
                request.hold(counter)
            for old in [old for old, known in self._counters.items() if known.ends <= key.start]:
                del self._counters[old]
            self._counters[key] = counter
            return counter
        finally:
            del self._loading[key]


def _uses(
    budgets: Sequence[UsageBudget], counters: Sequence[_Counter], group: str, policies: HubPolicies
) -> Iterator[BudgetUse]:
    for budget, counter in zip(budgets, counters, strict=True):
        ends = datetime.fromtimestamp(counter.ends, policies.zone)
        if budget.tokens is not None:
            yield BudgetUse(budget, group, "tokens", counter.tokens, counter.reserved_tokens, budget.tokens, ends)
        if budget.money is not None:
            yield BudgetUse(budget, group, "dollars", counter.money, counter.reserved_money, budget.money, ends)
