"""What a person changed in the files that a consolidation writes: it stays, whatever the next one makes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from ..wire import WireModel

__all__ = ["PersonEdits", "edits_between", "with_edits"]

_OWN_HEADING: Final = "## Written by you"
_CODES: Final = re.compile(r"\s*\[[0-9A-Za-z]{4}(?:[,;]?\s+[0-9A-Za-z]{4})*\]\s*\Z")
_LONGEST: Final = 2_000
"""Lines remembered of each sort; nobody writes more by hand."""


class WrittenLine(WireModel):
    """A line of the person's, and the heading it stands under."""

    text: str
    heading: str | None = None


class PersonEdits(WireModel):
    """The lines that a person wrote into a file, and those they took out."""

    written: list[WrittenLine] = Field(default_factory=list)
    removed: list[str] = Field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the person changed nothing."""
        return not self.written and not self.removed

    def joined(self, newer: PersonEdits) -> PersonEdits:
        """Both: the newer ones have the last word."""
        newly = {_said(line.text) for line in newer.written}
        gone = {_said(line) for line in newer.removed} - newly
        written = [line for line in self.written if _said(line.text) not in gone | newly] + newer.written
        removed = [line for line in self.removed if _said(line) not in newly | gone] + newer.removed
        return PersonEdits(written=written[-_LONGEST:], removed=removed[-_LONGEST:])


@dataclass(frozen=True)
class _Line:
    text: str
    heading: str | None


def edits_between(published: str, now: str) -> PersonEdits:
    """What a person did to a text since it was published. Where a line stands, and what it was learned from, does not matter."""
    before, after = _lines(published), _lines(now)
    known = {_said(line.text) for line in before}
    kept = {_said(line.text) for line in after}
    return PersonEdits(
        written=[WrittenLine(text=line.text, heading=line.heading) for line in after if _said(line.text) not in known],
        removed=list(dict.fromkeys(line.text for line in before if _said(line.text) not in kept)),
    )


def with_edits(text: str, edits: PersonEdits) -> str:
    """A new text with the person's lines in it, under their headings where there are such, and without those they took out."""
    removed = {_said(line) for line in edits.removed}
    lines = [line for line in text.split("\n") if not line.strip() or _said(line) not in removed]
    present = {_said(line) for line in lines}
    without_place: list[str] = []
    for written in edits.written:
        if _said(written.text) in present:
            continue
        present.add(_said(written.text))
        at = _end_of_section(lines, written.heading)
        if at is None:
            without_place.append(written.text)
        else:
            lines.insert(at, written.text)
    if without_place:
        while lines and not lines[-1].strip():
            lines.pop()
        if _said(_OWN_HEADING) not in present:
            lines += ["", _OWN_HEADING, ""]
        lines += [*without_place, ""]
    return "\n".join(lines).lstrip("\n")


def _said(line: str) -> str:
    """A line without the conversations that it names: the next time it may be learned from others."""
    return _CODES.sub("", line.strip())


def _lines(text: str) -> Sequence[_Line]:
    """The lines that say something, each under its heading; a heading is a line as well."""
    found: list[_Line] = []
    heading: str | None = None
    for raw in text.split("\n"):
        line = raw.strip()
        if line:
            found.append(_Line(line, heading))
        if line.startswith("#"):
            heading = line
    return found


def _end_of_section(lines: Sequence[str], heading: str | None) -> int | None:
    """Behind the last line that says something under a heading."""
    if heading is None:
        return None
    begin = next((at for at, line in enumerate(lines) if line.strip() == heading), None)
    if begin is None:
        return None
    end = begin + 1
    for at in range(begin + 1, len(lines)):
        if lines[at].startswith("#"):
            break
        if lines[at].strip():
            end = at + 1
    return end
