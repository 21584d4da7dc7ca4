"""What files the workspace has, and which of them Git finds changed. Everything here blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from ...tools import FolderWalk, PathPolicy, ToolFailed
from ..git import ChangedFile, Git, status
from .sections import Section, SectionEntry

__all__ = ["git_status_part", "workspace_files_part"]

_WALK_SECONDS: Final = 0.5
_MOST_COUNTED: Final = 5_000
_GIT_SECONDS: Final = 5.0


def workspace_files_part(paths: PathPolicy, most: int) -> Section:
    """The files the agent may see, the nearest first; folders stand for themselves only where there is nothing to see in them."""
    walk = FolderWalk(paths.workspace, paths, seconds=_WALK_SECONDS)
    names: list[str] = []
    with suppress(OSError):
        for entry in walk.entries(lambda: False):
            if entry.is_hidden_from_agent or entry.is_directory:
                continue
            names.append(entry.path.relative_to(paths.workspace).as_posix())
            if len(names) == _MOST_COUNTED:
                break
    is_partial = walk.stopped_early or len(names) == _MOST_COUNTED
    entries = tuple(SectionEntry(name, name) for name in names[:most])
    return Section("workspace_files", entries, others=len(names[most:]), is_partial=is_partial)


def git_status_part(paths: PathPolicy, most: int) -> Section | None:
    """The files that differ from the last commit; None where Git is not used, or could run a program of the folder's own."""
    try:
        changes, is_all = status(Git(paths.workspace, seconds=_GIT_SECONDS))
    except ToolFailed:
        return None
    entries = [SectionEntry(name, f"{state}: {name}") for state, name in _shown(changes, paths)]
    return Section("git_status", tuple(entries[:most]), others=len(entries[most:]), is_partial=not is_all)


def _shown(changes: Sequence[ChangedFile], paths: PathPolicy) -> Iterator[tuple[str, str]]:
    for change in changes:
        with suppress(ToolFailed):
            place = paths.resolve(str(paths.workspace / change.name))
            if not place.is_outside:
                yield change.state, place.shown
