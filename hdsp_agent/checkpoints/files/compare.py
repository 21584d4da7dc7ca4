"""Comparing two states of a workspace, looking only into folders that differ. Everything here blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .content_compare import Contents
from .file_names import joined
from .folders import FileEntry, Folder, FolderLoader, Node
from .git_objects import ObjectId

__all__ = ["ChangedPath", "Difference", "Skipped", "State", "differences", "file_changes", "state_of"]


@dataclass(frozen=True)
class Skipped:
    """Something was there that the checkpoint left out."""

    reason: str


State = FileEntry | Folder | Skipped | Literal["absent", "unknown"]
"""What a checkpoint says of one path."""


@dataclass(frozen=True)
class Difference:
    """A path of which two checkpoints say different things. Of two folders, their own modes differ."""

    path: bytes
    old: State
    new: State


@dataclass(frozen=True)
class ChangedPath:
    """A file or link that came, went or changed."""

    path: bytes
    old: FileEntry | None
    new: FileEntry | None


def state_of(folder: Folder, name: bytes, loader: FolderLoader) -> State:
    """What a folder says of a name."""
    entry = folder.files.get(name)
    if entry is not None:
        return entry
    below = folder.folders.get(name)
    if below is not None:
        return loader.folder(below)
    if name in folder.skips:
        return Skipped(folder.skips[name])
    return "absent" if folder.complete or name in folder.absent else "unknown"


def differences(old: Node, new: Node, loader: FolderLoader, path: bytes = b"") -> Iterator[Difference]:
    """Where two folders differ, in the order of their paths; a folder that only one has comes without what is in it."""
    if _ids(old) == _ids(new) and old.side:
        return
    before, after = loader.folder(old), loader.folder(new)
    if before.mode != after.mode:
        yield Difference(path, before, after)
    for name in sorted(_differing(before, after, loader.contents)):
        yield from _at(joined(path, name), state_of(before, name, loader), state_of(after, name, loader), loader)


def file_changes(old: Node, new: Node, loader: FolderLoader, path: bytes = b"") -> Iterator[ChangedPath]:
    """Which files differ. What one of the two checkpoints left out has not changed as far as anybody knows."""
    for difference in differences(old, new, loader, path):
        before, after = difference.old, difference.new
        if _is_unknown(before) or _is_unknown(after):
            continue
        inside = isinstance(before, Folder) and isinstance(after, Folder)
        if isinstance(before, FileEntry) or isinstance(after, FileEntry):
            yield ChangedPath(
                difference.path,
                before if isinstance(before, FileEntry) else None,
                after if isinstance(after, FileEntry) else None,
            )
        if isinstance(before, Folder) and not inside:
            for name, entry in _files(before, difference.path, loader):
                yield ChangedPath(name, entry, None)
        if isinstance(after, Folder) and not inside:
            for name, entry in _files(after, difference.path, loader):
                yield ChangedPath(name, None, entry)


def _at(path: bytes, old: State, new: State, loader: FolderLoader) -> Iterator[Difference]:
    if isinstance(old, Folder) and isinstance(new, Folder):
        yield from differences(old, new, loader, path)
    elif isinstance(old, FileEntry) and isinstance(new, FileEntry):
        if not old.same(new, loader.contents):
            yield Difference(path, old, new)
    elif old != new:
        yield Difference(path, old, new)


def _differing(old: Folder, new: Folder, contents: Contents) -> set[bytes]:
    """The names that may differ: two states mostly share nearly all, often even the objects."""
    names = old.files.keys() ^ new.files.keys()
    for name, entry in new.files.items():
        was = old.files.get(name)
        if was is not None and was is not entry and not was.same(entry, contents):
            names.add(name)
    names |= old.folders.keys() ^ new.folders.keys()
    for name, below in new.folders.items():
        other = old.folders.get(name)
        if other is not None and other is not below and (not below.side or _ids(other) != _ids(below)):
            names.add(name)
    if old.skips or new.skips:
        names |= {*old.skips, *new.skips}
    if old.absent or new.absent:
        names |= old.absent | new.absent
    return names


def _ids(node: Node) -> tuple[ObjectId, ObjectId]:
    return (node.tree, node.side)


def _is_unknown(state: State) -> bool:
    return isinstance(state, Skipped) or state == "unknown"


def _files(folder: Folder, path: bytes, loader: FolderLoader) -> Iterator[tuple[bytes, FileEntry]]:
    for name, entry in folder.files.items():
        yield joined(path, name), entry
    for name, node in folder.folders.items():
        yield from _files(loader.folder(node), joined(path, name), loader)
