"""The newest frames for all tabs of one owner, numbered."""

from __future__ import annotations

from uuid import uuid4

__all__ = ["FramesGone", "Ring"]


class FramesGone:
    """The answer when not everything after a place is there any more, or the place never was."""


class Ring:
    """A bounded memory of frames, each with a sequence number that rises by one and is never used again.

    ``epoch`` names this ring's life: numbers of another epoch mean nothing here.
    """

    def __init__(self, *, max_frames: int, max_bytes: int) -> None:
        self.epoch = uuid4().hex
        self._max_frames = max_frames
        self._max_bytes = max_bytes
        # A dict, not a deque: a lagging tab reads from the middle.
        self._frames: dict[int, bytes] = {}
        self._oldest = 1
        self._newest = 0
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def newest(self) -> int:
        """The last number given; 0 before the first."""
        return self._newest

    @property
    def bytes_held(self) -> int:
        """The size of all frames together."""
        return self._bytes

    def append(self, frame: bytes) -> int:
        """Keep ``frame`` as the newest and return its number; the oldest make room.

        The newest frame itself always stays, so that tabs which keep up lose nothing, however large it is.
        """
        self._newest += 1
        self._frames[self._newest] = frame
        self._bytes += len(frame)
        while len(self._frames) > 1 and (len(self._frames) > self._max_frames or self._bytes > self._max_bytes):
            self._bytes -= len(self._frames.pop(self._oldest))
            self._oldest += 1
        return self._newest

    def since(self, seq: int, *, until: int | None = None, max_bytes: int | None = None) -> list[bytes] | FramesGone:
        """The frames after ``seq`` in order, up to ``until``, and no more than fit ``max_bytes`` (but at least one)."""
        if not self._oldest - 1 <= seq <= self._newest:
            return FramesGone()
        end = self._newest if until is None else min(until, self._newest)
        frames: list[bytes] = []
        size = 0
        for number in range(seq + 1, end + 1):
            frame = self._frames[number]
            size += len(frame)
            if frames and max_bytes is not None and size > max_bytes:
                break
            frames.append(frame)
        return frames
