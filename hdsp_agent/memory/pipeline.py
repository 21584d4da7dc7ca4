"""The memory work in the background: learn from finished conversations, then make one memory of it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final, Literal, TypeAlias, TypeVar

from .._iso_time import iso_time
from ..config import GlobalSettings
from ..errors import Conflict, HdspAgentError, UnknownTask
from ..events import MemoryEvent
from ..messages import HistoryItem, TaskId
from ..persistence import HistoryIndex, HistoryQuery, TaskStore
from .consolidation import Consolidation
from .extracted_files import ExtractedFiles
from .extraction import ExtractionFailed, Extractor
from .forgetting import forget_conversations, forget_everything
from .job_table import ClaimRefusal, JobClaim, JobRow, LeaseLost
from .memory_folder import MemoryFolder
from .memory_jobs import MemoryJobs
from .model_port import ConsolidationFailed, Consolidator, MemoryModels, ModelNeededElsewhere
from .no_model import NoModel
from .pipeline_limits import (
    EXTRACTION_CONCURRENCY_LIMIT,
    JOB_HEARTBEAT_SECONDS,
    MAX_CONVERSATION_AGE_DAYS,
    MAX_CONVERSATIONS_PER_ROUND,
    MIN_IDLE_HOURS,
    THREAD_SCAN_LIMIT,
)
from .run_log import MemoryRun, RunCost, RunLog, RunOutcome

__all__ = ["MemoryPipeline", "RoundReport"]

logger = logging.getLogger(__name__)

INTERACTIVE_SOURCES: Final = frozenset({"jupyterlab"})
"""Where people talk with the agent. What programs have it do tells nothing of a person."""
_PAGE: Final = 500
_HOUR: Final = 3_600
_DAY: Final = 24 * _HOUR

R = TypeVar("R")
ConsolidationState: TypeAlias = Literal["done", "failed", "put_off"] | ClaimRefusal


@dataclass
class RoundReport:
    """What one round did."""

    saved: int = 0
    nothing: int = 0
    external: int = 0
    failed: int = 0
    put_off: int = 0
    consolidation: ConsolidationState = "up_to_date"
    used: list[RunCost] = field(default_factory=list)
    error: str | None = None
    """Why something failed, if anything did."""
    unusable: NoModel | None = None
    """Why nothing can be learned: there is no model that could."""

    @property
    def cost(self) -> float:
        """What it took, in US dollars."""
        return sum(used.cost for used in self.used)


class MemoryPipeline:
    """The work for all persons of one home folder. It may be done by several processes at a time."""

    def __init__(
        self,
        jobs: MemoryJobs,
        *,
        store: Callable[[], Awaitable[TaskStore]],
        index: Callable[[], Awaitable[HistoryIndex]],
        folder_of: Callable[[str], MemoryFolder],
        notes_of: Callable[[str], str],
        settings: Callable[[], GlobalSettings],
        models: MemoryModels,
        consolidator: Consolidator,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``notes_of`` gives what a person wants remembered; it may block."""
        self._jobs = jobs
        self._store = store
        self._index = index
        self._folder_of = folder_of
        self._notes_of = notes_of
        self._settings = settings
        self._models = models
        self._consolidator = consolidator
        self.clock = clock
        """What time it is, in seconds."""
        self._known: dict[str, int] = {}
        self._never: set[TaskId] = set()
        self.on_run: Callable[[MemoryEvent], None] = lambda event: None
        """Hears of each run that ended."""

    async def round(self, owner: str, *, is_asked_for: bool = False) -> RoundReport:
        """Do for one person what there is to do now. Raises HdspAgentError where nothing can be kept."""
        report = RoundReport()
        if not self._settings().memory_enabled:
            return report
        report.unusable = self._models.unusable
        if report.unusable is not None:
            return report
        await self._jobs.bring_up_to_date(owner)
        await self._take_in_files(owner)
        budget = None if is_asked_for else await self._budget(owner)
        kept = 0.0 if budget is None else await self._kept_for_consolidation(owner)
        limited = asyncio.Semaphore(EXTRACTION_CONCURRENCY_LIMIT)
        running = 0

        async def extract(item: HistoryItem) -> None:
            nonlocal running
            async with limited:
                # Those that are at work take about as much as the dearest so far.
                dearest = max((used.cost for used in report.used), default=0.0)
                if budget is not None and report.cost + running * dearest >= budget - kept:
                    report.put_off += 1
                    return
                running += 1
                try:
                    await self._extract(owner, item, report, is_wanted_again=item.id in passed_over)
                finally:
                    running -= 1

        # What was passed over for its untrusted content counts once the person wants that too.
        passed_over = await self._passed_over(owner) if self._settings().memory_from_external_content else frozenset()
        items = await self._candidates(owner, passed_over)
        if items and budget is not None:
            # The first one alone: what it takes tells how many may be read at a time.
            await extract(items.pop(0))
        try:
            async with asyncio.TaskGroup() as group:
                for item in items:
                    group.create_task(extract(item))
        except ExceptionGroup as failures:
            # Where one cannot keep what it learned the others cannot either.
            raise failures.exceptions[0] from None
        left = None if budget is None else budget - report.cost
        if left is not None and (left <= 0 or left < kept):
            report.consolidation = await self._put_off(owner, is_asked_for=is_asked_for)
        else:
            await self._consolidate(owner, report, is_asked_for=is_asked_for, most_cost=left)
        return report

    @property
    def unusable(self) -> NoModel | None:
        """Why nothing can be learned with the models there are; None if something can."""
        return self._models.unusable

    async def jobs(self, owner: str) -> list[JobRow]:
        """How the jobs of a person stand, those that ended last first."""
        return await self._jobs.rows(owner)

    async def forget(self, owner: str, task_ids: Sequence[TaskId]) -> None:
        """Conversations are gone: what was learned from them alone goes with them. Raises StorageUnavailable."""
        now = self.clock()
        forget = partial(forget_conversations, task_ids=task_ids, now=now)
        await self._jobs.forget(owner, self._folder_of(owner), task_ids, forget, int(now * 1000))

    async def forget_all(self, owner: str) -> None:
        """Nothing that was learned is left; conversations that were read are not read again. Raises StorageUnavailable."""
        await self._jobs.forget_all(owner, partial(forget_everything, self._folder_of(owner)))

    async def _kept_for_consolidation(self, owner: str) -> float:
        """What the last one took, in US dollars, but no more than half of a day's; 0 where there was none."""
        runs = await asyncio.to_thread(RunLog(self._folder_of(owner)).runs)
        done = (run for run in reversed(runs) if run.kind == "consolidate" and run.outcome == "saved")
        last = next((run.used.cost for run in done if run.used.tokens_in), 0.0)
        return min(last, self._settings().memory_daily_cost / 2)

    async def _budget(self, owner: str) -> float:
        """What may still be spent today, in US dollars."""
        runs = await asyncio.to_thread(RunLog(self._folder_of(owner)).runs)
        since = _iso(self.clock() - _DAY)
        return self._settings().memory_daily_cost - sum(run.used.cost for run in runs if run.ended_at > since)

    # ---- which conversations

    async def _passed_over(self, owner: str) -> frozenset[str]:
        """The conversations that were last left out because strangers' words are in them."""
        ended: dict[str, RunOutcome] = {}
        for run in await asyncio.to_thread(RunLog(self._folder_of(owner)).runs):
            if run.kind == "extract" and run.outcome != "failed":
                ended[run.key] = run.outcome
        return frozenset(key for key, outcome in ended.items() if outcome == "external")

    async def _candidates(self, owner: str, passed_over: frozenset[str]) -> list[HistoryItem]:
        """The finished conversations that were not learned from yet, the newest first."""
        rows, now = await self._jobs.standing(owner)
        jobs = {row.key: row for row in rows if row.kind == "extract"}
        store = await self._store()
        chosen: list[HistoryItem] = []
        async for item in self._finished(owner):
            known = jobs.get(item.id)
            again = item.id in passed_over
            if known is not None and known.refusal(item.ts, now, is_wanted_again=again) is not None:
                continue
            if not await self._may_learn(store, item):
                continue
            chosen.append(item)
            if len(chosen) == MAX_CONVERSATIONS_PER_ROUND:
                break
        return chosen

    async def _finished(self, owner: str) -> AsyncIterator[HistoryItem]:
        """The conversations in which nothing was said for hours, but not for weeks."""
        now = self.clock()
        query = HistoryQuery(
            owner=owner,
            since=int((now - MAX_CONVERSATION_AGE_DAYS * _DAY) * 1000),
            until=int((now - MIN_IDLE_HOURS * _HOUR) * 1000),
            limit=_PAGE,
        )
        index, seen = await self._index(), 0
        while seen < THREAD_SCAN_LIMIT:
            page = await index.search(query)
            for hit in page.hits:
                # A subtask is a part of its conversation, which tells of it.
                if hit.item.parent_task_id is None:
                    yield hit.item
            seen += len(page.hits)
            if page.next is None:
                return
            query = replace(query, cursor=page.next)

    async def _may_learn(self, store: TaskStore, item: HistoryItem) -> bool:
        """Whether nobody works on it, and a person talked there who wants to have it remembered."""
        task_id = TaskId(item.id)
        if task_id in self._never:
            return False
        try:
            await store.check_at_rest(task_id)
            reader = await store.view(task_id)
            metadata = reader.metadata
            state = await reader.read_state()
        except (Conflict, UnknownTask):
            return False
        except HdspAgentError as error:
            logger.debug("Conversation %s was skipped: %s", task_id, error)
            return False
        settings = metadata.config.get("settings")
        is_off = isinstance(settings, dict) and settings.get("memoryEnabled") is False
        if is_off or metadata.task_key.task_source not in INTERACTIVE_SOURCES:
            # That never changes, and need not be read again every hour.
            self._never.add(task_id)
            return False
        used_local_model = bool(state.used_local_model)
        return not item.memory_off and self._models.may_read(item.api_config_name, used_local_model=used_local_model)

    # ---- learning

    async def _take_in_files(self, owner: str) -> None:
        """A table that was made anew knows nothing of what was done; the files do."""
        generation = self._jobs.generation
        if self._known.get(owner) == generation:
            return
        files = ExtractedFiles(self._folder_of(owner))
        known = await asyncio.to_thread(lambda: [(each.task_id, each.source_updated_at) for each in files.all()])
        if known:
            await self._jobs.note_done(owner, known)
        self._known[owner] = generation

    async def _extract(self, owner: str, item: HistoryItem, report: RoundReport, *, is_wanted_again: bool) -> None:
        claim = await self._jobs.claim_extraction(
            item.id,
            owner,
            watermark=item.ts,
            most_running=EXTRACTION_CONCURRENCY_LIMIT,
            is_wanted_again=is_wanted_again,
        )
        if not isinstance(claim, JobClaim):
            return
        began = self.clock()
        folder = self._folder_of(owner)
        extractor = Extractor(
            await self._store(), ExtractedFiles(folder), self._models, partial(self._jobs.write_if_leased, claim)
        )
        try:
            outcome = await extractor.extract(
                item, owner, watermark=item.ts, with_external=self._settings().memory_from_external_content
            )
        except ModelNeededElsewhere:
            report.put_off += 1
            await self._jobs.release(claim)
            return
        except (ExtractionFailed, HdspAgentError) as error:
            report.failed += 1
            report.error = str(error)
            used = error.used if isinstance(error, ExtractionFailed) else RunCost()
            report.used.append(used)
            await self._failed(claim, str(error), used, began, folder)
            return
        except asyncio.CancelledError:
            # Whoever starts next need not wait for the lease.
            await asyncio.shield(self._jobs.release(claim))
            raise
        if outcome.result == "external":
            report.external += 1
        elif outcome.result == "saved":
            report.saved += 1
        else:
            report.nothing += 1
        await self._jobs.succeed(claim, is_news=outcome.changed)
        await self._log_run(folder, claim, began, outcome.result, outcome.used)
        report.used.append(outcome.used)

    async def _failed(self, claim: JobClaim, why: str, used: RunCost, began: float, folder: MemoryFolder) -> None:
        await self._jobs.fail(claim, why)
        logger.warning("Nothing could be learned (%s %s): %s", claim.kind, claim.key, why)
        await self._log_run(folder, claim, began, "failed", used, why)

    async def _broken_off(self, claim: JobClaim, used: RunCost, began: float, folder: MemoryFolder) -> None:
        """Give the job back undone; what it cost counts all the same."""
        await self._jobs.release(claim)
        if used.tokens_in or used.tokens_out:
            await self._log_run(folder, claim, began, "nothing", used)

    # ---- one memory of it

    async def _consolidate(
        self, owner: str, report: RoundReport, *, is_asked_for: bool, most_cost: float | None
    ) -> None:
        try:
            self._models.check_free()
        except ModelNeededElsewhere:
            report.consolidation = await self._put_off(owner, is_asked_for=is_asked_for)
            return
        claim = await self._jobs.claim_consolidation(owner, is_asked_for=is_asked_for)
        if not isinstance(claim, JobClaim):
            report.consolidation = claim
            return
        began, folder = self.clock(), self._folder_of(owner)
        consolidation = Consolidation(folder, self._consolidator, partial(self._jobs.write_if_leased, claim))
        try:
            notes = await asyncio.to_thread(self._notes_of, owner)
            async with self._heartbeat(claim):
                used, newest = await consolidation.run(notes=notes, now=began, most_cost=most_cost)
        except (LeaseLost, ModelNeededElsewhere):
            # Where the job was lost, whoever took it over or back has it done anew.
            report.consolidation = "put_off"
            report.used.append(consolidation.used)
            await self._broken_off(claim, consolidation.used, began, folder)
            return
        except (ConsolidationFailed, HdspAgentError, OSError) as error:
            report.consolidation = "failed"
            report.error = str(error)
            cost = error.used if isinstance(error, ConsolidationFailed) else consolidation.used
            report.used.append(cost)
            await self._failed(claim, str(error), cost, began, folder)
            return
        except asyncio.CancelledError:
            await asyncio.shield(self._broken_off(claim, consolidation.used, began, folder))
            raise
        await self._jobs.succeed(claim, watermark=max(claim.watermark, newest))
        report.consolidation = "done"
        report.used.append(used)
        await self._log_run(folder, claim, began, "saved", used)

    async def _put_off(self, owner: str, *, is_asked_for: bool) -> ConsolidationState:
        """How a consolidation stands that may not be done now: nothing waits where none is due."""
        rows, now = await self._jobs.standing(owner)
        known = next((row for row in rows if row.kind == "consolidate"), None)
        if known is None:
            return "up_to_date"
        return known.consolidation_refusal(now, is_asked_for=is_asked_for) or "put_off"

    @asynccontextmanager
    async def _heartbeat(self, claim: JobClaim) -> AsyncIterator[None]:
        """Hold the lease while the work goes on. Raises LeaseLost if it was lost."""
        work = asyncio.current_task()
        lost = False

        async def beat() -> None:
            nonlocal lost
            while True:
                await asyncio.sleep(JOB_HEARTBEAT_SECONDS)
                if not await self._jobs.extend(claim):
                    lost = True
                    if work is not None:
                        work.cancel()
                    return

        beating = asyncio.create_task(beat(), name="hdsp-agent memory lease")
        try:
            yield
        except asyncio.CancelledError:
            # Who is cancelled by somebody else besides has to end.
            if not lost or work is None or work.uncancel() > 0:
                raise
            raise LeaseLost from None
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    # ---- keeping record

    async def _log_run(
        self,
        folder: MemoryFolder,
        claim: JobClaim,
        began: float,
        outcome: RunOutcome,
        used: RunCost,
        error: str | None = None,
    ) -> None:
        run = MemoryRun(
            kind=claim.kind,
            key=claim.key,
            began_at=_iso(began),
            ended_at=_iso(self.clock()),
            outcome=outcome,
            error=error,
            used=used,
        )
        self.on_run(
            MemoryEvent(
                claim.kind,
                claim.owner,
                outcome,
                claim.key if claim.kind == "extract" else None,
                used.model,
                used.tokens_in,
                used.tokens_out,
                used.cost,
            )
        )
        # That it cannot be noted must not undo what was done.
        with suppress(HdspAgentError):
            await asyncio.to_thread(RunLog(folder).add, run)
            self._jobs.files_changed(claim.owner)


def _iso(seconds: float) -> str:
    return iso_time(datetime.fromtimestamp(seconds, tz=UTC))
