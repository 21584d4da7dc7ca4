"""Changing what is below a folder, never anything that a link leads to. Everything here blocks.

Between a look and a change, somebody may put a link in the place of a folder. So each folder on the way is opened by its name
in the one before, without following links, and the change is made in the folder that was opened: it cannot be elsewhere. Where
the system has no such calls (Windows), each folder on the way is looked at right before the change instead.

Errors are OSError; ``is_led_away`` tells those that a link, or something else that is no folder, is the reason of.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Final, Self

__all__ = ["AnchoredFiles", "is_led_away"]

_CALLS: Final = (os.open, os.mkdir, os.rmdir, os.unlink, os.rename, os.stat, os.link, os.symlink, os.utime)
_ANCHORS: Final = sys.platform != "win32" and all(call in os.supports_dir_fd for call in _CALLS)
_CLOSED: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK: Final = _CLOSED | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# What may not be listed can still be passed through.
_FOLDER: Final = _NO_LINK | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
_LED_AWAY: Final = (errno.ELOOP, errno.ENOTDIR)


def is_led_away(error: OSError) -> bool:
    """Whether a folder on the way is none any more."""
    return error.errno in _LED_AWAY


class AnchoredFiles:
    """What is below ``root``. Paths are relative to it, with slashes. Of one thread; close it in the end."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._anchor: int | None = None
        self._last: tuple[bytes, int] | None = None

    def another(self) -> AnchoredFiles:
        """The same for another thread."""
        return AnchoredFiles(self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folders."""
        self._forget()
        anchor, self._anchor = self._anchor, None
        if anchor is not None:
            os.close(anchor)

    def absolute(self, path: bytes) -> bytes:
        """The path for people."""
        return os.path.join(self._root, path) if path else self._root

    # ---- looking

    def status(self, path: bytes) -> os.stat_result:
        """Of what is there, a link itself."""
        with self._in_folder(path) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def is_there(self, path: bytes) -> bool:
        """Whether something is there; raises if that cannot be said."""
        try:
            self.status(path)
        except FileNotFoundError:
            return False
        return True

    def names(self, path: bytes) -> list[bytes]:
        """What is in a folder."""
        if not _ANCHORS:
            with self._in_folder(path) as (_, name):
                return os.listdir(name)
        descriptor = self.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            return [os.fsencode(name) for name in os.listdir(descriptor)]
        finally:
            os.close(descriptor)

    # ---- changing

    def open(self, path: bytes, flags: int, mode: int = 0o600) -> int:
        """A descriptor of the file or folder, which is no link."""
        with self._in_folder(path) as (folder, name):
            return os.open(name, flags | _NO_LINK, mode, dir_fd=folder)

    def make_folder(self, path: bytes, mode: int) -> None:
        """Make a folder."""
        with self._in_folder(path) as (folder, name):
            os.mkdir(name, mode, dir_fd=folder)

    def make_link(self, target: bytes, path: bytes) -> None:
        """Make a symbolic link."""
        with self._in_folder(path) as (folder, name):
            os.symlink(target, name, dir_fd=folder)

    def unlink(self, path: bytes) -> None:
        """Remove a file or link."""
        with self._in_folder(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def remove_folder(self, path: bytes) -> None:
        """Remove an empty folder."""
        self._forget(path)
        with self._in_folder(path) as (folder, name):
            os.rmdir(name, dir_fd=folder)

    def remove(self, path: bytes) -> None:
        """Remove a file, a link, or a folder with all that is in it."""
        if not stat.S_ISDIR(self.status(path).st_mode):
            self.unlink(path)
            return
        for name in self.names(path):
            self.remove(path + b"/" + name)
        self.remove_folder(path)

    def rename(self, path: bytes, to: bytes) -> None:
        """Give it another name, where nothing is."""
        self._forget(path)
        with self._in_both(path, to) as (folder, name, to_folder, to_name):
            os.rename(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder)

    def replace(self, path: bytes, to: bytes) -> None:
        """Put it in the place of what is there."""
        self._forget(path)
        with self._in_both(path, to) as (folder, name, to_folder, to_name):
            os.replace(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder)

    def also_name(self, path: bytes, to: bytes) -> None:
        """Give a file, or a link, a second name."""
        with self._in_both(path, to) as (folder, name, to_folder, to_name):
            os.link(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder, follow_symlinks=False)

    def set_mode(self, path: bytes, mode: int) -> None:
        """Set the permissions of a file or folder."""
        if not _ANCHORS:
            with self._in_folder(path) as (_, name):
                os.chmod(name, mode)
            return
        try:
            descriptor = self.open(path, os.O_RDONLY)
        except PermissionError:
            self._set_mode_unread(path, mode)
            return
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)

    def set_time(self, path: bytes, mtime: int, *, is_link: bool) -> None:
        """Set the time of change, of a link itself."""
        if not is_link and _ANCHORS:
            with suppress(PermissionError):
                descriptor = self.open(path, os.O_RDONLY)
                try:
                    os.utime(descriptor, ns=(mtime, mtime))
                finally:
                    os.close(descriptor)
                return
        # Windows cannot set a link's own time, and says so of files too when told not to follow.
        with suppress(NotImplementedError), self._in_folder(path) as (folder, name):
            follow = not is_link and not _ANCHORS
            if folder is None:
                os.utime(name, ns=(mtime, mtime), follow_symlinks=follow)
            else:
                os.utime(name, ns=(mtime, mtime), dir_fd=folder, follow_symlinks=follow)

    # ---- inside

    def _set_mode_unread(self, path: bytes, mode: int) -> None:
        """Of what we may not read, which has no descriptor that says so elsewhere than on Linux."""
        with self._in_folder(path) as (folder, name):
            if os.chmod in os.supports_follow_symlinks:
                os.chmod(name, mode, dir_fd=folder, follow_symlinks=False)
                return
            descriptor = os.open(name, getattr(os, "O_PATH", os.O_RDONLY) | _NO_LINK, dir_fd=folder)
            try:
                if stat.S_ISLNK(os.fstat(descriptor).st_mode):
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                os.chmod(f"/proc/self/fd/{descriptor}", mode)
            finally:
                os.close(descriptor)

    @contextmanager
    def _in_folder(self, path: bytes) -> Iterator[tuple[int | None, bytes]]:
        """The folder that something is in, and its name there; without anchors None and the whole path."""
        above, _, name = path.rpartition(b"/")
        try:
            if _ANCHORS:
                yield self._folder(above), name or b"."
            else:
                self._check(above)
                yield None, self.absolute(path)
        except OSError as error:
            error.filename, error.filename2 = self.absolute(path), None
            raise

    @contextmanager
    def _in_both(self, path: bytes, to: bytes) -> Iterator[tuple[int | None, bytes, int | None, bytes]]:
        """The same of two things; the second folder is opened again, for only one is remembered."""
        with self._in_folder(path) as (folder, name):
            if path.rpartition(b"/")[0] == to.rpartition(b"/")[0]:
                yield folder, name, folder, self.absolute(to) if folder is None else to.rpartition(b"/")[2]
                return
            with self.another() as other, other._in_folder(to) as (to_folder, to_name):
                yield folder, name, to_folder, to_name

    def _folder(self, path: bytes) -> int:
        """A descriptor of a folder; the last one is remembered, because the next change is most likely in it."""
        if self._last is not None and self._last[0] == path:
            return self._last[1]
        if self._anchor is None:
            self._anchor = os.open(self._root, _FOLDER)
        if not path:
            return self._anchor
        folder = self._anchor
        for name in path.split(b"/"):
            try:
                inner = os.open(name, _FOLDER, dir_fd=folder)
            finally:
                if folder != self._anchor:
                    os.close(folder)
            folder = inner
        self._forget()
        self._last = path, folder
        return folder

    def _forget(self, moved: bytes | None = None) -> None:
        """The remembered folder, if it is this one or below it, is somewhere else from now on."""
        if self._last is None:
            return
        path, folder = self._last
        if moved is None or path == moved or path.startswith(moved + b"/"):
            self._last = None
            os.close(folder)

    def _check(self, folder: bytes) -> None:
        """Where there are no anchors: refuse links and Windows' junctions."""
        parts = folder.split(b"/") if folder else []
        for end in range(1, len(parts) + 1):
            status = os.lstat(self.absolute(b"/".join(parts[:end])))
            is_junction = getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
            if not stat.S_ISDIR(status.st_mode) or is_junction:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
