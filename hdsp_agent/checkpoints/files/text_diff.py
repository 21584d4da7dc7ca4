"""Differences of two texts, line by line, in the form of unified diffs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from ...wire import WireModel

__all__ = ["Hunk", "as_text", "operations", "text_hunks"]

_CONTEXT: Final = 3
_MOST_LINES: Final = 20_000
"""Where more lines differ, finding the smallest difference would take 50 MB and more: they count as replaced."""
_SNIFFED: Final = 8_000
_NO_NEWLINE: Final = "\\ No newline at end of file"


class Hunk(WireModel):
    """Lines that differ and what is around them, each with a space, minus, plus or backslash before it."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


def as_text(data: bytes) -> str | None:
    """The text that these bytes are; None if they are none."""
    if b"\0" in data[:_SNIFFED]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def text_hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """Where the two differ. Ends of lines count: a carriage return is part of its line."""
    before, after = _lines(old), _lines(new)
    return tuple(_hunk(group, before, after) for group in _groups(_line_operations(before, after)))


Operation = tuple[str, int, int, int, int]


def operations(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Operation]:
    """What turns the one into the other with the fewest parts that differ: equal, delete, insert, replace."""
    from rapidfuzz.distance import Indel  # 25 ms, for what looks at a diff

    found: list[Operation] = []
    for each in Indel.opcodes(old, new):
        old_start, new_start = each.src_start, each.dest_start
        tag: str = each.tag
        if tag != "equal" and found and found[-1][0] != "equal":
            _, old_start, _, new_start, _ = found.pop()
            tag = "replace"
        found.append((tag, old_start, each.src_end, new_start, each.dest_end))
    return found


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    # A last line without an end differs from one that has it.
    return [line + "\n" for line in lines] + ([last] if last else [])


def _line_operations(old: Sequence[str], new: Sequence[str]) -> list[Operation]:
    """What turns the one into the other. The same beginning and end, mostly nearly everything, is not searched."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old_end, new_end = len(old) - end, len(new) - end
    middle: list[Operation] = []
    if old_end - start > _MOST_LINES or new_end - start > _MOST_LINES:
        middle = [("replace", start, old_end, start, new_end)]
    elif old_end == start < new_end:
        middle = [("insert", start, start, start, new_end)]
    elif new_end == start < old_end:
        middle = [("delete", start, old_end, start, start)]
    elif old_end > start:
        found = operations(old[start:old_end], new[start:new_end])
        middle = [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in found]
    head: list[Operation] = [("equal", 0, start, 0, start)] if start else []
    tail: list[Operation] = [("equal", old_end, len(old), new_end, len(new))] if end else []
    return head + middle + tail


def _groups(operations: Sequence[Operation]) -> list[list[Operation]]:
    """Changes with little between them belong together; of what is the same, only the nearest lines are shown."""
    groups: list[list[Operation]] = []
    group: list[Operation] = []
    for number, (tag, a, b, c, d) in enumerate(operations):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        is_first, is_last = number == 0, number == len(operations) - 1
        if not is_first and not is_last and b - a <= 2 * _CONTEXT:
            group.append((tag, a, b, c, d))
            continue
        if group:
            group.append((tag, a, min(b, a + _CONTEXT), c, min(d, c + _CONTEXT)))
            groups.append(group)
        group = [] if is_last else [(tag, max(a, b - _CONTEXT), b, max(c, d - _CONTEXT), d)]
    if any(tag != "equal" for tag, *_ in group):
        groups.append(group)
    return groups


def _hunk(group: Sequence[Operation], old: Sequence[str], new: Sequence[str]) -> Hunk:
    lines: list[str] = []
    for tag, a, b, c, d in group:
        if tag == "equal":
            _add(lines, " ", old[a:b])
        else:
            _add(lines, "-", old[a:b])
            _add(lines, "+", new[c:d])
    first, last = group[0], group[-1]
    old_lines, new_lines = last[2] - first[1], last[4] - first[3]
    # As in unified diffs, nothing begins after the line before it.
    return Hunk(
        old_start=first[1] + bool(old_lines),
        old_lines=old_lines,
        new_start=first[3] + bool(new_lines),
        new_lines=new_lines,
        lines=tuple(lines),
    )


def _add(lines: list[str], sign: str, added: Sequence[str]) -> None:
    for line in added:
        lines.append(sign + line.removesuffix("\n"))
        if not line.endswith("\n"):
            lines.append(_NO_NEWLINE)
