"""A copy of the folder that a notebook is in: what runs there changes nothing of the person's."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from .._threads import Stop
from ..errors import InvalidInput, Unavailable

__all__ = ["copied"]

_LEFT_OUT: Final = frozenset(
    {".git", ".hg", ".svn", ".ipynb_checkpoints", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache", ".tox"}
)
_MOST_BYTES: Final = 2_000_000_000
_MOST_FILES: Final = 50_000
_MOST_SIBLINGS: Final = 1_000


@asynccontextmanager
async def copied(folder: Path) -> AsyncIterator[Path]:
    """The copy, which is gone in the end. Raises InvalidInput for a folder that is too large.

    What stands beside the folder is linked to, so that relative paths out of it lead to the person's own files.
    """
    try:
        made = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="hdsp-agent-verify-"))
    except OSError as error:
        raise Unavailable(f"The folder cannot be copied: {error.strerror}.", why="not_copied") from None
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
            raise Unavailable(f"The folder cannot be copied: {error.strerror}.", why="not_copied") from None
        yield copy
    finally:
        await asyncio.shield(remove())


def _copy(folder: Path, made: Path, stop: Stop) -> Path:
    folder = folder.resolve()
    copy = made / (folder.name or "root")
    copy.mkdir()
    with suppress(OSError):
        for sibling in list(folder.parent.iterdir())[:_MOST_SIBLINGS]:
            if sibling != folder and sibling != made:
                os.symlink(sibling, made / sibling.name)
    size = count = 0
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
                    size += entry.stat().st_size
                count += 1
                if size > _MOST_BYTES or count > _MOST_FILES:
                    raise InvalidInput(
                        f"{folder} holds more than {_MOST_BYTES // 10**9} GB or {_MOST_FILES:,} files, too much to copy.",
                        why="too_much_to_copy",
                    )
                with suppress(OSError):
                    # What nobody may read, the notebook cannot read either.
                    shutil.copy2(entry.path, instead)
    return copy


def _entries(place: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place) as found:
            return list(found)
    except OSError:
        return []


def _link(link: Path, instead: Path, folder: Path, copy: Path) -> None:
    """A link leads to the copy of what it led to, or out of the folder to the person's own."""
    target = link.resolve() if link.exists() else Path(os.path.abspath(link.parent / os.readlink(link)))
    os.symlink(copy / target.relative_to(folder) if target.is_relative_to(folder) else target, instead)
