"""What is learned from finished conversations, in the background: once soon after the start, then every hour."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final

from ..events import MemoryEvent
from ._owner import Owner
from ._rounds import Rounds, Times

if TYPE_CHECKING:
    from ..memory.pipeline import MemoryPipeline, RoundReport
    from ._bad_input_log import Log

__all__ = ["MemoryJob"]

_TIMES: Final = Times(first_after_seconds=90.0, every_seconds=3600.0)


class MemoryJob:
    """Runs from ``start`` to ``stop``. ``persons`` are those whose conversations are looked at."""

    def __init__(
        self,
        make_pipeline: Callable[[], Awaitable[MemoryPipeline]],
        ready: Callable[[], Awaitable[object]],
        persons: Callable[[], Iterable[Owner]],
        *,
        is_on: Callable[[], bool],
        log: Log | None = None,
    ) -> None:
        self._make_pipeline = make_pipeline
        self._pipeline: MemoryPipeline | None = None
        self.on_run: Callable[[MemoryEvent], None] = lambda event: None
        """Hears of each extraction and consolidation that ended."""
        self._ready = ready
        self._persons = persons
        self._is_on = is_on
        self._log = log or logging.getLogger(__name__)
        self._rounds = Rounds(
            "memory", self.look, _TIMES, failure="Memory: nothing could be learned now", log=self._log
        )
        self._asked: dict[Owner, asyncio.Task[RoundReport]] = {}
        self._turn = asyncio.Lock()
        self._making = asyncio.Lock()

    def start(self) -> None:
        """Begin the rounds."""
        self._rounds.start()

    async def stop(self) -> None:
        """End the rounds; what is under way is given back for the next server to do."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(self._rounds.stop(), *self._asked.values(), return_exceptions=True)

    async def pipeline(self) -> MemoryPipeline:
        """What does the work."""
        async with self._making:
            if self._pipeline is None:
                self._pipeline = await self._make_pipeline()
                self._pipeline.on_run = self._ran
            return self._pipeline

    def _ran(self, event: MemoryEvent) -> None:
        self.on_run(event)

    def is_running(self, owner: Owner) -> bool:
        """Whether somebody asked for a round that is under way."""
        task = self._asked.get(owner)
        return task is not None and not task.done()

    def run_now(self, owner: Owner) -> asyncio.Task[RoundReport]:
        """Begin a round for one person, or join the one that they asked for."""
        if not self.is_running(owner):
            self._asked[owner] = asyncio.create_task(
                self._round(owner, is_asked_for=True), name="hdsp-agent memory now"
            )
        return self._asked[owner]

    async def look(self) -> None:
        """One round for everybody now."""
        if self._is_on():
            for owner in self._persons():
                await self._round(owner, is_asked_for=False)

    async def _round(self, owner: Owner, *, is_asked_for: bool) -> RoundReport:
        await self._ready()
        pipeline = await self.pipeline()
        async with self._turn:
            report = await pipeline.round(owner, is_asked_for=is_asked_for)
        if report.saved or report.failed or report.consolidation == "done":
            self._log.info(
                "Memory: learned from %s conversations, %s taught nothing, %s failed; consolidation: %s",
                report.saved, report.nothing, report.failed, report.consolidation,
            )  # fmt: skip
        return report
