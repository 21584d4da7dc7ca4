"""Who changed a file last: what a person made is not taken back unless they choose so. Everything here blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .compare import ChangedPath, file_changes
from .content_compare import Contents
from .folders import FileEntry, Folder, FolderLoader, FolderRef
from .records import Author

__all__ = ["State", "changed_by_persons", "changed_since_crash"]


@dataclass(frozen=True)
class State:
    """A checkpoint, and who made what changed since the one before; ``claims`` are the files they say so of, None all."""

    folder: FolderRef | Folder
    author: Author
    claims: frozenset[bytes] | None = None

    def maker(self, path: bytes) -> Author:
        """Who changed this file, if it changed."""
        return self.author if self.claims is None or path in self.claims else "person"


def changed_by_persons(states: Sequence[State], now: Folder, loader: FolderLoader) -> frozenset[bytes]:
    """The files whose last change since the first state was a person's. What happened after the last state, nobody
    claimed, so it counts as the person's."""
    last: dict[bytes, Author] = {}
    steps = [*states, State(now, "person")]
    for older, newer in reversed(list(pairwise(steps))):
        for change in file_changes(older.folder, newer.folder, loader):
            if _counts(change, loader.contents):
                last.setdefault(change.path, newer.maker(change.path))
    # Where only touched files are kept, a file may have changed while nobody looked.
    for change in file_changes(states[0].folder, now, loader):
        if _counts(change, loader.contents):
            last.setdefault(change.path, "person")
    return frozenset(path for path, author in last.items() if author == "person")


def changed_since_crash(
    now: Folder, before: FolderRef, aims: Mapping[bytes, ChangedPath], loader: FolderLoader
) -> frozenset[bytes]:
    """The files that are as no half restore leaves them: it found them otherwise, and aimed at something else."""
    contents = loader.contents
    changes = (change for change in file_changes(before, now, loader) if _counts(change, contents))
    return frozenset(
        change.path for change in changes if not _is_half_done(change.new, aims.get(change.path), contents)
    )


def _is_half_done(there: FileEntry | None, aim: ChangedPath | None, contents: Contents) -> bool:
    """Whether the restore put this there, or moved away what was there before."""
    if aim is None:
        return False
    return there is None or (aim.new is not None and aim.new.same_bytes(there, contents))


def _counts(change: ChangedPath, contents: Contents) -> bool:
    """A time of change alone is nobody's work."""
    return change.old is None or change.new is None or not change.old.same_content(change.new, contents)
