"""Notes in a Markdown file: every list item is one. What a person wrote around them stays as it is."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

from ..errors import NotFound

__all__ = ["Note", "NoteText", "new_note"]

_ITEM: Final = re.compile(r"[-*+] +(?=\S)")
_INDENT: Final = re.compile(r"(?: {2,}|\t)(?=\S)")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_FACTS: Final = re.compile(r"\s*<!--\s*hdsp(?P<facts>(?:\s+[\w=:.+-]+)*)\s*-->\s*\Z")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Note:
    """One thing to remember. ``id`` names it in its file; ``day`` is when it was said, as YYYY-MM-DD."""

    id: str
    text: str
    day: str | None = None
    task: str | None = None
    """The conversation it was said in."""
    pinned: bool = False


def new_note(text: str, *, day: str, task: str | None = None, pinned: bool = False) -> Note:
    """A note with an id of its own."""
    return Note(secrets.token_hex(4), _one_text(text), day, task, pinned)


@dataclass(frozen=True)
class _Item:
    note: Note
    first: int
    end: int
    """The lines ``first`` to ``end`` of the file, the last one left out."""


class NoteText:
    """The text of a file of notes, and the same text with one note more, less, or changed."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self._lines: Final = text.splitlines()
        self._items: Final = list(_items(self._lines))

    @property
    def notes(self) -> list[Note]:
        """All notes, in the order of the file."""
        return [item.note for item in self._items]

    @property
    def told(self) -> str:
        """What a model is told of the file: notes with their days and ids, pinned ones first, and what else is written there."""
        return self._said(_told)

    @property
    def plain(self) -> str:
        """The same as people read it: without days and ids."""
        return self._said(_plain)

    def _said(self, text_of: Callable[[Note], str]) -> str:
        lines = [text_of(item.note) for item in self._items if item.note.pinned]
        by_line = {item.first: item for item in self._items}
        at = 0
        while at < len(self._lines):
            item = by_line.get(at)
            if item is None:
                line = _COMMENT.sub("", self._lines[at]).rstrip()
                if line and not line.startswith("# "):
                    lines.append(line)
                at += 1
            else:
                if not item.note.pinned:
                    lines.append(text_of(item.note))
                at = item.end
        return "\n".join(lines)

    def get(self, note_id: str) -> Note:
        """The note of this id. Raises NotFound."""
        return self._item(note_id).note

    def with_note(self, note: Note) -> NoteText:
        """With this note at the end."""
        lines = list(self._lines)
        while lines and not lines[-1].strip():
            lines.pop()
        if lines and not (self._items and self._items[-1].end >= len(lines)):
            lines.append("")
        return NoteText(_joined([*lines, *_written(note)]))

    def changed(self, note: Note) -> NoteText:
        """With this in place of the note that has its id. Raises NotFound."""
        item = self._item(note.id)
        note = replace(note, text=_one_text(note.text))
        return NoteText(_joined([*self._lines[: item.first], *_written(note), *self._lines[item.end :]]))

    def without(self, note_id: str) -> NoteText:
        """Without the note of this id. Raises NotFound."""
        item = self._item(note_id)
        return NoteText(_joined([*self._lines[: item.first], *self._lines[item.end :]]))

    def told_within(self, most_bytes: int) -> tuple[str, list[Note]]:
        """What a model is told in so many bytes, and the notes in it: pinned ones, then the last of the file, each whole.

        What else is written there comes after the notes, as far as there is room.
        """
        if len(self.told.encode("utf-8", "replace")) <= most_bytes:
            return self.told, self.notes
        left, kept = most_bytes, set[int]()
        for item in sorted(self._items, key=lambda item: (not item.note.pinned, -item.first)):
            size = len(_told(item.note).encode("utf-8", "replace")) + 1
            # Half a sentence may say the opposite.
            if size <= left:
                kept.add(item.first)
                left -= size
        notes = [item.note for item in self._items if item.first in kept]
        lines = [_told(note) for note in sorted(notes, key=lambda note: not note.pinned)]
        for line in self._prose():
            left -= len(line.encode("utf-8", "replace")) + 1
            if left < 0:
                break
            lines.append(line)
        return "\n".join(lines), notes

    def _prose(self) -> Iterator[str]:
        """The lines that are no notes, titles and comments."""
        in_notes = {line for item in self._items for line in range(item.first, item.end)}
        for at, text in enumerate(self._lines):
            line = _COMMENT.sub("", text).rstrip()
            if at not in in_notes and line and not line.startswith("# "):
                yield line

    def _item(self, note_id: str) -> _Item:
        for item in self._items:
            if item.note.id == note_id:
                return item
        raise NotFound(f"There is no note {note_id}. It may have been deleted.", note=note_id)


def _items(lines: list[str]) -> Iterator[_Item]:
    at, in_code, seen = 0, False, set[str]()
    while at < len(lines):
        in_code ^= _FENCE.match(lines[at]) is not None
        begin = None if in_code else _ITEM.match(lines[at])
        if begin is None:
            at += 1
            continue
        first, text = at, [lines[at][begin.end() :]]
        at += 1
        while at < len(lines) and (indent := _INDENT.match(lines[at])) is not None:
            text.append(lines[at][indent.end() :])
            at += 1
        note = _note("\n".join(text))
        while note.id in seen:
            # The same words twice, or a line that was copied with its id.
            note = replace(note, id=_id_of(note.id + note.text))
        seen.add(note.id)
        yield _Item(note, first, at)


def _note(text: str) -> Note:
    found = _FACTS.search(text)
    plain = _COMMENT.sub("", text[: found.start()] if found else text).strip()
    facts = found["facts"].split() if found else []
    named = dict(fact.split("=", 1) for fact in facts if "=" in fact)
    return Note(
        id=named.get("id") or _id_of(plain),
        text=plain,
        day=named.get("day"),
        task=named.get("task"),
        pinned="pinned" in facts,
    )


def _written(note: Note) -> list[str]:
    facts = [
        f"id={note.id}",
        *([f"day={note.day}"] if note.day else []),
        *([f"task={note.task}"] if note.task else []),
        *(["pinned"] if note.pinned else []),
    ]
    first, *rest = note.text.split("\n")
    lines = [f"- {first}", *(f"  {line}" for line in rest)]
    lines[-1] += f" <!-- hdsp {' '.join(facts)} -->"
    return lines


def _plain(note: Note) -> str:
    return "- " + "\n  ".join(note.text.split("\n"))


def _told(note: Note) -> str:
    facts = ", ".join([*([note.day] if note.day else []), f"id {note.id}"])
    first, *rest = note.text.split("\n")
    return "\n".join([f"- {first} ({facts})", *(f"  {line}" for line in rest)])


def _one_text(text: str) -> str:
    """The text so that it is one item: no comment, and no empty line that would end it."""
    text = _COMMENT.sub("", text).replace("<!--", "<! --")
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _id_of(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n" if lines else ""
