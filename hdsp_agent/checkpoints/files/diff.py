"""What differs between two checkpoints, or a checkpoint and now, as people look at it. Everything here blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ...wire import WireModel
from .compare import ChangedPath, file_changes
from .content_compare import Contents
from .file_names import NamedFile, named
from .folders import FileEntry, FolderLoader, Node
from .git_objects import ObjectId, is_large
from .notebook_diff import NotebookDiff, notebook_diff
from .records import CheckpointId
from .text_diff import Hunk, as_text, text_hunks

__all__ = ["CheckpointDiff", "FileDiff", "diff_states"]

_IMAGES: Final = {
    b"png": "image/png", b"jpg": "image/jpeg", b"jpeg": "image/jpeg", b"gif": "image/gif", b"webp": "image/webp",
    b"svg": "image/svg+xml", b"bmp": "image/bmp", b"ico": "image/x-icon", b"tif": "image/tiff", b"tiff": "image/tiff",
}  # fmt: skip
_LARGEST_TEXT: Final = 2_000_000
_LARGEST_NOTEBOOK: Final = 20_000_000

Kind = Literal["text", "notebook", "image", "binary", "link"]


class FileDiff(NamedFile):
    """One file that differs. ``hunks`` and ``notebook`` are left out where there is nothing to show line by line."""

    change: Literal["added", "removed", "modified", "attributes", "renamed"]
    kind: Kind
    renamed_from: NamedFile | None = None
    old_size: int | None = None
    new_size: int | None = None
    old_mode: int | None = None
    new_mode: int | None = None
    old_blob: str | None = None
    """With these, ``content`` gives both sides of an image."""
    new_blob: str | None = None
    mime_type: str | None = None
    too_large: bool = False
    """It is text, and too long to be compared."""
    hunks: tuple[Hunk, ...] = ()
    notebook: NotebookDiff | None = None


class CheckpointDiff(WireModel):
    """What differs between two states of the workspace."""

    old: CheckpointId | None
    """None for the emptiness before the first checkpoint."""
    new: CheckpointId
    files: tuple[FileDiff, ...]


@dataclass(frozen=True)
class _Seen:
    """What looking into a file adds to what its name says."""

    kind: Kind
    too_large: bool = False
    hunks: tuple[Hunk, ...] = ()
    notebook: NotebookDiff | None = None


@dataclass(frozen=True)
class _Differ:
    read: Callable[[ObjectId], bytes]
    with_content: bool
    contents: Contents

    def diff(self, change: ChangedPath, renamed_from: bytes | None) -> FileDiff:
        old, new = change.old, change.new
        text, raw = named(change.path)
        how = _change(change, renamed_from, self.contents)
        kind = _kind_by_name(change.path, old, new)
        seen = _Seen(kind)
        if self.with_content and how not in ("attributes", "renamed"):
            seen = self._seen(change, kind)
        return FileDiff(
            path=text, raw=raw, change=how, kind=seen.kind, renamed_from=_named(renamed_from),
            old_size=old.size if old else None, new_size=new.size if new else None,
            old_mode=old.mode if old else None, new_mode=new.mode if new else None,
            old_blob=old.oid.hex() if old else None, new_blob=new.oid.hex() if new else None,
            mime_type=_IMAGES.get(_extension(change.path)), too_large=seen.too_large, hunks=seen.hunks,
            notebook=seen.notebook,
        )  # fmt: skip

    def _seen(self, change: ChangedPath, kind: Kind) -> _Seen:
        size = max(entry.size for entry in (change.old, change.new) if entry is not None)
        if kind == "image" and _extension(change.path) != b"svg":
            return _Seen(kind)
        if size > (_LARGEST_NOTEBOOK if kind == "notebook" else _LARGEST_TEXT):
            return _Seen(kind, too_large=True)
        before, after = (b"" if entry is None else self.read(entry.oid) for entry in (change.old, change.new))
        if kind == "notebook":
            found = notebook_diff(before or _NO_CELLS, after or _NO_CELLS)
            if found is not None:
                return _Seen(kind, notebook=found)
        old, new = as_text(before), as_text(after)
        if old is None or new is None:
            return _Seen("image" if kind == "image" else "binary")
        return _Seen(kind if kind in ("image", "link") else "text", hunks=text_hunks(old, new))


_NO_CELLS: Final = b'{"cells": []}'


def diff_states(
    old: Node, new: Node, loader: FolderLoader, read: Callable[[ObjectId], bytes], *, only: Collection[bytes] | None,
    with_content: bool,
) -> Iterator[FileDiff]:  # fmt: skip
    """Each file that differs, in the order of paths. A file that was only moved is one that was renamed."""
    changes = [change for change in file_changes(old, new, loader) if only is None or change.path in only]
    contents = loader.contents
    moved = _moves(changes, contents)
    gone = set(moved.values())
    differ = _Differ(read, with_content, contents)
    for change in changes:
        if change.new is None and change.path in gone:
            continue
        if _is_seen(change, contents):
            yield differ.diff(change, moved.get(change.path))


def _is_seen(change: ChangedPath, contents: Contents) -> bool:
    """A new time of change alone is no difference to anybody."""
    return change.old is None or change.new is None or not change.old.same_content(change.new, contents)


def _moves(changes: Sequence[ChangedPath], contents: Contents) -> dict[bytes, bytes]:
    """From the new path to the old, where exactly one file with this content went and exactly one came."""
    large: dict[int, list[FileEntry]] = {}
    for change in changes:
        for entry in (change.old, change.new):
            if entry is not None and is_large(entry.oid):
                large.setdefault(entry.size, []).append(entry)

    def content(entry: FileEntry) -> ObjectId:
        same = (one.oid for one in large.get(entry.size, ()) if one.same_bytes(entry, contents))
        return next(same, entry.oid)

    went: dict[ObjectId, list[bytes]] = {}
    came: dict[ObjectId, list[bytes]] = {}
    for change in changes:
        if change.new is None and change.old is not None and change.old.size:
            went.setdefault(content(change.old), []).append(change.path)
        elif change.old is None and change.new is not None and change.new.size:
            came.setdefault(content(change.new), []).append(change.path)
    return {
        paths[0]: went[oid][0] for oid, paths in came.items() if len(paths) == 1 and len(went.get(oid, [])) == 1
    }  # fmt: skip


def _change(
    change: ChangedPath, renamed_from: bytes | None, contents: Contents
) -> Literal["added", "removed", "modified", "attributes", "renamed"]:
    if renamed_from is not None:
        return "renamed"
    if change.old is None:
        return "added"
    if change.new is None:
        return "removed"
    return "attributes" if change.old.same_bytes(change.new, contents) else "modified"


def _kind_by_name(path: bytes, old: FileEntry | None, new: FileEntry | None) -> Kind:
    if any(entry is not None and entry.is_link for entry in (old, new)):
        return "link"
    extension = _extension(path)
    if extension == b"ipynb":
        return "notebook"
    return "image" if extension in _IMAGES else "text"


def _extension(path: bytes) -> bytes:
    name = path.rpartition(b"/")[2]
    return name.rpartition(b".")[2].lower() if b"." in name else b""


def _named(path: bytes | None) -> NamedFile | None:
    if path is None:
        return None
    text, raw = named(path)
    return NamedFile(path=text, raw=raw)
