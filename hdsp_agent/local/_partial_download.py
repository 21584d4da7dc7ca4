"""The beginning of a file that is being fetched. Whichever source its bytes came from, the next one goes on after them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ._weights_folder import storage_error

__all__ = ["PartialDownload", "Progress", "Report", "SourceFailed", "SourceKind"]

_WRITE_BYTES: Final = 1024 * 1024

SourceKind = Literal["file", "disk", "hub", "packages", "check"]
"""Where the bytes come from; ``check`` while they are looked over."""


@dataclass(frozen=True)
class Progress:
    """How far the getting is."""

    source: SourceKind
    done: int
    total: int


Report = Callable[[Progress], None]


class SourceFailed(Exception):
    """A source does not have the model, or broke off. What it gave is kept, and the next one is tried."""


class PartialDownload:
    """What is there of a file of ``total`` bytes."""

    def __init__(self, path: Path, total: int, report: Report) -> None:
        self.path = path
        self.total = total
        self._report = report
        self._size = 0

    @property
    def size(self) -> int:
        """How many bytes are there."""
        return self._size

    async def look(self) -> None:
        """See what an earlier try left."""
        self._size = await asyncio.to_thread(self._looked)

    async def empty(self) -> None:
        """Begin from nothing."""
        await asyncio.to_thread(self._cut, 0)
        self._size = 0

    async def take(self, chunks: AsyncIterator[bytes], source: SourceKind) -> None:
        """Append these bytes, and no more than the file has."""
        waiting = bytearray()
        try:
            async for chunk in chunks:
                if self._size + len(waiting) + len(chunk) > self.total:
                    raise SourceFailed("it sent more than the size of the file")
                waiting += chunk
                if len(waiting) >= _WRITE_BYTES:
                    data, waiting = bytes(waiting), bytearray()
                    await self._append(data, source)
        finally:
            # Also what came last before a cut need not come again.
            await self._append(bytes(waiting), source)

    def tell(self, source: SourceKind, beyond: int = 0) -> None:
        """Report how far it is; ``beyond`` bytes have come and are not written yet."""
        self._report(Progress(source, min(self.total, self._size + beyond), self.total))

    async def _append(self, data: bytes, source: SourceKind) -> None:
        if data:
            writing = asyncio.ensure_future(asyncio.to_thread(self._write, data))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                # A thread cannot be stopped, and whoever goes on must not meet it at work.
                await asyncio.wait([writing])
                raise
            self._size += len(data)
        self.tell(source)

    def _looked(self) -> int:
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise storage_error(self.path, "read", error) from None
        if size > self.total:
            self._cut(0)
            return 0
        return size

    def _write(self, data: bytes) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(data)
        except OSError as error:
            raise storage_error(self.path, "write", error) from None

    def _cut(self, size: int) -> None:
        try:
            with self.path.open("ab") as file:
                file.truncate(size)
        except OSError as error:
            raise storage_error(self.path, "write", error) from None
