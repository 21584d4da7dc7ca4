"""Condensing a conversation: a summary, and what must not be lost, in the place of what was said. Nothing is deleted."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ...config._held import HeldTasks
from ...context import (
    CarryLimits,
    KeptWords,
    Parts,
    carried_from,
    check_summary,
    hand_over,
    kept_words,
    meter,
)
from ...errors import HdspAgentError, StorageUnavailable
from ...messages import ApiMessage, ClineMessage, ContextCondense, TaskTokenUsageUpdated, TodoItem
from ...persistence import ApiRecord, MessageManager, SummaryDraft
from ...providers import ModelClient, ModelError, ModelInfo, ModelRequest, UsageReport, cost_of
from .._conversation import text_block
from ._parting import newest_step, newest_words, partings, reach
from ._plain import PlainContext
from ._summary import prompt_of, summary_of, with_prompt

if TYPE_CHECKING:
    from .._task import Task

__all__ = ["Condensed", "Condenser", "NotCondensed"]

_LEAST_GAIN: Final = 0.1
"""Of the size. For less, what is lost is not worth it."""
_LARGEST_WORDS: Final = 4
"""What the person has just said stays as it is up to this part of the limit, and so does the newest step up to half of that."""
_MOST_ATTEMPTS: Final = 6
_SHRINKING: Final = 0.7
"""Of what the summary request held, when it was too long itself."""
_LARGEST_REQUEST: Final = 0.98
"""Of the window, for the request that asks for the summary together with its answer."""
_LONGEST_SUMMARY: Final = 4_000
_LEAST_SUMMARY: Final = 1_024
_SUMMARY_SHARE: Final = 20
"""Of a small window, the summary gets this part."""
_ROOM_NEEDED: Final = frozenset({"overflow", "overflow_output_budget", "payload_too_large", "tpm_request_too_large"})
_BREATH: Final = 200
_TOO_SHORT: Final = "The conversation is too short for that: condensed, it would be about as long."
_SHORTEST: Final = "…"
_NOTHING_NEW: Final = "It was condensed just now, and nothing came after that."
_EMPTY: Final = "The model wrote no summary."
_STOPPED: Final = "It was stopped."


class NotCondensed(Exception):
    """It could not be done, and nothing was changed; the text says why."""


@dataclass(frozen=True)
class _Part:
    """What is condensed."""

    records: Sequence[ApiRecord]
    rest: Sequence[ApiRecord]
    through: int


@dataclass(frozen=True)
class _Work:
    """What there is to do, and how large the request is now."""

    records: Sequence[ApiRecord]
    ends: Sequence[int]
    part: _Part
    request: ModelRequest
    parts: Parts
    info: ModelInfo
    used: int
    anew: bool


@dataclass(frozen=True)
class Condensed:
    """The messages that a summary stands for now, and the tokens of the request from now on."""

    messages: Sequence[ApiMessage]
    tokens: int


@dataclass(frozen=True)
class _Outcome:
    text: str
    keep: Sequence[int]
    part: _Part
    after: int


class Condenser:
    """Condenses one task's conversation."""

    def __init__(self, task: Task, plain: PlainContext) -> None:
        self._task = task
        self._plain = plain
        self._held = HeldTasks()
        self._taken: list[UsageReport] = []

    async def condense(self, own: ModelClient, by: ModelClient, *, used: int, anew: bool = False) -> Condensed:
        """Do it.

        ``own`` is the model of the conversation, ``by`` the one that writes the summary; ``anew`` says that the newest
        summary is not good enough, and that another is to be made of what it stands for. Raises NotCondensed.
        """
        conversation = self._task.conversation
        work = await self._begin(own, used, anew)
        event_ts = await conversation.say("condense_context", partial=True)
        try:
            outcome = await self._outcome(work, by)
        except asyncio.CancelledError:
            await self._tell_failure(_STOPPED, by.info, event_ts, used)
            raise
        except StorageUnavailable as error:
            await self._tell_failure(error.message, by.info, event_ts, used)
            raise
        except (HdspAgentError, NotCondensed) as error:
            why = error.message if isinstance(error, HdspAgentError) else str(error)
            await self._tell_failure(why, by.info, event_ts, used)
            raise NotCondensed(why) from error
        # From here on to its end: the mark and the row that tells of it belong together.
        try:
            await self._held.finish(self._record(outcome, by.info, event_ts, used))
        finally:
            await self._held.drain()
        return Condensed(await _messages_of(outcome.part.records), outcome.after)

    async def _record(self, outcome: _Outcome, by: ModelInfo, event_ts: int, used: int) -> None:
        try:
            await self._put_in_force(outcome, event_ts)
        except HdspAgentError as error:
            await self._tell_failure(error.message, by, event_ts, used)
            raise
        await self._tell(outcome, by, event_ts, used)
        await self._keep_summary(outcome)

    # ---- what comes of it

    async def _begin(self, own: ModelClient, used: int, anew: bool) -> _Work:
        """What there is to do. Raises NotCondensed if it would be in vain, whatever the summary says."""
        conversation = self._task.conversation
        history = conversation.history
        if anew and (newest := history.view.condenses[-1:]):
            history = MessageManager(conversation.log, [mark for mark in history.view.applied if mark not in newest])
        records = [record for record in await history.api_history() if record.role != "system"]
        ends = partings(records)
        if not ends:
            raise NotCondensed(_TOO_SHORT)
        request = await self._plain.build(self._task.situation, own.info, answer_tokens=None)
        parts = self._plain.parts(request)
        part = await self._part(records, ends, own.info, used)
        if part.records[-1].is_summary and not anew:
            raise NotCondensed(_NOTHING_NEW)
        work = _Work(records, ends, part, request, parts, own.info, used, anew)
        await self._handed_over(work, part, _SHORTEST)
        return work

    async def _outcome(self, work: _Work, by: ModelClient) -> _Outcome:
        summary, part = await self._summary(work, by)
        text, keep, after = await self._handed_over(work, part, summary)
        return _Outcome(text, [record.seq for record in keep], part, after)

    async def _handed_over(self, work: _Work, part: _Part, summary: str) -> tuple[str, Sequence[ApiRecord], int]:
        """What the model begins with from now on: the hand-over, the messages that stay whole, and the size of it all."""
        limits = CarryLimits.for_window(work.info.context_window)
        messages = await _messages_of(part.records)
        kept, text = await asyncio.to_thread(_put_together, messages, summary, limits, self._task.todos or None)
        if text is None:
            raise NotCondensed(_EMPTY)
        seen = {record.seq for record in await self._task.conversation.history.api_history()} if work.anew else None
        keep = [part.records[index] for index in kept.whole if seen is None or part.records[index].seq in seen]
        told = ApiRecord.model_construct(
            role="user", content=[text_block(text)], is_summary=True, seq=part.through + 1, timestamp="", token_count=0
        )
        sent = await self._plain.sent_of([*keep, told, *part.rest], work.info)
        before, after = work.parts.total, work.parts.total - work.parts.messages + sent.tokens()
        if not work.anew and after > before * (1 - _LEAST_GAIN):
            raise NotCondensed(_TOO_SHORT)
        return text, keep, round(after * work.used / max(1, before))

    async def _part(self, records: Sequence[ApiRecord], ends: Sequence[int], info: ModelInfo, used: int) -> _Part:
        """All, but for what the person has just said, or for the newest step in the middle of the work, if that is short."""
        end = ends[-1]
        limit = used if info.context_window is None else meter(used, window=info.context_window).limit
        for begin, share in ((newest_words(records), _LARGEST_WORDS), (newest_step(records), 2 * _LARGEST_WORDS)):
            if begin in ends and begin < len(records):
                size = (await self._plain.sent_of(records[begin:], info)).tokens()
                if size <= limit // share:
                    end = begin
                    break
        return self._parted(records, end)

    def _parted(self, records: Sequence[ApiRecord], end: int) -> _Part:
        marks = self._task.conversation.history.view.condenses
        through = max([reach(records[:end]), 1, *(mark.after for mark in marks)])
        if any(0 < record.seq <= through for record in records[end:] if not record.is_summary):
            raise NotCondensed("There is no room to write the summary once more.")
        return _Part(records[:end], records[end:], through)

    async def _summary(self, work: _Work, by: ModelClient) -> tuple[str, _Part]:
        """The summary, and what it is of: the newest is left out while it does not fit, so that the cache is not lost."""
        part, fixed = work.part, work.parts.total - work.parts.messages
        prompt = prompt_of(self._task)
        window = by.info.context_window
        most = None if window is None else _largest_request(window) - self._plain.counter.text(prompt)
        for _ in range(_MOST_ATTEMPTS):
            sent = await self._plain.sent_of(part.records, by.info)
            size = fixed + sent.tokens()
            if most is None or size <= most:
                try:
                    asked = with_prompt(work.request, list(sent.messages), prompt)
                    if window is not None and size + (by.info.max_output or 0) > window:
                        asked = replace(asked, max_output=max(_LEAST_SUMMARY, int(window * _LARGEST_REQUEST) - size))
                    asking = summary_of(self._task, by, asked, self._taken)
                    name = f"Summary of task {self._task.task_id}"
                    summary = await self._task.leash.run(asking, name)
                    return await self._task.conversation.mask(summary), part
                except ModelError as error:
                    if error.kind not in _ROOM_NEEDED:
                        raise
            goal = int(min(size if most is None else most, size) * _SHRINKING) - fixed
            ends = [end for end in work.ends if end < len(part.records)]
            shorter = await self._shorter(work.records, ends, by.info, goal)
            if shorter is None:
                break
            part = self._parted(work.records, shorter)
        raise NotCondensed("The conversation does not even fit into the request for its summary.")

    async def _shorter(
        self, records: Sequence[ApiRecord], ends: Sequence[int], info: ModelInfo, goal: int
    ) -> int | None:
        """The last of these ends up to which there are no more tokens than this; for want of one, the first."""
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            if (await self._plain.sent_of(records[: ends[middle]], info)).tokens() <= goal:
                low = middle + 1
            else:
                high = middle
        return ends[max(0, low - 1)] if ends else None

    # ---- recording it

    async def _put_in_force(self, outcome: _Outcome, event_ts: int) -> None:
        conversation, part = self._task.conversation, outcome.part
        condense_id = f"condense-{uuid.uuid4()}"
        record = await conversation.add_api(
            "user",
            [text_block(outcome.text)],
            ts=event_ts,
            durable=True,
            is_summary=True,
            condense_id=condense_id,
        )
        try:
            await conversation.history.condense(
                condense_id=condense_id,
                summary_seq=record.seq,
                event_ts=event_ts,
                through=part.through,
                keep=outcome.keep,
            )
        finally:
            # A summary without its mark counts for nothing.
            conversation.history_changed()

    async def _keep_summary(self, outcome: _Outcome) -> None:
        conversation, part = self._task.conversation, outcome.part
        covered = [record.seq for record in part.records if record.seq]
        counter = self._plain.counter
        await conversation.log.append_summary(
            SummaryDraft(
                start_seq=min(covered, default=1),
                end_seq=max(part.through, 1),
                summary=outcome.text,
                original_tokens=counter.messages(await _messages_of(part.records)),
                summary_tokens=counter.text(outcome.text),
            )
        )

    async def _tell(self, outcome: _Outcome, by: ModelInfo, event_ts: int, used: int) -> None:
        cost = self._cost(by)
        row = ClineMessage(
            ts=event_ts,
            type="say",
            say="condense_context",
            partial=False,
            context_condense=ContextCondense(
                cost=cost, prev_context_tokens=used, new_context_tokens=outcome.after, summary=outcome.text
            ),
        )
        await self._task.conversation.update(row, durable=True)
        await self._charge(cost, outcome.after)

    async def _tell_failure(self, why: str, by: ModelInfo, event_ts: int, used: int) -> None:
        """Say why in the row that told of the attempt, with what the answers cost nevertheless."""
        cost, conversation = self._cost(by), self._task.conversation
        row = ClineMessage(
            ts=event_ts, type="say", say="condense_context_error", text=await conversation.mask(why), partial=False,
            context_condense=None if not cost else ContextCondense(
                cost=cost, prev_context_tokens=used, new_context_tokens=used, summary=""
            ),
        )  # fmt: skip
        # Where nothing can be stored, the failure itself is what is told further.
        with suppress(StorageUnavailable):
            await conversation.update(row, durable=cost > 0)
            if cost:
                await self._charge(cost, used)

    def _cost(self, by: ModelInfo) -> float:
        return sum(cost_of(by, usage) or 0.0 for usage in self._taken)

    async def _charge(self, cost: float, tokens: int) -> None:
        task = self._task
        task.usage.condensed(cost, tokens)
        task.spending.cost += cost
        await task.note_progress()
        usage_now = (task.task_id, task.usage.tokens(), task.usage.tool_usage())
        task.services.events.emit(TaskTokenUsageUpdated(payload=usage_now, tools=task.usage.own_tools()))


def _largest_request(window: int) -> int:
    return int(window * _LARGEST_REQUEST) - min(_LONGEST_SUMMARY, window // _SUMMARY_SHARE)


async def _messages_of(records: Sequence[ApiRecord]) -> list[ApiMessage]:
    messages: list[ApiMessage] = []
    for number, record in enumerate(records, 1):
        messages.append(record.message())
        if number % _BREATH == 0:
            await asyncio.sleep(0)
    return messages


def _put_together(
    messages: Sequence[ApiMessage], summary: str, limits: CarryLimits, todos: Sequence[TodoItem] | None
) -> tuple[KeptWords, str | None]:
    """In a thread: much text is looked through."""
    kept = kept_words(messages, limits.words)
    carried = carried_from(messages, todos=todos, quoted=kept.quoted, limits=limits)
    text = hand_over(summary, carried)
    if text is not None and not (check := check_summary(text, carried)).holds:
        raise NotCondensed(f"The summary would lack {', '.join([*check.sections, *check.items])[:500]}.")
    return kept, text
