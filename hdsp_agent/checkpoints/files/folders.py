"""What a checkpoint knows of a folder, and how it is stored: a git tree and, beside it, what git's trees cannot say.

The side of a folder is a tree of its own: ``entries`` is a blob with one record for each name (full mode, time of change,
size; or why it was skipped; or that it was not there), ``d<name>`` is the side of a folder in it, and ``large``, where there
are any, names the contents of large files, for which git's tree has pointers. Both trees are shared between checkpoints
wherever nothing changed, so a save costs what changed.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, Protocol

from ...errors import StorageUnavailable
from .content_compare import Contents
from .git_objects import (
    EMPTY_TREE,
    EXECUTABLE,
    FILE,
    LARGE_ID_BYTES,
    LINK,
    TREE_MODE,
    LargeId,
    ObjectId,
    parse_tree,
    pointer_text,
    tree_text,
)
from .packs import Packs

__all__ = [
    "LARGE",
    "FileEntry",
    "Folder",
    "FolderLoader",
    "FolderRef",
    "Key",
    "Node",
    "SkipReason",
    "Totals",
    "parse_large",
    "store_folder",
]

Key = tuple[int, int, int, int, int]
"""Mode, size, time of change, time of the inode's change, inode. Read from a store, the last two are 0."""

Totals = tuple[int, int, int, int]
"""Files, their bytes, what was skipped, and how many of the bytes are of large files."""

SkipReason = Literal[
    "repository", "rebuildable", "jupyterlab", "own_storage", "excluded", "other_file_system", "special", "too_large",
    "budget", "unreadable", "changing", "behind_link",
]  # fmt: skip
"""Why something is not in a checkpoint, and therefore never deleted or overwritten."""

_REMEMBERED: Final = 20_000
"""Folders, with all their versions; a checkpoint of a full workspace has a tenth of that."""
LARGE: Final = b"large"
_SKIPPED: Final = b"!"
_ABSENT: Final = b"-"


@dataclass(frozen=True)
class FileEntry:
    """A file or link: its key, and the blob with its content, or the name of that if it is large."""

    key: Key
    oid: ObjectId

    @property
    def mode(self) -> int:
        """Type and permissions."""
        return self.key[0]

    @property
    def size(self) -> int:
        """In bytes."""
        return self.key[1]

    @property
    def mtime(self) -> int:
        """When it was changed, in nanoseconds."""
        return self.key[2]

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.key[0])

    def same_bytes(self, other: FileEntry, contents: Contents) -> bool:
        """Whether the bytes are the same, and both are links or neither is."""
        return self.is_link == other.is_link and (
            self.oid == other.oid or (self.size == other.size and contents.same(self.oid, other.oid))
        )

    def same_content(self, other: FileEntry, contents: Contents) -> bool:
        """Whether type, permissions and bytes are the same."""
        return self.mode == other.mode and self.same_bytes(other, contents)

    def same(self, other: FileEntry, contents: Contents) -> bool:
        """Whether the time of change is the same too."""
        return self.key[:3] == other.key[:3] and (self.oid == other.oid or self.same_bytes(other, contents))


@dataclass(frozen=True)
class FolderRef:
    """A folder in the store."""

    tree: ObjectId
    side: ObjectId


@dataclass
class Folder:
    """A folder as a checkpoint has it. One that is not ``complete`` says nothing of names it does not mention."""

    mode: int
    complete: bool = True
    files: dict[bytes, FileEntry] = field(default_factory=dict)
    folders: dict[bytes, Node] = field(default_factory=dict)
    skips: dict[bytes, str] = field(default_factory=dict)
    absent: frozenset[bytes] = frozenset()
    tree: ObjectId = b""
    side: ObjectId = b""
    totals: Totals | None = None
    """Of it and what is below; counted once, after it was stored."""

    @property
    def ref(self) -> FolderRef:
        """Where it is stored; only after it was."""
        return FolderRef(self.tree, self.side)


Node = Folder | FolderRef


class _Writer(Protocol):
    def put_tree(self, data: bytes) -> ObjectId: ...

    def put_blob(self, data: bytes) -> ObjectId: ...


def store_folder(folder: Folder, writer: _Writer) -> None:
    """Store a folder whose own folders are stored already, and note where."""
    large = {name: entry for name, entry in folder.files.items() if len(entry.oid) == LARGE_ID_BYTES}
    pointers = {name: writer.put_blob(pointer_text(entry.oid, entry.size)) for name, entry in large.items()}
    tree = [(_git_mode(entry.key[0]), name, pointers.get(name, entry.oid)) for name, entry in folder.files.items()]
    side = [(TREE_MODE, b"d" + name, node.side) for name, node in folder.folders.items()]
    # A git tree without anything in it stands for nothing: the side alone knows of empty folders.
    tree += [(TREE_MODE, name, node.tree) for name, node in folder.folders.items() if node.tree != EMPTY_TREE]
    side.append((FILE, b"entries", writer.put_blob(_entries(folder))))
    if large:
        side.append((FILE, LARGE, writer.put_blob(_large(large))))
    # Nor is the empty tree stored: nothing but an empty workspace's commit would name it.
    folder.tree = writer.put_tree(tree_text(tree)) if tree else EMPTY_TREE
    folder.side = writer.put_tree(tree_text(side))


class FolderLoader:
    """Reads folders from the store and remembers them: checkpoints share most."""

    def __init__(self, packs: Packs) -> None:
        self._packs = packs
        self.contents = Contents(packs)
        self._known: dict[FolderRef, Folder] = {}

    def folder(self, node: Node) -> Folder:
        """The folder that this stands for."""
        if isinstance(node, Folder):
            return node
        known = self._known.get(node)
        if known is None:
            known = self._read(node)
            self.learn(known)
        return known

    def learn(self, folder: Folder) -> None:
        """Remember a folder that was just stored, and will not change any more."""
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[folder.ref] = folder

    def forget(self) -> None:
        """Give the memory back."""
        self._known.clear()
        self.contents.forget()

    def _read(self, ref: FolderRef) -> Folder:
        tree = b"" if ref.tree == EMPTY_TREE else self._packs.read(ref.tree)
        try:
            objects = {name: oid for _, name, oid in parse_tree(tree)}
            side = parse_tree(self._packs.read(ref.side))
            entries = self._packs.read(next(oid for _, name, oid in side if name == b"entries"))
            large = next((oid for _, name, oid in side if name == LARGE), None)
            if large is not None:
                objects.update(parse_large(self._packs.read(large)))
            folder = _parse_entries(entries, objects)
        except (ValueError, KeyError, StopIteration) as error:
            raise StorageUnavailable(
                f"The checkpoint's folder {ref.side.hex()} cannot be read. Restore another checkpoint.",
                action="read",
                reason="damaged",
                why="store_damaged",
            ) from error
        for _, name, oid in side:
            if name[:1] == b"d":
                folder.folders[name[1:]] = FolderRef(objects.get(name[1:], EMPTY_TREE), oid)
        folder.tree, folder.side = ref.tree, ref.side
        return folder


@cache
def _git_mode(mode: int) -> bytes:
    if stat.S_ISLNK(mode):
        return LINK
    return EXECUTABLE if mode & 0o100 else FILE


def _entries(folder: Folder) -> bytes:
    """One line for the folder, then ``mode time size name NUL`` for each name in it."""
    head = b"%s %o\0" % (b"all" if folder.complete else b"some", folder.mode)
    lines = [
        b"%o %d %d %s\0" % (entry.key[0], entry.key[2], entry.key[1], name)
        for name, entry in sorted(folder.files.items())
    ]
    lines += [b"%s %s 0 %s\0" % (_SKIPPED, reason.encode(), name) for name, reason in sorted(folder.skips.items())]
    lines += [b"%s 0 0 %s\0" % (_ABSENT, name) for name in sorted(folder.absent)]
    return head + b"".join(lines)


def _large(files: Mapping[bytes, FileEntry]) -> bytes:
    """``content name NUL`` for each large file."""
    return b"".join(b"%s %s\0" % (entry.oid.hex().encode(), name) for name, entry in sorted(files.items()))


def parse_large(data: bytes) -> dict[bytes, LargeId]:
    """The contents of a folder's large files, by name."""
    lines = (line.split(b" ", 1) for line in data.split(b"\0")[:-1])
    return {name: bytes.fromhex(content.decode()) for content, name in lines}


def _parse_entries(data: bytes, objects: Mapping[bytes, ObjectId]) -> Folder:
    head, *lines, _ = data.split(b"\0")
    scope, mode = head.split(b" ")
    folder = Folder(int(mode, 8), complete=scope == b"all")
    absent: list[bytes] = []
    for line in lines:
        kind, second, size, name = line.split(b" ", 3)
        if kind == _SKIPPED:
            folder.skips[name] = second.decode()
        elif kind == _ABSENT:
            absent.append(name)
        else:
            folder.files[name] = FileEntry((int(kind, 8), int(size), int(second), 0, 0), objects[name])
    folder.absent = frozenset(absent)
    return folder
