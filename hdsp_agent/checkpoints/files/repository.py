"""A bare repository that stock git reads: packs, refs and a little configuration. Everything here blocks.

The operation log is the truth; refs only show it to git and are written anew whenever they differ.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..._private_files import make_private_folder, storage_error, tighten_folder
from ..._private_open import open_private
from .git_objects import BLOB, TREE, ObjectId, is_large, object_id
from .large_files import LargeFiles
from .pack_writer import TEMPORARY, PackWriter, compressed, stored
from .packs import Packs

__all__ = ["MAIN", "Repository"]

MAIN: Final = "refs/heads/checkpoints"
_CONFIG: Final = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogallrefupdates = false
[gc]
\tauto = 0
[fsck]
""" + "".join(
    # A person's files may be called what git is wary of: they are kept as they are.
    f"\t{name} = ignore\n"
    for name in (
        "hasDotgit", "gitmodulesBlob", "gitmodulesMissing", "gitmodulesName", "gitmodulesParse", "gitmodulesPath",
        "gitmodulesSymlink", "gitmodulesUrl", "gitmodulesUpdate",
    )
)  # fmt: skip
_SMALL_TREE: Final = 4_000
_ATTRIBUTES: Final = "* -text -filter -ident -working-tree-encoding\n"


class Repository:
    """The objects of one workspace's checkpoints."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pack_folder = folder / "objects" / "pack"
        self.packs = Packs(self._pack_folder)
        self.large = LargeFiles(folder / "lfs")

    def prepare(self) -> None:
        """Make it if it is not there. The caller holds the store's lock."""
        for part in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
            make_private_folder(self.folder / part)
        for part in ("objects", "refs"):
            tighten_folder(self.folder / part)
        # For git alone, and made again if they are empty after a crash of the machine, so nobody waits for the disk.
        for name, text in (("config", _CONFIG), ("info/attributes", _ATTRIBUTES), ("HEAD", f"ref: {MAIN}\n")):
            path = self.folder / name
            if not path.is_file() or path.stat().st_size == 0:
                _replace_if_other(path, text.encode())
        self.packs.refresh()

    def clear_leftovers(self) -> None:
        """Remove what a process that died left half written. The caller holds the store's lock."""
        for leftover in self._pack_folder.iterdir():
            # A pack without an index is half put in place, or half removed.
            if leftover.name.startswith(TEMPORARY) or not leftover.with_suffix(".idx").exists():
                with suppress(OSError):
                    leftover.unlink()
        self.large.clear_leftovers()

    def writer(self) -> ObjectWriter:
        """Begin a pack."""
        return ObjectWriter(self.packs, PackWriter(self._pack_folder), self.large)

    def read(self, oid: ObjectId) -> bytes:
        """A content as a whole, checked against its name."""
        return self.large.read(oid) if is_large(oid) else self.packs.read(oid)

    def size(self) -> int:
        """How many bytes all objects take; of large files, how many they would take if nothing shared them."""
        return self.packs.size() + self.large.size()

    def write_refs(self, refs: Mapping[str, ObjectId], shallow: Iterable[ObjectId] = ()) -> None:
        """Show git these refs and no others; ``shallow`` are the commits whose parents were dropped."""
        lines = ["# pack-refs with: peeled fully-peeled sorted "]
        lines += [f"{oid.hex()} {name}" for name, oid in sorted(refs.items())]
        _replace_if_other(self.folder / "packed-refs", "\n".join(lines).encode() + b"\n")
        cut = sorted(oid.hex() for oid in shallow)
        if cut:
            _replace_if_other(self.folder / "shallow", "\n".join(cut).encode() + b"\n")
        else:
            with suppress(OSError):
                os.unlink(self.folder / "shallow")

    def drop_packs(self, paths: Iterable[Path]) -> None:
        """Remove these packs, index first: without it nobody looks for the rest."""
        for path in paths:
            for suffix in (".idx", ".keep", ".pack"):
                # What is in use on Windows goes next time.
                with suppress(OSError):
                    path.with_suffix(suffix).unlink()
        self.packs.refresh()


class ObjectWriter:
    """Puts objects into a new pack unless they are in another one."""

    def __init__(self, packs: Packs, pack: PackWriter, large: LargeFiles) -> None:
        self._packs = packs
        self.pack = pack
        self.large = large

    def has(self, oid: ObjectId) -> bool:
        """Whether the object need not be written."""
        return oid in self.pack or oid in self._packs

    def put(self, kind: int, data: bytes) -> ObjectId:
        """Write an object, and return its name."""
        oid = object_id(kind, data)
        if not self.has(oid):
            pack = stored if kind == TREE and len(data) < _SMALL_TREE else compressed
            self.pack.add(kind, oid, len(data), pack(data))
        return oid

    def put_tree(self, data: bytes) -> ObjectId:
        """Write a tree."""
        return self.put(TREE, data)

    def put_blob(self, data: bytes) -> ObjectId:
        """Write a blob."""
        return self.put(BLOB, data)

    def remember(self, oid: ObjectId, data: bytes) -> None:
        """Keep what was read of a file at hand."""
        self._packs.remember(oid, data)

    def finish(self) -> int:
        """Make what was written durable; returns its bytes."""
        path = self.pack.finish()
        if path is None:
            return 0
        self._packs.refresh()
        try:
            return path.stat().st_size
        except OSError as error:
            raise storage_error(path, "read", error) from error


def _replace_if_other(path: Path, data: bytes) -> None:
    """Not synced: the log is, and these are written from it again."""
    try:
        with suppress(FileNotFoundError):
            if path.read_bytes() == data:
                return
        temporary = path.with_name(f".{path.name}.tmp")
        descriptor = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        raise storage_error(path, "write", error) from error
