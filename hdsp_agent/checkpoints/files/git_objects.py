"""Git's object format: what is hashed, what a tree looks like, what a commit says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

__all__ = [
    "BLOB",
    "COMMIT",
    "EMPTY_TREE",
    "EXECUTABLE",
    "FILE",
    "LARGE_ID_BYTES",
    "LINK",
    "TREE",
    "TREE_MODE",
    "LargeId",
    "ObjectId",
    "commit_text",
    "is_large",
    "object_id",
    "parse_tree",
    "pointer_text",
    "tree_text",
]

ObjectId = bytes
"""20 raw bytes; in records and refs it stands as 40 hexadecimal digits."""

LargeId = bytes
"""32 raw bytes, which name the content of a large file: no object of git's, but one that a pointer stands for."""

COMMIT: Final = 1
TREE: Final = 2
BLOB: Final = 3
_NAMES: Final = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob"}

FILE: Final = b"100644"
EXECUTABLE: Final = b"100755"
LINK: Final = b"120000"
TREE_MODE: Final = b"40000"

TreeEntry = tuple[bytes, bytes, ObjectId]
"""Mode, name and object."""

LARGE_ID_BYTES: Final = 32
_AUTHOR: Final = b"HDSP Agent <checkpoints@hdsp-agent.invalid>"


def object_id(kind: int, data: bytes) -> ObjectId:
    """The name git gives this content."""
    # It names content and protects nothing.
    digest = hashlib.sha1(b"%s %d\0" % (_NAMES[kind], len(data)), usedforsecurity=False)
    digest.update(data)
    return digest.digest()


def is_large(oid: ObjectId) -> bool:
    """Whether this names a file that is kept whole beside the packs."""
    return len(oid) == LARGE_ID_BYTES


def pointer_text(oid: LargeId, size: int) -> bytes:
    """What stands in git for a large file, as git-lfs writes it."""
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (oid.hex().encode(), size)


EMPTY_TREE: Final = object_id(TREE, b"")


def tree_text(entries: Iterable[TreeEntry]) -> bytes:
    """A tree of these entries, in git's order: as if a folder's name ended with a slash."""
    ordered = sorted([(name + b"/" if mode == TREE_MODE else name, mode, name, oid) for mode, name, oid in entries])
    return b"".join([b"%s %s\0%s" % (mode, name, oid) for _, mode, name, oid in ordered])


def parse_tree(data: bytes) -> list[TreeEntry]:
    """The entries of a tree."""
    entries: list[TreeEntry] = []
    place = 0
    while place < len(data):
        space = data.index(b" ", place)
        end = data.index(b"\0", space)
        entries.append((data[place:space], data[space + 1 : end], data[end + 1 : end + 21]))
        place = end + 21
    return entries


def commit_text(tree: ObjectId, parents: Iterable[ObjectId], seconds: int, message: str) -> bytes:
    """A commit of this tree."""
    who = b"%s %d +0000" % (_AUTHOR, seconds)
    lines = [b"tree " + tree.hex().encode()]
    lines += [b"parent " + parent.hex().encode() for parent in parents]
    lines += [b"author " + who, b"committer " + who, b"", message.encode("utf-8", "backslashreplace")]
    return b"\n".join(lines).replace(b"\0", b"") + b"\n"
