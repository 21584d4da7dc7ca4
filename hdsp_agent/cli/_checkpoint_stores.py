"""The checkpoints of the workspace somebody stands in, opened for as long as a command needs them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotFound
from ._storage_settings import storage_settings

if TYPE_CHECKING:
    from ..checkpoints import AsyncFileCheckpoints
    from ._terminal import Terminal

__all__ = ["checkpoints_of"]


@asynccontextmanager
async def checkpoints_of(
    terminal: Terminal, workspace: Path | None, *, may_begin: bool = False
) -> AsyncIterator[AsyncFileCheckpoints]:
    """The checkpoints of a folder, or of the nearest one above that has some; ``may_begin`` if these are the first."""
    from ..checkpoints import AsyncFileCheckpoints, FileLimits, workspace_with_checkpoints

    given = _absolute(workspace or Path())
    store_dir = terminal.home / "checkpoints"
    found = await asyncio.to_thread(workspace_with_checkpoints, given, store_dir)
    if found is None and not may_begin:
        raise NotFound(
            f"There are no checkpoints of {given} or a folder above it. Choose another with --workspace FOLDER, or make "
            "the first with hdsp-agent checkpoint save.",
            path=str(given),
        )
    settings = await asyncio.to_thread(storage_settings, terminal.home)
    checkpoints = AsyncFileCheckpoints(found or given, store_dir, FileLimits.of(settings, terminal.home))
    if found is not None and found != given:
        terminal.note(f"The workspace is {found}")
    try:
        yield checkpoints
    finally:
        await checkpoints.close()


def _absolute(folder: Path) -> Path:
    return folder.expanduser().absolute()
