"""Tells the hub service which tasks run here and what is stored, and stops the tasks that an administrator wants stopped."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr

from .._timeouts import wait_at_most
from ..errors import HdspAgentError
from ..events import Dispose
from ..messages import TaskId
from ..telemetry import MOST_TASKS, ServerReport, StopAnswer, StopOrder, StorageReport
from .task_reports import TaskReports, shown_name

if TYPE_CHECKING:
    import httpx2

    from ._bad_input_log import Log
    from .audit import Audit
    from .running_agent import RunningAgent

__all__ = ["HubReports", "HubReportsTarget"]

_AT_WORK_SECONDS: Final = 30.0
_AT_REST_SECONDS: Final = 120.0
_LEAST_SECONDS: Final = 1.0
"""Between two reports: changes come in bursts."""
_FIRST_SECONDS: Final = 10.0
_AWAY_SECONDS: Final = 5.0
_LONGEST_AWAY_SECONDS: Final = 120.0
_TIMEOUT_SECONDS: Final = 40.0
"""The service holds the answer for 25 seconds at most."""
_LAST_SECONDS: Final = 1.0
_MOST_DONE: Final = 100
_ADMINISTRATOR: Final = "hub administrator"
"""Who it was, the audit log of the hub service says."""


@dataclass(frozen=True)
class HubReportsTarget:
    """Where reports go, with which token, and what the server is called at the hub."""

    url: str
    token: SecretStr
    server: str


class HubReports:
    """Runs from ``start`` to ``stop``. Where the service is away, it asks less and less often and tells nobody."""

    def __init__(
        self,
        target: HubReportsTarget,
        agent: RunningAgent,
        audit: Audit,
        *,
        storage: Callable[[], StorageReport | None],
        log: Log | None = None,
    ) -> None:
        self._target = target
        self._agent = agent
        self._audit = audit
        self._storage = storage
        self._log = log or logging.getLogger(__name__)
        self._tasks = TaskReports(agent)
        self._instance = secrets.token_urlsafe(12)
        self._http: httpx2.AsyncClient | None = None
        self._news = asyncio.Event()
        self._done: list[str] = []
        """Orders that were followed, and that the service may not know of."""
        self._away = 0
        self._hush: tuple[Dispose, ...] = ()
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to tell."""
        events = self._agent.events
        self._hush = events.on_any(lambda event: self.hurry()), events.on_work(self._tasks.heed)
        self._running = asyncio.create_task(self._run(), name="hdsp-agent hub reports")

    def hurry(self) -> None:
        """Something may be different."""
        self._news.set()

    async def stop(self) -> None:
        """Say that the server ends."""
        for hush in self._hush:
            hush()
        self._hush = ()
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        if self._http is not None:
            last = self._report().model_copy(update={"tasks": (), "more": 0, "hold": False, "ended": True})
            with suppress(TimeoutError):
                await wait_at_most(self._exchange(self._http, last), _LAST_SECONDS)
            await self._http.aclose()
            self._http = None

    # ---- inside

    async def _run(self) -> None:
        # A server that starts has better things to do, unless somebody is at work already.
        with suppress(TimeoutError):
            await wait_at_most(self._news.wait(), _jittered(_FIRST_SECONDS))
        self._http = http = await asyncio.to_thread(_client)
        while True:
            try:
                await self._tell(http)
            except Exception:  # noqa: BLE001 -- held in a task nobody awaits, all later reports would end unseen
                self._log.exception("The hub service could not be told which tasks run; trying again later")
                self._away += 1
            if self._away:
                await asyncio.sleep(_jittered(min(_LONGEST_AWAY_SECONDS, _AWAY_SECONDS * 2 ** min(self._away - 1, 10))))

    async def _tell(self, http: httpx2.AsyncClient) -> None:
        """Report once, and do what the answer asks for; returns when the next report is due."""
        report = self._report()
        exchange = asyncio.create_task(self._exchange(http, report))
        other = asyncio.create_task(self._other_than(report))
        try:
            await asyncio.wait({exchange, other}, return_when=asyncio.FIRST_COMPLETED)
            if not exchange.done():
                # What the service was about to say it says again.
                return
            if (answer := exchange.result()) is None:
                self._away += 1
                return
            self._away = 0
            self._done = [order for order in self._done if order not in report.done]
            if await self._follow(answer.stop):
                # The administrator waits for the next report.
                return
            if any(task.is_at_work for task in report.tasks):
                await asyncio.sleep(_LEAST_SECONDS)
            else:
                await asyncio.wait({other}, timeout=_jittered(_AT_REST_SECONDS))
        finally:
            exchange.cancel()
            other.cancel()
            await asyncio.gather(exchange, other, return_exceptions=True)

    def _report(self) -> ServerReport:
        tasks = self._tasks.now()
        at_work = any(task.is_at_work for task in tasks)
        return ServerReport(
            instance=self._instance,
            server=shown_name(self._target.server),
            tasks=tuple(tasks[:MOST_TASKS]),
            more=len(tasks[MOST_TASKS:]),
            storage=self._storage(),
            next_seconds=_AT_WORK_SECONDS if at_work else _AT_REST_SECONDS,
            # Of a service that was away, it is to be known soon that it is back.
            hold=at_work and not self._away,
            done=tuple(self._done),
        )

    async def _other_than(self, report: ServerReport) -> None:
        """Return once another report is worth sending."""
        while True:
            await self._news.wait()
            # What is different comes in bursts.
            await asyncio.sleep(_LEAST_SECONDS)
            self._news.clear()
            if _stands(self._report()) != _stands(report):
                return

    async def _exchange(self, http: httpx2.AsyncClient, report: ServerReport) -> StopAnswer | None:
        """What the service answers; None if it cannot be told anything."""
        import httpx2

        headers = {
            "Authorization": f"token {self._target.token.get_secret_value()}",
            "Content-Type": "application/json",
        }
        try:
            answer = await http.post(self._target.url, content=report.model_dump_json(), headers=headers)
            if answer.status_code == httpx2.codes.OK:
                return StopAnswer.model_validate_json(answer.content)
            why = f"it answered {answer.status_code}"
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            why = type(error).__name__
        if not self._away:
            self._log.info("The hub service takes no reports of tasks now: %s", why)
        return None

    async def _follow(self, orders: Sequence[StopOrder]) -> bool:
        """Do what is to be done; whether anything was."""
        new = [order for order in orders if order.order not in self._done]
        for order in new:
            self._done = [*self._done[1 - _MOST_DONE :], order.order]
            try:
                await (await self._agent.manager()).cancel(TaskId(order.task), "administrator")
            except HdspAgentError as error:
                # It has come to its end meanwhile.
                self._log.info("A task that an administrator wants stopped was not stopped: %s", error)
            else:
                self._audit.record(_ADMINISTRATOR, "change", "hub stop", order.task)
        return bool(new)


def _stands(report: ServerReport) -> object:
    """What is worth a report of its own if it is different."""
    tasks = [task.model_copy(update={"seconds": 0.0}) for task in report.tasks]
    storage = None if report.storage is None else report.storage.model_copy(update={"seconds": 0.0})
    return tasks, report.more, storage


def _jittered(seconds: float) -> float:
    """A little less each time: not all servers of a hub are to report at once."""
    return seconds * random.uniform(0.7, 1.0)  # noqa: S311 -- no secret


def _client() -> httpx2.AsyncClient:
    """Reads the machine's certificates, which takes its time."""
    import httpx2

    # The hub is near: its tokens go through no proxy that the environment names for what is far.
    return httpx2.AsyncClient(
        verify=ssl.create_default_context(), trust_env=False, follow_redirects=False, timeout=_TIMEOUT_SECONDS
    )
