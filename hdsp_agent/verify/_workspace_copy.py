"""A copy of the folder that a notebook is in: what runs there changes nothing of the person's."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from ..errors import InvalidInput

__all__ = ["copied"]

_LEFT_OUT: Final = frozenset(
    {".git", ".hg", ".svn", ".ipynb_checkpoints", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache", ".tox"}
)
MOST_BYTES: Final = 2_000_000_000


@asynccontextmanager
async def copied(folder: Path) -> AsyncIterator[Path]:
    """The copy, which is gone in the end. Raises InvalidInput for a folder that is too large."""
    made = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="hdsp-agent-verify-"))
    try:
        yield await asyncio.to_thread(_copy, folder, made)
    finally:
        await asyncio.to_thread(shutil.rmtree, made, ignore_errors=True)


def _copy(folder: Path, made: Path) -> Path:
    size = sum(file.stat(follow_symlinks=False).st_size for file in _files(folder))
    if size > MOST_BYTES:
        raise InvalidInput(
            f"{folder} holds {size / 1e9:.1f} GB, too much to copy. Verify it in place with --in-place: then what the "
            "notebook writes changes your files."
        )
    copy = made / (folder.name or "root")
    shutil.copytree(folder, copy, symlinks=True, ignore=lambda _, names: _LEFT_OUT & set(names))
    return copy


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _LEFT_OUT:
                        waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry
