"""A copy of the folder that a notebook is in: what runs there changes nothing of the person's."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .._threads import Stop
from ..errors import InvalidInput, Unavailable

__all__ = ["COPY_PREFIX", "copied", "not_copied"]

_LEFT_OUT: Final = frozenset(
    {".git", ".hg", ".svn", ".ipynb_checkpoints", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache", ".tox"}
)
COPY_PREFIX: Final = "hdsp-agent-verify-"
_MOST_BYTES: Final = 2_000_000_000
_MOST_FILES: Final = 50_000
_MOST_SIBLINGS: Final = 1_000
_MOST_BYTES_BESIDE: Final = 100_000_000
_MOST_FILES_BESIDE: Final = 5_000
"""Of all that stands beside the folder, together."""
_MOST_LOOKED_AT: Final = 20_000
"""Beside the folder, to see whether there is room for it."""


class _TooMuch(Exception):
    """There is no room for it."""


@dataclass
class _Room:
    """How much may still be copied."""

    bytes: int
    files: int
    looks: int = 0
    """How many files and folders may still be looked at before."""

    def take(self, size: int) -> None:
        """Of one more file."""
        if self.files < 1 or size > self.bytes:
            raise _TooMuch
        self.files -= 1
        self.bytes -= size

    def look(self) -> None:
        """At one more file or folder."""
        if self.looks < 1:
            raise _TooMuch
        self.looks -= 1


@asynccontextmanager
async def copied(folder: Path, into: Path | None = None) -> AsyncIterator[Path]:
    """The copy, in a temporary folder or ``into`` another one; it is gone in the end. Raises InvalidInput for a folder that is too large.

    What stands beside the folder is copied as well where that is small and the folder around both is the person's. The rest is
    linked to, and so the person's own.
    """
    try:
        made = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=COPY_PREFIX, dir=into))
    except OSError as error:
        raise not_copied(error) from None
    stopped = threading.Event()
    copying = asyncio.ensure_future(asyncio.to_thread(_copy, folder, made, stopped.is_set))

    async def remove() -> None:
        stopped.set()
        await asyncio.wait([copying])
        await asyncio.to_thread(shutil.rmtree, made, ignore_errors=True)

    try:
        try:
            copy = await asyncio.shield(copying)
        except OSError as error:
            raise not_copied(error) from None
        yield copy
    finally:
        await asyncio.shield(remove())


def not_copied(error: OSError) -> Unavailable:
    """The error when the system refuses the copy."""
    return Unavailable(f"The folder cannot be copied: {error.strerror}.", why="not_copied")


def _copy(folder: Path, made: Path, stop: Stop) -> Path:
    folder = folder.resolve()
    copy = made / (folder.name or "root")
    try:
        _copy_folder(folder, copy, made, _Room(_MOST_BYTES, _MOST_FILES), stop)
    except _TooMuch:
        raise InvalidInput(
            f"{folder} holds more than {_MOST_BYTES // 10**9} GB or {_MOST_FILES:,} files, too much to copy.",
            why="too_much_to_copy",
        ) from None
    room = _Room(_MOST_BYTES_BESIDE, _MOST_FILES_BESIDE, _MOST_LOOKED_AT if _is_own(folder.parent) else 0)
    for sibling in sorted(_entries(folder.parent), key=lambda entry: entry.name)[:_MOST_SIBLINGS]:
        if Path(sibling.path) not in (folder, made) and not stop():
            with suppress(OSError):
                _copy_beside(Path(sibling.path), made, room, stop)
    return copy


def _is_own(folder: Path) -> bool:
    """Whether a folder is a person's own: in the system's, as ``/home``, merely looking may mount what is there."""
    if folder == folder.parent:
        return False
    return not hasattr(os, "getuid") or os.getuid() in (0, folder.stat().st_uid)


def _copy_beside(sibling: Path, made: Path, room: _Room, stop: Stop) -> None:
    """A copy, or a link where that would take too much or is no plain file or folder."""
    instead = made / sibling.name
    is_shown = not sibling.name.startswith(".") and sibling.name not in _LEFT_OUT
    if room.looks > 0 and is_shown and not sibling.is_symlink() and not made.is_relative_to(sibling):
        try:
            room.look()
            if sibling.is_file():
                room.take(sibling.stat().st_size)
                shutil.copy2(sibling, instead)
                return
            if sibling.is_dir() and not sibling.is_mount() and _fits(sibling, room, stop):
                _copy_folder(sibling, instead, made, _Room(_MOST_BYTES, _MOST_FILES), stop)
                return
        except (OSError, _TooMuch):
            # What there is of it is less than the person's own.
            shutil.rmtree(instead, ignore_errors=True)
            instead.unlink(missing_ok=True)
    os.symlink(sibling, instead)


def _fits(folder: Path, room: _Room, stop: Stop) -> bool:
    """Whether there is room for a folder, which is taken then. One with a mount in it is left where it is."""
    left = room.bytes, room.files
    waiting = [folder]
    try:
        while waiting and not stop():
            for entry in _entries(waiting.pop()):
                room.look()
                room.take(entry.stat().st_size if entry.is_file(follow_symlinks=False) else 0)
                if entry.is_dir(follow_symlinks=False) and entry.name not in _LEFT_OUT:
                    if os.path.ismount(entry.path):
                        raise _TooMuch
                    waiting.append(Path(entry.path))
    except (OSError, _TooMuch):
        room.bytes, room.files = left
        return False
    return True


def _copy_folder(folder: Path, copy: Path, made: Path, room: _Room, stop: Stop) -> None:
    copy.mkdir()
    waiting = [folder]
    while waiting and not stop():
        place = waiting.pop()
        for entry in _entries(place):
            instead = copy / Path(entry.path).relative_to(folder)
            if entry.is_symlink():
                _link(Path(entry.path), instead, folder, copy)
            elif entry.is_dir():
                if entry.name not in _LEFT_OUT and not made.is_relative_to(entry.path):
                    # Its own rights might keep it from being deleted.
                    instead.mkdir()
                    waiting.append(Path(entry.path))
            elif entry.is_file():
                # Neither a socket nor a pipe can be copied.
                with suppress(FileNotFoundError):
                    room.take(entry.stat().st_size)
                try:
                    shutil.copy2(entry.path, instead)
                except OSError as error:
                    # What nobody may read, the notebook cannot read either.
                    if error.errno in (errno.ENOSPC, errno.EDQUOT):
                        raise


def _entries(place: Path) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(place) as found:
        yield from found


def _link(link: Path, instead: Path, folder: Path, copy: Path) -> None:
    """A link leads to the copy of what it led to, or out of the folder to the person's own."""
    target = link.resolve() if link.exists() else Path(os.path.abspath(link.parent / os.readlink(link)))
    os.symlink(copy / target.relative_to(folder) if target.is_relative_to(folder) else target, instead)
