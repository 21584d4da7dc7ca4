"""Which cell of one state is which of another, and who changed it in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from .._records import Author
from ._states import NotebookState

__all__ = ["PersonsChanges", "Since", "paired", "persons_changes"]


@dataclass(frozen=True)
class Since:
    """A state, and who made what differs from the one before."""

    state: NotebookState
    author: Author


@dataclass(frozen=True)
class PersonsChanges:
    """What a person changed last."""

    written: frozenset[int]
    """Cells of the newest state, by their places."""
    deleted: frozenset[int]
    """Cells of the oldest."""


def paired(old: NotebookState, new: NotebookState) -> Mapping[int, int]:
    """From the place of a cell to where it is in the other state: by id, and where ids do not say, by what cells say and
    their order."""
    places = {cell.id: place for place, cell in enumerate(new.cells)}
    pairs = {place: places[cell.id] for place, cell in enumerate(old.cells) if cell.id in places}
    # A file without ids is given others each time it is opened.
    by_id = old.has_ids and new.has_ids
    if by_id and pairs:
        return pairs
    rest_old = [place for place in range(len(old.cells)) if place not in pairs]
    taken = set(pairs.values())
    rest_new = [place for place in range(len(new.cells)) if place not in taken]
    matcher = SequenceMatcher(
        None,
        [old.cells[place].said for place in rest_old],
        [new.cells[place].said for place in rest_new],
        autojunk=False,
    )
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal" or (tag == "replace" and not by_id and b - a == d - c):
            pairs.update(zip(rest_old[a:b], rest_new[c:d], strict=True))
    return pairs


def persons_changes(target: NotebookState, since: Sequence[Since], current: NotebookState) -> PersonsChanges:
    """Whose last change since the target was a person's. What nobody claimed, since the last of these states, is theirs."""
    maker: dict[int, Author | None] = dict.fromkeys(range(len(target.cells)))
    origin = {place: place for place in range(len(target.cells))}
    deleted: set[int] = set()
    steps = [Since(target, "restore"), *since, Since(current, "person")]
    for older, newer in pairwise(steps):
        pairs = paired(older.state, newer.state)
        makers: dict[int, Author | None] = dict.fromkeys(range(len(newer.state.cells)), newer.author)
        for old, new in pairs.items():
            if older.state.cells[old].said == newer.state.cells[new].said:
                makers[new] = maker[old]
        if newer.author == "person":
            deleted.update(origin[old] for old in range(len(older.state.cells)) if old not in pairs and old in origin)
        maker, origin = makers, {new: origin[old] for old, new in pairs.items() if old in origin}
    return PersonsChanges(frozenset(place for place, who in maker.items() if who == "person"), frozenset(deleted))
