"""Times as files have them."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["iso_time", "parse_iso_time"]


def iso_time(time: datetime | None = None) -> str:
    """A time as the files write it, in UTC with microseconds; now, if none is given."""
    at = datetime.now(tz=UTC) if time is None else time.astimezone(UTC)
    return at.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def parse_iso_time(text: str) -> datetime | None:
    """The time that a file names; None if it names none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
