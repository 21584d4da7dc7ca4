"""Condensing a conversation: a summary, and what must not be lost, in the place of what was said. Nothing is deleted."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ..._background_tasks import BackgroundTasks
from ...context import (
    Carried,
    CarryLimits,
    KeptWords,
    TokenCounter,
    TokenParts,
    carried_from,
    check_summary,
    compaction_placeholder,
    hand_over,
    kept_words,
    meter,
)
from ...errors import HdspAgentError, StorageUnavailable
from ...messages import ApiMessage, JsonObject, TodoItem
from ...persistence import ApiRecord, MessageManager, SummaryDraft
from ...providers import KnownModel, ModelClient, ModelRequest, UsageReport
from ..conversation.conversation import text_block
from .condense_message import CondenseMessage
from .condense_report import CondenseReport, account_of
from .full_context import FullContext
from .provider_condensing import reads_all, sealed_by_provider
from .split_points import newest_step, newest_words, partings, reach
from .summary_writer import EMPTY, LARGEST_REQUEST, NotCondensed, SummaryWriter

if TYPE_CHECKING:
    from ..task.task_state import TaskState

__all__ = ["Condensed", "Condenser", "NotCondensed", "Why"]

Why: TypeAlias = Literal["room", "anew", "readable"]
"""To make room; because the newest summary is not good enough, and another is made of what it stands for; or because the
next model cannot read what a provider sealed."""

_LEAST_GAIN: Final = 0.1
"""Of the size. For less, what is lost is not worth it."""
_LARGEST_WORDS: Final = 4
"""What the person has just said stays as it is up to this part of the limit, and so does the newest step up to half of that."""
_BREATH: Final = 200
_TOO_SHORT: Final = "The conversation is too short: condensing would not make it shorter."
_ALL_STAYS: Final = "Nearly all of it must stay word for word, so condensing would not make it shorter."
_NOT_SHORTER: Final = "The summary would be about as long as what it replaces."
_SHORTEST: Final = "…"
_NOTHING_NEW: Final = "It was just condensed, and nothing new was added since."
_STOPPED: Final = "It was stopped."


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
    parts: TokenParts
    info: KnownModel
    used: int
    why: Why
    begin: int
    """The number of the first message that no earlier summary is of."""


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
    account: CondenseReport
    sealed: JsonObject | None
    begin: int


class Condenser:
    """Condenses one task's conversation."""

    def __init__(self, state: TaskState, plain: FullContext) -> None:
        self._state = state
        self._plain = plain
        self._held = BackgroundTasks()

    async def condense(self, own: ModelClient, by: ModelClient, *, used: int, why: Why = "room") -> Condensed:
        """Do it.

        ``own`` is the model of the conversation, ``by`` the one that writes the summary. Raises NotCondensed.
        """
        work = await self._begin(own, by, used, why)
        row = CondenseMessage(self._state, by.info, used)
        self._state.turn_condensing(True)
        try:
            return await self._condense(work, row, own, by)
        finally:
            self._state.turn_condensing(False)

    async def _condense(self, work: _Work, row: CondenseMessage, own: ModelClient, by: ModelClient) -> Condensed:
        await row.begin()
        try:
            sealed = await self._sealed(work, by, row.taken) if by is own else None
            outcome = sealed or await self._outcome(work, by, row.taken)
        except asyncio.CancelledError:
            await row.tell_failure(_STOPPED)
            raise
        except StorageUnavailable as error:
            await row.tell_failure(error.message)
            raise
        except (HdspAgentError, NotCondensed) as error:
            reason = error.message if isinstance(error, HdspAgentError) else str(error)
            await row.tell_failure(reason)
            raise NotCondensed(reason) from error
        # From here on to its end: the mark and the row that tells of it belong together.
        try:
            await self._held.finish(self._record(outcome, row))
        finally:
            await self._held.drain()
        return Condensed(await _messages_of(outcome.part.records), outcome.after)

    async def _record(self, outcome: _Outcome, row: CondenseMessage) -> None:
        try:
            mark_id = await self._write_if_leased(outcome, row.ts)
        except HdspAgentError as error:
            await row.tell_failure(error.message)
            raise
        way: Literal["local", "remote"] = "local" if outcome.sealed is None else "remote"
        await row.tell(outcome.text, after=outcome.after, account=outcome.account, way=way, mark_id=mark_id)
        await self._keep_summary(outcome)
        self._state.logger.info("Condensed (%s): %d tokens, now %d", way, row.before, outcome.after)

    # ---- what comes of it

    async def _begin(self, own: ModelClient, by: ModelClient, used: int, why: Why) -> _Work:
        """What there is to do. Raises NotCondensed if it would be in vain, whatever the summary says."""
        conversation = self._state.conversation
        history = await self._without_newest(by) if why == "anew" else conversation.history
        records = [record for record in await history.api_history() if record.role != "system"]
        ends = partings(records)
        if not ends:
            raise NotCondensed(_TOO_SHORT)
        request = await self._plain.build(self._state, own.info, answer_tokens=None)
        parts = self._plain.parts(request)
        part = await self._part(records, ends, own.info, used)
        if part.records[-1].is_summary and why == "room":
            raise NotCondensed(_NOTHING_NEW)
        begin = 1 + max((mark.after for mark in history.view.condenses), default=0)
        work = _Work(records, ends, part, request, parts, own.info, used, why, begin)
        await self._handed_over(work, part, _SHORTEST)
        return work

    async def _without_newest(self, by: ModelClient) -> MessageManager:
        """The history without its newest summary, and without those before it that a provider sealed and ``by`` cannot read."""
        conversation = self._state.conversation
        view, dropped = conversation.history.view, set[str]()
        for mark in reversed(view.condenses):
            summaries = await conversation.log.api_between(mark.summary_seq, mark.summary_seq, limit=1, newest=True)
            if dropped and reads_all(by, await _messages_of(summaries)):
                break
            dropped.add(mark.id)
        return MessageManager(conversation.log, [mark for mark in view.applied if mark.id not in dropped])

    async def _sealed(self, work: _Work, by: ModelClient, taken: list[UsageReport]) -> _Outcome | None:
        """What comes of it if the provider condenses; None if it does not, or if that saves nothing."""
        sent = await self._plain.sent_of(work.part.records, by.info)
        window, fixed = by.info.context_window, work.parts.total - work.parts.messages
        if work.why != "room" or (window is not None and fixed + sent.tokens() > window * LARGEST_REQUEST):
            return None
        asked = replace(work.request, messages=list(sent.messages))
        sealed = await sealed_by_provider(self._state, by, asked, taken)
        if sealed is None:
            return None
        summary = await asyncio.to_thread(compaction_placeholder, await _messages_of(work.part.records))
        with suppress(NotCondensed):
            return await self._outcome_of(work, work.part, summary, sealed)
        return None

    async def _outcome(self, work: _Work, by: ModelClient, taken: list[UsageReport]) -> _Outcome:
        fixed = work.parts.total - work.parts.messages
        writer = SummaryWriter(self._state, self._plain, work.request, fixed, by, taken)
        part, records = work.part, work.part.records
        if work.why == "anew":
            ends = [end for end in work.ends if end < len(records)]
            summary = await writer.write_whole(records, ends)
        else:
            summary, end = await writer.write(records, work.ends, lambda end: self._parted(work.records, end))
            if end < len(records):
                part = self._parted(work.records, end)
        return await self._outcome_of(work, part, summary, None)

    async def _outcome_of(self, work: _Work, part: _Part, summary: str, sealed: JsonObject | None) -> _Outcome:
        text, keep, after, account = await self._handed_over(work, part, summary, sealed)
        return _Outcome(text, [record.seq for record in keep], part, after, account, sealed, work.begin)

    async def _handed_over(
        self, work: _Work, part: _Part, summary: str, sealed: JsonObject | None = None
    ) -> tuple[str, Sequence[ApiRecord], int, CondenseReport]:
        """What the model begins with from now on: the hand-over, the messages that stay whole, the size, and what became of the rest."""
        limits = CarryLimits.for_window(work.info.context_window)
        messages = await _messages_of(part.records)
        kept, carried, text = await asyncio.to_thread(
            _put_together, messages, summary, limits, self._state.todos or None, self._plain.counter
        )
        if text is None:
            raise NotCondensed(EMPTY)
        history = self._state.conversation.history
        seen = {record.seq for record in await history.api_history()} if work.why == "anew" else None
        whole = [index for index in kept.whole if seen is None or part.records[index].seq in seen]
        keep = [part.records[index] for index in whole]
        told = ApiRecord.model_construct(
            role="user", content=[text_block(text)], is_summary=True, seq=part.through + 1, timestamp="", token_count=0,
            reasoning_details=None if sealed is None else [sealed],
        )  # fmt: skip
        sent = await self._plain.sent_of([*keep, told, *part.rest], work.info)
        before, after = work.parts.total, work.parts.total - work.parts.messages + sent.tokens()
        if work.why == "room" and after > before * (1 - _LEAST_GAIN):
            raise NotCondensed(_why_not_shorter(work.parts, summary))
        account = await asyncio.to_thread(account_of, messages, whole, carried, self._plain.counter)
        return text, keep, round(after * work.used / max(1, before)), account

    async def _part(self, records: Sequence[ApiRecord], ends: Sequence[int], info: KnownModel, used: int) -> _Part:
        """All, but for what the person has just said, or for the newest step in the middle of the work, if that is short."""
        limit = used if info.context_window is None else meter(used, window=info.context_window).limit
        for begin, share in ((newest_words(records), _LARGEST_WORDS), (newest_step(records), 2 * _LARGEST_WORDS)):
            if begin in ends and begin < len(records):
                size = (await self._plain.sent_of(records[begin:], info)).tokens()
                if size <= limit // share:
                    # Where an earlier summary stands for it already, this one does too.
                    with suppress(NotCondensed):
                        return self._parted(records, begin)
        return self._parted(records, ends[-1])

    def _parted(self, records: Sequence[ApiRecord], end: int) -> _Part:
        marks = self._state.conversation.history.view.condenses
        through = max([reach(records[:end]), 1, *(mark.after for mark in marks)])
        left = [record.seq for record in records[end:] if record.seq and not record.is_summary]
        if any(seq <= through for seq in left):
            raise NotCondensed("There is no room to write the summary again.")
        if marks and all(seq > marks[-1].summary_seq for seq in left):
            # The summary before is what this one takes the place of, perhaps that alone.
            through = max(through, marks[-1].summary_seq)
        return _Part(records[:end], records[end:], through)

    # ---- recording it

    async def _write_if_leased(self, outcome: _Outcome, event_ts: int) -> str:
        conversation, part = self._state.conversation, outcome.part
        condense_id = f"condense-{uuid.uuid4()}"
        record = await conversation.add_api(
            "user",
            [text_block(outcome.text)],
            ts=event_ts,
            durable=True,
            is_summary=True,
            condense_id=condense_id,
            reasoning_details=None if outcome.sealed is None else [outcome.sealed],
        )
        try:
            mark = await conversation.history.condense(
                condense_id=condense_id,
                summary_seq=record.seq,
                event_ts=event_ts,
                through=part.through,
                keep=outcome.keep,
            )
        finally:
            # A summary without its mark counts for nothing.
            conversation.history_changed()
        return mark.id

    async def _keep_summary(self, outcome: _Outcome) -> None:
        conversation, part = self._state.conversation, outcome.part
        counter = self._plain.counter
        await conversation.log.append_summary(
            SummaryDraft(
                start_seq=min(outcome.begin, part.through),
                end_seq=part.through,
                summary=outcome.text,
                original_tokens=counter.messages(await _messages_of(part.records)),
                summary_tokens=counter.text(outcome.text),
            )
        )


async def _messages_of(records: Sequence[ApiRecord]) -> list[ApiMessage]:
    messages: list[ApiMessage] = []
    for number, record in enumerate(records, 1):
        messages.append(record.message())
        if number % _BREATH == 0:
            await asyncio.sleep(0)
    return messages


def _why_not_shorter(parts: TokenParts, summary: str) -> str:
    if summary != _SHORTEST:
        return _NOT_SHORTER
    # Where instructions and tools are most of the request, there is little that could be condensed.
    return _TOO_SHORT if parts.messages < parts.total / 2 else _ALL_STAYS


def _put_together(
    messages: Sequence[ApiMessage],
    summary: str,
    limits: CarryLimits,
    todos: Sequence[TodoItem] | None,
    counter: TokenCounter,
) -> tuple[KeptWords, Carried, str | None]:
    """In a thread: much text is looked through."""
    kept = kept_words(messages, limits.words, counter=counter)
    carried = carried_from(messages, todos=todos, quoted=kept.quoted, limits=limits, counter=counter)
    text = hand_over(summary, carried)
    if text is not None and not (check := check_summary(text, carried)).holds:
        raise NotCondensed(f"The summary would lack {', '.join([*check.sections, *check.items])[:500]}.")
    return kept, carried, text
