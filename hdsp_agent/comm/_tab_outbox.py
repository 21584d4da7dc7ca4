"""What is addressed to one tab alone and waits to be written."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

__all__ = ["DirectedMessage", "TabOutbox"]


@dataclass(frozen=True)
class DirectedMessage:
    """A frame for one tab; it must not overtake what all tabs were sent up to ``after``."""

    after: int
    frame: bytes


class TabOutbox:
    """A small bounded queue; whoever wants to add to a full one waits, and so stops asking for more."""

    def __init__(self, *, max_frames: int, max_bytes: int) -> None:
        self._max_frames = max_frames
        self._max_bytes = max_bytes
        self._waiting: deque[DirectedMessage] = deque()
        self._bytes = 0
        self._closed = False
        self._room = asyncio.Event()
        self._room.set()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def has_room(self) -> bool:
        """Whether a frame could be added without waiting."""
        return self._room.is_set()

    async def wait_for_room(self) -> bool:
        """Wait until a frame may be added; False when the outbox has been closed instead."""
        while not self._room.is_set():
            await self._room.wait()
        return not self._closed

    def add(self, directed: DirectedMessage) -> None:
        """Add without asking for room; a closed outbox drops it."""
        if self._closed:
            return
        self._waiting.append(directed)
        self._bytes += len(directed.frame)
        self._note_room()

    def first(self) -> DirectedMessage | None:
        """The one to be written next."""
        return self._waiting[0] if self._waiting else None

    def pop(self) -> DirectedMessage:
        """Take that one out."""
        directed = self._waiting.popleft()
        self._bytes -= len(directed.frame)
        self._note_room()
        return directed

    def close(self) -> None:
        """Drop everything and let go of whoever waits."""
        self._closed = True
        self._waiting.clear()
        self._bytes = 0
        self._room.set()

    def _note_room(self) -> None:
        if self._closed or (len(self._waiting) < self._max_frames and self._bytes < self._max_bytes):
            self._room.set()
        else:
            self._room.clear()
