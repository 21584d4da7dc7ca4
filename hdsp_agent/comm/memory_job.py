"""What is learned from finished conversations, in the background: once soon after the start, then every hour."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final, Literal

from .._iso_time import iso_time
from ..errors import HdspAgentError
from ..events import MemoryEvent
from ..memory.no_model import NoModel, no_model_text
from ..wire import WireModel
from ._owner import Owner
from ._rounds import Rounds, Times

if TYPE_CHECKING:
    from ..memory.pipeline import MemoryPipeline, RoundReport
    from ._bad_input_log import Log

__all__ = ["LearningRound", "MemoryJob"]

_TIMES: Final = Times(first_after_seconds=90.0, every_seconds=3600.0)


class LearningRound(WireModel):
    """How a round of learning ended."""

    ended_at: str
    outcome: Literal["learned", "nothing", "waiting", "unusable", "failed"]
    """``waiting``: there is something to do, but the day's limit is reached or a conversation needs the model.
    ``unusable``: no model could learn."""
    conversations: int = 0
    """From how many something was learned."""
    error: str | None = None
    """Why it failed, or why no model could learn."""
    no_model: NoModel | None = None
    """Why no model could learn."""


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
        self.on_round: Callable[[Owner], None] = lambda owner: None
        """Hears whose round ended."""
        self._ready = ready
        self._persons = persons
        self._is_on = is_on
        self._log = log or logging.getLogger(__name__)
        self._rounds = Rounds("memory", self.look, _TIMES, failure="Memory: learning failed", log=self._log)
        self._asked: dict[Owner, asyncio.Task[RoundReport]] = {}
        self._ended: dict[Owner, LearningRound] = {}
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

    def last_round(self, owner: Owner) -> LearningRound | None:
        """How the last round since the server's start ended for a person."""
        return self._ended.get(owner)

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
        try:
            report = await self._round_of(owner, is_asked_for=is_asked_for)
        except Exception as error:
            reason = error.message if isinstance(error, HdspAgentError) else type(error).__name__
            self._note(owner, LearningRound(ended_at=iso_time(), outcome="failed", error=reason))
            raise
        self._note(owner, _ended(report))
        return report

    async def _round_of(self, owner: Owner, *, is_asked_for: bool) -> RoundReport:
        await self._ready()
        pipeline = await self.pipeline()
        async with self._turn:
            report = await pipeline.round(owner, is_asked_for=is_asked_for)
        if report.saved or report.failed or report.consolidation == "done":
            self._log.info(
                "Memory: learned from %s conversations, %s had nothing to learn, %s failed; consolidation: %s",
                report.saved, report.nothing, report.failed, report.consolidation,
            )  # fmt: skip
        return report

    def _note(self, owner: Owner, ended: LearningRound) -> None:
        self._ended[owner] = ended
        self.on_round(owner)


def _ended(report: RoundReport) -> LearningRound:
    at = iso_time()
    if report.unusable is not None:
        why = report.unusable
        return LearningRound(ended_at=at, outcome="unusable", error=no_model_text(why), no_model=why)
    if report.saved or report.consolidation == "done":
        return LearningRound(ended_at=at, outcome="learned", conversations=report.saved)
    if report.failed or report.consolidation == "failed":
        return LearningRound(ended_at=at, outcome="failed", error=report.error)
    if report.put_off or report.consolidation == "put_off":
        return LearningRound(ended_at=at, outcome="waiting")
    return LearningRound(ended_at=at, outcome="nothing")
