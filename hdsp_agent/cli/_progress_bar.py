"""How far long work is, on one line of a terminal that is wiped afterwards."""

from __future__ import annotations

import os
import time
from typing import Final, TextIO

from ._columns import cut

__all__ = ["ProgressBar"]

_REDRAW_SECONDS: Final = 0.1
_BAR: Final = 24


class ProgressBar:
    """A ``Progress`` of the library; silent unless ``shown``."""

    def __init__(self, stream: TextIO, *, shown: bool) -> None:
        self._stream = stream
        self._shown = shown
        self._drawn_at = float("-inf")
        self._is_drawn = False

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Draw it, unless it was drawn just now."""
        now = time.monotonic()
        if not self._shown or now - self._drawn_at < _REDRAW_SECONDS:
            return
        self._drawn_at = now
        text = cut(_text(what, done, total), self._columns() - 1)
        self._stream.write(f"\r\x1b[2K{text}")
        self._stream.flush()
        self._is_drawn = True

    def clear(self) -> None:
        """Wipe it, so that something else can be written."""
        if self._is_drawn:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._is_drawn = False

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except OSError:
            return 80


def _text(what: str, done: int, total: int | None) -> str:
    if not total:
        return f"{what} {done:,}"
    part = min(1.0, done / total)
    filled = round(part * _BAR)
    return f"{what} [{'#' * filled}{'.' * (_BAR - filled)}] {part:4.0%} {done:,} of {total:,}"
