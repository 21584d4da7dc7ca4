"""Kinds of values that several commands take on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime

from ._amounts import day_after, parse_day

__all__ = ["at_least_zero", "begin", "end", "period_options", "positive"]


def positive(text: str) -> int:
    """A whole number of at least one."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**31:
        raise ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def at_least_zero(text: str) -> float:
    """A number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e9:
        raise ArgumentTypeError(f"{text!r} is not a number of at least 0")
    return number


def begin(text: str) -> datetime:
    """The time a period begins."""
    return _time(text)[0]


def end(text: str) -> datetime:
    """The time before which a period ends: after the whole day, if only a day is given."""
    time, whole_day = _time(text)
    try:
        return day_after(time) if whole_day else time
    except OverflowError:
        # The last day there is: no task is later.
        return time


def period_options(parser: ArgumentParser) -> None:
    """Let the person say which time is meant."""
    parser.add_argument(
        "--from", dest="since", metavar="DAY", type=begin, help="started on this day or later: 2026-01-31"
    )
    parser.add_argument("--to", dest="until", metavar="DAY", type=end, help="started on this day or earlier")


def _time(text: str) -> tuple[datetime, bool]:
    try:
        return parse_day(text)
    except (ValueError, OverflowError, OSError):
        raise ArgumentTypeError(f"{text!r} is not a day like 2026-01-31 or a time like 2026-01-31T09:30") from None
