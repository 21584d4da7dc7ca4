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

from ..._private_files import storage_error
from ...errors import InvalidInput
from .capture import capture
from .file_limits import FileLimits
from .file_names import joined
from .folders import Folder, FolderLoader, Node, Totals
from .git_objects import LARGE_ID_BYTES
from .repository import ObjectWriter
from .scope import excluded_folders, reason_for_touched_only
from .watcher import WorkspaceWatcher
from .workspace_walk import OverBudget, WorkspaceWalk

__all__ = ["PathsOf", "Workspace", "WorkspaceSnapshot", "known_paths"]

_TICK_NS: Final = 100_000_000 if sys.platform == "linux" else 2_000_000_000
"""Two changes within this time may look alike: clocks of local file systems tick at least so often, others' in seconds."""


_TRUST_SECONDS: Final = 60.0
"""How long saves go by what the system tells before all is looked at again."""


@dataclass(frozen=True)
class WorkspaceSnapshot:
    """The workspace as it is, stored but for its commit."""

    root: Folder
    scope: Literal["workspace", "touched"]
    scope_reason: str | None
    files: int
    bytes: int
    skipped: int


class Workspace:
    """One workspace."""

    def __init__(
        self, root: Path, store_dir: Path, limits: FileLimits, watching: WorkspaceWatcher | None = None
    ) -> None:
        self.root = Path(os.path.realpath(root))
        if not self.root.is_dir():
            raise InvalidInput(
                f"The workspace {self.root} is not a folder. Choose another one.",
                path=str(self.root),
                why="not_a_folder",
            )
        store = Path(os.path.realpath(store_dir))
        if self.root == store or store in self.root.parents:
            raise InvalidInput(
                f"The workspace {self.root} is where checkpoints are kept, so it cannot have any. Choose another one.",
                path=str(self.root),
                why="store_in_workspace",
            )
        self._store = store
        self._limits = limits
        self.touched: set[bytes] = set()
        self.known: Folder | None = None
        self._watching = watching
        self._walked = 0.0
        self._unwatched: set[bytes] = set()
        self._is_over_budget = False
        self._only_touched = reason_for_touched_only(self.root, limits)

    def set_limits(self, limits: FileLimits) -> None:
        """Heed others from the next snapshot on."""
        self._limits = limits
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
        *,
        thorough: bool = True,
    ) -> WorkspaceSnapshot:
        """Store the state of the workspace, and if only touched files are kept, of ``more`` too.

        With ``again``, right after another snapshot, only these paths are looked at; if it need not be ``thorough``, only
        what the system says has changed.
        """
        began = time.time_ns()
        try:
            walk, root = self._look_around(writer, more, again, thorough=thorough)
            large = next(walk.large_pending(), None)
            if walk.cloned and large is not None and not writer.large.may_clone(large):
                # Now that this is known, what cannot be cloned is left alone from the beginning.
                walk, root = self._look_around(writer, more, again, thorough=thorough)
        except OSError as error:
            raise storage_error(self.root, "read", error) from error
        capture(root, walk.pending, writer, loader, quiet_before=began - _TICK_NS, limits=self._limits)
        self.known = root
        files, size, skipped, _ = _count(root)
        return WorkspaceSnapshot(
            root, "touched" if self._only_touched else "workspace", self._only_touched, files, size, skipped
        )

    def remember(self, root: Node, loader: FolderLoader) -> None:
        """Take up what an earlier process kept of the files the agent touched."""
        if self._only_touched:
            self.touched.update(known_paths(root, loader))

    def _look_around(
        self, writer: ObjectWriter, more: Collection[bytes], again: Collection[bytes] | None, *, thorough: bool
    ) -> tuple[WorkspaceWalk, Folder]:
        excluded = excluded_folders(self.root, self._store, self._limits)
        cloned = 0 if writer.large.clones is False else self._limits.cloned_bytes
        walk = WorkspaceWalk(self.path, self._limits, excluded, self.touched, more, cloned)
        return walk, self._walk(walk, again, thorough=thorough)

    def _walk(self, walk: WorkspaceWalk, again: Collection[bytes] | None, *, thorough: bool) -> Folder:
        if self._only_touched is None:
            try:
                # What a budget left out is chosen among all files.
                if again is not None and self.known is not None and not self._is_over_budget:
                    return walk.again(self.known, again)
                return self._look(walk, thorough=thorough)
            except OverBudget as over:
                # For the life of this process: to try again would cost the whole budget at each save.
                self._only_touched = over.budget
        return walk.paths({*walk.touched, *walk.wanted}, self.known)

    def _look(self, walk: WorkspaceWalk, *, thorough: bool) -> Folder:
        """All of the workspace, or where that is enough, what changed of it."""
        known, watching = self.known, self._watching
        if known is None or watching is None or self._is_over_budget:
            return self._everything(walk)
        hints = watching.changed()
        recently = time.monotonic() - self._walked < _TRUST_SECONDS
        if hints is not None and recently and not thorough:
            root = walk.again(known, hints | self._unwatched)
            self._unwatched = watching.unwatched(list(_folders(root)))
            files, size, _, large = _count(root)
            if files <= self._limits.files and not walk.exceeds(size, large):
                return root
        if not watching.is_on:
            # What changes from here on is told.
            watching.start(self.path, list(_folders(known)))
        root = self._everything(walk)
        if hints is not None and any(_is_news(path, known, hints) for path in walk.paths_pending()):
            watching.give_up()
        self._unwatched = watching.unwatched(list(_folders(root)))
        return root

    def _everything(self, walk: WorkspaceWalk) -> Folder:
        self._walked = time.monotonic()
        root = walk.everything(self.known)
        self._is_over_budget = walk.is_over_budget
        return root


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


def _folders(folder: Folder, path: bytes = b"") -> Iterator[bytes]:
    yield path
    for name, below in folder.folders.items():
        assert isinstance(below, Folder)
        yield from _folders(below, joined(path, name))


def _is_news(path: bytes, known: Folder, hints: Collection[bytes]) -> bool:
    """Whether a file that was there before changed, and the system did not say so."""
    *parents, name = path.split(b"/")
    folder = known
    for part in parents:
        below = folder.folders.get(part)
        if not isinstance(below, Folder):
            return False
        folder = below
    entry = folder.files.get(name)
    if entry is None or entry.key[3] < 0:
        return False
    return not any(b"/".join([*parents, name][:end]) in hints for end in range(1, len(parents) + 2))


def _count(folder: Folder) -> Totals:
    if folder.totals is not None:
        return folder.totals
    files, size = len(folder.files), sum(entry.key[1] for entry in folder.files.values())
    # What JupyterLab keeps for itself nobody misses.
    skipped = sum(reason != "jupyterlab" for reason in folder.skips.values())
    large = sum(entry.key[1] for entry in folder.files.values() if len(entry.oid) == LARGE_ID_BYTES)
    for below in folder.folders.values():
        assert isinstance(below, Folder)
        inner = _count(below)
        files, size, skipped, large = files + inner[0], size + inner[1], skipped + inner[2], large + inner[3]
    if folder.tree:
        folder.totals = (files, size, skipped, large)
    return files, size, skipped, large
