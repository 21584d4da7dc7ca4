"""The one place where a task's histories are condensed, truncated, rewound and restored: each by appending one mark."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ...errors import Conflict, InvalidInput, NotFound
from ...messages import ClineMessage, ConversationMarks
from .._history_log import HistoryLog, api_records
from .._records import ApiRecord
from ._cuts import Head, adjoining, covered_by_summary, hidden_by_rewind, hidden_by_truncation, rewind_cutoff
from ._histories import in_force
from ._marks import AnyMark, CondenseMark, Mark, RewindMark, TruncateMark, UndoMark
from ._replay import HistoryView, Marker, MarkProblem, MarkReplay
from ._spans import OPEN, SpanSet

__all__ = ["MessageManager", "Newer", "RewindEffect"]

Newer = Literal["refuse", "set_aside"]
"""What an undo that goes back in time does about messages that came since: refuse, or put them aside as well."""

_PAGE: Final = 100
_WHETHER_TO_GO_ON: Final = frozenset({"resume_task", "resume_completed_task"})


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class RewindEffect:
    """What a change would do: the times of the messages that go and that come back, and whether newer ones stand in its way."""

    removed: SpanSet
    restored: SpanSet
    gone_on: bool = False


class MessageManager:
    """Reads the effective histories of one task and changes them.

    Every change is one appended mark, so it happens whole or not at all. Changes wait for one another; a message
    appended while one is decided counts as later than it, so stop a task before rewinding it.
    """

    def __init__(
        self,
        log: HistoryLog,
        marks: Iterable[AnyMark] = (),
        *,
        now: Callable[[], int] = _milliseconds,
    ) -> None:
        self._log = log
        self._replay = MarkReplay(marks)
        self._now = now
        self._changing = asyncio.Lock()

    @property
    def view(self) -> HistoryView:
        """What is visible now, without a look at the logs."""
        return self._replay.view

    @property
    def problems(self) -> Sequence[MarkProblem]:
        """The marks that could not be taken into account."""
        return self._replay.problems

    @property
    def undoable(self) -> Mark | None:
        """What ``undo`` takes back."""
        return self._replay.newest_deed()

    @property
    def redoable(self) -> UndoMark | None:
        """What ``redo`` takes back."""
        return self._replay.newest_undo()

    @property
    def newest_marks(self) -> ConversationMarks:
        """What ``undo`` and ``redo`` act on, as the page is told."""
        return self._replay.newest_marks()

    async def ui_page(self, before_ts: int | None = None, limit: int = _PAGE) -> list[ClineMessage]:
        """The newest visible messages older than ``before_ts``, oldest first. Only these are read."""
        spans = self.view.visible_ui.until(OPEN if before_ts is None else before_ts - 1)
        pages: list[Sequence[ClineMessage]] = []
        rest = limit
        for span in reversed(spans.items):
            if rest <= 0:
                break
            page = await self._log.ui_between(span.first, span.last, limit=rest, newest=True)
            pages.append(page)
            rest -= len(page)
        return [message for page in reversed(pages) for message in page]

    async def messages_in(self, spans: SpanSet) -> AsyncIterator[ClineMessage]:
        """The messages of the log in these spans, oldest first, visible or not."""
        for span in spans.items:
            first = span.first
            while page := await self._log.ui_between(first, span.last, limit=_PAGE, newest=False):
                for message in page:
                    yield message
                first = page[-1].ts + 1

    async def first_ts(self) -> int | None:
        """The time of the first message a person sees."""
        for span in self.view.visible_ui.items:
            if page := await self._log.ui_between(span.first, span.last, limit=1, newest=False):
                return page[0].ts
        return None

    async def api_history(self) -> list[ApiRecord]:
        """The messages of the log that the model is sent; what is hidden is not read.

        A call may lack its result, which may come yet: only a request says what is sent in its place.
        """
        return list(await self._visible_api())

    async def condense(
        self,
        *,
        condense_id: str,
        summary_seq: int,
        event_ts: int,
        through: int | None = None,
        keep: Collection[int] = (),
    ) -> CondenseMark:
        """Put a summary, which the API log holds already, in the place of the messages up to ``through`` but ``keep``.

        ``event_ts`` is the time set aside for the ``condense_context`` message: when that is rewound, so is this.
        Append the message after the mark, so that it never tells of what did not happen.
        """
        async with self._changing:
            await self._check_summary(condense_id, summary_seq)
            self._check_event(event_ts)
            after = summary_seq - 1 if through is None else through
            earlier = max((mark.after for mark in self.view.condenses), default=1)
            if not earlier <= after < summary_seq:
                raise InvalidInput(
                    f"The summary {summary_seq} cannot stand for the messages up to {after}: it must reach as far as"
                    " the summary before it, and not to itself.",
                    field="through",
                    through=after,
                )
            visible = {head.seq for head in await self._visible_heads() if head.seq <= after and head.role != "system"}
            if not visible.difference(keep) or not visible.issuperset(keep):
                raise InvalidInput(
                    "There is nothing to condense, or a message to keep is not part of the conversation.", field="keep"
                )
            mark = CondenseMark(
                id=str(uuid.uuid4()),
                ts=self._next_ts(),
                ui_end=self._ui_end,
                api_end=self._log.last_api_seq,
                condense_id=condense_id,
                summary_seq=summary_seq,
                covers=covered_by_summary(await self._heads(), after, keep),
                after=after,
                event_ts=event_ts,
            )
            await self._append(mark)
            return mark

    async def truncate(
        self, *, truncation_id: str, event_ts: int, fraction: float = 0.5, spared: Collection[int] = ()
    ) -> TruncateMark | None:
        """Hide the oldest part of what the model sees, of which the first message stays; None if that is too little.

        What is ``spared`` stays in its place.
        ``event_ts`` is the time set aside for the ``sliding_window_truncation`` message, as in ``condense``.
        """
        if not 0 <= fraction <= 1:
            raise InvalidInput(
                f"{fraction} is not a part of a conversation: give a number from 0 to 1.", field="fraction"
            )
        async with self._changing:
            self._check_event(event_ts)
            heads = await self._visible_heads()
            condenses = self.view.condenses
            hidden, kept = hidden_by_truncation(heads, condenses[-1].summary_seq if condenses else None, fraction)
            hidden = [seq for seq in hidden if seq not in spared]
            if not hidden:
                return None
            return await self._hide(heads, hidden, kept, truncation_id, event_ts)

    async def hide(self, seqs: Collection[int], *, truncation_id: str, event_ts: int) -> TruncateMark:
        """Hide these messages, which the model sees now; a marker stands in their place. Otherwise as ``truncate``."""
        async with self._changing:
            self._check_event(event_ts)
            heads = await self._visible_heads()
            seen = [head.seq for head in heads if head.role != "system"]
            if not seqs or not set(seqs).issubset(seen):
                raise InvalidInput("There is nothing to hide, or it is not part of the conversation.", field="seqs")
            last = max(index for index, seq in enumerate(seen) if seq in seqs)
            kept = seen[last + 1] if last + 1 < len(seen) else None
            return await self._hide(heads, list(seqs), kept, truncation_id, event_ts)

    async def _hide(
        self, heads: Sequence[Head], hidden: Sequence[int], kept: int | None, truncation_id: str, event_ts: int
    ) -> TruncateMark:
        """Hide messages, and put the marker before the one that is ``kept``, or at the end."""
        times = {head.seq: head.ts for head in heads}
        first_kept_ts = None if kept is None else times[kept]
        mark = TruncateMark(
            id=str(uuid.uuid4()),
            ts=self._next_ts(),
            ui_end=self._ui_end,
            api_end=self._log.last_api_seq,
            truncation_id=truncation_id,
            hides=adjoining(hidden),
            count=len(hidden),
            before=self._log.last_api_seq + 1 if kept is None else kept,
            marker_ts=(event_ts if first_kept_ts is None else first_kept_ts) - 1,
            event_ts=event_ts,
        )
        await self._append(mark)
        return mark

    async def rewind_to_timestamp(
        self,
        ts: int,
        *,
        include_target_message: bool = False,
        files: str | None = None,
        mark_id: str | None = None,
    ) -> RewindMark | None:
        """Take back the message ``ts`` and all that followed, in both histories; None if there was nothing to take.

        With ``include_target_message`` the message itself stays in the UI history; the API history loses what was
        written at its time in any case. Whoever must know the mark's id before it is made chooses it.
        """
        async with self._changing:
            await self._check_visible(ts)
            mark = await self._rewind_mark(ts, ts + 1 if include_target_message else ts)
            return await self._put(mark and mark.model_copy(update=_chosen(files, mark_id)))

    async def foresee_rewind(self, ts: int, *, include_target_message: bool = False) -> RewindEffect:
        """What ``rewind_to_timestamp`` would do now; raises what it would."""
        async with self._changing:
            await self._check_visible(ts)
            return self._foresee(await self._rewind_mark(ts, ts + 1 if include_target_message else ts))

    async def edit_cutoff(self, ts: int) -> int:
        """Where an edit of the message ``ts`` begins: at the person's message it belongs to, or at the very first."""
        await self._check_visible(ts)
        before: int | None = ts + 1
        first = ts
        while page := await self.ui_page(before):
            for message in reversed(page):
                if message.say == "user_feedback":
                    return message.ts
            first = before = page[0].ts
        return first

    async def retry_cutoff(self, ts: int) -> int:
        """Where the answer begins that the message ``ts`` is part of: at the request to the model."""
        await self._check_visible(ts)
        before: int | None = ts + 1
        while page := await self.ui_page(before):
            for message in reversed(page):
                if message.say == "api_req_started":
                    return message.ts
                if message.ts == ts and message.say == "user_feedback":
                    raise _no_answer(ts)
            before = page[0].ts
        raise _no_answer(ts)

    async def rewind_answer(
        self, ts: int, *, files: str | None = None, mark_id: str | None = None
    ) -> RewindMark | None:
        """Take back the answer that the message ``ts`` is part of, its request and all that followed."""
        async with self._changing:
            mark = await self._retry_mark(ts)
            return await self._put(mark and mark.model_copy(update=_chosen(files, mark_id)))

    async def foresee_retry(self, ts: int) -> RewindEffect:
        """What ``rewind_answer`` would do now; raises what it would."""
        async with self._changing:
            return self._foresee(await self._retry_mark(ts))

    async def undo(
        self,
        mark_id: str | None = None,
        *,
        newer: Newer = "refuse",
        files: str | None = None,
        as_mark: str | None = None,
    ) -> UndoMark:
        """Take back a mark, by default the newest that counts.

        Undoing a condensation or truncation leaves later messages alone. Undoing a rewind returns to the conversation as
        it was then; if it has gone on since, that is a ``Conflict`` unless what is newer may be set aside with it.
        Nothing is lost either way: undoing the undo (``redo``) brings it back. ``as_mark`` is the new mark's id.
        """
        async with self._changing:
            return await self._undo(self._to_undo(mark_id), newer, files, as_mark)

    async def redo(self, mark_id: str | None = None, *, newer: Newer = "refuse", files: str | None = None) -> UndoMark:
        """Take back an undo, by default the newest one."""
        async with self._changing:
            return await self._undo(self._to_redo(mark_id), newer, files)

    def files_of(self, mark_id: str | None, *, redo: bool = False) -> str | None:
        """The operation on files that went with what an undo, or a redo, would take back."""
        return (self._to_redo(mark_id) if redo else self._to_undo(mark_id)).files

    def counts(self, mark_id: str) -> bool:
        """Whether there is such a mark, and it has its effect now."""
        mark = self._replay.find(mark_id)
        return mark is not None and self.view.counts(mark)

    async def foresee_undo(
        self, mark_id: str | None = None, *, aside: Callable[[ClineMessage], bool] = lambda message: False
    ) -> RewindEffect:
        """What ``undo`` would do now, if need be setting aside what is newer; messages that are ``aside`` are no news."""
        async with self._changing:
            return await self._foresee_undo(self._to_undo(mark_id), aside)

    async def foresee_redo(self, mark_id: str | None = None) -> RewindEffect:
        """What ``redo`` would do now, if need be setting aside what is newer."""
        async with self._changing:
            return await self._foresee_undo(self._to_redo(mark_id))

    def _to_undo(self, mark_id: str | None) -> Mark:
        mark = self.undoable if mark_id is None else self._replay.find(mark_id)
        if mark is None:
            raise NotFound(
                "There is nothing to undo in this conversation."
                if mark_id is None
                else f"This conversation has no change {mark_id}. Reload it and try again."
            )
        return mark

    def _to_redo(self, mark_id: str | None) -> UndoMark:
        mark = self.redoable if mark_id is None else self._replay.find(mark_id)
        if mark is None:
            raise NotFound(
                "There is nothing to redo in this conversation."
                if mark_id is None
                else f"This conversation has no undo {mark_id}; reload it and try again."
            )
        if not isinstance(mark, UndoMark):
            raise InvalidInput(
                f"The change {mark_id} is not an undo, so it cannot be redone. Undo it instead.", field="markId"
            )
        return mark

    async def _undo(self, target: Mark, newer: Newer, files: str | None, as_mark: str | None = None) -> UndoMark:
        mark = self._undo_mark(target).model_copy(update=_chosen(files, as_mark))
        if newer == "refuse" and await self._went_on_since(target):
            raise Conflict(
                "The conversation has continued since. Undoing this sets aside what is newer. Confirm to do so.",
                mark=target.id,
            )
        await self._append(mark)
        return mark

    async def _foresee_undo(
        self, target: Mark, aside: Callable[[ClineMessage], bool] = lambda message: False
    ) -> RewindEffect:
        return self._foresee(self._undo_mark(target), gone_on=await self._went_on_since(target, aside))

    def _undo_mark(self, target: Mark) -> UndoMark:
        if not self.view.counts(target):
            raise Conflict(
                "This change was already undone or rewound. Reload the conversation to see what can be undone.",
                mark=target.id,
            )
        return UndoMark(
            id=str(uuid.uuid4()),
            ts=self._next_ts(),
            ui_end=self._ui_end,
            api_end=self._log.last_api_seq,
            target=target.id,
        )

    def _foresee(self, mark: Mark | None, *, gone_on: bool = False) -> RewindEffect:
        now = self.view.visible_ui
        then = now if mark is None else self._replay.foresee(mark).visible_ui
        return RewindEffect(now.minus(then), then.minus(now), gone_on)

    async def _rewind_mark(self, ts: int, ui_from: int) -> RewindMark | None:
        """The mark that takes back the messages from ``ui_from`` on; None if it would change nothing."""
        ui_end, api_end = self._ui_end, self._log.last_api_seq
        heads = await self._heads()
        cutoff = rewind_cutoff(heads, ts)
        api_hides = hidden_by_rewind(heads, cutoff, api_end)
        newest = (await self.ui_page(limit=1))[-1].ts
        events = [mark.event_ts for mark in self.view.condenses] + [mark.event_ts for mark in self.view.truncations]
        if not api_hides and max([newest, *events]) < ui_from:
            return None
        return RewindMark(
            id=str(uuid.uuid4()),
            ts=self._next_ts(),
            ui_end=ui_end,
            api_end=api_end,
            target_ts=ts,
            api_cutoff=cutoff,
            ui_from=ui_from,
            api_hides=api_hides,
        )

    async def _retry_mark(self, ts: int) -> RewindMark | None:
        request = await self.retry_cutoff(ts)
        # The model's message has the time of the first thing it said, which is later than that of the request.
        later = (head.ts for head in await self._heads() if head.ts is not None and head.ts >= request)
        return await self._rewind_mark(next(later, request), request)

    async def _went_on_since(self, mark: Mark, aside: Callable[[ClineMessage], bool] = lambda message: False) -> bool:
        if not self._replay.goes_back(mark):
            return False
        newest = [message for message in await self.ui_page() if message.ts > mark.ui_end and not aside(message)]
        # Whoever stops a task to change its conversation is asked whether to go on; that is no news.
        if self._replay.changed_since(mark) or any(
            message.ask not in _WHETHER_TO_GO_ON or message.is_answered for message in newest
        ):
            return True
        return bool(await self._heads(mark.api_end + 1))

    async def _put(self, mark: RewindMark | None) -> RewindMark | None:
        if mark is not None:
            await self._append(mark)
        return mark

    async def _append(self, mark: Mark) -> None:
        await self._log.append_mark(mark)
        self._replay.add(mark)

    def _next_ts(self) -> int:
        return max(self._now(), self._replay.last_ts + 1)

    @property
    def _ui_end(self) -> int:
        # An event that a crash kept from the log goes with a rewind like one that reached it.
        return max(self._log.last_ui_ts, self._replay.last_event_ts)

    async def _visible_api(self) -> Iterator[ApiRecord]:
        view = self.view
        parts: list[ApiRecord | Marker] = []
        for piece in view.api_pieces():
            if isinstance(piece, Marker):
                parts.append(piece)
            else:
                parts += [record async for record in api_records(self._log, piece)]
        return in_force(parts, view)

    async def _visible_heads(self) -> list[Head]:
        """What the model sees of the log itself."""
        return [Head.of(record) for record in await self._visible_api() if not record.is_truncation_marker]

    async def _heads(self, first: int = 1) -> list[Head]:
        """All from ``first`` on that was not rewound, hidden or not, less the summaries that have no effect."""
        summaries = {mark.summary_seq for mark in self.view.condenses}
        return [
            Head.of(record)
            for span in self.view.api.without(0, first - 1).items
            async for record in api_records(self._log, span)
            if not record.is_summary or record.seq in summaries
        ]

    async def _check_visible(self, ts: int) -> None:
        known = await self._log.ui_between(ts, ts, limit=1, newest=True)
        if known and ts in self.view.visible_ui:
            return
        where = (
            "in this conversation: it was removed. Undo that first, or choose another message."
            if known
            else "in this conversation; reload it."
        )
        raise NotFound(f"Message with timestamp {ts} not found {where}", ts=ts)

    async def _check_summary(self, condense_id: str, summary_seq: int) -> None:
        records = await self._log.api_between(summary_seq, summary_seq, limit=1, newest=True)
        summary = records[0] if records and summary_seq in self.view.api else None
        if summary is None or not summary.is_summary or summary.condense_id != condense_id:
            raise NotFound(
                f"The API history has no summary {condense_id} at {summary_seq}; append it first.",
                condense_id=condense_id,
                seq=summary_seq,
            )

    def _check_event(self, event_ts: int) -> None:
        if event_ts not in self.view.ui:
            raise InvalidInput(
                f"The event's time {event_ts} was rewound; give it a time of its own.", field="eventTs", ts=event_ts
            )


def _no_answer(ts: int) -> InvalidInput:
    return InvalidInput("Only an answer from the model can be tried again.", field="messageTs", ts=ts)


def _chosen(files: str | None, mark_id: str | None) -> dict[str, object]:
    """What whoever makes a mark says of it."""
    return {"files": files} if mark_id is None else {"files": files, "id": mark_id}
