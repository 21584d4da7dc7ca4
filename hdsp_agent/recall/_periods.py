"""The time that a question names: "in March", "yesterday", "지난주", "3月12日". Korean, Japanese and English."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

__all__ = ["NamedPeriod", "named_period"]

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            "monday 월요일 月曜", "tuesday 화요일 火曜", "wednesday 수요일 水曜", "thursday 목요일 木曜",
            "friday 금요일 金曜", "saturday 토요일 土曜", "sunday 일요일 日曜",
        )
    )
    for name in names.split()
}  # fmt: skip
_UNITS: Final = {
    "day": 1, "days": 1, "일": 1, "日": 1,
    "week": 7, "weeks": 7, "주": 7, "주일": 7, "週": 7, "週間": 7,
    "month": 30, "months": 30, "달": 30, "개월": 30, "か月": 30, "ヶ月": 30, "カ月": 30,
}  # fmt: skip


@dataclass(frozen=True)
class NamedPeriod:
    """From when until when, in milliseconds; ``text`` is the question without words that only count from today."""

    since: int
    until: int
    text: str


_Span = tuple[datetime, datetime]
_Reader = Callable[[re.Match[str], datetime], "_Span | None"]


def named_period(text: str, now: int) -> NamedPeriod | None:
    """The first time that the text names, seen from ``now``; None if it names none, or one that no calendar has."""
    try:
        today = datetime.fromtimestamp(now / 1000).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        for pattern, read, relative in _PATTERNS:
            match = pattern.search(text)
            span = read(match, today) if match else None
            if match is not None and span is not None:
                rest = text[: match.start()] + " " + text[match.end() :] if relative else text
                return NamedPeriod(_milliseconds(span[0]), _milliseconds(span[1]), rest)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _days(first: datetime, count: int = 1) -> _Span:
    return first, first + timedelta(days=count)


def _month(year: int, month: int, today: datetime) -> _Span:
    first = today.replace(year=year, month=month, day=1)
    return first, (first + timedelta(days=32)).replace(day=1)


def _latest_year(month: int, day: int, today: datetime) -> int:
    """The year of the last such day that is not to come."""
    return today.year if (month, day) <= (today.month, today.day) else today.year - 1


def _date(match: re.Match[str], today: datetime) -> _Span | None:
    year, month, day = (int(part) if part else 0 for part in match.group("year", "month", "day"))
    return _read_date(year, month, day, today)


def _english_date(match: re.Match[str], today: datetime) -> _Span | None:
    month = _MONTHS[match.group("month").lower()]
    day = match.group("day") or match.group("first")
    return _read_date(int(match.group("year") or 0), month, int(day or 0), today)


def _read_date(year: int, month: int, day: int, today: datetime) -> _Span | None:
    year = year or _latest_year(month, day or 1, today)
    if not day:
        return _month(year, month, today)
    return _days(today.replace(year=year, month=month, day=day))


def _ago(match: re.Match[str], today: datetime) -> _Span | None:
    count, unit = int(match.group("count")), _UNITS[match.group("unit").lower()]
    # A person who says "two weeks ago" does not count days.
    slack = 0 if unit == 1 and count < 4 else max(2, unit // 2)
    return today - timedelta(days=count * unit + slack), today - timedelta(days=count * unit - slack - 1)


def _weekday(match: re.Match[str], today: datetime) -> _Span | None:
    back = (today.weekday() - _WEEKDAYS[match.group("day").lower()]) % 7 or 7
    return _days(today - timedelta(days=back))


def _back(days: int) -> _Reader:
    return lambda _, today: _days(today - timedelta(days=days))


def _week(back: int) -> _Reader:
    return lambda _, today: _days(today - timedelta(days=today.weekday() + 7 * back), 7)


def _months_back(back: int) -> _Reader:
    def read(_: re.Match[str], today: datetime) -> _Span:
        months = today.year * 12 + today.month - 1 - back
        return _month(months // 12, months % 12 + 1, today)

    return read


def _year(back: int) -> _Reader:
    def read(_: re.Match[str], today: datetime) -> _Span:
        first = today.replace(year=today.year - back, month=1, day=1)
        return first, first.replace(year=first.year + 1)

    return read


_MONTH_NAMES: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_LONG_MONTHS: Final = "|".join(name for name in _MONTHS if len(name) > 3)


def _pattern(
    source: str, read: _Reader, *, relative: bool, flags: int = re.IGNORECASE
) -> tuple[re.Pattern[str], _Reader, bool]:
    return re.compile(source, flags), read, relative


_PATTERNS: Final = (
    _pattern(r"\b(?P<year>\d{4})[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?\b", _date, relative=False),
    _pattern(r"(?:(?P<year>\d{4})\s*[년年]\s*)?(?P<month>\d{1,2})\s*[월月](?:\s*(?P<day>\d{1,2})\s*[일日])?", _date, relative=False),
    # "may" and "march" are verbs too: a month beside a number, or after a word that goes before a time.
    _pattern(
        rf"\b(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?\b(?P<month>{_MONTH_NAMES})\b\.?"
        r"(?:\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s+(?P<year>\d{4})\b)?(?<=\d)",
        _english_date, relative=False,
    ),
    _pattern(
        rf"\b(?P<first>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH_NAMES})\b(?P<day>)(?P<year>)",
        _english_date, relative=False,
    ),
    _pattern(
        rf"\b(?:in|since|during|until|by|last|early|late|mid|of|from)[\s-]+(?P<month>{_LONG_MONTHS}|may)\b"
        r"(?P<first>)(?P<day>)(?P<year>)",
        _english_date, relative=False,
    ),
    _pattern(r"\bday before yesterday\b|그저께|그제|一昨日|おととい", _back(2), relative=True),
    _pattern(r"\byesterday\b|어제|昨日|きのう", _back(1), relative=True),
    _pattern(r"\btoday\b|오늘|今日", _back(0), relative=True),
    _pattern(
        r"(?P<count>\d{1,3})\s*(?P<unit>days?|weeks?|months?|일|주일|주|달|개월|日|週間|週|か月|ヶ月|カ月)\s*(?:ago\b|전|前)",
        _ago, relative=True,
    ),
    _pattern(r"\ba week ago\b|일주일 전|一週間前", _back(7), relative=True),
    _pattern(r"\b(?:last|previous) week\b|지난\s*주|저번\s*주|先週", _week(1), relative=True),
    _pattern(r"\bthis week\b|이번\s*주|今週", _week(0), relative=True),
    _pattern(r"\b(?:last|previous) month\b|지난\s*달|저번\s*달|先月", _months_back(1), relative=True),
    _pattern(r"\bthis month\b|이번\s*달|今月", _months_back(0), relative=True),
    _pattern(r"\b(?:last|previous) year\b|작년|지난해|去年|昨年", _year(1), relative=True),
    _pattern(
        r"\b(?:on|last) (?P<day>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b", _weekday, relative=True
    ),
    _pattern(r"(?P<day>[월화수목금토일]요일|[月火水木金土日]曜)日?", _weekday, relative=True),
)  # fmt: skip
