"""What a request brings along, taken in piece by piece.

Jupyter's own limit is half a gigabyte, and anybody may send that much before it is known who asks.
"""

from __future__ import annotations

from typing import Final

from ..errors import FrameTooLarge

__all__ = ["RequestBody"]

_MOST_PARTS: Final = 20_000
"""Lists, objects and names: Python stands still while they are made, and again while it looks for what can go."""


class RequestBody:
    """At most so many bytes are kept; what is more is dropped and told when the whole is asked for."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._is_too_large = False

    def add(self, chunk: bytes) -> None:
        """Keep the next piece, or nothing once it is too much."""
        if len(self._kept) + len(chunk) > self._limit:
            self._is_too_large = True
            self._kept.clear()
        elif not self._is_too_large:
            self._kept += chunk

    def whole(self) -> bytes:
        """All of it, which is JSON. Raises FrameTooLarge."""
        if self._is_too_large:
            raise FrameTooLarge(f"The request's body is larger than {self._limit} bytes.", limit=self._limit)
        body = bytes(self._kept)
        if sum(map(body.count, (b"[", b"{", b'":'))) > _MOST_PARTS:
            raise FrameTooLarge(f"The request's body has more than {_MOST_PARTS:,} parts.", limit=_MOST_PARTS)
        return body
