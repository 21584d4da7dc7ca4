"""Log lines about what a tab did wrong: enough to find the cause, not enough to fill the disk."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    Log: TypeAlias = logging.Logger | logging.LoggerAdapter[logging.Logger]

__all__ = ["BadInputLog"]

_BURST = 5
_SECONDS_PER_LINE = 10.0
_LONGEST_REASON = 300


class BadInputLog:
    """Writes the first few complaints about one tab, then one line every ten seconds with the number left out."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._left = float(_BURST)
        self._unsaid = 0
        self._filled_at = monotonic()

    def add(self, client_id: str, code: str, reason: str) -> None:
        """Log why a frame of this tab was refused, or count it."""
        now = monotonic()
        self._left = min(_BURST, self._left + (now - self._filled_at) / _SECONDS_PER_LINE)
        self._filled_at = now
        if self._left < 1:
            self._unsaid += 1
            return
        self._left -= 1
        self.summarise(client_id)
        # %r: what a page sends must not forge lines of the log.
        self._log.warning("Refused a frame of tab %r: %s, %r", client_id, code, reason[:_LONGEST_REASON])

    def summarise(self, client_id: str) -> None:
        """Log how many complaints were left out since the last line."""
        if self._unsaid:
            self._log.warning("Refused %d more frames of tab %r", self._unsaid, client_id)
            self._unsaid = 0
