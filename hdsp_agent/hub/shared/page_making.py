"""Making the page of a shared conversation: once, when it is shared, and by a process that can be ended."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path
from typing import Final

from ...errors import InvalidInput
from . import _page_worker
from .links import PageContent

__all__ = ["PageMaker"]

_WORKER: Final = str(Path(_page_worker.__file__))
_AT_ONCE: Final = 1
_SECONDS: Final = 60.0


class PageMaker:
    """One page at a time, so that the rest of the service has the machine."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def make(self, conversation: bytes) -> PageContent:
        """The page of a conversation in JSON. Raises InvalidInput if it takes too long or cannot be read."""
        async with self._free:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", _WORKER, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
            talk = asyncio.ensure_future(process.communicate(conversation))
            try:
                done, _ = await asyncio.wait([talk], timeout=self._seconds)
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                # What it wrote must be read, or it stays a zombie.
                page, _ = await asyncio.shield(talk)
        if not done:
            raise InvalidInput(
                "This conversation takes too long to make a page of. Export it instead.", why="too_long_to_share"
            )
        if process.returncode != 0:
            raise InvalidInput("No page can be made of this conversation. Export it instead.", why="too_long_to_share")
        return await asyncio.to_thread(PageContent.model_validate_json, page)
