"""What the stored conversations add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime

from ...errors import InvalidInput
from ...persistence import ModelUse, Statistics, StorageLimits, Totals, alert_level, measure, statistics
from ..identity import owner_of
from ._history_bodies import ModelUseView, StatisticsQuery, StatisticsView, StorageView, TotalsView
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["StatisticsHandler", "StorageHandler"]


class StatisticsHandler(RestHandler):
    """`GET statistics`"""

    @endpoint("The caller's conversations in numbers", answer=StatisticsView, query=StatisticsQuery)
    async def get(self, *, query: StatisticsQuery) -> StatisticsView:
        """Counted from the task folders; it takes a while where there are many."""
        owner, storage = owner_of(self), self.services.storage
        # Tasks that name nobody belong to whom the server belongs.
        users = (owner, "") if owner == storage.person else (owner,)
        store = await storage.store()
        since, until = _time("since", query.since), _time("until", query.until)
        found = Statistics()
        for user in users:
            _add(found, await statistics(store, user=user, since=since, until=until, status=query.status))
        ghost_text = Statistics()
        if query.status is None:
            for user in users:
                for use in _between(await self.services.ghost_text.used(user), since, until):
                    ghost_text.add_use(use)
        return StatisticsView(
            total=_totals(found.total),
            running=found.running,
            paused=found.paused,
            completed=found.completed,
            failure_rate=round(found.failure_rate, 6),
            by_status={status: _totals(totals) for status, totals in found.by_status.items()},
            by_model={model: _totals(totals) for model, totals in found.by_model.items()},
            by_day={day.isoformat(): _totals(totals) for day, totals in sorted(found.by_day.items())},
            use=_use(found),
            ghost_text=_use(ghost_text),
            long_running=list(found.long_running),
            unreadable=found.unreadable,
        )


class StorageHandler(RestHandler):
    """`GET storage`"""

    @endpoint("How much is stored, and whether that is too much", answer=StorageView)
    async def get(self) -> StorageView:
        """Measured now; everybody's together, since they share the disk."""
        settings = self.services.config.settings
        warning, critical = settings.size_warning_gigabytes, settings.size_critical_gigabytes
        use = await measure(self.services.storage.home, self.services.storage.unopened)
        return StorageView(
            level=alert_level(use, StorageLimits.of_gigabytes(warning, critical)),
            total_bytes=use.total_bytes,
            tasks_bytes=use.tasks_bytes,
            running_tasks=use.running.tasks,
            completed_tasks=use.completed.tasks,
            packed_tasks=use.running.packed_tasks + use.completed.packed_tasks,
            parts=use.parts,
            warning_gigabytes=warning,
            critical_gigabytes=critical,
        )


def _add(found: Statistics, more: Statistics) -> None:
    found.running += more.running
    found.paused += more.paused
    found.completed += more.completed
    found.unreadable += more.unreadable
    found.long_running += more.long_running
    _add_totals(found.total, more.total)
    for status, totals in more.by_status.items():
        _add_totals(found.by_status.setdefault(status, Totals()), totals)
    for model, totals in more.by_model.items():
        _add_totals(found.by_model.setdefault(model, Totals()), totals)
    for day, totals in more.by_day.items():
        _add_totals(found.by_day.setdefault(day, Totals()), totals)
    for use in more.use.values():
        found.add_use(use)


def _add_totals(found: Totals, more: Totals) -> None:
    for field in fields(Totals):
        mine, theirs = getattr(found, field.name), getattr(more, field.name)
        setattr(found, field.name, max(mine, theirs) if field.name == "longest_seconds" else mine + theirs)


def _between(uses: Sequence[ModelUse], since: datetime | None, until: datetime | None) -> Iterator[ModelUse]:
    """Those of the days on which the time lies, and between."""
    first = "" if since is None else since.astimezone().date().isoformat()
    last = None if until is None else until.astimezone().date().isoformat()
    return (use for use in uses if first <= use.day and (last is None or use.day <= last))


def _use(found: Statistics) -> list[ModelUseView]:
    return [ModelUseView.model_validate(use, from_attributes=True) for _, use in sorted(found.use.items())]


def _totals(totals: Totals) -> TotalsView:
    return TotalsView.model_validate(totals, from_attributes=True)


def _time(field: str, milliseconds: int | None) -> datetime | None:
    if milliseconds is None:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        raise InvalidInput(f"{field} is {milliseconds}, which is not a valid time.", field=field) from None
