"""When the period of a budget began, and when the next one begins."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from .policies import Period

__all__ = ["period_around"]


def period_around(moment: float, period: Period, zone: ZoneInfo) -> tuple[float, float]:
    """The first second of the period that a moment is in, and of the one after. Weeks begin on Monday."""
    today = datetime.fromtimestamp(moment, zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    match period:
        case "day":
            first, after = today, today + timedelta(days=1)
        case "week":
            first = today - timedelta(days=today.weekday())
            after = first + timedelta(days=7)
        case "month":
            first = today.replace(day=1)
            after = (first + timedelta(days=32)).replace(day=1)
        case _:
            assert_never(period)
    # Days of a clock that is changed have other lengths; both are the zone's own midnight.
    return first.timestamp(), after.timestamp()
