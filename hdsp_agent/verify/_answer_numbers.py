"""Which numbers of an answer stand in what was seen: rounded as the answer rounds them, or nowhere."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, TypeVar

__all__ = ["AnswerNumber", "TextAt", "answer_numbers"]

P = TypeVar("P")

_FENCED: Final = re.compile(
    r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^ {0,3}\1[`~]*+[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_NO_RESULT: Final = re.compile(
    r"""
    https?://\S+
    | (?:\bcells|셀|セル)\s{0,2}\#?\[?\d{1,5}(?:\s{0,2}(?:,|and|to|[-–]|[와과]|と|から)\s{0,2}\d{1,5}(?![\d.,]*\d|\s?[%％]))*+\]?
    | (?:\bcell|셀|セル)\s{0,2}(?:no\.?|number|번호|番号)?\s{0,2}\#?\[?\d{1,5}\]?
    | \b(?:in|out)\s{0,2}\[\d{1,9}\]
    | (?<!\d)\d{1,5}\s{0,2}(?:번째?|番目?)\s{0,2}の?\s{0,2}(?:셀|セル)
    | (?<![\d.])\d{1,9}(?:\.\d+)?(?:st|nd|rd|th)\b
    | (?<!\d)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}
    | (?<!\d)\d{4}\s?[년年](?:\s?\d{1,2}\s?[월月](?:\s?\d{1,2}\s?[일日])?)?
    | (?<!\d)\d{1,2}\s?[월月]\s?\d{1,2}\s?[일日]
    | \b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?\s\d{1,2}(?:,?\s\d{4})?(?![\d.,]*\d)
    | (?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)
    | (?<![\d.])\d{1,9}(?:\.\d{1,9}){2,}
    | \b(?:Python|version|v)\s?\d{1,5}(?:\.\d{1,5})?
    | ^[ \t>*+-]{0,20}\d{1,9}[.)][ \t]
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""Names of cells, dates, times, versions, ordinals, and the numbers of a list: no results."""
_SCALES: Final = {
    "%": 0.01, "％": 0.01, "percent": 0.01, "퍼센트": 0.01, "パーセント": 0.01,
    "k": 1e3, "K": 1e3, "thousand": 1e3, "천": 1e3, "千": 1e3, "만": 1e4, "万": 1e4,
    "백만": 1e6, "百万": 1e6, "M": 1e6, "mn": 1e6, "million": 1e6, "천만": 1e7, "千万": 1e7, "억": 1e8, "億": 1e8,
    "B": 1e9, "bn": 1e9, "billion": 1e9, "trillion": 1e12, "조": 1e12, "兆": 1e12,
}  # fmt: skip
_HUNDREDTH: Final = 0.01
_LARGE_SIGNS: Final = frozenset("천千만万억億조兆")
_SCALE: Final = (
    r"(?P<scale>\s?[%％]|\s?(?:percent|thousand|million|billion|trillion|mn|bn)\b|[kKMB]\b|\s?(?:퍼센트|パーセント)"
    # The same signs begin other words, too.
    r"|(?:천만|백만|[천만억조])(?![가-힣])|(?:천만|백만|[천만억조])(?=\s?[원명개건달회번])|千万|百万|[千万億兆])?"
)
_DIGITS: Final = r"(?P<digits>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.(?P<decimals>\d+))?(?:[eE](?P<power>[-+]?\d{1,3}))?)"
_WRITTEN: Final = re.compile(r"(?<![A-Za-z0-9_.,#@/])(?<![A-Za-z]-)[-+−]?" + _DIGITS + _SCALE)
_SEEN: Final = re.compile(r"(?<![A-Za-z0-9_.])[-+−]?" + _DIGITS + _SCALE)
"""In what was printed a comma parts values more often than thousands."""
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


def answer_numbers(answer: str, seen: Iterable[Sequence[TextAt[P]]]) -> list[AnswerNumber[P]]:
    """Each number of the answer that may be a result, once.

    ``seen`` are groups of texts, the best first: a number is looked for in the next only if it is not in the one before.
    Of several places in one group it is the nearest value, and of equal ones the last.
    """
    wanted = {text: meanings for text, meanings in islice(_results(answer), _MOST)}
    places: dict[str, P] = {}
    for texts in seen:
        if len(places) == len(wanted):
            break
        values = _Values.of(texts)
        for text in wanted.keys() - places.keys():
            place = values.place_of(wanted[text])
            if place is not None:
                places[text] = place
    return [AnswerNumber(text, places.get(text)) for text in wanted]


@dataclass(frozen=True)
class _Meaning:
    """A value that may be meant, and by how much it may be off because the answer rounds."""

    value: float
    half: float


def _results(answer: str) -> Iterator[tuple[str, list[_Meaning]]]:
    plain = _NO_RESULT.sub(lambda found: " " * len(found[0]), _FENCED.sub("", answer[:_MOST_CHARACTERS]))
    written = list(_WRITTEN.finditer(plain))
    at = 0
    while at < len(written):
        first = last = written[at]
        value, half = _value(first)
        scale = _scale(first)
        at += 1
        if half is None or (scale is None and first["decimals"] is None and value <= _SMALL):
            continue
        if scale is None:
            meanings = [_Meaning(value, half)]
        elif scale == _HUNDREDTH:
            meanings = [_Meaning(value, half), _Meaning(value * scale, half * scale)]
        else:
            total, half = value * scale, half * scale
            # 1억 2천만 is one number.
            while at < len(written) and (more := _goes_on(plain, last, written[at])) is not None:
                last, at = written[at], at + 1
                total, half = total + more.value, more.half
            meanings = [_Meaning(total, half)]
            if first["decimals"] is not None:
                # A table may say what it counts in.
                meanings.append(_Meaning(value, half / scale))
        yield plain[first.start() : last.end()].strip(), meanings


def _goes_on(plain: str, before: re.Match[str], after: re.Match[str]) -> _Meaning | None:
    """What a number adds to the one before it, if both are one, as they are written in Korean and Japanese."""
    factor, scale = _scale(before), _scale(after) or 1.0
    value, half = _value(after)
    is_next = plain[before.end() : after.start()] in ("", " ") and (before["scale"] or "")[-1:] in _LARGE_SIGNS
    if not is_next or factor is None or half is None or value * scale >= factor or scale == _HUNDREDTH:
        return None
    return _Meaning(value * scale, half * scale)


def _scale(found: re.Match[str]) -> float | None:
    return _SCALES.get((found["scale"] or "").strip())


def _value(found: re.Match[str]) -> tuple[float, float | None]:
    """A value without its sign, and half of what its last digit counts; None of one that is beyond all reason."""
    power, decimals = int(found["power"] or 0), len(found["decimals"] or "")
    if abs(power) + decimals + len(found["digits"]) > _MOST_POWER:
        return 0.0, None
    return float(found["digits"].replace(",", "")), 0.5 * 10.0 ** (power - decimals)


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
    for found in _SEEN.finditer(_TAG.sub(" ", text[:_MOST_CHARACTERS])):
        value, half = _value(found)
        if half is None:
            continue
        yield value
        if "," in found["digits"]:
            # Several values, perhaps.
            yield from (float(part) for part in found["digits"].split(","))
        if _scale(found) == _HUNDREDTH:
            yield value / 100
