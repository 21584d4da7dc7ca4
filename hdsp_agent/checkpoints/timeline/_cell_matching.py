"""Which cell of one state is which of another, and who changed it in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..files.records import Author
from ._notebook_states import KeptCell, NotebookState

__all__ = ["ChangesSince", "PersonsChanges", "paired", "persons_changes"]


@dataclass(frozen=True)
class ChangesSince:
    """A state, and who made what differs from the one before."""

    state: NotebookState
    author: Author
    printed: frozenset[str] = frozenset()
    """Cells that show what a run of the agent printed, whoever made the rest."""


@dataclass(frozen=True)
class PersonsChanges:
    """What a person changed last: cells of the newest state, by their places."""

    written: frozenset[int] = frozenset()
    shown: frozenset[int] = frozenset()
    """They ran it, or cleared its outputs."""
    marked: frozenset[int] = frozenset()
    """They changed its metadata."""
    deleted: frozenset[int] = frozenset()
    """Cells of the oldest state."""


@dataclass(frozen=True)
class _Makers:
    """Who changed a cell last; None if nobody did."""

    said: Author | None = None
    shown: Author | None = None
    metadata: Author | None = None

    def then(self, old: KeptCell, new: KeptCell, since: ChangesSince) -> _Makers:
        author = since.author
        printer = "agent" if author == "person" and new.id in since.printed else author
        return _Makers(
            said=self.said if old.said == new.said else author,
            shown=self.shown if old.shown == new.shown else printer,
            metadata=self.metadata if old.metadata == new.metadata else author,
        )


def paired(old: NotebookState, new: NotebookState) -> Mapping[int, int]:
    """From the place of a cell to where it is in the other state: by id, and where ids do not say, by what cells say and
    their order."""
    places = {cell.id: place for place, cell in enumerate(new.cells)}
    pairs = {place: places[cell.id] for place, cell in enumerate(old.cells) if cell.id in places}
    # A file without ids is given others each time it is opened.
    by_id = old.has_ids and new.has_ids
    if by_id and pairs:
        return pairs
    from rapidfuzz.distance import LCSseq  # 25 ms, for the few notebooks that need it

    rest_old = [place for place in range(len(old.cells)) if place not in pairs]
    taken = set(pairs.values())
    rest_new = [place for place in range(len(new.cells)) if place not in taken]
    edits = LCSseq.editops([old.cells[place].said for place in rest_old], [new.cells[place].said for place in rest_new])
    a = b = 0
    for same in edits.as_matching_blocks():
        # As many cells before what is the same as there were: each of them was changed.
        if not by_id and same.a - a == same.b - b:
            pairs.update(zip(rest_old[a : same.a], rest_new[b : same.b], strict=True))
        a, b = same.a + same.size, same.b + same.size
        pairs.update(zip(rest_old[same.a : a], rest_new[same.b : b], strict=True))
    return pairs


def persons_changes(
    target: NotebookState, since: Sequence[ChangesSince], current: NotebookState, printed: frozenset[str] = frozenset()
) -> PersonsChanges:
    """Whose last change since the target was a person's. What nobody claimed, since the last of these states, is theirs, but
    for what cells show that show what the agent's run of them ``printed``."""
    makers = dict.fromkeys(range(len(target.cells)), _Makers())
    origin = {place: place for place in range(len(target.cells))}
    deleted: set[int] = set()
    steps = [ChangesSince(target, "restore"), *since, ChangesSince(current, "person", printed)]
    # Outputs that were kept and the same that were not are then the same.
    steps = [replace(step, state=step.state.without_outputs()) for step in steps]
    for older, newer in pairwise(steps):
        pairs = paired(older.state, newer.state)
        author = newer.author
        now = dict.fromkeys(range(len(newer.state.cells)), _Makers(author, author, author))
        for old, new in pairs.items():
            now[new] = makers[old].then(older.state.cells[old], newer.state.cells[new], newer)
        if newer.author == "person":
            deleted.update(origin[old] for old in range(len(older.state.cells)) if old not in pairs and old in origin)
        makers, origin = now, {new: origin[old] for old, new in pairs.items() if old in origin}
    return PersonsChanges(
        written=frozenset(place for place, who in makers.items() if who.said == "person"),
        shown=frozenset(place for place, who in makers.items() if who.shown == "person"),
        marked=frozenset(place for place, who in makers.items() if who.metadata == "person"),
        deleted=frozenset(deleted),
    )
