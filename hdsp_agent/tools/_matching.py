"""Finding the lines a model means in a file: exactly, else but for white space, else nearly."""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

from ._text_file import Edit

__all__ = ["MatchedLines", "NoMatch", "find_place", "line_at"]

How = Literal["exact", "whitespace", "nearly"]

_NEARLY: Final = 0.92
_CLEARLY: Final = 0.05
"""By how much the best place must beat the second best."""
_FEWEST_CHARACTERS: Final = 20
_MOST_COMPARED: Final = 8_000
_SHOWN_LINES: Final = 40
_NUMBERED: Final = re.compile(r"\s*\d+ \| ?")
_LOOKALIKES: Final = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\xa0": " "})


class NoMatch(Exception):
    """The lines are not there, or not only there. The message shows the closest place."""


@dataclass(frozen=True)
class MatchedLines:
    """Where lines were found; ``edit`` replaces them."""

    edit: Edit
    line: int
    how: How
    similarity: float = 1.0


@dataclass(frozen=True)
class _Window:
    start: int
    count: int
    similarity: float


class _Lines:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.offsets = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def edit(self, start: int, count: int, new: Sequence[str]) -> Edit:
        begin, end = self.offsets[start], self.offsets[start + count] - 1
        if new:
            return Edit(begin, end, "\n".join(new))
        # Lines that go take a line end with them, of the last line the one before it.
        if end < len(self.text):
            return Edit(begin, end + 1, "")
        return Edit(max(0, begin - 1), end, "")


def find_place(
    text: str, search: str, new: Sequence[str], *, near: int | None = None, exact_only: bool = False
) -> MatchedLines:
    """Where whole lines are to be replaced by others, or by none. Raises NoMatch.

    ``near`` is the line number the model believes they begin at; it chooses among equals.
    """
    file = _Lines(text)
    wanted, replacement = _without_numbers(search.split("\n"), new)
    for how, same in _STRICTNESS:
        found = list(_windows(file.lines, wanted, same))
        if found:
            start = _chosen(found, near, len(wanted))
            lines = replacement if how == "exact" else _indented(replacement, wanted, file.lines[start:])
            return MatchedLines(file.edit(start, len(wanted), lines), start + 1, how)
        if exact_only:
            break
    closest = _closest(file.lines, wanted, near)
    best = closest[0] if closest else None
    if not exact_only and best is not None and _is_clear(closest, wanted):
        lines = _indented(replacement, wanted, file.lines[best.start :])
        return MatchedLines(file.edit(best.start, best.count, lines), best.start + 1, "nearly", best.similarity)
    raise NoMatch(_explained(file.lines, wanted, closest, exact_only))


def line_at(text: str, offset: int) -> int:
    """The number of the line this place is in."""
    return text.count("\n", 0, offset) + 1


def _exactly(line: str) -> str:
    return line


def _trimmed(line: str) -> str:
    return line.rstrip()


def _collapsed(line: str) -> str:
    return " ".join(line.translate(_LOOKALIKES).split())


_STRICTNESS: Final[tuple[tuple[How, Callable[[str], str]], ...]] = (
    ("exact", _exactly),
    ("whitespace", _trimmed),
    ("whitespace", _collapsed),
)


def _without_numbers(search: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The lines without the numbers read_file puts in front, if the model copied those."""
    if not all(_NUMBERED.match(line) for line in search):
        return search, new
    numbered = all(_NUMBERED.match(line) for line in new)
    return [_NUMBERED.sub("", line, count=1) for line in search], [
        _NUMBERED.sub("", line, count=1) if numbered else line for line in new
    ]


def _windows(lines: Sequence[str], wanted: Sequence[str], same: Callable[[str], str]) -> Iterator[int]:
    have = [same(line) for line in lines]
    want = [same(line) for line in wanted]
    if not any(want):
        return
    count = len(want)
    for start in range(len(have) - count + 1):
        if have[start] == want[0] and have[start : start + count] == want:
            yield start


def _chosen(found: Sequence[int], near: int | None, count: int) -> int:
    if len(found) == 1:
        return found[0]
    if near is not None:
        by_distance = sorted(found, key=lambda start: abs(start + 1 - near))
        if abs(by_distance[0] + 1 - near) < abs(by_distance[1] + 1 - near):
            return by_distance[0]
    places = ", ".join(str(start + 1) for start in found[:10])
    raise NoMatch(
        f"The {count} lines to search for stand {len(found)} times in the file, beginning at lines {places}"
        f"{' and others' if len(found) > 10 else ''}. Add lines around them until they are unique, or say at which line."
    )


def _indented(new: Sequence[str], wanted: Sequence[str], found: Sequence[str]) -> list[str]:
    """The new lines, moved as far as the found lines are from those searched for."""
    for want, have in zip(wanted, found, strict=False):
        if want.strip() and have.strip():
            wanted_indent, indent = _indent(want), _indent(have)
            break
    else:
        return list(new)
    if wanted_indent == indent:
        return list(new)
    return [
        indent + line[len(wanted_indent) :] if line.startswith(wanted_indent) and line.strip() else line for line in new
    ]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _closest(lines: Sequence[str], wanted: Sequence[str], near: int | None) -> list[_Window]:
    """The places most like what is wanted, best first, none overlapping a better one."""
    from rapidfuzz.distance import Indel  # 25 ms, for the few edits that need it

    target = "\n".join(wanted)[:_MOST_COMPARED]
    scored: list[_Window] = []
    for start in _candidates(lines, wanted, near):
        for count in {len(wanted), max(1, len(wanted) - 1), len(wanted) + 1}:
            window = "\n".join(lines[start : start + count])[:_MOST_COMPARED]
            similarity = Indel.normalized_similarity(target, window)
            scored.append(_Window(start, min(count, len(lines) - start), similarity))
    scored.sort(key=lambda window: (-window.similarity, abs(window.count - len(wanted)), window.start))
    best: list[_Window] = []
    for each in scored:
        if all(each.start + each.count <= other.start or other.start + other.count <= each.start for other in best):
            best.append(each)
    return best


def _candidates(lines: Sequence[str], wanted: Sequence[str], near: int | None) -> list[int]:
    at: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if key := _collapsed(line):
            at[key].append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        # A line that is everywhere tells nothing of where.
        for number in at.get(_collapsed(line), ())[:200]:
            votes[max(0, number - offset)] += 1
    if not votes:
        votes.update(_by_longest_line(at, wanted))
    if near is not None:
        votes[max(0, min(near, len(lines)) - 1)] += 1
    return [start for start, _ in votes.most_common(8)]


def _by_longest_line(at: dict[str, list[int]], wanted: Sequence[str]) -> Iterable[int]:
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    offset, longest = max(enumerate(_collapsed(line) for line in wanted), key=lambda each: len(each[1]))
    found = process.extract(
        longest[:500], [line[:500] for line in at], scorer=Indel.normalized_similarity, limit=5, score_cutoff=0.5
    )
    places = list(at.values())
    return [max(0, places[number][0] - offset) for _, _, number in found]


def _is_clear(closest: Sequence[_Window], wanted: Sequence[str]) -> bool:
    best = closest[0]
    second = closest[1].similarity if len(closest) > 1 else 0.0
    long_enough = sum(len(line.strip()) for line in wanted) >= _FEWEST_CHARACTERS
    whole = sum(len(line) + 1 for line in wanted) <= _MOST_COMPARED
    return long_enough and whole and best.similarity >= _NEARLY and best.similarity - second >= _CLEARLY


def _explained(lines: Sequence[str], wanted: Sequence[str], closest: Sequence[_Window], exact_only: bool) -> str:
    if not closest:
        return "Nothing in the file is like the lines to search for. Read the file again: they may be elsewhere."
    best = closest[0]
    have = lines[best.start : best.start + best.count]
    difference = list(difflib.unified_diff(wanted, have, lineterm="", n=1))[2:]
    shown = "\n".join(difference[:_SHOWN_LINES])
    more = "\n[…]" if len(difference) > _SHOWN_LINES else ""
    second = closest[1] if len(closest) > 1 else None
    if exact_only:
        why = "The file changed since you read it, so only an exact match is replaced."
    elif best.similarity >= _NEARLY and second is not None:
        why = f"It is not clear which place is meant: the one at line {second.start + 1} is nearly as close."
    else:
        why = f"Lines are only replaced that are at least {_NEARLY:.0%} alike."
    return (
        f"The lines to search for are not in the file. The closest place begins at line {best.start + 1} and is "
        f"{best.similarity:.0%} alike. {why} What you searched for (-) and what stands there (+):\n{shown}{more}"
    )
