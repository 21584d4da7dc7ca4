"""Finding files and folders of the workspace by a few letters of their names, for a person who types."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from typing import Final

from .._threads import Stop, in_thread
from ..messages import FileResult
from ..tools import FolderWalk, PathPolicy

__all__ = ["FileSearch"]

_MOST_RESULTS: Final = 50
_MOST_ENTRIES: Final = 30_000
_SECONDS: Final = 2.0
_REMEMBERED_SECONDS: Final = 5.0


@dataclass(frozen=True)
class _Found:
    path: str
    is_folder: bool


@dataclass(frozen=True)
class _Listing:
    at: float
    entries: Sequence[_Found]


class FileSearch:
    """Searches one workspace. What it saw is remembered for a few seconds, so that each letter does not walk anew.

    The walk is breadth first and bounded in time and count: of an enormous workspace the deepest is not found. What
    ``.gitignore`` names is: data often is, and is what people want to name.
    """

    def __init__(self, police: Callable[[], PathPolicy]) -> None:
        self._police = police
        self._listing: _Listing | None = None
        self._one_at_a_time = asyncio.Lock()

    async def find(self, query: str) -> list[FileResult]:
        """The best matches first; without a query what lies nearest. Raises OSError, ToolFailed."""
        async with self._one_at_a_time:
            listing = self._listing
            if listing is None or time.monotonic() - listing.at > _REMEMBERED_SECONDS:
                listing = self._listing = await in_thread(self._walk)
        return await asyncio.to_thread(_best, listing.entries, query)

    def _walk(self, stop: Stop) -> _Listing:
        police = self._police()
        found: list[_Found] = []
        for entry in FolderWalk(police.workspace, police, seconds=_SECONDS, with_ignored=True).entries(stop):
            if (
                entry.is_hidden_from_agent
                or entry.path.name.startswith(".")
                or not (entry.is_file or entry.is_directory)
            ):
                continue
            found.append(_Found(police.shown(entry.path), entry.is_directory))
            if len(found) >= _MOST_ENTRIES:
                break
        return _Listing(time.monotonic(), found)


def _best(entries: Sequence[_Found], query: str) -> list[FileResult]:
    wanted = query.strip().lstrip("@/").casefold()
    if not wanted:
        return [_result(entry) for entry in entries[:_MOST_RESULTS]]
    ranked = ((rank, len(entry.path), entry.path, entry) for entry in entries if (rank := _rank(entry, wanted)))
    return [_result(entry) for *_, entry in nsmallest(_MOST_RESULTS, ranked, key=lambda each: each[:3])]


def _rank(entry: _Found, wanted: str) -> int | None:
    """How well it fits, 1 the best; None if it does not."""
    path = entry.path.casefold()
    name = path.rpartition("/")[2]
    if name == wanted or path == wanted.rstrip("/"):
        return 1
    if name.startswith(wanted):
        return 2
    if wanted in name:
        return 3
    if wanted in path:
        return 4
    if _has_in_order(name, wanted):
        return 5
    return 6 if _has_in_order(path, wanted) else None


def _has_in_order(text: str, letters: str) -> bool:
    """Whether the letters come in the text in this order, with others between them."""
    at = 0
    for letter in letters:
        if letter.isspace():
            continue
        at = text.find(letter, at) + 1
        if at == 0:
            return False
    return True


def _result(entry: _Found) -> FileResult:
    return FileResult(path=entry.path, type="folder" if entry.is_folder else "file", label=Path(entry.path).name)
