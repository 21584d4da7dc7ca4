"""Looking at a workspace: which files there are, and which of them may have changed. Everything here blocks.

Nothing is read but folders and inodes. What is left out is left out with a reason; the reasons never look at a file's
extension. Links are not followed, other file systems are not entered.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from ..._regular_files import open_regular_file
from .file_limits import FileLimits
from .file_names import joined
from .folders import FileEntry, Folder, Node, SkipReason
from .stable_read import key_of

__all__ = ["RESTORE_PREFIX", "OverBudget", "Pending", "WorkspaceWalk"]

RESTORE_PREFIX: Final = b".hdsp-restore-"
"""Begins the names of files that a restore has not put in place yet."""

_REPOSITORIES: Final = frozenset((b".git", b".hg", b".svn"))
_REBUILDABLE: Final = frozenset(
    (
        b"node_modules", b".venv", b"venv", b"__pycache__", b".cache", b".mypy_cache",
        b".pytest_cache", b".ruff_cache", b".tox", b"site-packages",
    )
)  # fmt: skip
_JUPYTERLAB_FOLDERS: Final = frozenset(
    (b".ipynb_checkpoints", b".jupyter", b".jupyterlab-layout", b".jupyterlab_workspaces", b".virtual_documents")
)
_JUPYTERLAB_WORKSPACE: Final = b".jupyterlab-workspace"
"""Ends the names of files that hold a window's layout."""
_JUPYTERLAB_DATABASE: Final = b".jupyter_ystore.db"
"""Begins the names of the files in which shared editing keeps its history."""
_CACHE_TAG: Final = b"Signature: 8a477f597d28d172789f06886806bc55"
_MARKS: Final = frozenset((b"CACHEDIR.TAG", b"pyvenv.cfg"))
"""Files that say of their folder that it can be made again."""
_DEEPEST: Final = 200


class OverBudget(Exception):
    """The workspace is too large to be kept as a whole."""

    def __init__(self, budget: Literal["files", "seconds"]) -> None:
        super().__init__(budget)
        self.budget: Literal["files", "seconds"] = budget


class _Names(dict[bytes, "_Names"]):
    """Names in a folder, and of those that are folders the names in them; none for all of it."""


def _tree_of(paths: Collection[bytes]) -> _Names:
    tree = _Names()
    # A folder that is looked at as a whole comes after what is in it, and takes its place.
    for path in sorted((path for path in paths if path), reverse=True):
        at = tree
        *parents, last = path.split(b"/")
        for name in parents:
            at = at.setdefault(name, _Names())
        at[last] = _Names()
    return tree


@dataclass(frozen=True)
class Pending:
    """A file whose content is not known yet."""

    folder: Folder
    name: bytes
    path: bytes


@dataclass
class WorkspaceWalk:
    """One walk. ``known`` is what the walk before found; of what has not changed, its objects are used again."""

    root: bytes
    limits: FileLimits
    excluded: Collection[tuple[int, int]]
    """Device and inode of folders to leave out, which are the product's own or the operator's wish."""
    touched: Collection[bytes]
    wanted: Collection[bytes] = ()
    """What is about to be overwritten by a restore, and so is kept even beyond the budgets."""
    cloned: int = 0
    """What large files may have together; 0 where they cannot be cloned."""
    pending: list[Pending] = field(default_factory=list)
    files: int = 0
    size: int = 0
    large: int = 0
    """How much of the size is large files that were looked at."""
    _reuse: bool = True
    _device: int = 0
    _deadline: float = 0.0

    def everything(self, known: Folder | None) -> Folder:
        """The whole workspace. Raises ``OverBudget``, and OSError if it cannot be read at all."""
        status = self._begin()
        self._reuse = True
        root = self._scan(self.root, b"", status, known, 0)
        if isinstance(root, Folder) and self.is_over_budget:
            # Files will be taken out of folders, so these must be none that an earlier walk keeps.
            self._reuse = False
            self._begin()
            root = self._scan(self.root, b"", status, known, 0)
            if isinstance(root, Folder):
                self._fit(root, known)
        if not isinstance(root, Folder):
            raise PermissionError(f"cannot list {os.fsdecode(self.root)}")
        return root

    def large_pending(self) -> Iterator[bytes]:
        """Those of them, with their whole paths, that are kept beside the packs."""
        largest = self.limits.file_bytes
        return (place.path for place in self.pending if place.folder.files[place.name].size > largest)

    @property
    def is_over_budget(self) -> bool:
        """Whether what was found is larger than one checkpoint may be."""
        return self.exceeds(self.size, self.large)

    def exceeds(self, size: int, large: int) -> bool:
        """Whether so many bytes, of which those are of large files, are more than one checkpoint may have."""
        if not self.cloned:
            return size > self.limits.total_bytes
        return size - large > self.limits.total_bytes or large > self.cloned

    def paths_pending(self) -> Iterator[bytes]:
        """The files whose content is not known yet, relative to the root."""
        start = len(self.root.rstrip(b"/")) + 1
        return (place.path[start:] for place in self.pending)

    def again(self, known: Folder, paths: Collection[bytes]) -> Folder:
        """What ``known`` says, but for what is at these paths, and below those of folders."""
        status = self._begin()
        self._reuse = True
        return self._renew(self.root, b"", status, known, _tree_of(paths), 0)

    def paths(self, wanted: Collection[bytes], known: Folder | None) -> Folder:
        """Only what is at these paths; of a folder, everything below it."""
        status = self._begin()
        self._reuse = False
        root = Folder(status.st_mode, complete=False)
        for path in sorted(wanted):
            self._look(root, path, known)
        return root

    def _begin(self) -> os.stat_result:
        status = os.lstat(self.root)
        self._device = status.st_dev
        self._deadline = time.monotonic() + self.limits.walk_seconds
        self.files = self.size = self.large = 0
        self.pending.clear()
        return status

    def _scan(
        self, path: bytes, relative: bytes, status: os.stat_result, known: Folder | None, depth: int
    ) -> Folder | SkipReason:
        """One folder and all below it; or why it is left out."""
        if depth > _DEEPEST:
            return "budget"
        found = Folder(status.st_mode)
        try:
            inner = self._list(path, relative, found, {} if known is None else known.files)
        except FileNotFoundError:
            return "changing"
        except OSError:
            return "unreadable"
        if depth and _is_rebuildable(path, found):
            return "rebuildable"
        for name, inner_status in inner:
            old = None if known is None else known.folders.get(name)
            old = old if isinstance(old, Folder) else None
            below = self._enter(os.path.join(path, name), joined(relative, name), inner_status, old, depth)
            if isinstance(below, Folder):
                found.folders[name] = below
            else:
                found.skips[name] = below
        self._count(found)
        return self._kept(path, found, known)

    def _enter(
        self, path: bytes, relative: bytes, status: os.stat_result, known: Folder | None, depth: int
    ) -> Folder | SkipReason:
        name = os.path.basename(path)
        if name.lower() in _REPOSITORIES:
            return "repository"
        if name in _REBUILDABLE:
            return "rebuildable"
        if name in _JUPYTERLAB_FOLDERS:
            return "jupyterlab"
        if status.st_dev != self._device:
            return "other_file_system"
        if (status.st_dev, status.st_ino) in self.excluded:
            return "excluded"
        return self._scan(path, relative, status, known, depth + 1)

    def _renew(
        self, path: bytes, relative: bytes, status: os.stat_result, known: Folder, names: _Names, depth: int
    ) -> Folder:
        """A folder as it was, but for these names."""
        found = Folder(status.st_mode, True, dict(known.files), dict(known.folders), dict(known.skips))
        hidden: list[bytes] = []
        # Whether a save's copy counts depends on the file it is of.
        for name, below in {**{b".~" + name: _Names() for name in names}, **names}.items():
            for kept in (found.files, found.folders, found.skips):
                kept.pop(name, None)
            try:
                inner = os.lstat(os.path.join(path, name))
            except FileNotFoundError:
                continue
            except OSError:
                found.skips[name] = "unreadable"
                continue
            if stat.S_ISDIR(inner.st_mode):
                self._renew_folder(found, name, path, relative, inner, known.folders.get(name), below, depth)
            else:
                self._add(found, name, relative, inner, known.files, hidden)
        for name in hidden:
            _leave_out(name, found)
        return self._kept(path, found, known)

    def _renew_folder(
        self, found: Folder, name: bytes, path: bytes, relative: bytes, status: os.stat_result, known: Node | None,
        names: _Names, depth: int,
    ) -> None:  # fmt: skip
        if name.startswith(RESTORE_PREFIX):
            return
        path, relative = os.path.join(path, name), joined(relative, name)
        old = known if isinstance(known, Folder) else None
        below: Folder | SkipReason
        if old is not None and names and not names.keys() & _MARKS and status.st_dev == self._device:
            below = self._renew(path, relative, status, old, names, depth + 1)
        else:
            below = self._enter(path, relative, status, old, depth)
        if isinstance(below, Folder):
            found.folders[name] = below
        else:
            found.skips[name] = below

    def _kept(self, path: bytes, found: Folder, known: Folder | None) -> Folder:
        """The folder of before if nothing in it is new; else what is new in it is to be read."""
        if self._reuse and known is not None and _is_same(found, known):
            return known
        self.pending += [
            Pending(found, name, os.path.join(path, name)) for name, entry in found.files.items() if not entry.oid
        ]
        return found

    def _list(
        self, path: bytes, relative: bytes, found: Folder, known: dict[bytes, FileEntry]
    ) -> list[tuple[bytes, os.stat_result]]:
        """Fill in the files and links of a folder; returns the folders in it."""
        inner: list[tuple[bytes, os.stat_result]] = []
        files = found.files
        largest = self.limits.file_bytes
        hidden: list[bytes] = []
        with os.scandir(path) as listing:
            for item in listing:
                name = item.name
                try:
                    status = item.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                except OSError:
                    found.skips[name] = "unreadable"
                    continue
                mode = status.st_mode
                kind = mode & 0o170000
                if kind == stat.S_IFDIR:
                    if not name.startswith(RESTORE_PREFIX):
                        inner.append((name, status))
                elif (
                    kind != stat.S_IFREG
                    or status.st_size > largest
                    or name[0] == 46
                    or name.endswith(_JUPYTERLAB_WORKSPACE)
                ):
                    self._add(found, name, relative, status, known, hidden)
                else:
                    # Written out, not called: this line runs for every file at every save.
                    key = (mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                    was = known.get(name)
                    files[name] = was if was is not None and was.key == key else FileEntry(key, b"")
                    if len(files) > self.limits.files:
                        raise OverBudget("files")
        for name in hidden:
            _leave_out(name, found)
        return inner

    def _add(
        self,
        found: Folder,
        name: bytes,
        relative: bytes,
        status: os.stat_result,
        known: dict[bytes, FileEntry],
        hidden: list[bytes],
    ) -> None:
        """Add whatever is no folder to the folder it is in."""
        if stat.S_IFMT(status.st_mode) not in (stat.S_IFREG, stat.S_IFLNK):
            found.skips[name] = "special"
        elif name.endswith(_JUPYTERLAB_WORKSPACE) or name.startswith(_JUPYTERLAB_DATABASE):
            found.skips[name] = "jupyterlab"
        elif status.st_size > self.limits.file_bytes and self._is_too_large(joined(relative, name), status.st_size):
            found.skips[name] = "too_large"
        else:
            if status.st_size > self.limits.file_bytes:
                self.large += status.st_size
            key = key_of(status)
            was = known.get(name)
            found.files[name] = was if was is not None and was.key == key else FileEntry(key, b"")
            if name.startswith(b"."):
                hidden.append(name)

    def _is_too_large(self, path: bytes, size: int) -> bool:
        return size > self.cloned and (not self._is_named(path) or size > self.limits.touched_file_bytes)

    def _is_named(self, path: bytes) -> bool:
        return path in self.touched or path in self.wanted

    def _count(self, found: Folder) -> None:
        self.files += len(found.files)
        self.size += sum(entry.key[1] for entry in found.files.values())
        if self.files > self.limits.files:
            raise OverBudget("files")
        if time.monotonic() > self._deadline:
            raise OverBudget("seconds")

    def _fit(self, root: Folder, known: Folder | None) -> None:
        """Leave out what goes beyond the budget: not what the agent touched or was kept before, and the largest first."""
        ranked = sorted(self._ranked(root, known, b""), key=lambda file: file[0])
        left = {False: self.limits.total_bytes, True: self.cloned}
        dropped: set[tuple[int, bytes]] = set()
        for (_, size), folder, name in ranked:
            is_large = self.cloned > 0 and size > self.limits.file_bytes
            if size <= left[is_large]:
                left[is_large] -= size
            else:
                del folder.files[name]
                folder.skips[name] = "budget"
                dropped.add((id(folder), name))
        self.pending = [file for file in self.pending if (id(file.folder), file.name) not in dropped]

    def _ranked(
        self, folder: Folder, known: Folder | None, relative: bytes
    ) -> Iterator[tuple[tuple[int, int], Folder, bytes]]:
        for name, entry in folder.files.items():
            rank = 2
            if self._is_named(joined(relative, name)):
                rank = 0
            elif known is not None and name in known.files:
                rank = 1
            yield (rank, entry.size), folder, name
        for name, inner in folder.folders.items():
            assert isinstance(inner, Folder)
            old = None if known is None else known.folders.get(name)
            yield from self._ranked(inner, old if isinstance(old, Folder) else None, joined(relative, name))

    def _look(self, root: Folder, path: bytes, known: Folder | None) -> None:
        """Add what is at this path to a folder that mentions only such paths."""
        folder, absolute, relative = root, self.root, b""
        *parents, last = path.split(b"/")
        for name in parents:
            if folder.complete:
                return
            absolute, relative = os.path.join(absolute, name), joined(relative, name)
            status = self._status(folder, name, absolute)
            if status is None:
                return
            if not stat.S_ISDIR(status.st_mode):
                if stat.S_ISLNK(status.st_mode):
                    folder.skips[name] = "behind_link"
                else:
                    # A file where the path has a folder: the file is what there is.
                    self._look_at(folder, name, absolute, relative, status, known)
                return
            reason = self._refusal(name, status)
            if reason is not None:
                folder.skips[name] = reason
                return
            below = folder.folders.get(name)
            if not isinstance(below, Folder):
                below = folder.folders[name] = Folder(status.st_mode, complete=False)
            old = None if known is None else known.folders.get(name)
            folder, known = below, old if isinstance(old, Folder) else None
        if folder.complete:
            return
        absolute, relative = os.path.join(absolute, last), joined(relative, last)
        last_status = self._status(folder, last, absolute)
        if last_status is not None:
            self._look_at(folder, last, absolute, relative, last_status, known)

    def _status(self, folder: Folder, name: bytes, path: bytes) -> os.stat_result | None:
        try:
            return os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            folder.absent |= {name}
        except OSError:
            folder.skips[name] = "unreadable"
        return None

    def _refusal(self, name: bytes, status: os.stat_result) -> SkipReason | None:
        """Why a folder is not entered even when it is named."""
        if name.lower() in _REPOSITORIES:
            return "repository"
        if (status.st_dev, status.st_ino) in self.excluded:
            return "excluded"
        return None

    def _look_at(
        self,
        folder: Folder,
        name: bytes,
        path: bytes,
        relative: bytes,
        status: os.stat_result,
        known: Folder | None,
    ) -> None:
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFDIR:
            reason = self._refusal(name, status)
            old = None if known is None else known.folders.get(name)
            below = reason or self._scan(path, relative, status, old if isinstance(old, Folder) else None, 1)
            if isinstance(below, Folder):
                folder.folders[name] = below
            else:
                folder.skips[name] = below
        elif kind not in (stat.S_IFREG, stat.S_IFLNK):
            folder.skips[name] = "special"
        elif status.st_size > max(self.limits.touched_file_bytes, self.cloned):
            folder.skips[name] = "too_large"
        else:
            key = key_of(status)
            was = None if known is None else known.files.get(name)
            folder.files[name] = was if was is not None and was.key == key else FileEntry(key, b"")
            if not folder.files[name].oid:
                self.pending.append(Pending(folder, name, path))
            self.files += 1


def _leave_out(name: bytes, found: Folder) -> None:
    """Files of a checkpoint, which belong to a save or a restore that is under way."""
    if name.startswith(RESTORE_PREFIX) or (name.startswith(b".~") and name[2:] in found.files):
        del found.files[name]
    elif name == b".git":
        # A worktree's or submodule's pointer to its repository.
        del found.files[name]
        found.skips[name] = "repository"


def _is_rebuildable(path: bytes, found: Folder) -> bool:
    if b"pyvenv.cfg" in found.files:
        return True
    if b"CACHEDIR.TAG" not in found.files:
        return False
    try:
        with open_regular_file(os.path.join(path, b"CACHEDIR.TAG")) as file:
            return file.read(len(_CACHE_TAG)) == _CACHE_TAG
    except OSError:
        return False


def _is_same(found: Folder, known: Folder) -> bool:
    return (
        bool(known.tree)
        and known.complete
        and found.mode == known.mode
        and len(found.files) == len(known.files)
        and all(entry is known.files.get(name) for name, entry in found.files.items())
        and found.skips == known.skips
        and len(found.folders) == len(known.folders)
        and all(known.folders.get(name) is below for name, below in found.folders.items())
    )
