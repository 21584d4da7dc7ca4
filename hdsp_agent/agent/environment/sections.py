"""What there is to tell a model about its surroundings, in dimensions that change one by one, each within a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from ...context import Budget, TokenCounter, truncated
from ...messages import RecalledItem

__all__ = [
    "DIMENSIONS",
    "GAP",
    "KINDS",
    "Bounded",
    "DimensionName",
    "Kind",
    "Section",
    "SectionEntry",
    "Style",
    "bounded",
]

DimensionName: TypeAlias = Literal[
    "environment",
    "role",
    "instructions",
    "mode",
    "permissions",
    "model",
    "memory",
    "notebook",
    "outline",
    "variables",
    "person_runs",
    "open_files",
    "workspace_files",
    "git_status",
    "usage",
]
DIMENSIONS: Final[tuple[DimensionName, ...]] = get_args(DimensionName)
"""In the order they are told in."""

Style: TypeAlias = Literal["facts", "texts", "list", "ordered", "events"]
"""``facts`` name themselves; ``texts`` are long; in a ``list`` the first count most; ``ordered`` ones have a place;
``events`` happened, and are told once."""

GAP: Final = "…"
"""The key of what stands for entries there was no room for."""
_LEAST_TEXT: Final = 200
"""Tokens. For less it is not worth beginning a long text."""


@dataclass(frozen=True)
class Kind:
    """How a dimension is told. ``tokens`` is the most that is told of it at once; ``more`` stands for the rest."""

    title: str
    style: Style
    tokens: int
    more: str = "[… {count} more are left out: there is no room for them …]"


KINDS: Final[dict[DimensionName, Kind]] = {
    "environment": Kind("Where you are", "facts", 1_000),
    "role": Kind("Your role", "texts", 10_000),
    "instructions": Kind("Instructions of the person and of the workspace", "texts", 24_000),
    "mode": Kind("Mode", "facts", 300),
    "permissions": Kind("What you may do", "facts", 1_200),
    "model": Kind("Model", "facts", 200),
    "memory": Kind("What you remember", "texts", 10_500),
    "notebook": Kind("Notebook", "facts", 500),
    "outline": Kind("Cells", "ordered", 3_000, "[… {count} more cells: read_notebook lists them …]"),
    "variables": Kind("Variables", "list", 1_500, "[… {count} more: inspect_variables tells of them …]"),
    "person_runs": Kind("What the person ran there lately, newest last", "events", 800),
    "open_files": Kind("Notebooks open in the browser", "list", 600, "[… {count} more …]"),
    "workspace_files": Kind("Files of the workspace", "list", 3_000, "[… {count} more: list_files lists them …]"),
    "git_status": Kind("Files that differ from the last commit, by git status", "list", 1_500, "[… {count} more …]"),
    "usage": Kind("Time and cost", "facts", 100),
}


@dataclass(frozen=True)
class SectionEntry:
    """One thing told. ``number`` is its place just now: it is shown, and no change by itself."""

    key: str
    text: str
    number: int | None = None
    recalled: tuple[RecalledItem, ...] = field(default=(), compare=False)
    """What of the past stands in it, as far as there was room."""


@dataclass(frozen=True)
class Section:
    """How things are now. There may be more than ``entries``: some are ``unread``, and so many are only counted.

    ``is_partial`` says that there may be others whose names are not known.
    """

    name: DimensionName
    entries: tuple[SectionEntry, ...]
    unread: frozenset[str] = frozenset()
    others: int = 0
    is_partial: bool = False


@dataclass(frozen=True)
class Bounded:
    """A dimension within its limit: what is ``shown`` of it, and ``every`` entry, in its order, with the gap."""

    name: DimensionName
    shown: tuple[SectionEntry, ...]
    every: tuple[SectionEntry, ...]
    source: Section

    def is_gone(self, key: str) -> bool:
        """Whether there is nothing of this name any more."""
        return not self.source.is_partial and key not in self.source.unread


def bounded(dimension: Section, counter: TokenCounter) -> Bounded:
    """As much of it as there is room for: of what has an order both ends, of events the newest, else the first."""
    name, entries = dimension.name, dimension.entries
    match KINDS[name].style:
        case "ordered":
            head, tail = _ends(entries, KINDS[name].tokens, counter)
        case "events":
            tail = _fitting(tuple(reversed(entries)), KINDS[name].tokens, counter)[::-1]
            return Bounded(name, tail, entries, dimension)
        case "texts":
            head, tail = _texts(entries, KINDS[name].tokens, counter), ()
        case _:
            head, tail = _fitting(entries, KINDS[name].tokens, counter), ()
    left_out = len(entries) - len(head) - len(tail) + dimension.others
    if not left_out:
        return Bounded(name, (*head, *tail), (*head, *tail), dimension)
    gap = SectionEntry(GAP, KINDS[name].more.format(count=left_out))
    middle = entries[len(head) : len(entries) - len(tail)]
    return Bounded(name, (*head, gap, *tail), (*head, gap, *middle, *tail), dimension)


def _fitting(entries: Sequence[SectionEntry], room: int, counter: TokenCounter) -> tuple[SectionEntry, ...]:
    """The first of them; of the very first as much as there is room for."""
    kept: list[SectionEntry] = []
    for entry in entries:
        size = counter.text(entry.text) + 1
        if size > room:
            if not kept:
                kept.append(_cut(entry, room))
            break
        room -= size
        kept.append(entry)
    return tuple(kept)


def _texts(entries: Sequence[SectionEntry], room: int, counter: TokenCounter) -> tuple[SectionEntry, ...]:
    """The first of them; the middle is cut out of the one for which there is not all the room."""
    kept: list[SectionEntry] = []
    for entry in entries:
        size = counter.text(entry.text) + 1
        if size > room:
            if room >= _LEAST_TEXT:
                kept.append(_cut(entry, room))
            break
        room -= size
        kept.append(entry)
    return tuple(kept)


def _ends(
    entries: Sequence[SectionEntry], room: int, counter: TokenCounter
) -> tuple[tuple[SectionEntry, ...], tuple[SectionEntry, ...]]:
    sizes = [counter.text(entry.text) + 2 for entry in entries]
    if sum(sizes) <= room:
        return tuple(entries), ()
    head = _fitting(entries, room // 2, counter)
    rest = entries[len(head) :]
    return head, _fitting(tuple(reversed(rest)), room // 2, counter)[::-1]


def _cut(entry: SectionEntry, room: int) -> SectionEntry:
    return replace(entry, text=truncated(entry.text, Budget("tokens", room)))
