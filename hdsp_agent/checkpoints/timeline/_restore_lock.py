"""One restore of several parts at a time in a workspace, whichever server does it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..._private_files import make_private_folder, storage_error
from ...errors import Conflict

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["RestoreLock"]

_NAME: Final = "restoring.lock"
_MOMENT_SECONDS: Final = 0.5
"""Who only looks whether it is taken has it for less."""


class RestoreLock:
    """A lock in the store's folder. While it is held, a restore that has begun is not one that was cut short."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Hold it; Conflict if somebody does."""
        lock = await asyncio.to_thread(self._take, _MOMENT_SECONDS)
        if lock is None:
            raise Conflict(
                "Something else is being restored in this workspace. Wait until it is done, then try again.",
                why="restoring_elsewhere",
            )
        try:
            yield
        finally:
            await asyncio.to_thread(lock.release)

    def is_taken(self) -> bool:
        """Whether somebody holds it. Blocks."""
        lock = self._take(0)
        if lock is None:
            return True
        lock.release()
        return False

    def _take(self, seconds: float) -> BaseFileLock | None:
        import filelock  # 20 ms, and only restores need it

        make_private_folder(self._folder)
        # It is given back in another thread than it is taken in.
        lock = filelock.FileLock(str(self._folder / _NAME), mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=seconds)
        except filelock.Timeout:
            return None
        except OSError as error:
            raise storage_error(self._folder / _NAME, "lock", error) from error
        return lock
