"""Who changed a file last: what a person made is not taken back unless they choose so. Everything here blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ._compare import FileChange, file_changes
from ._folders import FileEntry, Folder, FolderLoader, FolderRef
from ._records import Author

__all__ = ["changed_by_persons", "changed_since_crash"]


def changed_by_persons(
    states: Sequence[tuple[FolderRef, Author]], now: Folder, loader: FolderLoader
) -> frozenset[bytes]:
    """The files whose last change since the first state was a person's. What happened after the last state, nobody
    claimed, so it counts as the person's."""
    last: dict[bytes, Author] = {}
    steps: list[tuple[FolderRef | Folder, Author]] = [*states, (now, "person")]
    for (older, _), (newer, author) in reversed(list(pairwise(steps))):
        for change in file_changes(older, newer, loader):
            if _counts(change):
                last.setdefault(change.path, author)
    # Where only touched files are kept, a file may have changed while nobody looked.
    for change in file_changes(states[0][0], now, loader):
        if _counts(change):
            last.setdefault(change.path, "person")
    return frozenset(path for path, author in last.items() if author == "person")


def changed_since_crash(
    now: Folder, before: FolderRef, aims: Mapping[bytes, FileChange], loader: FolderLoader
) -> frozenset[bytes]:
    """The files that are as no half restore leaves them: it found them otherwise, and aimed at something else."""
    changes = (change for change in file_changes(before, now, loader) if _counts(change))
    return frozenset(change.path for change in changes if not _is_half_done(change.new, aims.get(change.path)))


def _is_half_done(there: FileEntry | None, aim: FileChange | None) -> bool:
    """Whether the restore put this there, or moved away what was there before."""
    if aim is None:
        return False
    return there is None or (aim.new is not None and aim.new.oid == there.oid)


def _counts(change: FileChange) -> bool:
    """A time of change alone is nobody's work."""
    return change.old is None or change.new is None or not change.old.same_content(change.new)
