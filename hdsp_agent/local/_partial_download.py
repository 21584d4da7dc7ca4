"""The beginning of a file that is being fetched. Whichever source its bytes came from, the next one goes on after them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ._weights_folder import size_of, storage_error

__all__ = ["PartialDownload", "Progress", "Report", "SourceFailed", "SourceKind"]

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
        self.size = 0
        """How many bytes are there."""
        self._report = report

    async def look(self) -> None:
        """See what an earlier try left."""
        self.size = await asyncio.to_thread(size_of, self.path)
        if self.size > self.total:
            await self.empty()

    async def empty(self) -> None:
        """Begin from nothing."""
        await asyncio.to_thread(self.path.unlink, missing_ok=True)
        self.size = 0

    async def take(self, chunks: AsyncIterator[bytes], source: SourceKind) -> None:
        """Append these bytes, which are to be all that is missing. Raises SourceFailed."""
        async for chunk in chunks:
            if self.size + len(chunk) > self.total:
                raise SourceFailed("it sent more than the size of the file")
            writing = asyncio.ensure_future(asyncio.to_thread(self._write, chunk))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                # A thread cannot be stopped, and whoever goes on must not meet it at work.
                await asyncio.wait([writing])
                raise
            self.size += len(chunk)
            self.tell(source)
        if self.size != self.total:
            raise SourceFailed("it sent less than the size of the file")

    def tell(self, source: SourceKind, beyond: int = 0) -> None:
        """Report how far it is; ``beyond`` bytes have come and are not written yet."""
        self._report(Progress(source, min(self.total, self.size + beyond), self.total))

    def _write(self, data: bytes) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(data)
        except OSError as error:
            raise storage_error(self.path, "write", error) from None
