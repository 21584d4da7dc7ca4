"""The words in which a model is told of a dimension, or of what changed in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, assert_never

from .section_diff import SectionChange
from .sections import GAP, KINDS, SectionEntry

__all__ = ["NOTHING_LEFT", "text_of"]

NOTHING_LEFT: Final = "There is nothing to tell of it any more."
_ANEW: Final = " (all of it, in place of what was told before)"
_CHANGED: Final = " (what changed)"
_NO_GAP: Final = "[Nothing is left out any more.]"


def text_of(change: SectionChange, *, anew: bool = False) -> str:
    """A heading, and what there is to tell under it. ``anew`` says that something was told of it before."""
    kind = KINDS[change.name]
    if change.whole:
        lines = [_line(entry) for entry in change.new] or [NOTHING_LEFT]
        return "\n".join([f"# {kind.title}{_ANEW if anew else ''}", *lines])
    match kind.style:
        case "events":
            return "\n".join([f"# {kind.title}", *map(_line, change.new)])
        case "facts":
            lines = [*map(_line, (*change.changed, *change.new)), *_keys("No longer", change.gone)]
        case "texts":
            lines = [
                *_under("New:", change.new),
                *_under("In place of what it said before:", change.changed),
                *_keys("No longer in force", change.gone),
            ]
        case "list":
            lines = [
                *_under("New:", change.new),
                *_under("Changed:", change.changed),
                *_keys("Gone", change.gone),
                *_keys("Not looked at this time", change.unlisted),
            ]
        case "ordered":
            after = change.after or {}
            lines = [
                *_under("Changed:", change.changed),
                *_under(_placing(change), _placed(change, after), after),
                *_keys("Removed", change.gone),
            ]
        case _:
            assert_never(kind.style)
    return "\n".join([f"# {kind.title}{_CHANGED}", *lines])


def _placing(change: SectionChange) -> str:
    if change.new and change.moved:
        return "Added or moved, from top to bottom:"
    return "Added:" if change.new else "Moved:"


def _placed(change: SectionChange, after: Mapping[str, str]) -> list[SectionEntry]:
    """What has a place to be told, in the order of the places: of what was only moved its key says enough."""
    order = {key: place for place, key in enumerate(after)}
    entries = [*change.new, *(replace(entry, text=entry.key) for entry in change.moved)]
    return sorted(entries, key=lambda entry: order.get(entry.key, -1))


def _line(entry: SectionEntry) -> str:
    return entry.text if entry.number is None else f"{entry.number} {entry.text}"


def _under(heading: str, entries: Iterable[SectionEntry], after: Mapping[str, str] | None = None) -> list[str]:
    lines = [f"{_line(entry)}{_place(entry, after)}" for entry in entries]
    return [heading, *lines] if lines else []


def _place(entry: SectionEntry, after: Mapping[str, str] | None) -> str:
    if after is None or entry.key not in after or entry.key == GAP:
        return ""
    before = after[entry.key]
    return f" (after {before})" if before not in ("", GAP) else " (first)" if not before else " (after those left out)"


def _keys(what: str, keys: Iterable[str]) -> list[str]:
    keys = list(keys)
    listed = ", ".join(key for key in keys if key != GAP)
    return [*([f"{what}: {listed}"] if listed else []), *([_NO_GAP] if GAP in keys else [])]
