"""Bringing the index of recall in line with what there is: soon after the start, then every hour."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final

from ._owner import Owner
from ._rounds import Rounds, Times

if TYPE_CHECKING:
    from ..agent.recall import PastSearch
    from ._bad_input_log import Log

__all__ = ["RecallJob"]

_TIMES: Final = Times(first_after_seconds=30.0, every_seconds=3600.0)


class RecallJob:
    """Runs from ``start`` to ``stop``. What is said meanwhile is put in by whoever searches."""

    def __init__(
        self,
        past: PastSearch,
        ready: Callable[[], Awaitable[object]],
        persons: Callable[[], Iterable[Owner]],
        *,
        log: Log | None = None,
    ) -> None:
        self._past = past
        self._ready = ready
        self._persons = persons
        self._rounds = Rounds(
            "recall", self.look, _TIMES,
            failure="Older conversations cannot be searched completely", log=log or logging.getLogger(__name__),
        )  # fmt: skip

    def start(self) -> None:
        """Begin the rounds. Who chooses another embedder need not wait an hour for its vectors."""
        self._past.embedder.on_changed = self._rounds.hurry
        self._rounds.start()

    async def stop(self) -> None:
        """End the rounds; the next start goes on from where it was."""
        await self._rounds.stop()

    async def look(self) -> None:
        """One round now."""
        await self._ready()
        for owner in self._persons():
            await self._past.feed.catch_up(owner)
