"""The pages for administrators about the service: use, one person, policies, how the service stands, and who looked."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections import Counter
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tornado.web import StaticFileHandler

from ..policies import HubPolicies
from ..reports import usage_csv
from .audit_reading import newest_lines
from .charts import all_days, bar_chart
from .page_handler import PageHandler, PageRefusal
from .usage_summaries import (
    PAGE_ROWS,
    DaySum,
    UsageFilter,
    by_day,
    by_person,
    people_since,
    provider_states,
    sorted_by,
)

__all__ = [
    "AuditPage",
    "OAuthCallbackHandler",
    "PersonPage",
    "PoliciesPage",
    "StatusPage",
    "StylesHandler",
    "UsageFile",
    "UsagePage",
]

_DAY_SECONDS: Final = 86_400
_SHOWN_DAYS: Final = 31
_MOST_DAYS: Final = 366
_MOST_LINES: Final = 500
_IN_TOUCH_SECONDS: Final = 600
"""A server asks for its settings every five minutes."""
STYLES: Final = Path(__file__).parent / "static"


class _UsageHandler(PageHandler):
    """What has a time and a search."""

    def read_filter(self, person: str = "") -> tuple[UsageFilter, dict[str, str]]:
        """What is wanted, and the same as it stands in the address. Raises PageRefusal."""
        today = datetime.fromtimestamp(self.service.time(), UTC).date()
        last = self._day("until", today)
        first = self._day("since", last - timedelta(days=_SHOWN_DAYS - 1))
        if not 0 <= (last - first).days < _MOST_DAYS:
            raise PageRefusal(400, self.translated("Choose a time of at most %1 days.", _MOST_DAYS))
        name, model = self.text("q"), self.text("model")
        wanted = UsageFilter(_midnight(first), _midnight(last) + _DAY_SECONDS, person, name, model)
        return wanted, {"since": first.isoformat(), "until": last.isoformat(), "q": name, "model": model}

    def _day(self, name: str, otherwise: date) -> date:
        value = self.text(name)
        try:
            day = date.fromisoformat(value) if value else otherwise
        except ValueError:
            raise PageRefusal(400, self.translated("Write days like %1.", "2026-01-31")) from None
        if not 1971 <= day.year <= 9000:
            raise PageRefusal(400, self.translated("Write days like %1.", "2026-01-31"))
        return day

    async def show_use(self, template: str, viewer: Any, person: str = "", **values: object) -> None:
        """Send a page with charts and the table of who used what."""
        wanted, query = self.read_filter(person)
        order, (part, first) = sorted_by(self.text("sort")), self.first_row()
        store = self.service.store
        rows, whole, count = await by_person(store, wanted, order, first)
        days = all_days(wanted.since, wanted.until, await by_day(store, wanted))
        self.show(
            template,
            viewer,
            rows=rows,
            whole=whole,
            count=count,
            first=first,
            part=part,
            parts=max(1, -(-count // PAGE_ROWS)),
            days=days,
            charts=_charts(days),
            query=query,
            order=order,
            **values,
        )


class UsagePage(_UsageHandler):
    """Who used which models, and what it cost."""

    page = ""

    async def get(self) -> None:
        """Show it to an administrator."""
        if (viewer := await self.enter()) is not None:
            await self.show_use("usage.html", viewer)


class UsageFile(_UsageHandler):
    """The same by day, for spreadsheets."""

    page = "usage.csv"

    async def get(self) -> None:
        """Send it as CSV."""
        person = self.text("person")
        if await self.enter(person) is None:
            return
        wanted, _ = self.read_filter(person)
        rows = await self.service.store.rows(
            wanted.since, wanted.until, person or None, name=wanted.name, model=wanted.model
        )
        self.set_header("Content-Type", "text/csv; charset=utf-8")
        self.set_header("Content-Disposition", 'attachment; filename="hdsp-agent-usage.csv"')
        self.finish(await asyncio.to_thread(usage_csv, rows))


class PersonPage(_UsageHandler):
    """One person: their policy, their budgets, and what they used."""

    page = "person"

    async def get(self) -> None:
        """Show it to an administrator."""
        name = self.text("name")
        if (viewer := await self.enter(name)) is None:
            return
        policies = self.service.policies.now.policies
        group, seen = (await _people(self, name)).get(name, ("", None))
        known = dict(policies.named()).get(group)
        budgets = (
            await self.service.budgets.standing(name, group, self.service.time(), policies, known) if known else []
        )
        await self.show_use("person.html", viewer, name, name=name, group=group, seen=seen, budgets=budgets)


class PoliciesPage(PageHandler):
    """The policies in force, and who has which."""

    page = "policies"

    async def get(self) -> None:
        """Show it to an administrator."""
        if (viewer := await self.enter()) is None:
            return
        policies = self.service.policies.now.policies
        name, wanted = self.text("q"), self.text("policy")
        everybody = sorted((await _people(self)).items())
        members = Counter(group for _, (group, _) in everybody)
        counts = {group: members[group] for group, _ in policies.named()}
        people = [
            (person, group, time)
            for person, (group, time) in everybody
            if name.lower() in person.lower() and wanted in ("", group)
        ]
        part, first = self.first_row()
        self.show(
            "policies.html",
            viewer,
            policies=policies,
            counts=counts,
            problems=self.service.policies.problems,
            people=people[first : first + PAGE_ROWS],
            count=len(people),
            first=first,
            part=part,
            parts=max(1, -(-len(people) // PAGE_ROWS)),
            query={"q": name, "policy": wanted},
        )


class StatusPage(PageHandler):
    """Whether all that the service needs is well."""

    page = "status"

    async def get(self) -> None:
        """Show it to an administrator."""
        if (viewer := await self.enter()) is None:
            return
        service, now = self.service, self.service.time()
        in_touch = [one for one in service.seen.all().values() if now - one.time <= _IN_TOUCH_SECONDS]
        sizes, disk = await asyncio.to_thread(_storage, service.folder)
        self.show(
            "status.html",
            viewer,
            now=now,
            started=service.started,
            hub_version=await service.hub_version(),
            problems=service.policies.problems,
            states={one.provider: one for one in await provider_states(service.store, now - _DAY_SECONDS)},
            providers=service.policies.now.policies.providers,
            in_touch=len(in_touch),
            servers=sum(service.servers.counts()[0].values()),
            sizes=sizes,
            disk=disk,
            sqlite=sqlite3.sqlite_version,
        )


class AuditPage(PageHandler):
    """Who looked at what others used, and who stopped what."""

    page = "audit"

    async def get(self) -> None:
        """Show it to an administrator."""
        if (viewer := await self.enter()) is None:
            return
        name = self.text("q")
        lines = await asyncio.to_thread(newest_lines, self.service.audit.path, name, _MOST_LINES)
        self.show("audit.html", viewer, lines=lines, most=_MOST_LINES, query={"q": name})


class OAuthCallbackHandler(PageHandler):
    """Where JupyterHub sends the browser of somebody who logged in."""

    async def get(self) -> None:
        """Let them in."""
        await self.come_back()


class StylesHandler(StaticFileHandler):
    """The look of the pages, which is for everybody."""

    def set_default_headers(self) -> None:
        """What is said of every answer."""
        self.set_header("X-Content-Type-Options", "nosniff")
        self.clear_header("Server")

    def set_extra_headers(self, path: str) -> None:
        """A newer version has another look."""
        self.set_header("Cache-Control", "no-cache")


async def _people(handler: PageHandler, person: str = "") -> dict[str, tuple[str, float]]:
    """Everybody who was in touch, or one of them: their policy, and when they were. What JupyterHub said last counts."""
    service = handler.service
    policies: HubPolicies = service.policies.now.policies
    people = await people_since(service.store, service.time() - _MOST_DAYS * _DAY_SECONDS, person)
    for name, seen in service.seen.all().items():
        if person not in ("", name):
            continue
        found = policies.policy_of(seen.groups)
        people[name] = ("" if found is None else found[0], max(seen.time, people.get(name, ("", 0.0))[1]))
    return people


def _charts(days: list[DaySum]) -> dict[str, object]:
    return {
        "cost": bar_chart(days, lambda one: one.money),
        "tokens": bar_chart(days, lambda one: one.tokens_in, lambda one: one.tokens_cached, lambda one: one.tokens_out),
        "requests": bar_chart(days, lambda one: one.requests - one.errors, lambda one: one.errors),
    }


def _storage(folder: Path) -> tuple[list[tuple[str, int]], Any]:
    """The service's files with their sizes, and how much room there is on their disk."""
    sizes = []
    for file in sorted(folder.iterdir()):
        # SQLite takes its own away when it likes.
        with suppress(FileNotFoundError):
            if file.is_file() and file.suffix != ".lock":
                sizes.append((file.name, file.stat().st_size))
    return sizes, shutil.disk_usage(folder)


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
