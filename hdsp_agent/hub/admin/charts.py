"""Where the bars of a chart by day stand. The page draws them as SVG, and has the same numbers as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from .usage_summaries import DaySum, UsageSum

__all__ = ["BarChart", "ChartBar", "ChartLine", "all_days", "bar_chart"]

WIDTH: Final = 360
HEIGHT: Final = 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 8, 8, 24
_NOTHING: Final = UsageSum(0, 0, 0, 0, 0.0, 0, None, 0)
_STEPS: Final = (1, 2, 4, 6, 8, 10)


@dataclass(frozen=True)
class ChartBar:
    """A part of a day's bar; ``series`` counts from 0."""

    series: int
    day: str
    value: float
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class ChartLine:
    """A line of the scale."""

    value: float
    y: float


@dataclass(frozen=True)
class BarChart:
    """A chart in units of its ``viewBox``."""

    bars: Sequence[ChartBar]
    lines: Sequence[ChartLine]
    total: float
    largest: tuple[str, float] | None
    """The day with the most, and how much that is."""
    first_day: str
    last_day: str
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    bottom: float = HEIGHT - _BOTTOM
    width: float = WIDTH
    height: float = HEIGHT


def all_days(since: float, until: float, sums: Sequence[DaySum]) -> list[DaySum]:
    """Every day of a time, also those on which nothing was used."""
    known: Mapping[str, DaySum] = {one.day: one for one in sums}
    first = datetime.fromtimestamp(since, UTC).date()
    count = (datetime.fromtimestamp(until, UTC).date() - first).days
    days = [(first + timedelta(days=number)).isoformat() for number in range(count)]
    return [known.get(day) or DaySum(day, _NOTHING) for day in days]


def bar_chart(days: Sequence[DaySum], *series: Callable[[UsageSum], float]) -> BarChart:
    """A bar for each of the days, at least one, made of a part for each of the series."""
    values = [[value(day.sum) for value in series] for day in days]
    sums = [sum(parts) for parts in values]
    most = max(sums)
    top = _round_up(most)
    room = HEIGHT - _TOP - _BOTTOM
    step = (WIDTH - _LEFT - _RIGHT) / len(days)
    bars: list[ChartBar] = []
    for number, (day, parts) in enumerate(zip(days, values, strict=True)):
        y = float(HEIGHT - _BOTTOM)
        for at, value in enumerate(parts):
            height = value / top * room
            y -= height
            if value > 0:
                x = _LEFT + number * step + step * 0.1
                bars.append(
                    ChartBar(at, day.day, value, round(x, 2), round(y, 2), round(step * 0.8, 2), round(height, 2))
                )
    lines = [ChartLine(top * part, round(HEIGHT - _BOTTOM - part * room, 2)) for part in (0, 0.5, 1)]
    largest = (days[sums.index(most)].day, most) if most > 0 else None
    return BarChart(bars, lines, sum(sums), largest, days[0].day, days[-1].day)


def _round_up(value: float) -> float:
    """A number that a scale can end with."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(step * power) for step in _STEPS if value <= step * power * (1 + 1e-9))
