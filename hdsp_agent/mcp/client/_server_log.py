"""What a server wrote beside its answers, and what happened to it: the newest lines, for the settings page."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

from ...config import keys_in_use

__all__ = ["LogLine", "ServerLog"]

_MOST_LINES: Final = 500
_LONGEST_LINE: Final = 1_000
_HIDDEN: Final = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|[^\S ]|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]"
)


@dataclass(frozen=True)
class LogLine:
    """One line."""

    ts: int
    """In milliseconds."""
    origin: Literal["server", "agent"]
    """Who wrote it: the server, or we about it."""
    text: str


class ServerLog:
    """The log of one server."""

    def __init__(self) -> None:
        self._lines: deque[LogLine] = deque(maxlen=_MOST_LINES)
        self._added = 0

    @property
    def lines(self) -> list[LogLine]:
        """The newest lines, oldest first."""
        return list(self._lines)

    @property
    def dropped(self) -> int:
        """How many older ones are gone."""
        return self._added - len(self._lines)

    @property
    def last(self) -> str | None:
        """What the server itself wrote last."""
        return next((line.text for line in reversed(self._lines) if line.origin == "server"), None)

    def server(self, text: str) -> None:
        """Something the server wrote."""
        self._add("server", text)

    def agent(self, text: str) -> None:
        """Something that is to be said about it."""
        self._add("agent", text)

    def _add(self, origin: Literal["server", "agent"], text: str) -> None:
        # Masked whole: half a key at the cut would not be known as one.
        plain = _HIDDEN.sub("", keys_in_use.mask(text[: 4 * _LONGEST_LINE])).strip()
        if not plain:
            return
        self._added += 1
        cut = plain if len(plain) <= _LONGEST_LINE else f"{plain[:_LONGEST_LINE]}…"
        self._lines.append(LogLine(int(time.time() * 1000), origin, cut))
