"""The workspace as checkpoints see it, and what is remembered of it between two saves. Everything here blocks."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from ..config._private_files import storage_error
from ..errors import InvalidInput
from ._capture import capture
from ._file_names import joined
from ._folders import Folder, FolderLoader, Node
from ._limits import Limits
from ._repository import ObjectWriter
from ._scope import excluded_folders, reason_for_touched_only
from ._walk import OverBudget, Walk

__all__ = ["PathsOf", "Snapshot", "Workspace", "known_paths"]

_TICK_NS: Final = 100_000_000 if sys.platform == "linux" else 2_000_000_000
"""Two changes within this time may look alike: clocks of local file systems tick at least so often, others' in seconds."""


@dataclass(frozen=True)
class Snapshot:
    """The workspace as it is, stored but for its commit."""

    root: Folder
    scope: Literal["workspace", "touched"]
    scope_reason: str | None
    files: int
    bytes: int
    skipped: int


class Workspace:
    """One workspace."""

    def __init__(self, root: Path, store_dir: Path, limits: Limits) -> None:
        self.root = Path(os.path.realpath(root))
        if not self.root.is_dir():
            raise InvalidInput(f"The workspace {self.root} is not a folder. Choose another one.", path=str(self.root))
        store = Path(os.path.realpath(store_dir))
        if self.root == store or store in self.root.parents:
            raise InvalidInput(
                f"The workspace {self.root} is where checkpoints are kept, so it cannot have any. Choose another one.",
                path=str(self.root),
            )
        self._store = store
        self._limits = limits
        self.touched: set[bytes] = set()
        self.known: Folder | None = None
        self._is_over_budget = False
        self._only_touched = reason_for_touched_only(self.root, limits)

    @property
    def path(self) -> bytes:
        """Its root."""
        return os.fsencode(self.root)

    def snapshot(
        self,
        writer: ObjectWriter,
        loader: FolderLoader,
        more: Collection[bytes] = (),
        again: Collection[bytes] | None = None,
    ) -> Snapshot:
        """Store the state of the workspace, and if only touched files are kept, of ``more`` too.

        With ``again``, right after another snapshot, only these folders are looked at.
        """
        excluded = excluded_folders(self.root, self._store, self._limits)
        walk = Walk(self.path, self._limits, excluded, self.touched, more)
        began = time.time_ns()
        try:
            root = self._walk(walk, again)
        except OSError as error:
            raise storage_error(self.root, "read", error) from error
        largest = self._limits.touched_file_bytes
        capture(root, walk.pending, writer, loader, quiet_before=began - _TICK_NS, largest=largest)
        self.known = root
        files, size, skipped = _count(root)
        return Snapshot(
            root, "touched" if self._only_touched else "workspace", self._only_touched, files, size, skipped
        )

    def remember(self, root: Node, loader: FolderLoader) -> None:
        """Take up what an earlier process kept of the files the agent touched."""
        if self._only_touched:
            self.touched.update(known_paths(root, loader))

    def _walk(self, walk: Walk, again: Collection[bytes] | None) -> Folder:
        if self._only_touched is None:
            try:
                # What a budget left out is chosen among all files.
                if again is not None and self.known is not None and not self._is_over_budget:
                    return walk.again(self.known, again)
                root = walk.everything(self.known)
                self._is_over_budget = walk.size > self._limits.total_bytes
                return root
            except OverBudget as over:
                # For the life of this process: to try again would cost the whole budget at each save.
                self._only_touched = over.budget
        return walk.paths({*walk.touched, *walk.wanted}, self.known)


class PathsOf(Collection[bytes]):
    """The paths that a checkpoint mentions; they are gathered when somebody asks."""

    def __init__(self, node: Node, loader: FolderLoader) -> None:
        self._node, self._loader = node, loader

    @cached_property
    def _paths(self) -> frozenset[bytes]:
        return frozenset(known_paths(self._node, self._loader))

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def known_paths(node: Node, loader: FolderLoader, path: bytes = b"") -> Iterable[bytes]:
    """The paths that a checkpoint mentions, but for what is below folders it has as a whole."""
    folder = loader.folder(node)
    yield from (joined(path, name) for name in (*folder.files, *folder.absent))
    for name, below in folder.folders.items():
        if loader.folder(below).complete and not folder.complete:
            yield joined(path, name)
        else:
            yield from known_paths(below, loader, joined(path, name))


def _count(folder: Folder) -> tuple[int, int, int]:
    files, size, skipped = len(folder.files), sum(entry.size for entry in folder.files.values()), len(folder.skips)
    for below in folder.folders.values():
        assert isinstance(below, Folder)
        inner = _count(below)
        files, size, skipped = files + inner[0], size + inner[1], skipped + inner[2]
    return files, size, skipped
