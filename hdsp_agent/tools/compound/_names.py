"""What a request names: things that there are, whatever the language around them, and names that look like code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

__all__ = [
    "AskedNames",
    "asked_names",
    "is_named",
    "is_question",
    "normal",
    "number_texts",
    "numbers_in",
    "repeats",
    "said_cells",
]

_PARTS: Final = re.compile(r"[\s_]+")
_WORD: Final = re.compile(r"[A-Za-z0-9_]")
_FILE_GOES_ON: Final = re.compile(r"\.[A-Za-z]\w")
_HANGUL: Final = r"\uac00-\ud7a3"
_HIRAGANA: Final = r"\u3040-\u309f"
_OTHERS: Final = r"\u30a0-\u30ff\u3400-\u9fff"
_LONGEST_PARTICLE: Final = 3
_LEAST_PART: Final = 4
_ALONE: Final = frozenset("aAI")
"""Letters that English has as words."""
_MARKED: Final = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|'([^'\n]+)'|“([^”\n]+)”|‘([^’\n]+)’|「([^」\n]+)」")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WITH_UNDERSCORE: Final = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![A-Za-z0-9_])")
_CAMEL: Final = re.compile(r"(?<![A-Za-z0-9_.])[A-Z]?[a-z0-9]+(?:[A-Z][a-z0-9]+)+(?![A-Za-z0-9_])")
_FILE: Final = re.compile(
    r"[\w\-]+\.(?:csv|tsv|jsonl?|parquet|xlsx|txt|png|jpe?g|svg|pdf|html|md|py|npy|pkl|db)(?![A-Za-z0-9_])"
)
_ASIAN: Final = re.compile(f"[{_HANGUL}{_HIRAGANA}{_OTHERS}]")
_ALONE_NUMBER: Final = re.compile(r"(?<![A-Za-z0-9_.,:/\-])#?(\d{1,5})(?![A-Za-z0-9_%]|[.,:/]\d)")
_CELL: Final = r"(?:cells?|셀|セル)"
"""What people call a cell. It tells the number of one from a count or a value."""
_BEFORE_NUMBER: Final = re.compile(rf"(?:{_CELL}\s*(?:no\.?|number|번호|番号)?\s*|#)$", re.IGNORECASE)
_BEHIND_NUMBER: Final = re.compile(rf"\s*(?:번째?|番目?)?\s*の?\s*{_CELL}", re.IGNORECASE)
_COUNTED: Final = re.compile(r"\s*(?:cells\b|개|個|つ)", re.IGNORECASE)
_LONGEST_JOINT: Final = 6
"""Characters between two numbers of one list, such as ``번과 ``."""
_NUMBER: Final = re.compile(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_NO_LETTER: Final = re.compile(r"[\W_]+")
_ALIKE_PERCENT: Final = 90.0
_FEW: Final = 8
"""Letters. What is shorter may stand in a request and be an answer all the same."""
_MOSTLY: Final = 0.6


@dataclass(frozen=True)
class AskedNames:
    """What a request names; a weak match is a plural, or a part of a name."""

    exact: frozenset[str]
    weak: frozenset[str]
    new: tuple[str, ...]
    """Names that look like code, and are of nothing that there is: what is to be made, or is missing."""
    perhaps: tuple[str, ...]
    """Names that may be meant so; nothing is asked of them."""


def asked_names(known: Iterable[str], words: str) -> AskedNames:
    """Which of the known names the words name, and which others."""
    places = {name: spans for name in dict.fromkeys(known) if (spans := _exact(name, words))}
    # Of a name within another one, only the longer is meant.
    exact = {
        name
        for name, spans in places.items()
        if any(
            not any(_covers(other, span) for longer, spans2 in places.items() if longer != name for other in spans2)
            for span in spans
        )
    }
    weak = {name for name in known if name not in exact and _is_weak(name, words)}
    plain = {normal(name) for name in exact}
    marked = [next(part for part in found if part).strip() for found in _MARKED.findall(words)]
    backticks = [one.strip() for one in re.findall(r"`([^`\n]+)`", words)]
    certain = [one for one in backticks if _IDENTIFIER.fullmatch(one) or _FILE.fullmatch(one)]
    certain += [*_WITH_UNDERSCORE.findall(words), *_FILE.findall(words)]
    perhaps = [*(one for one in marked if _IDENTIFIER.fullmatch(one)), *_CAMEL.findall(words)]
    if _ASIAN.search(words):
        perhaps += _IDENTIFIER.findall(words)
    new = [one for one in dict.fromkeys(certain) if normal(one) not in plain]
    others = [one for one in dict.fromkeys(perhaps) if normal(one) not in plain and one not in new and len(one) > 1]
    return AskedNames(frozenset(exact), frozenset(weak), tuple(new), tuple(others))


def is_named(name: str, text: str) -> bool:
    """Whether a text names just this."""
    return bool(_exact(name, text))


def number_texts(text: str) -> list[str]:
    """All numbers, as they are written."""
    return _NUMBER.findall(text)


def numbers_in(text: str) -> list[float]:
    """All numbers."""
    return [_value(found) for found in _NUMBER.findall(text)]


def said_cells(words: str) -> list[int]:
    """The numbers of cells, each once: those beside the word, and what is in one list with them."""
    found = list(_ALONE_NUMBER.finditer(words))
    said = [_is_of_cell(words, *one.span()) for one in found]
    joined = [
        len(between := words[one.end() : other.start()]) <= _LONGEST_JOINT and not re.search(r"[.?!。？！]", between)
        for one, other in pairwise(found)
    ]
    for order in (range(len(joined)), reversed(range(len(joined)))):
        for at in order:
            if joined[at] and (said[at] or said[at + 1]):
                said[at] = said[at + 1] = True
    return list(dict.fromkeys(int(one[1]) for one, is_cell in zip(found, said, strict=True) if is_cell))


def is_question(words: str) -> bool:
    """Whether it ends as a question."""
    return words.rstrip(" \n\"'”’)").endswith(("?", "？"))


def normal(text: str) -> str:
    """Letters and digits alone, in lower case."""
    return _NO_LETTER.sub("", text).casefold()


def repeats(text: str, other: str, *, least: float = _MOSTLY) -> bool:
    """Whether the text says no more than the other one, or a part of it that is at least so large."""
    mine, theirs = normal(text), normal(other)
    if not mine or not theirs:
        return not mine
    if mine in theirs and len(mine) >= max(_FEW, least * len(theirs)):
        return True
    from rapidfuzz import fuzz  # 25 ms, for the few answers that need it

    return len(mine) >= _FEW and fuzz.ratio(mine, theirs) >= _ALIKE_PERCENT


def _is_of_cell(words: str, begin: int, end: int) -> bool:
    if _COUNTED.match(words, end):
        return False
    return bool(_BEFORE_NUMBER.search(words[:begin]) or _BEHIND_NUMBER.match(words, end) or words[begin] == "#")


def _exact(name: str, words: str) -> list[tuple[int, int]]:
    parts = [part for part in _PARTS.split(name) if part]
    if not parts:
        return []
    if name in _ALONE:
        return [found.span() for found in _MARKED.finditer(words) if name in found.groups()]
    pattern = re.compile(r"[\s_]+".join(map(re.escape, parts)), re.IGNORECASE)
    return [found.span() for found in pattern.finditer(words) if _is_alone(words, *found.span())]


def _is_alone(words: str, begin: int, end: int) -> bool:
    """Whether the name is not part of a longer word. Particles behind it are none of it."""
    before, after = words[begin - 1 : begin] if begin else "", words[end:]
    first, last = words[begin], words[end - 1]
    if _WORD.match(first) and _WORD.match(before):
        return False
    if _WORD.match(last):
        return not _WORD.match(after) and not _FILE_GOES_ON.match(after)
    if not _WORD.match(first) and re.match(f"[{_HANGUL}{_OTHERS}]", before):
        return False
    if not _ASIAN.match(last):
        return True
    particle = _HANGUL if re.match(f"[{_HANGUL}]", last) else _HIRAGANA
    rest = re.match(f"[{particle}]*", after)
    length = rest.end() if rest is not None else 0
    goes_on = length == 0 and re.match(f"[{_OTHERS}]", after) is not None
    return length <= _LONGEST_PARTICLE and not goes_on


def _is_weak(name: str, words: str) -> bool:
    parts = [part for part in _PARTS.split(name) if part]
    if len(name) < _LEAST_PART - 1 or not name.isascii():
        return False
    last = parts[-1]
    forms = {last + "s", last + "es", last.removesuffix("y") + "ies"}
    forms |= {last.removesuffix("s"), last.removesuffix("es"), last.removesuffix("ies") + "y"}
    whole = [" ".join([*parts[:-1], form]) for form in forms if len(form) >= _LEAST_PART - 1]
    return any(_exact(one, words) for one in [*whole, *(part for part in parts if len(part) >= _LEAST_PART)])


def _covers(longer: tuple[int, int], span: tuple[int, int]) -> bool:
    return longer[0] <= span[0] and span[1] <= longer[1] and longer != span


def _value(number: str) -> float:
    try:
        return float(number.replace(",", ""))
    except (ValueError, OverflowError):
        return float("nan")
