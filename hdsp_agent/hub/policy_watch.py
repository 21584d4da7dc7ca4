"""The policies in force: read again when their file changes. One with mistakes changes nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .policy_file import LoadedPolicies, PolicyFileError, PolicyProblem, load_policies

__all__ = ["PolicyWatch"]

logger = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 2.0

_Stamp = tuple[tuple[int, int, int] | None, ...]


class PolicyWatch:
    """One file of policies."""

    def __init__(self, path: Path, changed: Callable[[bool], None]) -> None:
        self._path = path
        self._changed = changed
        self._loaded: LoadedPolicies | None = None
        self._stamp: _Stamp = ()
        self._told: tuple[PolicyProblem, ...] = ()
        """What was wrong at the last look."""
        self._watching: asyncio.Task[None] | None = None

    @property
    def now(self) -> LoadedPolicies:
        """The policies in force."""
        assert self._loaded is not None
        return self._loaded

    @property
    def problems(self) -> tuple[PolicyProblem, ...]:
        """What is wrong in the file as it is now, if anything is."""
        return self._told

    async def start(self) -> None:
        """Read the file, and look again at it from now on. Raises PolicyFileError."""
        self._stamp, self._loaded = await asyncio.to_thread(self._read)
        self._changed(True)
        self._watching = asyncio.create_task(self._watch(), name="hdsp-agent hub policies")

    async def stop(self) -> None:
        """Look no more."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])

    async def read_again(self) -> None:
        """Read the file. One with mistakes is told in the log, and those from before stay in force."""
        try:
            self._stamp, self._loaded = await asyncio.to_thread(self._read)
        except PolicyFileError as error:
            # Which files it needs is not known: all are read at each look until they are right.
            self._stamp = ()
            self._changed(False)
            if error.problems != self._told:
                for problem in error.problems:
                    logger.error("%s: %s. The policies from before stay in force.", self._path, problem)
            self._told = error.problems
        else:
            self._told = ()
            self._changed(True)
            logger.warning("The policies in %s are in force.", self._path)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                if await asyncio.to_thread(_stamp_of, self._files()) != self._stamp:
                    await self.read_again()
            except Exception:
                # Whatever it is must not keep later changes from being seen.
                logger.exception("The policies in %s could not be read again", self._path)

    def _read(self) -> tuple[_Stamp, LoadedPolicies]:
        # Before it is read: what changes meanwhile is read again.
        stamp = _stamp_of([self._path])
        loaded = load_policies(self._path)
        return stamp + _stamp_of(self._key_files(loaded)), loaded

    def _files(self) -> list[Path]:
        return [self._path, *self._key_files(self.now)]

    def _key_files(self, loaded: LoadedPolicies) -> list[Path]:
        names = [provider.key_file for provider in loaded.policies.providers.values()]
        return [self._path.parent / Path(name).expanduser() for name in names if name is not None]


def _stamp_of(files: list[Path]) -> _Stamp:
    return tuple(_file_stamp(file) for file in files)


def _file_stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
