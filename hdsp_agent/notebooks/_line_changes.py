"""What became of the lines of a text, and the same change made to another text."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["with_change"]


@dataclass(frozen=True, order=True)
class _LineChange:
    """Lines from one up to but without another that became others."""

    start: int
    end: int
    lines: tuple[str, ...]


def with_change(source: str, changed: str, onto: str) -> str | None:
    """A text with the change that made one of another, where it came from the first as well.

    None if both changes are of the same lines.
    """
    lines = source.split("\n")
    changes = _changes(lines, changed.split("\n"))
    others = [change for change in _changes(lines, onto.split("\n")) if change not in changes]
    if any(one.start < other.end and other.start < one.end for one in changes for other in others):
        return None
    for change in sorted([*changes, *others], reverse=True):
        lines[change.start : change.end] = change.lines
    return "\n".join(lines)


def _changes(old: list[str], new: list[str]) -> list[_LineChange]:
    from rapidfuzz.distance import Indel  # 25 ms, and seldom needed

    found: list[_LineChange] = []
    for each in Indel.opcodes(old, new):
        if each.tag == "equal":
            continue
        change = _LineChange(each.src_start, each.src_end, tuple(new[each.dest_start : each.dest_end]))
        if found and found[-1].end == change.start:
            before = found.pop()
            change = _LineChange(before.start, change.end, before.lines + change.lines)
        found.append(change)
    return found
