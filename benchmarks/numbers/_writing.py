"""How people write numbers in English, Korean and Japanese."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from benchmarks.errands import Language

from ._answer import Written

__all__ = ["grouped", "in_large_units", "minutes", "percent", "powers", "roughly", "rounded", "thousands", "with_unit"]

_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LARGE: Final[Mapping[Language, tuple[tuple[str, float], ...]]] = {
    "en": (("thousand", 1e3), ("million", 1e6), ("M", 1e6), ("billion", 1e9)),
    "ko": (("만", 1e4), ("억", 1e8)),
    "ja": (("万", 1e4), ("億", 1e8)),
}
_MOST_UNITS: Final = 100_000
_SIGNS: Final[Mapping[Language, tuple[str, str]]] = {"ko": ("억", "만"), "ja": ("億", "万")}
_ABOUT: Final[Mapping[Language, tuple[str, ...]]] = {
    "en": ("about ", "roughly ", "around ", "approximately ", "~", "nearly "),
    "ko": ("약 ", "대략 ", "거의 "),
    "ja": ("約", "およそ", "ほぼ"),
}


def rounded(value: float, decimals: int, *, comma: bool = False) -> Written:
    """With so many decimals."""
    value = abs(value)
    text = f"{value:,.{decimals}f}" if comma else f"{value:.{decimals}f}"
    return Written(text, [_span(float(text.replace(",", "")), decimals)])


def grouped(value: float) -> Written:
    """A whole number with its thousands apart."""
    return rounded(value, 0, comma=True)


def percent(share: float, language: Language, rng: Random) -> Written:
    """A share as a percentage."""
    decimals = rng.choice((0, 1, 1, 2))
    text = f"{100 * abs(share):.{decimals}f}"
    low, high = _span(float(text), decimals)
    words = {"en": ("%", " %", " percent"), "ko": ("%", "퍼센트"), "ja": ("%", "％", "パーセント")}[language]
    return Written(text + rng.choice(words), [(low / 100, high / 100), (low, high)])


def in_large_units(value: float, language: Language, rng: Random) -> Written:
    """With a word for thousands, millions or ten thousands."""
    if language != "en" and value >= 2e8 and rng.random() < 0.4:
        large, small = _SIGNS[language]
        whole, rest = divmod(round(value / 1e4), 10_000)
        space = " " if language == "ko" else ""
        text = f"{whole}{large}{space}{rest}{small}" if rest else f"{whole}{large}"
        return Written(text, [_span(whole * 1e8 + rest * 1e4, -4)])
    fitting = [(word, scale) for word, scale in _LARGE[language] if 1 <= value / scale < _MOST_UNITS]
    word, scale = rng.choice(fitting or list(_LARGE[language]))
    decimals = rng.choice((0, 1, 1, 2)) if value >= 20 * scale else rng.choice((1, 2))
    text = f"{value / scale:.{decimals}f}"
    low, high = _span(float(text), decimals)
    space = " " if language == "en" and word != "M" else ""
    return Written(f"{text}{space}{word}", [(low * scale, high * scale), (low, high)])


def thousands(value: float, language: Language, rng: Random) -> Written:
    """In thousands, as it is said of a few ten thousand."""
    del language
    decimals = rng.choice((0, 1, 1))
    text = f"{value / 1e3:.{decimals}f}"
    low, high = _span(float(text), decimals)
    return Written(text + rng.choice(("k", "K", "k")), [(low * 1e3, high * 1e3), (low, high)])


def roughly(value: float, language: Language, rng: Random) -> Written:
    """Rounded to two or three digits, with a word that says so."""
    digits = rng.choice((2, 3))
    power = len(str(int(value))) - digits
    number = round(value, -power)
    return Written(rng.choice(_ABOUT[language]) + f"{number:,.0f}", [_span(number, -power)])


def powers(value: float, language: Language, rng: Random) -> Written:
    """In scientific notation, one way or another."""
    del language
    decimals = rng.choice((1, 2))
    mantissa, _, exponent = f"{abs(value):.{decimals}e}".partition("e")
    power = int(exponent)
    written = (
        f"{mantissa}e{exponent}",
        f"{mantissa}e{power}",
        f"{mantissa} × 10{str(power).translate(_SUPERSCRIPTS)}",
        f"{mantissa}×10^{power}",
        f"{mantissa}E{exponent}",
    )
    half = 0.5 * 10.0 ** (power - decimals)
    number = float(f"{mantissa}e{power}")
    return Written(rng.choice(written), [(number - half, number + half)])


def minutes(value: float, language: Language) -> Written:
    """Seconds as minutes and seconds."""
    whole, rest = divmod(round(value), 60)
    words = {"en": f"{whole} min {rest} s", "ko": f"{whole}분 {rest}초", "ja": f"{whole}分{rest}秒"}
    seconds = whole * 60 + rest
    return Written(words[language], [(seconds - 0.5, seconds + 0.5)])


def with_unit(written: Written, before: str, after: str) -> Written:
    """With what it is counted in."""
    return Written(f"{before}{written.text}{after}", written.spans)


def _span(value: float, decimals: int) -> tuple[float, float]:
    half = 0.5 * 10.0**-decimals
    return value - half, value + half
