"""Changing the workspace as planned, whole or not at all. Everything here blocks.

``stage`` writes everything that is to come beside its place, so a full disk or a damaged store shows before anything has
changed. ``commit`` then only links and renames, and keeps whatever it replaces or deletes under another name beside it, so
``roll_back`` needs neither space nor the store. ``finish`` removes what was kept. What is not as the plan found it stops the
commit: a person was faster.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from ..._private_files import storage_error
from ...errors import Conflict, HdspAgentError, NotAllowed, StorageUnavailable
from .anchored_files import AnchoredFiles, is_led_away
from .file_names import joined, shown
from .file_system_sync import FileSystemSync
from .folders import FileEntry, Folder, FolderLoader
from .git_objects import is_large
from .repository import Repository
from .restore_steps import Step
from .stable_read import key_of
from .workspace_walk import RESTORE_PREFIX

__all__ = ["Restoration", "remove_leftover"]

R = TypeVar("R")
_THREADS: Final = 4
"""The disk gathers their fsyncs into one; others wait for it while files are removed."""
_FEW: Final = 4
_SLICES: Final = 4 * _THREADS
# Windows syncs only what is open for writing.
_SYNC_FLAGS: Final = os.O_RDWR if sys.platform == "win32" else os.O_RDONLY
_SPARE_BYTES: Final = 1024 * 1024
_NOT_EMPTY: Final = (errno.ENOTEMPTY, errno.EEXIST)
_OWNER_MAY_CHANGE: Final = 0o300


class Restoration:
    """One restore. The caller holds the store's lock."""

    def __init__(
        self, root: bytes, name: str, steps: Sequence[Step], repository: Repository, loader: FolderLoader
    ) -> None:
        self._root = root
        self._files = AnchoredFiles(root)
        self._prefix = RESTORE_PREFIX + name.encode() + b"-"
        self._steps = steps
        self._repository = repository
        self._loader = loader
        # Nothing is kept in folders that come or go, or that are read-only before or afterwards.
        self._moving = {step.path for step in steps if step.kind in ("displace", "make_folder", "remove_folder")}
        self._moving |= {step.path for step in steps if step.path and _is_closed(step)}
        self._staged: dict[bytes, bytes] = {}
        self._aside: list[tuple[bytes, Step]] = []
        self._undoing: list[Callable[[], None]] = []

    def leftovers(self) -> list[bytes]:
        """All names that this restore may leave behind if it dies."""
        return [self._at(self._beside(number, kind)) for number in range(len(self._steps)) for kind in (b"new", b"old")]

    def preflight(self) -> None:
        """Refuse what cannot be done before anything is changed."""
        softened = {step.path for step in self._steps if step.kind == "folder_mode"}
        steps = [step for step in self._steps if step.kind not in ("folder_mode", "attributes")]
        folders = {self._lasting_folder(step.path) for step in steps}
        folders |= {os.path.dirname(step.path) for step in steps if step.now is not None}
        for folder in sorted(folders):
            path = self._at(folder)
            self._check_real(folder)
            if folder not in softened and not os.access(path, os.W_OK | os.X_OK):
                raise NotAllowed(
                    f"The folder {shown(path)} may not be changed, so nothing was restored. Make it writable and try again.",
                    path=shown(path),
                    why="folder_read_only",
                )
        self._check_space()

    def stage(self) -> None:
        """Write what is to come beside its place."""
        try:
            with FileSystemSync(self._root) as file_system:
                self._stage_all(file_system)
        except BaseException:
            self._clear_staged()
            raise

    def commit(self) -> None:
        """Put everything in place. After an error the caller rolls back."""
        try:
            for number, step in self._ordered():
                self._do(number, step)
        except OSError as error:
            name = error.filename if isinstance(error.filename, bytes) else self._root
            if is_led_away(error):
                raise _changed_meanwhile(name) from error
            raise StorageUnavailable(
                f"Could not restore {shown(name)}: {error.strerror}. Everything was rolled back. "
                "Check that file and its folder, then try again.",
                path=shown(name),
                details=error.strerror,
                why="file_not_restored",
                action="restore",
                reason=error.strerror or "",
            ) from error

    def check_unchanged(self) -> None:
        """Raise ``Conflict`` if somebody still wrote to what was replaced or deleted."""
        for aside, step in self._aside:
            assert step.now is not None
            if not self._is_still(aside, step.now):
                raise _changed_meanwhile(self._at(step.path))

    def roll_back(self) -> list[str]:
        """Put everything back; returns what could not be, which is then still kept beside its place."""
        failed: list[str] = []
        while self._undoing:
            try:
                self._undoing.pop()()
            except OSError as error:
                failed.append(f"{shown(error.filename or b'')}: {error.strerror}")
        self._clear_staged()
        return failed

    def finish(self) -> bool:
        """Remove what was kept of the state before, whose content is in the checkpoint that the restore began with.
        Returns whether nothing of it is left."""
        return all(_in_threads(self._are_removed, [aside for aside, _ in self._aside]))

    def close(self) -> None:
        """Let go of the workspace's folders."""
        self._files.close()

    def _at(self, path: bytes) -> bytes:
        return os.path.join(self._root, path) if path else self._root

    def _lasting_folder(self, path: bytes) -> bytes:
        """The nearest folder above that is there before and afterwards."""
        folder = os.path.dirname(path)
        while folder in self._moving:
            folder = os.path.dirname(folder)
        return folder

    def _beside(self, number: int, kind: bytes) -> bytes:
        folder = self._lasting_folder(self._steps[number].path)
        return joined(folder, b"%s%d.%s" % (self._prefix, number, kind))

    def _check_real(self, folder: bytes) -> None:
        """A link on the way would lead the restore out of the workspace."""
        parts = folder.split(b"/") if folder else []
        for end in range(1, len(parts) + 1):
            path = self._at(b"/".join(parts[:end]))
            try:
                if stat.S_ISDIR(os.lstat(path).st_mode):
                    continue
            except OSError as error:
                raise _changed_meanwhile(path) from error
            raise _changed_meanwhile(path)

    def _check_space(self) -> None:
        clones = self._repository.large.clones is not False
        wanted = (step.want for step in self._steps if step.kind == "write" and step.want is not None)
        # Where cloning works it takes no space; if it turns out that it does not, staging finds the disk full.
        needed = sum(want.size for want in wanted if not (clones and is_large(want.oid)))
        if needed == 0 or not hasattr(os, "statvfs"):
            return
        disk = os.statvfs(self._root)
        if disk.f_frsize and needed + _SPARE_BYTES > disk.f_bavail * disk.f_frsize:
            raise StorageUnavailable(
                f"Restoring needs {needed:,} bytes in {shown(self._root)} and the disk has not so many. "
                "Nothing was changed. Free some space and try again.",
                path=shown(self._root),
                needed=needed,
                why="no_room",
                action="restore",
                reason="no space",
            )

    def _stage_all(self, file_system: FileSystemSync) -> None:
        together: list[bytes] = []
        each: list[bytes] = []
        for number, step in enumerate(self._steps):
            if step.kind == "write" and (device := self._stage_one(number, step)) is not None:
                (together if file_system.covers(device) else each).append(self._staged[step.path])
        if len(together) <= _FEW or not file_system.run():
            each += together
        _in_threads(self._sync_each, each)

    def _stage_one(self, number: int, step: Step) -> int | None:
        """Where it is to be synced still: its device."""
        want = step.want
        assert want is not None
        large = is_large(want.oid)
        data = b"" if large else self._repository.packs.read(want.oid)
        path = self._beside(number, b"new")
        self._staged[step.path] = path
        try:
            if want.is_link:
                self._files.make_link(data, path)
                self._files.set_time(path, want.mtime, is_link=True)
                return None
            replaced = step.path if isinstance(step.now, FileEntry) else None
            fill = partial(self._repository.large.fill, want.oid) if large else partial(_write_all, data=data)
            return self._write_file(path, fill, want, replaced)
        except OSError as error:
            if is_led_away(error):
                raise _changed_meanwhile(self._at(path)) from error
            raise storage_error(Path(os.fsdecode(self._at(path))), "write", error) from error

    def _clear_staged(self) -> None:
        for path in self._staged.values():
            with suppress(OSError):
                self._files.unlink(path)
        self._staged.clear()

    def _ordered(self) -> Iterator[tuple[int, Step]]:
        """Make room, make folders, write, then delete; folders get their modes when nothing is left to do in them."""
        numbered = list(enumerate(self._steps))
        yield from ((n, Step("folder_mode", s.path, s.now, mode=s.mode | _OWNER_MAY_CHANGE)) for n, s in numbered
                    if s.kind == "folder_mode")  # fmt: skip
        # The plan has what is in a folder before its removal, and after its making.
        for kind in ("displace", "make_folder", "write", "attributes", "delete", "remove_folder"):
            yield from ((number, step) for number, step in numbered if step.kind == kind)
        yield from ((number, step) for number, step in reversed(numbered) if step.kind == "folder_mode")
        yield from ((n, Step("folder_mode", s.path, mode=s.mode)) for n, s in reversed(numbered)
                    if s.kind == "make_folder")  # fmt: skip

    def _do(self, number: int, step: Step) -> None:
        path = step.path
        if step.kind == "write":
            self._write(number, step, path)
        elif step.kind in ("delete", "displace"):
            self._move_aside(number, step, path)
        elif step.kind == "attributes":
            self._set_attributes(step, path)
        elif step.kind == "make_folder":
            self._files.make_folder(path, 0o700)
            self._undoing.append(lambda: self._files.remove_folder(path))
        elif step.kind == "remove_folder":
            self._remove_folder(path)
        else:
            self._set_folder_mode(path, step.mode)

    def _write(self, number: int, step: Step, path: bytes) -> None:
        staged = self._staged[step.path]
        if step.now is None:
            if self._files.is_there(path):
                raise _changed_meanwhile(self._at(path))
            self._files.rename(staged, path)
            self._undoing.append(lambda: self._files.unlink(path))
        else:
            self._check_still(path, step.now)
            aside = self._beside(number, b"old")
            try:
                self._files.also_name(path, aside)
            except (OSError, NotImplementedError):
                # No links here: for a moment there is nothing at this path.
                self._files.rename(path, aside)
            self._undoing.append(lambda: self._put_back(aside, path))
            self._aside.append((aside, step))
            self._files.replace(staged, path)
        del self._staged[step.path]

    def _move_aside(self, number: int, step: Step, path: bytes) -> None:
        assert step.now is not None
        self._check_still(path, step.now)
        aside = self._beside(number, b"old")
        self._files.rename(path, aside)
        self._undoing.append(lambda: self._files.rename(aside, path))
        self._aside.append((aside, step))

    def _set_attributes(self, step: Step, path: bytes) -> None:
        now, want = step.now, step.want
        assert isinstance(now, FileEntry) and want is not None
        self._check_still(path, now)

        def set_to(entry: FileEntry) -> None:
            if not entry.is_link:
                self._files.set_mode(path, stat.S_IMODE(entry.mode))
            self._files.set_time(path, entry.mtime, is_link=entry.is_link)

        self._undoing.append(lambda: set_to(now))
        set_to(want)

    def _remove_folder(self, path: bytes) -> None:
        mode = stat.S_IMODE(self._files.status(path).st_mode)
        try:
            self._files.remove_folder(path)
        except OSError as error:
            if error.errno not in _NOT_EMPTY:
                raise
            # Something is in it that stays.
            return

        def make_again() -> None:
            self._files.make_folder(path, mode)
            self._files.set_mode(path, mode)

        self._undoing.append(make_again)

    def _set_folder_mode(self, path: bytes, mode: int) -> None:
        was = stat.S_IMODE(self._files.status(path).st_mode)
        if was != stat.S_IMODE(mode):
            self._files.set_mode(path, stat.S_IMODE(mode))
            self._undoing.append(lambda: self._files.set_mode(path, was))

    def _check_still(self, path: bytes, now: FileEntry | Folder) -> None:
        if not self._is_still(path, now):
            raise _changed_meanwhile(self._at(path))

    def _is_still(self, path: bytes, now: FileEntry | Folder) -> bool:
        """Whether what is there is what the plan found."""
        try:
            status = self._files.status(path)
            if isinstance(now, FileEntry):
                mode, size, mtime, _, inode = key_of(status)
                return (mode, size, mtime) == now.key[:3] and inode == now.key[4]
            if not stat.S_ISDIR(status.st_mode):
                return False
            names = {*now.files, *now.folders}
            if set(self._files.names(path)) != names:
                return False
        except OSError:
            return False
        return all(self._is_still(os.path.join(path, name), entry) for name, entry in now.files.items()) and all(
            self._is_still(os.path.join(path, name), self._loader.folder(below)) for name, below in now.folders.items()
        )

    def _put_back(self, aside: bytes, path: bytes) -> None:
        self._files.replace(aside, path)
        # Of two names of one file, a rename keeps both.
        with suppress(FileNotFoundError):
            self._files.unlink(aside)

    def _sync_each(self, paths: Sequence[bytes]) -> None:
        with self._files.another() as files:
            for path in paths:
                _sync(files, path)

    def _are_removed(self, paths: Sequence[bytes]) -> bool:
        with self._files.another() as files:
            kept = [path for path in paths if not _is_removed(files, path)]
        return not kept

    def _write_file(
        self, path: bytes, fill: Callable[[int], None], want: FileEntry, replaced: bytes | None
    ) -> int | None:
        """Returns the device it is on, if it is to be synced with others."""
        device: int | None = None
        descriptor = self._files.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            fill(descriptor)
            if replaced is not None and hasattr(os, "fchown"):
                # Whose it was it stays, as far as we may say so.
                with suppress(OSError):
                    status = self._files.status(replaced)
                    os.fchown(descriptor, status.st_uid, status.st_gid)
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, stat.S_IMODE(want.mode))
            if os.utime in os.supports_fd:
                os.utime(descriptor, ns=(want.mtime, want.mtime))
            if not _is_synced_later(want):
                os.fsync(descriptor)
            else:
                device = os.fstat(descriptor).st_dev
                if hasattr(os, "posix_fadvise"):
                    # Linux begins to write it now, so that there is little left to wait for.
                    with suppress(OSError):
                        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
        if os.utime not in os.supports_fd:
            self._files.set_time(path, want.mtime, is_link=False)
        return device


def _in_threads(work: Callable[[Sequence[bytes]], R], paths: Sequence[bytes]) -> list[R]:
    """Do it to all of them, of many in several threads."""
    if len(paths) <= _FEW:
        return [work(paths)]
    with ThreadPoolExecutor(_THREADS, "hdsp-agent restore") as pool:
        return list(pool.map(work, [paths[start::_SLICES] for start in range(_SLICES)]))


def _sync(files: AnchoredFiles, path: bytes) -> None:
    try:
        descriptor = files.open(path, _SYNC_FLAGS)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise storage_error(Path(os.fsdecode(files.absolute(path))), "write", error) from error


def _is_synced_later(want: FileEntry) -> bool:
    """Many files are synced together; of what we could not open again, each is as it is written."""
    return not want.is_link and bool(want.mode & (0o200 if sys.platform == "win32" else 0o400))


def _is_closed(step: Step) -> bool:
    """Whether a folder cannot be written to before the restore or after it."""
    if step.kind != "folder_mode" or not isinstance(step.now, Folder):
        return False
    return any(mode & _OWNER_MAY_CHANGE != _OWNER_MAY_CHANGE for mode in (step.now.mode, step.mode))


def _is_removed(files: AnchoredFiles, path: bytes) -> bool:
    try:
        remove_leftover(files, path)
    except OSError:
        return False
    return True


def remove_leftover(files: AnchoredFiles, path: bytes) -> None:
    """Remove a file, link or folder that a restore kept beside its place, which may have become read-only since."""
    with suppress(PermissionError, IsADirectoryError):
        files.unlink(path)
        return
    folder = path.rpartition(b"/")[0]
    mode = stat.S_IMODE(files.status(folder).st_mode)
    if mode & _OWNER_MAY_CHANGE == _OWNER_MAY_CHANGE:
        files.remove(path)
        return
    files.set_mode(folder, mode | _OWNER_MAY_CHANGE)
    try:
        files.remove(path)
    finally:
        files.set_mode(folder, mode)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _changed_meanwhile(path: bytes) -> HdspAgentError:
    return Conflict(
        f"{shown(path)} changed during the restore. Everything was rolled back. Try again.",
        path=shown(path),
        why="changed_meanwhile",
    )
