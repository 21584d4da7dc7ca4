"""What was learned, line by line, for a person to look through: each with the conversations it came from. Blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from .._private_files import locked
from ..errors import InvalidInput, NotFound
from .extracted_files import Extracted, ExtractedFiles
from .memory_folder import HANDBOOK, SUMMARY, MemoryFolder
from .redaction import redact
from .sources import codes_in, is_item, sources_by_code

__all__ = ["LearnedItem", "LearnedItems"]

_FILES: Final = (SUMMARY, HANDBOOK)
_INDEX: Final = frozenset({"## What's in Memory", "### rollout_summary_files", "### keywords"})
"""Headings under which nothing was learned: they say where it stands."""
_BULLET: Final = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
_CODES: Final = re.compile(r"\s*\[([0-9A-Za-z, ;]+)\]\s*\Z")
_LONGEST: Final = 2_000
_LOCK_SECONDS: Final = 10.0


@dataclass(frozen=True)
class LearnedItem:
    """One line of the summary or the handbook."""

    id: str
    file: str
    section: str
    text: str
    sources: tuple[Extracted, ...]


class LearnedItems:
    """The lines of one person's files. A line that is changed or deleted here is the person's word from then on."""

    def __init__(self, folder: MemoryFolder) -> None:
        self._folder: Final = folder

    def all(self) -> list[LearnedItem]:
        """All lines, as the files have them. Raises StorageUnavailable."""
        known = sources_by_code(ExtractedFiles(self._folder).all())
        return [item for name in _FILES for item, _ in _items(name, self._folder.text(name), known)]

    def edit(self, item_id: str, text: str) -> None:
        """Say it otherwise. Raises NotFound, InvalidInput, StorageUnavailable."""
        text = " ".join(redact(text).split())
        if not text:
            raise InvalidInput("A line cannot be empty. Delete it instead.", field="text")
        if len(text) > _LONGEST:
            raise InvalidInput(f"A line has {_LONGEST:,} characters at most.", field="text")
        self._change(item_id, text)

    def delete(self, item_id: str) -> None:
        """Take a line out. Raises NotFound, StorageUnavailable."""
        self._change(item_id, None)

    def _change(self, item_id: str, text: str | None) -> None:
        known = sources_by_code(ExtractedFiles(self._folder).all())
        with locked(self._folder.root / HANDBOOK, _LOCK_SECONDS):
            for name in _FILES:
                lines = self._folder.text(name).split("\n")
                for item, at in _items(name, "\n".join(lines), known):
                    if item.id == item_id:
                        bullet, _, codes = _parted(lines[at], frozenset(known))
                        lines[at : at + 1] = [] if text is None else [f"{bullet}{text}{codes}"]
                        self._folder.write(name, "\n".join(lines))
                        return
        raise NotFound("This line has changed or is gone. Reload and try again.", item=item_id)


def _items(name: str, text: str, known: Mapping[str, Extracted]) -> Iterator[tuple[LearnedItem, int]]:
    headings: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    for at, line in enumerate(text.split("\n")):
        if line.startswith("#"):
            depth = len(line) - len(line.lstrip("#"))
            headings = [(each, title) for each, title in headings if each < depth] + [(depth, line.strip())]
        elif is_item(line) and not any(title in _INDEX for _, title in headings):
            _, said, _ = _parted(line, frozenset(known))
            seen[line] = seen.get(line, 0) + 1
            section = " › ".join(title.lstrip("# ") for _, title in headings)
            digest = blake2b(f"{name}\0{section}\0{line}\0{seen[line]}".encode("utf-8", "replace"), digest_size=5)
            codes = codes_in(line, frozenset(known))
            yield LearnedItem(digest.hexdigest(), name, section, said, tuple(known[code] for code in codes)), at


def _parted(line: str, known: frozenset[str]) -> tuple[str, str, str]:
    """The bullet, what is said, and the codes it ends with. Brackets with anything else belong to what is said."""
    bullet = _BULLET.match(line)
    begin = bullet.end() if bullet is not None else 0
    codes = _CODES.search(line, begin)
    if codes is None or not set(re.findall(r"\w+", codes[1])) <= known:
        return line[:begin], line[begin:].strip(), ""
    return line[:begin], line[begin : codes.start()].strip(), line[codes.start() :].rstrip()
