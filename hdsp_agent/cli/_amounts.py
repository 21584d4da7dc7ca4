"""Numbers, sizes, times and spans as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["bytes_text", "count_text", "day_after", "duration_text", "parse_day", "time_text"]

_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB", "PB")


def bytes_text(size: float) -> str:
    """A size in units of a thousand, as disks are sold and quotas are set."""
    unit = 0
    while abs(size) >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    if unit == 0:
        return f"{size:.0f} {_UNITS[0]}"
    return f"{size:.1f} {_UNITS[unit]}" if size < 99.95 else f"{size:.0f} {_UNITS[unit]}"


def count_text(number: float) -> str:
    """A number with separators; small averages with one decimal."""
    return f"{number:,.0f}" if number == int(number) or number >= 100 else f"{number:,.1f}"


def duration_text(seconds: float) -> str:
    """A span in its two greatest units."""
    whole = round(max(0.0, seconds))
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    parts = [(days, "d"), (hours, "h"), (minutes, "m"), (rest, "s")]
    first = next((place for place, (amount, _) in enumerate(parts) if amount), 3)
    return " ".join(f"{amount}{unit}" for amount, unit in parts[first : first + 2])


def time_text(time: datetime | None) -> str:
    """A time by this machine's clock."""
    return "-" if time is None else time.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def parse_day(text: str) -> tuple[datetime, bool]:
    """A time, and whether only its day was given, as in ``2024-01-31``; a ``ValueError`` if it is neither."""
    whole_day = len(text) == len("2024-01-31")
    time = datetime.fromisoformat(text)
    # Without a zone it is this machine's time, as in everything that is printed.
    aware = time.astimezone()
    if not timedelta() <= aware - datetime(1970, 1, 1, tzinfo=UTC):
        raise ValueError(text)
    return aware, whole_day


def day_after(time: datetime) -> datetime:
    """The beginning of the next day, whatever the clocks do in between."""
    return (time.replace(tzinfo=None) + timedelta(days=1)).astimezone()
