"""What the tasks of a store add up to: by status, user, day and model.

Each task is looked at once and forgotten; what is kept does not grow with their number but for the names met.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Final

from ..._iso_time import parse_iso_time
from ...errors import HdspAgentError, UnknownTask
from ...messages import TaskId
from .._records import COMPLETED_STATUSES, ModelUse, StoredTaskState, TaskMetadata, TaskStatus
from .._task_reader import TaskReader
from .._task_store import TaskStore
from ._work_progress import Progress

__all__ = ["Statistics", "Totals", "statistics"]

_AT_ONCE: Final = 16
_LONG: Final = timedelta(hours=6)
"""A task that runs longer may be stuck."""
UNKNOWN: Final = ""
"""The user or model of a task that names none."""


@dataclass
class Totals:
    """What some tasks add up to. Durations are of finished tasks only."""

    tasks: int = 0
    messages: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    compressions: int = 0
    tokens_before_compression: int = 0
    tokens_after_compression: int = 0
    timed_tasks: int = 0
    duration_seconds: float = 0.0
    longest_seconds: float = 0.0

    def average(self, total: float) -> float:
        """A total of these per task."""
        return total / self.tasks if self.tasks else 0.0

    @property
    def average_seconds(self) -> float:
        """How long a finished task took."""
        return self.duration_seconds / self.timed_tasks if self.timed_tasks else 0.0

    @property
    def compression_ratio(self) -> float | None:
        """How much was left of what was condensed; None if nothing was."""
        if not self.tokens_before_compression:
            return None
        return self.tokens_after_compression / self.tokens_before_compression

    def add(self, facts: _Facts) -> None:
        """Count a task in."""
        state, item = facts.state, facts.state.history_item
        self.tasks += 1
        self.messages += facts.messages
        self.llm_calls += state.llm_call_count
        self.tool_calls += state.tool_call_count
        self.tokens += state.total_tokens_used
        self.compressions += state.compression_count
        self.tokens_before_compression += facts.before
        self.tokens_after_compression += facts.after
        if item is not None:
            self.tokens_in += item.tokens_in
            self.tokens_out += item.tokens_out
            self.cost += item.total_cost
        if facts.duration is not None:
            self.timed_tasks += 1
            self.duration_seconds += facts.duration
            self.longest_seconds = max(self.longest_seconds, facts.duration)


@dataclass
class Statistics:
    """What was counted. ``unreadable`` tasks are left out of everything else; ``long_running`` are the ids to look at."""

    total: Totals = field(default_factory=Totals)
    running: int = 0
    paused: int = 0
    completed: int = 0
    by_status: dict[TaskStatus, Totals] = field(default_factory=dict)
    by_user: dict[str, Totals] = field(default_factory=dict)
    by_model: dict[str, Totals] = field(default_factory=dict)
    by_day: dict[date, Totals] = field(default_factory=dict)
    use: dict[tuple[date, str], ModelUse] = field(default_factory=dict)
    """By day and model, each request on its own day; of tasks that do not tell, all on the day they began."""
    long_running: list[TaskId] = field(default_factory=list)
    unreadable: int = 0

    def add_use(self, use: ModelUse) -> None:
        """Count what was used of a model on a day in."""
        try:
            key = date.fromisoformat(use.day), use.model
        except ValueError:
            # Written by hand.
            return
        known = self.use.get(key)
        self.use[key] = use if known is None else known.plus(use)

    @property
    def failure_rate(self) -> float:
        """Which part of the finished tasks failed."""
        failed = sum(self.by_status[status].tasks for status in ("failed", "timeout") if status in self.by_status)
        return failed / self.completed if self.completed else 0.0


@dataclass(frozen=True)
class _Facts:
    """What is counted of one task."""

    task_id: TaskId
    metadata: TaskMetadata
    state: StoredTaskState
    messages: int
    before: int
    after: int
    begun: datetime | None
    duration: float | None


async def statistics(
    store: TaskStore,
    *,
    user: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    status: TaskStatus | Collection[TaskStatus] | None = None,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> Statistics:
    """Count the tasks of this user and status that began at ``since`` or later and before ``until``."""
    found = Statistics()
    wanted = TaskFilter(user, since, until, (status,) if isinstance(status, str) else status)
    time = now or datetime.now(tz=UTC)
    ids = await store.tasks()
    for start in range(0, len(ids), _AT_ONCE):
        batch = ids[start : start + _AT_ONCE]
        for facts in await asyncio.gather(*(_look(store, task_id, wanted) for task_id in batch)):
            if isinstance(facts, _Facts):
                _count(found, facts, time)
            elif facts is not None:
                found.unreadable += 1
        if progress is not None:
            progress("statistics", start + len(batch), len(ids))
    return found


@dataclass(frozen=True)
class TaskFilter:
    user: str | None
    since: datetime | None
    until: datetime | None
    statuses: Collection[TaskStatus] | None

    def __contains__(self, task: tuple[TaskMetadata, StoredTaskState]) -> bool:
        metadata, state = task
        begun = _begun(metadata, state)
        if self.user is not None and (metadata.user or UNKNOWN) != self.user:
            return False
        if self.statuses is not None and state.status not in self.statuses:
            return False
        if self.since is not None and (begun is None or begun < _aware(self.since)):
            return False
        return self.until is None or (begun is not None and begun < _aware(self.until))


async def _look(store: TaskStore, task_id: TaskId, wanted: TaskFilter) -> _Facts | HdspAgentError | None:
    try:
        reader = await store.view(task_id)
        state = await reader.read_state()
        if (reader.metadata, state) not in wanted:
            return None
        return await _facts(reader, state)
    except UnknownTask:
        # Deleted since its id was read.
        return None
    except HdspAgentError as error:
        return error


async def _facts(reader: TaskReader, state: StoredTaskState) -> _Facts:
    newest = await reader.api.newest(1)
    before = after = 0
    if state.compression_count:
        async for summary in reader.summaries.iterate():
            before += summary.original_tokens
            after += summary.summary_tokens
    begun, ended = _begun(reader.metadata, state), parse_iso_time(state.completed_at or "")
    duration = None
    if state.status in COMPLETED_STATUSES and begun is not None and ended is not None:
        # A clock that was set back meanwhile: it took some time, but nobody knows how much.
        duration = (ended - begun).total_seconds() if ended >= begun else None
    messages = newest[0].seq if newest else 0
    return _Facts(reader.task_id, reader.metadata, state, messages, before, after, begun, duration)


def _count(found: Statistics, facts: _Facts, now: datetime) -> None:
    state, metadata = facts.state, facts.metadata
    if state.status in COMPLETED_STATUSES:
        found.completed += 1
    elif state.status == "paused":
        found.paused += 1
    else:
        found.running += 1
        if facts.begun is not None and now - facts.begun > _LONG:
            found.long_running.append(facts.task_id)
    model = _model_of(facts)
    found.total.add(facts)
    found.by_status.setdefault(state.status, Totals()).add(facts)
    found.by_user.setdefault(metadata.user or UNKNOWN, Totals()).add(facts)
    found.by_model.setdefault(model, Totals()).add(facts)
    if facts.begun is not None:
        found.by_day.setdefault(facts.begun.astimezone().date(), Totals()).add(facts)
    for use in _use_of(facts):
        found.add_use(use)


def _model_of(facts: _Facts) -> str:
    """The model a task names, or else the one it asked most."""
    named = facts.metadata.config.get("model")
    if isinstance(named, str):
        return named
    asked: Counter[str] = Counter()
    for use in facts.state.model_use or ():
        asked[use.model] += use.requests
    return asked.most_common(1)[0][0] if asked else UNKNOWN


def _use_of(facts: _Facts) -> Sequence[ModelUse]:
    state, item = facts.state, facts.state.history_item
    if state.model_use is not None or facts.begun is None:
        return state.model_use or ()
    whole = ModelUse(
        day=facts.begun.astimezone().date().isoformat(),
        model=_model_of(facts),
        requests=state.llm_call_count,
        tokens_in=item.tokens_in if item is not None else 0,
        tokens_out=item.tokens_out if item is not None else 0,
        cost=item.total_cost if item is not None else 0.0,
    )
    return (whole,) if whole.requests or whole.tokens_in or whole.cost else ()


def _begun(metadata: TaskMetadata, state: StoredTaskState) -> datetime | None:
    return parse_iso_time(metadata.created_at) or parse_iso_time(state.started_at or "")


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.astimezone()
