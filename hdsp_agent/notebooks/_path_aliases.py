"""Several names of one file: links lead to it, and some file systems take no notice of upper and lower case."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["PathAliases"]

_Identity = tuple[int, int] | str


class PathAliases:
    """Tells which paths in the contents API mean one file. Where they are no files of this machine, none but equal ones."""

    def __init__(self, root: Callable[[], Path | None]) -> None:
        self._root = root

    async def of(self, path: str, among: Iterable[str]) -> list[str]:
        """The path, and those of the others that mean the same file as it does now."""
        root, others = self._root(), sorted(set(among) - {path})
        if root is None or not others:
            return [path]
        return await asyncio.to_thread(_of, root, path, others)

    async def target(self, path: str) -> str:
        """Where the links of a path lead. It stays when somebody puts another file in the place of the one there is."""
        root = self._root()
        return path if root is None else await asyncio.to_thread(_target, root / path)


def _of(root: Path, path: str, others: list[str]) -> list[str]:
    wanted = _identity(root / path)
    return [path, *(other for other in others if _identity(root / other) == wanted)]


def _identity(file: Path) -> _Identity:
    try:
        found = os.stat(file)
    except OSError:
        found = None
    if found is not None and found.st_ino:
        return found.st_dev, found.st_ino
    # Nothing is there, or the file system counts no files: what is left is where the links lead.
    return _target(file)


def _target(file: Path) -> str:
    return os.path.normcase(os.path.realpath(file))
