"""Undoing what a web server did to a body to make it short, as far as there is room for the outcome.

The HTTP client's own way inflates each piece whole: of zeros packed twice, 1.8 kB became 3 GB.
"""

from __future__ import annotations

import zlib
from typing import Final

__all__ = ["ACCEPTED", "BoundedBody", "UnknownEncoding"]

ACCEPTED: Final = "gzip, deflate"
"""For the request's ``Accept-Encoding``."""
_WINDOW: Final[dict[str, int]] = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_RAW_DEFLATE: Final = -15


class UnknownEncoding(ValueError):
    """The body is packed in a way that nobody asked for."""


class BoundedBody:
    """Takes a body piece by piece, and keeps the first bytes of what it stands for."""

    def __init__(self, encoding: str, most: int) -> None:
        names = [name for part in encoding.split(",") if (name := part.strip().lower()) not in {"", "identity"}]
        if len(names) > 1 or any(name not in _WINDOW for name in names):
            raise UnknownEncoding(encoding[:100])
        self._window = _WINDOW[names[0]] if names else None
        self._inflate = zlib.decompressobj(self._window) if self._window is not None else None
        self._most = most
        self._begun = False
        self.data = bytearray()

    @property
    def is_full(self) -> bool:
        """Whether there is more than is kept."""
        return len(self.data) > self._most

    def take(self, piece: bytes) -> None:
        """Take in the next piece. Raises zlib.error for one that is broken. Blocks for a few milliseconds at most."""
        while piece and not self.is_full:
            if self._inflate is None:
                self.data += piece
                return
            piece = self._inflated(self._inflate, piece)

    def _inflated(self, inflate: zlib._Decompress, piece: bytes) -> bytes:
        """Keep what the piece stands for; what is left of it is behind the end of a member, if anything."""
        room = self._most + 1 - len(self.data)
        try:
            self.data += inflate.decompress(piece, room)
        except zlib.error:
            if self._begun or self._window != _WINDOW["deflate"]:
                raise
            # Some servers leave the header out.
            self._window = _RAW_DEFLATE
            self._inflate = zlib.decompressobj(self._window)
            self._begun = True
            return piece
        self._begun = True
        if not inflate.eof:
            return inflate.unconsumed_tail
        if self._window == _WINDOW["gzip"] and inflate.unused_data.startswith(b"\x1f\x8b"):
            self._inflate = zlib.decompressobj(self._window)
            return inflate.unused_data
        return b""
