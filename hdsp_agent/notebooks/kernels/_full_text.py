"""The whole text of an output that is too long to show, in a temporary file of bounded size."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from typing import IO, Final

__all__ = ["FullText"]

_log = logging.getLogger(__name__)

_WRITTEN_AT_ONCE: Final = 256 * 1024
_MOST_WAITING: Final = 16 * 1024 * 1024
"""Text that comes faster than the disk takes it is counted and left out."""


class FullText:
    """Takes text without blocking; a thread writes it. Sizes are counted in characters until they are written."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: list[str] = []
        self._waiting_size = 0
        self._taken = 0
        self._file: IO[bytes] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._start_over = False
        self._failed = False
        self.begun = False
        self.left_out = 0
        """Characters beyond what may be kept."""

    def begin(self, text: str) -> None:
        """From now on everything is kept; ``text`` is what there was before."""
        self.begun = True
        self.add(text)

    def add(self, text: str) -> None:
        """Keep this, too."""
        room = min(self._most - self._taken, _MOST_WAITING - self._waiting_size)
        if self._failed or room <= 0:
            self.left_out += len(text)
            return
        self.left_out += max(0, len(text) - room)
        text = text[:room]
        self._taken += len(text)
        self._waiting.append(text)
        self._waiting_size += len(text)
        if self._waiting_size >= _WRITTEN_AT_ONCE and (self._writing is None or self._writing.done()):
            self._writing = asyncio.ensure_future(self._write_waiting())

    def restart(self) -> None:
        """Forget everything: the outputs were cleared."""
        self._waiting.clear()
        self._waiting_size = self._taken = self.left_out = 0
        self._start_over = self._file is not None
        self.begun = False

    async def read(self) -> bytes:
        """All that was kept."""
        await self._settle()
        return await asyncio.to_thread(self._read)

    async def close(self) -> None:
        """Give the file back."""
        self._failed = True
        await self._settle()
        if self._file is not None:
            self._file.close()
            self._file = None
        self._waiting.clear()

    async def _settle(self) -> None:
        """Wait until all is written. Whoever stops waiting does not stop the thread, which has the file."""
        while (self._writing is not None and not self._writing.done()) or (self._waiting and not self._failed):
            if self._writing is None or self._writing.done():
                self._writing = asyncio.ensure_future(self._write_waiting())
            await asyncio.wait({self._writing})

    async def _write_waiting(self) -> None:
        while self._waiting:
            text = "".join(self._waiting)
            self._waiting.clear()
            self._waiting_size = 0
            start_over, self._start_over = self._start_over, False
            try:
                await asyncio.to_thread(self._write, text, start_over)
            except OSError as error:
                self._failed = True
                self.left_out += len(text)
                self._waiting.clear()
                _log.warning("The full text of a long output cannot be saved: %s", error)

    def _write(self, text: str, start_over: bool) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="hdsp-output-")  # noqa: SIM115 -- outlives this call
        if start_over:
            self._file.seek(0)
            self._file.truncate()
        self._file.write(text.encode("utf-8", "replace"))

    def _read(self) -> bytes:
        if self._file is None:
            return b""
        self._file.flush()
        self._file.seek(0)
        return self._file.read()
