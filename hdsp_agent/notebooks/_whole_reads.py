"""Reading a file that others save without renaming: never a half-written state.

Jupyter copies NAME to ``.~NAME``, empties NAME and writes it anew, so whoever reads meanwhile gets nothing or a part.
The rule, measured in torn reads of a 4 MB notebook: no ``.~NAME`` before and after, and the file's stat unchanged
(0 of 1653; the stat alone 14 in a hundred). A ``.~NAME`` that a crashed save left behind must not keep the file from
being read for ever: when nothing has moved for a while, what is there is read, and must be whole by itself.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from ..errors import HdspAgentError, InvalidInput, Unavailable

__all__ = ["SavedState", "read_whole", "saved_state"]

R = TypeVar("R")
T = TypeVar("T")

_PAUSE_SECONDS: Final = 0.02
_QUIET_SECONDS: Final = 2.0
_LONGEST_WAIT_SECONDS: Final = 10.0
_SECOND_LOOK_SECONDS: Final = 0.5


class _Stamp(NamedTuple):
    modified: int
    changed: int
    size: int
    inode: int


class SavedState(NamedTuple):
    """What tells whether a file is being saved, or was saved since."""

    file: _Stamp | None
    copy: _Stamp | None
    """Of ``.~NAME``, which is there while Jupyter saves."""


def saved_state(file: Path) -> SavedState:
    """How the file and its copy are now."""
    # Jupyter follows a link one step and puts the copy beside what it leads to.
    target = file.parent / os.readlink(file) if file.is_symlink() else file
    return SavedState(_stamp(target), _stamp(target.with_name(".~" + target.name)))


async def read_whole(
    read: Callable[[int], Awaitable[T]], parse: Callable[[T], Awaitable[R]], file: Path | None, path: str
) -> R:
    """What ``parse`` makes of what ``read`` returns when the file, if it is one, was whole meanwhile.

    ``read`` is told the file's size, or 0 where nobody knows.
    Invalid content counts only when it comes again while nothing moves: a part of a notebook is no valid one.
    ``path`` is what to call the file in errors.
    """
    if file is None:
        return await parse(await read(0))
    watch = _Watch(file)
    while True:
        before = await watch.look()
        if before.copy is None or watch.quiet >= _QUIET_SECONDS:
            try:
                content = await read(before.file.size if before.file else 0)
                if await watch.look() == before:
                    return await parse(content)
            except HdspAgentError as error:
                if await watch.look() == before and watch.is_final(error):
                    raise
        if watch.waited > _LONGEST_WAIT_SECONDS:
            raise Unavailable(
                f"{path} is being saved by something else, which does not come to an end. Nothing was read or changed. "
                f"If no program saves it, a broken save left “.~{file.name}” beside it: look at both files, and delete "
                "that one.",
                path=path,
                why="notebook_changing",
            )
        await asyncio.sleep(_PAUSE_SECONDS)


class _Watch:
    """Looks at a file again and again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._began = self._moved = time.monotonic()
        self._last: SavedState | None = None
        self._failures = 0

    @property
    def waited(self) -> float:
        """For how many seconds it has been looked at."""
        return time.monotonic() - self._began

    @property
    def quiet(self) -> float:
        """For how many seconds nothing has moved."""
        return time.monotonic() - self._moved

    async def look(self) -> SavedState:
        """How the file is now."""
        state = await asyncio.to_thread(saved_state, self._file)
        if state != self._last:
            self._last, self._moved, self._failures = state, time.monotonic(), 0
        return state

    def is_final(self, error: HdspAgentError) -> bool:
        """Whether an error is not because somebody saves: not of content, or once more while nothing moves."""
        if self._last is not None and self._last.copy is not None:
            return False
        self._failures += 1
        return not isinstance(error, InvalidInput) or (self._failures > 1 and self.quiet >= _SECOND_LOOK_SECONDS)


def _stamp(file: Path) -> _Stamp | None:
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return _Stamp(stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)
