"""Damaged lines are told of once, on the event loop, whichever thread met them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from ..append_log.corrupt_lines import Damage
from ..messages import TaskId
from ._records import Stream

__all__ = ["DamageNotice", "DamageReports"]

_MAX_REPORTED: Final = 10_000


@dataclass(frozen=True)
class DamageNotice:
    """A line of a task's log that could not be read; its bytes are kept, and everything else was read."""

    task_id: TaskId
    stream: Stream
    damage: Damage
    offset: int
    size: int


class DamageReports:
    """Hands each notice to ``listener``; nobody hears of any before ``start``."""

    def __init__(self, listener: Callable[[DamageNotice], None] | None) -> None:
        self._listener = listener
        self._reported: set[DamageNotice] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Tell on the loop that runs now."""
        self._loop = asyncio.get_running_loop()

    def tell(self, notice: DamageNotice) -> None:
        """From any thread."""
        loop = self._loop
        if loop is None or self._listener is None:
            return
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._report, notice)

    def _report(self, notice: DamageNotice) -> None:
        if self._listener is not None and notice not in self._reported and len(self._reported) < _MAX_REPORTED:
            self._reported.add(notice)
            self._listener(notice)
