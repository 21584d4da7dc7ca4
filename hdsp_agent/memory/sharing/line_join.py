"""Two versions of a text that were made from the same one, joined line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

__all__ = ["JoinedText", "joined_text", "line_keys"]

_ITEM: Final = re.compile(r"[-*+] +\S")
_INDENTED: Final = re.compile(r"(?: {2,}|\t)\S")
_NOTE_ID: Final = re.compile(r"<!--\s*hdsp(?=\s)[^>]*?\sid=(\S+)[^>]*-->\s*\Z")


@dataclass(frozen=True)
class JoinedText:
    """What both say, and how many things both changed, so that it is there twice."""

    text: str
    twice: int


@dataclass(frozen=True)
class _Part:
    """A list item with what is indented below it, or another line, and the empty lines that follow it."""

    key: str
    text: str

    @property
    def note_id(self) -> str | None:
        found = _NOTE_ID.search(self.text.rstrip())
        return None if found is None else found[1]


def line_keys(text: str) -> list[str]:
    """What tells the parts of a text apart, in their order: enough to see later what was changed in it."""
    return [part.key for part in _parts(text)]


def joined_text(base: Sequence[str], mine: str, theirs: str) -> JoinedText:
    """Theirs with what was added to mine and without what was taken out of it. ``base`` are the keys of what both were."""
    here, there = _parts(mine), _parts(theirs)
    before, kept_here = set(base), {part.key for part in here}
    known = {part.key for part in there}
    found = [part for part in there if part.key not in before or part.key in kept_here]
    added_there = {part.note_id for part in there if part.key not in before} - {None}
    follows_there = _followers(there, before)
    twice = 0
    previous: str | None = None
    for part in here:
        if part.key not in before and part.key not in known:
            at = _place(found, here, part, previous)
            while at < len(found) and found[at].key not in before | kept_here:
                at += 1
            found.insert(at, part)
            was = _follower(base, previous)
            both_replaced = was is not None and was not in kept_here and was not in known and previous in follows_there
            twice += part.note_id in added_there if part.note_id is not None else both_replaced
        previous = part.key
    return JoinedText(_written(found), twice)


def _place(found: Sequence[_Part], here: Sequence[_Part], part: _Part, previous: str | None) -> int:
    """Behind the part that it follows here, else behind the nearest before that is there, else at the end."""
    places = {each.key: at for at, each in enumerate(found)}
    if previous in places:
        return places[previous] + 1
    before = here[: here.index(part)]
    return next((places[each.key] + 1 for each in reversed(before) if each.key in places), len(found))


def _follower(base: Sequence[str], previous: str | None) -> str | None:
    """What came after this part, or at the beginning, when both were the same."""
    if previous is None:
        return base[0] if base else None
    if previous not in base:
        return None
    at = base.index(previous) + 1
    return base[at] if at < len(base) else None


def _followers(parts: Sequence[_Part], before: set[str]) -> set[str | None]:
    """The parts that something new comes after."""
    previous: str | None = None
    found: set[str | None] = set()
    for part in parts:
        if part.key not in before:
            found.add(previous)
        previous = part.key
    return found


def _written(parts: Sequence[_Part]) -> str:
    return "".join(part.text if part.text.endswith("\n") else f"{part.text}\n" for part in parts)


def _parts(text: str) -> list[_Part]:
    headings: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    found: list[_Part] = []
    for lines in _grouped(text):
        said = "\n".join(line.rstrip() for line in lines).rstrip("\n")
        if said.startswith("#"):
            depth = len(said) - len(said.lstrip("#"))
            headings = [(each, title) for each, title in headings if each < depth]
        place = "\0".join(title for _, title in headings)
        if said.startswith("#"):
            headings.append((depth, said))
        # The same words may stand twice in a section.
        seen[f"{place}\0\0{said}"] = number = seen.get(f"{place}\0\0{said}", 0) + 1
        digest = blake2b(f"{place}\0\0{said}\0{number}".encode("utf-8", "surrogatepass"), digest_size=8)
        found.append(_Part(digest.hexdigest(), "".join(f"{line}\n" for line in lines)))
    return found


def _grouped(text: str) -> Iterator[list[str]]:
    group: list[str] = []
    is_item = False
    for line in text.splitlines():
        belongs = not line.strip() or (is_item and _INDENTED.match(line) is not None)
        if group and not belongs:
            yield group
            group = []
        if not group:
            is_item = _ITEM.match(line) is not None
        elif not line.strip():
            # What is indented after an empty line belongs to nobody.
            is_item = False
        group.append(line)
    if group:
        yield group
