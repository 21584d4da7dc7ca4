"""What differs between a dimension as it is now and as the model was told of it, and what it knows once it is told that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from pydantic import Field

from ..._longest_increasing import longest_increasing
from ...wire import WireModel
from .sections import KINDS, Bounded, DimensionName, SectionEntry

__all__ = ["KnownSection", "KnownSections", "SectionChange", "change_of", "replayed", "whole_of"]


class KnownSection(WireModel):
    """What one message told of a dimension, beside its words. ``of`` is the message it is a difference to.

    Each of ``put`` is a key and the mark of its text; where the order counts, what is new or has another place has the key
    it comes after as well, "" for the first.
    """

    of: int | None = None
    put: list[list[str]] = Field(default_factory=list)
    gone: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class KnownSections:
    """What the model knows of a dimension: marks of texts by key, in order, since the message ``seq``."""

    seq: int
    marks: Mapping[str, str]


@dataclass(frozen=True)
class SectionChange:
    """What to tell. ``whole`` takes the place of all that was told before; else only what differs is there."""

    name: DimensionName
    whole: bool
    new: tuple[SectionEntry, ...] = ()
    changed: tuple[SectionEntry, ...] = ()
    moved: tuple[SectionEntry, ...] = ()
    gone: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    """There may be something of this name still; it was not looked at."""
    after: Mapping[str, str] | None = None
    """Where the order counts, for what is new or has another place: which key it comes after."""

    def told(self, known: KnownSections | None) -> KnownSection:
        """What to keep of it."""
        if self.whole or known is None:
            return KnownSection(put=[[entry.key, _mark(entry.text)] for entry in self.new])
        after = self.after or {}
        # In the order they have now: what comes after another new one needs that to be there.
        order = {key: place for place, key in enumerate(after)}
        entries = sorted((*self.new, *self.changed, *self.moved), key=lambda entry: order.get(entry.key, -1))
        put = {
            entry.key: [entry.key, _mark(entry.text), *([after[entry.key]] if entry.key in after else [])]
            for entry in entries
        }
        return KnownSection(of=known.seq, put=list(put.values()), gone=[*self.gone, *self.unlisted])


def whole_of(now: Bounded) -> SectionChange:
    """All of it."""
    return SectionChange(now.name, True, new=now.shown)


def change_of(now: Bounded, known: KnownSections) -> SectionChange | None:
    """What differs from what is known; None if nothing does."""
    style = KINDS[now.name].style
    if style == "events":
        new = tuple(entry for entry in now.shown if entry.key not in known.marks)
        return SectionChange(now.name, False, new=new) if new else None
    texts = {entry.key: entry for entry in (*now.every, *now.shown)}
    lost = [key for key in known.marks if key not in texts]
    found = SectionChange(
        now.name,
        False,
        new=tuple(entry for entry in now.shown if entry.key not in known.marks),
        changed=tuple(
            entry
            for entry in texts.values()
            if entry.key in known.marks and known.marks[entry.key] != _mark(entry.text)
        ),
        gone=tuple(key for key in lost if now.is_gone(key)),
        unlisted=tuple(key for key in lost if not now.is_gone(key)),
    )
    if style == "ordered":
        found = _placed(found, [texts[entry.key] for entry in now.every], known)
    is_change = found.new or found.changed or found.moved or lost
    return found if is_change else None


def replayed(known: KnownSections | None, told: KnownSection, seq: int) -> KnownSections | None:
    """What is known after the message ``seq``; None if it is a difference to something that is not known any more."""
    if told.of is None:
        return KnownSections(seq, {put[0]: put[1] for put in told.put})
    if known is None or known.seq != told.of:
        return None
    gone = {*told.gone, *(put[0] for put in told.put if len(put) > 2)}
    marks = {key: mark for key, mark in known.marks.items() if key not in gone}
    order = list(marks)
    for key, mark, *after in told.put:
        marks[key] = mark
        if after:
            order.insert(order.index(after[0]) + 1 if after[0] in order else 0, key)
        elif key not in order:
            order.append(key)
    return KnownSections(seq, {key: marks[key] for key in order})


def _placed(found: SectionChange, every: Sequence[SectionEntry], known: KnownSections) -> SectionChange:
    """The same with what has another place, and where all of that is now."""
    new = {entry.key for entry in found.new}
    order = [entry for entry in every if entry.key in new or entry.key in known.marks]
    common = [entry.key for entry in order if entry.key in known.marks]
    places = {key: place for place, key in enumerate(key for key in known.marks if key in set(common))}
    staying = longest_increasing([places[key] for key in common])
    moved = {key for key in common if places[key] not in staying}
    before = ["", *(entry.key for entry in order)]
    return replace(
        found,
        moved=tuple(entry for entry in order if entry.key in moved),
        after={entry.key: before[at] for at, entry in enumerate(order) if entry.key in new or entry.key in moved},
    )


def _mark(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
