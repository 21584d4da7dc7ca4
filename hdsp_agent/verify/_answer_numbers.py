"""Which numbers of an answer stand in what was seen: rounded as the answer rounds them, or nowhere."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, TypeVar

from ._number_mentions import without_code, without_mentions
from ._unstated_numbers import Unstated

__all__ = ["AnswerNumber", "TextAt", "all_numbers", "answer_numbers"]

P = TypeVar("P")

_SCALES: Final = {
    "k": 1e3, "K": 1e3, "thousand": 1e3, "천": 1e3, "千": 1e3, "만": 1e4, "万": 1e4,
    "백만": 1e6, "百万": 1e6, "M": 1e6, "mn": 1e6, "million": 1e6, "천만": 1e7, "千万": 1e7, "억": 1e8, "億": 1e8,
    "B": 1e9, "bn": 1e9, "billion": 1e9, "trillion": 1e12, "조": 1e12, "兆": 1e12,
}  # fmt: skip
_UNITS: Final[Mapping[str, Sequence[float]]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds", "밀리초", "ミリ秒"), (1e-3,)),
    **dict.fromkeys(("µs", "μs", "us", "microsecond", "microseconds"), (1e-6,)),
    "kB": (1e3,), "KB": (1e3, 2.0**10), "MB": (1e6, 2.0**20), "GB": (1e9, 2.0**30), "TB": (1e12, 2.0**40),
}  # fmt: skip
"""What was shown may be in these, or in what they are parts or multiples of."""
_PERCENT: Final = ("%", "％", "percent", "퍼센트", "パーセント")
_HUNDREDTHS: Final = (*_PERCENT, "point", "pp", "포인트", "ポイント")
_LARGE_SIGNS: Final = frozenset("천千만万억億조兆")
_SCALE: Final = (
    r"(?P<scale>\s?[%％](?:p(?![A-Za-z])|pt|포인트|ポイント)?|\s?(?:percentage\spoints?|percent|points?|pp|thousand|million|billion|trillion|mn|bn"
    r"|[kKMGT]B|ms|milliseconds?|[µμu]s|microseconds?)(?![A-Za-z])|[kKMB](?![A-Za-z0-9])"
    r"|\s?(?:퍼센트포인트|퍼센트|포인트|밀리초|パーセントポイント|パーセント|ポイント|ミリ秒)"
    # The same signs begin other words, too.
    r"|천만|백만|천(?![연체천])|만(?![족화])|억(?![지제])|조(?![합각건사치직작금별])|千万|百万|[千万億兆])?"
)
_ABOUT: Final = re.compile(
    r"(?:(?<![A-Za-z])(?:about|nearly|almost|some|over|around|roughly|approximately|approx\.?)\s|[~≈]|약\s?|거의\s|대략\s|約|ほぼ|およそ)\Z",
    re.IGNORECASE,
)
_LONGEST_ABOUT: Final = 15
_WIDE: Final = str.maketrans("０１２３４５６７８９．，％", "0123456789.,%")
_DIGITS: Final = (
    r"(?P<digits>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?=\.\d))(?:\.(?P<decimals>\d+))?)"
    r"(?:[eE](?P<power>[-+]?\d{1,3})|\s?[×x·*]\s?10(?:(?:\^|\*\*)\{?(?P<ten>[-−+]?\d{1,3})|(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})))?"
)
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_WRITTEN: Final = re.compile(r"(?:(?<=\d/)|(?<![A-Za-z0-9_.,#@/])(?<![A-Za-z]-))[-+−]?" + _DIGITS + _SCALE)
_SEEN: Final = re.compile(r"(?<![A-Za-z0-9_.])[-+−]?" + _DIGITS + _SCALE)
"""In what was printed a comma parts values more often than thousands."""
_DURATION: Final = re.compile(
    r"(?<![A-Za-z0-9_.,])(?:(?P<hours>\d{1,4})\s?(?:hours?|hrs?|h|시간|時間)\s?)?(?:(?P<minutes>\d{1,4})\s?(?:minutes?|mins?|m|분|分)(?![A-Za-z])\s?)"
    r"(?:(?P<seconds>\d{1,4}(?:\.(?P<decimals>\d{1,9}))?)\s?(?:seconds?|secs?|s|초|秒)(?![A-Za-z]))?"
)
_TAG: Final = re.compile(r"<[^<>]{0,2000}>")
_SMALL: Final = 10
"""Whole numbers up to this are words more often than results."""
_MOST: Final = 200
_MOST_CHARACTERS: Final = 200_000
_MOST_POWER: Final = 250
_SLACK: Final = 1e-9


@dataclass(frozen=True)
class TextAt(Generic[P]):
    """What was seen somewhere."""

    place: P
    text: str


@dataclass(frozen=True)
class AnswerNumber(Generic[P]):
    """A number of an answer, as it is written there, and where it stands; None where it stands nowhere."""

    text: str
    place: P | None
    is_stated: bool = True
    """Whether the answer states it as a result. Advice, bounds and conditions do not."""


def answer_numbers(answer: str, seen: Iterable[Sequence[TextAt[P]]]) -> list[AnswerNumber[P]]:
    """Each number of the answer that is stated as a result, once; and of the others those that stand somewhere."""
    return [one for one in all_numbers(answer, seen) if one.is_stated or one.place is not None]


def all_numbers(answer: str, seen: Iterable[Sequence[TextAt[P]]]) -> list[AnswerNumber[P]]:
    """Each number of the answer that may be a result, once.

    ``seen`` are groups of texts, the best first: a number is looked for in the next only if it is not in the one before.
    Of several places in one group it is the nearest value, and of equal ones the last.
    """
    wanted: dict[str, Sequence[_Meaning]] = {}
    stated: set[str] = set()
    for found in islice(_results(answer), _MOST):
        wanted[found.text] = found.meanings
        if found.is_stated:
            stated.add(found.text)
    places: dict[str, P] = {}
    for texts in seen:
        if len(places) == len(wanted):
            break
        values = _Values.of(texts)
        for text in wanted.keys() - places.keys():
            place = values.place_of(wanted[text])
            if place is not None:
                places[text] = place
    return [AnswerNumber(text, places.get(text), text in stated) for text in wanted]


@dataclass(frozen=True)
class _Meaning:
    """A value that may be meant, and by how much it may be off because the answer rounds."""

    value: float
    half: float


@dataclass(frozen=True)
class _Result:
    """A number that may be a result, as it is written, and whether it is stated as one."""

    text: str
    meanings: Sequence[_Meaning]
    is_stated: bool


def _results(answer: str) -> Iterator[_Result]:
    without = without_code(answer[:_MOST_CHARACTERS])
    plain = without_mentions(without)
    scanned = plain.translate(_WIDE)
    unstated = Unstated(without.translate(_WIDE))
    durations = {found.start(): found for found in _DURATION.finditer(scanned) if _seconds(found) is not None}
    written = list(_WRITTEN.finditer(scanned))
    at = end = 0
    while at < len(written):
        first, begin = written[at], at
        duration = durations.get(first.start())
        if duration is not None:
            end = duration.end()
            text, is_stated = plain[duration.start() : end].strip(), not unstated.has(duration.start())
            yield _Result(text, _of_duration(duration), is_stated)
        at += 1
        if first.start() < end or _is_in_path(scanned, written, begin):
            continue
        meanings, at = _scaled(scanned, written, begin) if _scale(first) else (_unscaled(scanned, first), at)
        if meanings:
            text = plain[first.start() : written[at - 1].end()].strip()
            yield _Result(text, meanings, not unstated.has(first.start()))


def _unscaled(plain: str, found: re.Match[str]) -> list[_Meaning]:
    """What a number may mean; nothing where it is a word, or beyond all reason."""
    value, half = _value(found)
    is_word = found["decimals"] is None and value <= _SMALL and not _is_percent(found)
    if half is None or is_word:
        return []
    half = max(half, _about(plain, found))
    return [_Meaning(value, half), *(_Meaning(value * part, half * part) for part in _parts(found))]


def _scaled(plain: str, written: Sequence[re.Match[str]], at: int) -> tuple[list[_Meaning], int]:
    """What a number with a word for thousands or more may mean, and the place of the next one: 1억 2천만 is one."""
    first = last = written[at]
    value, half = _value(first)
    scale = _scale(first) or 1.0
    at += 1
    if half is None:
        return [], at
    total, off = value * scale, half * scale
    while at < len(written) and (more := _goes_on(plain, last, written[at])) is not None:
        last, at = written[at], at + 1
        total, off = total + more.value, more.half
    # With decimals a table may say what it counts in.
    return [_Meaning(total, off), *([_Meaning(value, off / scale)] if first["decimals"] is not None else [])], at


def _is_in_path(plain: str, written: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a stroke is before it and no number before that."""
    start = written[at].start()
    return plain[start - 1 : start] == "/" and (at == 0 or written[at - 1].end() != start - 1)


def _seconds(found: re.Match[str]) -> tuple[float, float] | None:
    """A duration in seconds, and half of what its last part counts; None where it has but one part."""
    hours, minutes, seconds = (float(found[name] or 0) for name in ("hours", "minutes", "seconds"))
    if found["hours"] is None and found["seconds"] is None:
        return None
    half = 30.0 if found["seconds"] is None else 0.5 * 10.0 ** -len(found["decimals"] or "")
    return 3600 * hours + 60 * minutes + seconds, half


def _of_duration(found: re.Match[str]) -> list[_Meaning]:
    told = _seconds(found)
    return [] if told is None else [_Meaning(told[0] / unit, told[1] / unit) for unit in (1, 60)]


def _goes_on(plain: str, before: re.Match[str], after: re.Match[str]) -> _Meaning | None:
    """What a number adds to the one before it, if both are one, as they are written in Korean and Japanese."""
    factor, scale = _scale(before), _scale(after) or 1.0
    value, half = _value(after)
    is_next = plain[before.end() : after.start()] in ("", " ") and (before["scale"] or "")[-1:] in _LARGE_SIGNS
    if not is_next or factor is None or half is None or value * scale >= factor or _parts(after):
        return None
    return _Meaning(value * scale, half * scale)


def _scale(found: re.Match[str]) -> float | None:
    return _SCALES.get((found["scale"] or "").strip())


def _parts(found: re.Match[str]) -> Sequence[float]:
    """What a number with this unit may be multiplied by to get what was shown."""
    unit = (found["scale"] or "").strip()
    return (0.01,) if unit.startswith(_HUNDREDTHS) else _UNITS.get(unit, ())


def _is_percent(found: re.Match[str]) -> bool:
    return (found["scale"] or "").strip().startswith(_PERCENT)


def _about(plain: str, found: re.Match[str]) -> float:
    """Half of what the last digit counts that is not zero, where the words before a whole number say that it is rounded."""
    digits = found["digits"].replace(",", "")
    begin = found.start()
    if not digits.isdecimal() or _power(found) or _ABOUT.search(plain[max(0, begin - _LONGEST_ABOUT) : begin]) is None:
        return 0.0
    return 0.5 * 10.0 ** (len(digits) - len(digits.rstrip("0")))


def _value(found: re.Match[str]) -> tuple[float, float | None]:
    """A value without its sign, and half of what its last digit counts; None of one that is beyond all reason."""
    power, decimals = _power(found), len(found["decimals"] or "")
    if abs(power) + decimals + len(found["digits"]) > _MOST_POWER:
        return 0.0, None
    return float(f"{found['digits'].replace(',', '')}e{power}"), 0.5 * 10.0 ** (power - decimals)


def _power(found: re.Match[str]) -> int:
    """The power of ten that it is multiplied by."""
    return int((found["power"] or found["ten"] or found["raised"] or "0").translate(_SUPERSCRIPTS))


@dataclass(frozen=True)
class _Values(Generic[P]):
    """The numbers of a group of texts, in order."""

    values: list[float]
    places: list[P]

    @classmethod
    def of(cls, texts: Sequence[TextAt[P]]) -> _Values[P]:
        known = [(value, at) for at, text in enumerate(texts) for value in _values_in(text.text)]
        known.sort()
        return cls([value for value, _ in known], [texts[at].place for _, at in known])

    def place_of(self, meanings: Sequence[_Meaning]) -> P | None:
        """Where the first of the meanings that stands anywhere does."""
        for meaning in meanings:
            best: tuple[float, P] | None = None
            slack = _SLACK * max(meaning.value, meaning.half)
            at = bisect_left(self.values, meaning.value - meaning.half - slack)
            while at < len(self.values) and self.values[at] <= meaning.value + meaning.half + slack:
                off = abs(self.values[at] - meaning.value) / meaning.half
                if best is None or off <= best[0]:
                    best = off, self.places[at]
                at += 1
            if best is not None:
                return best[1]
        return None


def _values_in(text: str) -> Iterator[float]:
    plain = _TAG.sub(" ", text[:_MOST_CHARACTERS])
    for found in _DURATION.finditer(plain):
        if (told := _seconds(found)) is not None:
            yield told[0]
    for found in _SEEN.finditer(plain):
        value, half = _value(found)
        if half is None:
            continue
        yield value
        if "," in found["digits"]:
            # Several values, perhaps.
            yield from (float(part) for part in found["digits"].split(","))
        if (scale := _scale(found)) is not None:
            yield value * scale
        for part in _parts(found):
            yield value * part
