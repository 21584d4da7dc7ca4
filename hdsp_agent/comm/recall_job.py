"""Bringing the index of recall in line with what there is: soon after the start, then every hour."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final

from ..errors import HdspAgentError
from ._owner import Owner

if TYPE_CHECKING:
    from ..agent.recall import PastSearch
    from ._bad_input_log import Log

__all__ = ["RecallJob"]

_FIRST_AFTER_SECONDS: Final = 30.0
"""A server that starts has better things to do."""
_EVERY_SECONDS: Final = 3600.0


class RecallJob:
    """Runs from ``start`` to ``stop``. What is said meanwhile is put in by whoever searches."""

    def __init__(
        self,
        past: PastSearch,
        ready: Callable[[], Awaitable[object]],
        persons: Callable[[], Iterable[Owner]],
        *,
        log: Log | None = None,
        first_after_seconds: float = _FIRST_AFTER_SECONDS,
    ) -> None:
        self._past = past
        self._ready = ready
        self._persons = persons
        self._log = log or logging.getLogger(__name__)
        self._first_after_seconds = first_after_seconds
        self._rounds: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin the rounds."""
        self._rounds = asyncio.create_task(self._go_round(), name="hdsp-agent recall")

    async def stop(self) -> None:
        """End the rounds; the next start goes on from where it was."""
        if self._rounds is not None:
            self._rounds.cancel()
            await asyncio.gather(self._rounds, return_exceptions=True)

    async def look(self) -> None:
        """One round now."""
        await self._ready()
        for owner in self._persons():
            await self._past.feed.catch_up(owner)

    async def _go_round(self) -> None:
        wait = self._first_after_seconds
        while True:
            await asyncio.sleep(wait)
            wait = _EVERY_SECONDS
            try:
                await self.look()
            except HdspAgentError as error:
                self._log.warning(
                    "Older conversations cannot be searched completely, it is tried again later: %s", error
                )
            except Exception:  # noqa: BLE001 -- held in a task nobody awaits, all later rounds would end unseen
                self._log.exception("Older conversations cannot be searched completely, it is tried again later")
