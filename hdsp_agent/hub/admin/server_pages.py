"""The pages for administrators about people's servers: what runs now, and what each person has stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..._timeouts import wait_at_most
from ...telemetry import TaskReport
from .page_handler import PageHandler
from .storage_rows import sorted_storage, storage_csv, storage_order
from .usage_summaries import PAGE_ROWS

if TYPE_CHECKING:
    from ..reporting_servers import PersonStorage, ReportingServer

__all__ = ["RunningPage", "StopRequestHandler", "StopTaskHandler", "StorageFile", "StoragePage"]

_STOP_SECONDS: Final = 5.0


@dataclass(frozen=True)
class RunningTask:
    """A task, and the server that told of it."""

    server: ReportingServer
    task: TaskReport

    @property
    def since(self) -> float:
        """When it began to work, or was paused."""
        return self.server.since(self.task)


class RunningPage(PageHandler):
    """The tasks of people's servers, and the requests to models that are under way."""

    page = "running"

    async def get(self) -> None:
        """Show it to an administrator."""
        if (viewer := await self.enter()) is None:
            return
        service, now, name = self.service, self.service.time(), self.text("q")
        wanted = [server for server in service.servers.all if name.lower() in server.user.lower()]
        heard = [server for server in wanted if not server.is_silent(now)]
        tasks = [RunningTask(server, task) for server in heard for task in server.report.tasks]
        tasks.sort(key=lambda one: (not one.task.is_at_work, one.since))
        part, first = self.first_row()
        self.show(
            "running.html",
            viewer,
            xsrf=self.session.xsrf,
            now=now,
            tasks=tasks[first : first + PAGE_ROWS],
            count=len(tasks),
            first=first,
            part=part,
            parts=max(1, -(-len(tasks) // PAGE_ROWS)),
            more=sum(server.report.more for server in heard),
            servers=len(heard),
            silent=_silent_at_work(wanted, now)[:PAGE_ROWS],
            requests=[
                request
                for request in service.budgets.under_way
                if request.task is not None and name.lower() in request.start.user.lower()
            ],
            query={"q": name},
            stopped=self.text("stopped"),
        )


def _silent_at_work(servers: Sequence[ReportingServer], now: float) -> list[ReportingServer]:
    """Those that were at work when they were last heard, which is not long ago for the first."""
    silent = [server for server in servers if server.is_silent(now) and server.tasks_at_work]
    return sorted(silent, key=lambda server: -server.time)


class StopTaskHandler(PageHandler):
    """Has a person's server stop a task."""

    page = "running"

    async def post(self) -> None:
        """It stops as if the person had stopped it, and says in the conversation that an administrator did."""
        user, instance, task = (self.get_body_argument(name, "") for name in ("person", "server", "task"))
        if (viewer := await self.enter()) is None:
            return
        servers = self.service.servers
        server = servers.server(user, instance)
        if server is None or not server.is_at_work(task):
            self._show("no-task")
            return
        await self.service.record_access(viewer.name, f"hub stop task {task} of {user}", "change")
        self._show("task" if await servers.stop(server, task, _STOP_SECONDS) else "asked")

    def _show(self, what: str) -> None:
        self.redirect(f"{self.service.addresses.prefix}running?stopped={what}", status=303)


class StopRequestHandler(PageHandler):
    """Ends a request to a model that is under way."""

    page = "running"

    async def post(self) -> None:
        """The person's program sees a broken connection; what was said until then counts."""
        if (viewer := await self.enter()) is None:
            return
        number = self.get_body_argument("request", "")
        found = [one for one in self.service.budgets.under_way if str(one.number) == number]
        for request in found:
            if request.task is not None:
                await self.service.record_access(viewer.name, f"hub stop request of {request.start.user}", "change")
                request.task.cancel()
                # The page that follows is to list it no more.
                with suppress(TimeoutError):
                    await wait_at_most(request.settled.wait(), _STOP_SECONDS)
        what = "request" if found else "no-request"
        self.redirect(f"{self.service.addresses.prefix}running?stopped={what}", status=303)


class _StorageHandler(PageHandler):
    def wanted(self) -> list[PersonStorage]:
        """Of whom it is to be shown, in the order that is wanted."""
        name = self.text("q").lower()
        found = [one for one in self.service.servers.storage if name in one.user.lower()]
        return sorted_storage(found, storage_order(self.text("sort")))


class StoragePage(_StorageHandler):
    """What each person has stored."""

    page = "storage"

    async def get(self) -> None:
        """Show it to an administrator."""
        if (viewer := await self.enter()) is None:
            return
        people = self.wanted()
        part, first = self.first_row()
        self.show(
            "storage.html",
            viewer,
            people=people[first : first + PAGE_ROWS],
            whole=sum(one.storage.total for one in people),
            count=len(people),
            first=first,
            part=part,
            parts=max(1, -(-len(people) // PAGE_ROWS)),
            order=storage_order(self.text("sort")),
            query={"q": self.text("q")},
        )


class StorageFile(_StorageHandler):
    """The same for spreadsheets."""

    page = "storage.csv"

    async def get(self) -> None:
        """Send it as CSV."""
        if await self.enter() is None:
            return
        self.set_header("Content-Type", "text/csv; charset=utf-8")
        self.set_header("Content-Disposition", 'attachment; filename="hdsp-agent-storage.csv"')
        self.finish(await asyncio.to_thread(storage_csv, self.wanted()))
