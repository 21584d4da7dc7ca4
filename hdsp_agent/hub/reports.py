"""What people, administrators and monitoring may know of the use of models, and the settings of each person's server."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_address
from typing import Final

from pydantic import JsonValue
from tornado.web import HTTPError

from .budget_book import BudgetUse
from .hub_handler import HubHandler
from .people import HubPerson
from .policies import GroupPolicy
from .refusals import Refusal
from .settings_answer import settings_answer
from .usage_store import UsageRow

__all__ = [
    "AdminUsageHandler",
    "ConfigHandler",
    "HubHealthHandler",
    "MetricsHandler",
    "UnknownHandler",
    "UsageHandler",
    "plain_cell",
    "usage_csv",
]

_SHOWN_DAYS: Final = 31
_MOST_DAYS: Final = 366
_DAY_SECONDS: Final = 86_400
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would compute instead of show."""


class ConfigHandler(HubHandler):
    """The settings of a person's server: what its ``user_config_api_url`` names."""

    async def get(self, username: str) -> None:
        """Tell them to the person's own server."""
        person = await self.user()
        if username != person.name:
            raise Refusal(403, "permission_error", "This token is of somebody else.")
        group, policy = self.policy_of(person)
        budgets = [use.to_json() for use in await _standing(self, person, group, policy)]
        policies = self.service.policies.now.policies
        self.answer(await asyncio.to_thread(settings_answer, policies, policy, budgets))


class UsageHandler(HubHandler):
    """What a person used, and how their budgets stand."""

    async def get(self) -> None:
        """Tell it to that person."""
        person = await self.user()
        group, policy = self.policy_of(person)
        budgets: list[JsonValue] = [use.to_json() for use in await _standing(self, person, group, policy)]
        since, until = _days(self)
        rows = await self.service.store.rows(since, until, person.name)
        self.answer({"user": person.name, "group": group, "budgets": budgets, "usage": _json(rows)})


class AdminUsageHandler(HubHandler):
    """What everybody used, by day, person and model."""

    async def get(self) -> None:
        """As JSON, or as CSV with ``?format=csv``; ``since`` and ``until`` are days (UTC)."""
        since, until = _days(self)
        await self.admin(f"hub usage {self.get_query_argument('format', 'json')[:10]}")
        rows = await self.service.store.rows(since, until)
        if self.get_query_argument("format", "json") == "csv":
            self.set_header("Content-Type", "text/csv; charset=utf-8")
            self.set_header("Content-Disposition", 'attachment; filename="hdsp-agent-usage.csv"')
            self.finish(await asyncio.to_thread(usage_csv, rows))
        else:
            self.set_header("Content-Type", "application/json; charset=UTF-8")
            self.finish(await asyncio.to_thread(_report, rows))


class MetricsHandler(HubHandler):
    """Numbers for Prometheus, with an administrator's token; those that name nobody also on this machine."""

    async def get(self) -> None:
        """In Prometheus' text form."""
        with_users = self.service.policies.now.policies.metrics_with_users
        if with_users or not self._is_direct_and_local():
            person = await self.person()
            if not person.is_admin:
                raise Refusal(403, "permission_error", "This token has no scope custom:hdsp-agent:admin.")
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.service.metrics.servers_now(*self.service.servers.counts(), with_users=with_users)
        self.finish(self.service.metrics.text())

    def _is_direct_and_local(self) -> bool:
        # JupyterHub's proxy may be on this machine too; it says for whom it asks.
        if any(name.lower().startswith("x-forwarded") or name.lower() == "forwarded" for name in self.request.headers):
            return False
        return ip_address(self.request.remote_ip or "0.0.0.0").is_loopback  # noqa: S104 -- nobody's address


class HubHealthHandler(HubHandler):
    """Whether the service is there, for whoever starts it again if not."""

    async def get(self) -> None:
        """Nothing that is not for everybody."""
        self.answer({"status": "ok"})


class UnknownHandler(HubHandler):
    """Any other address."""

    async def prepare(self) -> None:
        """There is nothing, whoever asks."""
        raise HTTPError(404)


async def _standing(handler: HubHandler, person: HubPerson, group: str, policy: GroupPolicy) -> list[BudgetUse]:
    service = handler.service
    return await service.budgets.standing(person.name, group, service.time(), service.policies.now.policies, policy)


def _days(handler: HubHandler) -> tuple[float, float]:
    """The first second, and the first one after, of the days that a request names. Raises Refusal."""
    today = datetime.fromtimestamp(handler.service.time(), UTC).date()
    first = _day(handler, "since", today - timedelta(days=_SHOWN_DAYS - 1))
    last = _day(handler, "until", today)
    if (last - first).days >= _MOST_DAYS:
        raise Refusal(400, "invalid_request_error", f"since and until may be {_MOST_DAYS} days apart at most.")
    return _midnight(first), _midnight(last) + _DAY_SECONDS


def _day(handler: HubHandler, name: str, otherwise: date) -> date:
    try:
        return date.fromisoformat(handler.get_query_argument(name, otherwise.isoformat()))
    except ValueError:
        raise Refusal(400, "invalid_request_error", f"{name} must be a day, such as 2026-01-31.") from None


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _json(rows: Sequence[UsageRow]) -> list[JsonValue]:
    return [asdict(row) for row in rows]


def _report(rows: Sequence[UsageRow]) -> str:
    return json.dumps({"usage": _json(rows)})


def usage_csv(rows: Sequence[UsageRow]) -> str:
    """Rows for spreadsheets."""
    text = io.StringIO()
    writer = csv.writer(text)
    names = [field.name for field in fields(UsageRow)]
    writer.writerow(names)
    for row in rows:
        values = asdict(row)
        writer.writerow([plain_cell(values[name]) for name in names])
    return text.getvalue()


def plain_cell(value: object) -> object:
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
