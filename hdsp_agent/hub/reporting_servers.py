"""What people's servers told of their tasks and storage, in memory, and what administrators want of them."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from .._timeouts import wait_at_most
from ..telemetry import ServerReport, StopOrder, StorageReport, TaskReport, TaskWork

__all__ = ["PersonStorage", "ReportingServer", "ReportingServers"]

_MOST_PEOPLE: Final = 20_000
_MOST_OF_ONE: Final = 10
"""Servers of one person."""
_GRACE_SECONDS: Final = 30.0
"""How late a report may be."""
_FORGOTTEN_SECONDS: Final = 24 * 3600.0
_ORDER_SECONDS: Final = 60.0
"""An order that no server came for in this time is not followed any more."""
_HOLD_SECONDS: Final = 20.0
_HOLD_JITTER_MILLISECONDS: Final = 5_000


@dataclass(eq=False)
class _Order:
    stop: StopOrder
    until: float
    followed: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False)
class ReportingServer:
    """A person's server as it stood at ``time``."""

    user: str
    time: float
    report: ServerReport
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the report that waits for its answer is to have it. The next one has another."""
    _orders: dict[str, _Order] = field(default_factory=dict)
    """By the task that is to be stopped."""

    def is_silent(self, now: float) -> bool:
        """Whether its next report did not come: what it does now is not known."""
        return now > self.time + self.report.next_seconds + _GRACE_SECONDS

    def since(self, task: TaskReport) -> float:
        """When this task began to work, or was paused."""
        return self.time - task.seconds

    @property
    def tasks_at_work(self) -> int:
        """How many tasks it does, as far as it names them."""
        return sum(task.is_at_work for task in self.report.tasks)

    def is_at_work(self, task_id: str) -> bool:
        """Whether it does this task."""
        return any(task.id == task_id and task.is_at_work for task in self.report.tasks)

    def orders(self, now: float) -> list[StopOrder]:
        """What it is to do."""
        self._orders = {task: order for task, order in self._orders.items() if now < order.until}
        return [order.stop for order in self._orders.values()]

    def told(self, report: ServerReport, time: float) -> None:
        """This is how it stands now."""
        self.report, self.time = report, time
        for task, order in list(self._orders.items()):
            if order.stop.order in report.done or not self.is_at_work(task):
                order.followed.set()
                del self._orders[task]
        self.release()

    def order_stop(self, task: str, now: float) -> asyncio.Event:
        """Want one of its tasks stopped; what is set once it is."""
        self.orders(now)
        if task not in self._orders:
            stop = StopOrder(order=secrets.token_urlsafe(12), task=task)
            self._orders[task] = _Order(stop, now + _ORDER_SECONDS)
        self.release()
        return self._orders[task].followed

    def release(self) -> None:
        """Answer the report that waits."""
        self.news.set()
        self.news = asyncio.Event()


@dataclass(frozen=True)
class PersonStorage:
    """What a person has stored, measured at ``time``."""

    user: str
    time: float
    storage: StorageReport


class ReportingServers:
    """Of too many people or servers those are forgotten that are silent the longest."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._people: OrderedDict[str, OrderedDict[str, ReportingServer]] = OrderedDict()
        """The servers of each person. Who told something last comes last."""
        self._storage: OrderedDict[str, PersonStorage] = OrderedDict()
        self._closed = False

    # ---- what servers say

    def told(self, user: str, report: ServerReport) -> ReportingServer:
        """A server of this person says how it stands."""
        now, mine = self._now(), self._people.pop(user, OrderedDict())
        server = mine.pop(report.instance, None) or ReportingServer(user, now, report)
        server.told(report, now)
        if not report.ended:
            mine[report.instance] = server
        self._forget_some(mine, report, now)
        if mine:
            self._people[user] = mine
        self._forget_people(now)
        if report.storage is not None:
            self._keep(PersonStorage(user, now - report.storage.seconds, report.storage))
        return server

    async def next_orders(self, server: ReportingServer, gone: asyncio.Event) -> list[StopOrder]:
        """What a server is to do. Where its report allows that, waits until there is something, it tells more or is gone."""
        orders = server.orders(self._now())
        if orders or not server.report.hold or self._closed:
            return orders
        seconds = _HOLD_SECONDS + secrets.randbelow(_HOLD_JITTER_MILLISECONDS) / 1000
        ends = {asyncio.create_task(event.wait()) for event in (server.news, gone)}
        try:
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
        return server.orders(self._now())

    def close(self) -> None:
        """Answer all that wait."""
        self._closed = True
        for server in self.all:
            server.release()

    # ---- what administrators see and want

    @property
    def all(self) -> list[ReportingServer]:
        """Those that are known, also silent ones."""
        return [server for mine in self._people.values() for server in mine.values()]

    @property
    def storage(self) -> list[PersonStorage]:
        """What each person has stored, as it was measured last."""
        return list(self._storage.values())

    def server(self, user: str, instance: str) -> ReportingServer | None:
        """A server of this person that is not silent."""
        mine = self._people.get(user)
        server = None if mine is None else mine.get(instance)
        return None if server is None or server.is_silent(self._now()) else server

    def counts(self) -> tuple[Counter[str], Counter[tuple[TaskWork, str]]]:
        """How many servers of each person report, and how many of their tasks do what."""
        now = self._now()
        heard = [server for server in self.all if not server.is_silent(now)]
        works = Counter((task.work, server.user) for server in heard for task in server.report.tasks)
        return Counter(server.user for server in heard), works

    async def stop(self, server: ReportingServer, task: str, seconds: float) -> bool:
        """Have a task stopped; whether its server says within this time that it is."""
        followed = server.order_stop(task, self._now())
        with suppress(TimeoutError):
            await wait_at_most(followed.wait(), seconds)
        return followed.is_set()

    # ---- bounds

    def _forget_some(self, mine: OrderedDict[str, ReportingServer], newest: ServerReport, now: float) -> None:
        for instance, server in list(mine.items()):
            # Where the server of that name was started anew, nothing that the one before told is so any more.
            is_replaced = server.report.server == newest.server and server.is_silent(now)
            if is_replaced or server.time < now - _FORGOTTEN_SECONDS or len(mine) > _MOST_OF_ONE:
                mine.pop(instance).release()

    def _forget_people(self, now: float) -> None:
        while self._people:
            user, mine = next(iter(self._people.items()))
            newest = next(reversed(mine.values()))
            if len(self._people) <= _MOST_PEOPLE and newest.time >= now - _FORGOTTEN_SECONDS:
                return
            for server in self._people.pop(user).values():
                server.release()

    def _keep(self, storage: PersonStorage) -> None:
        known = self._storage.pop(storage.user, None)
        self._storage[storage.user] = known if known is not None and known.time > storage.time else storage
        if len(self._storage) > _MOST_PEOPLE:
            self._storage.popitem(last=False)
