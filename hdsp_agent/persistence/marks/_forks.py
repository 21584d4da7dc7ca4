"""A new task from here: what of a conversation it starts with."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...errors import NotFound
from ...messages import ClineMessage, JsonObject
from .._records import ApiRecord
from ._cuts import Head, fork_end
from ._histories import unrewound_api, visible_ui
from ._marks import AnyMark, CondenseMark, FoldMark, SeqRange
from ._replay import HistoryView, replay

__all__ = ["Fork", "Renumber", "fork_at"]

Renumber = Callable[[JsonObject, Mapping[int, int]], JsonObject]
"""What a message told, with the messages it names under their new numbers; those that stay behind are not in the map."""


@dataclass(frozen=True, slots=True)
class Fork:
    """The first records of a new task, numbered from 1, and the marks that make them look as they did."""

    ui: list[ClineMessage]
    api: list[ApiRecord]
    marks: list[FoldMark]


def fork_at(
    ui: Sequence[ClineMessage],
    api: Sequence[ApiRecord],
    marks: Iterable[AnyMark],
    ts: int,
    *,
    renumber: Renumber = lambda told, numbers: told,
) -> Fork:
    """The conversation up to and with the visible message ``ts``.

    What was rewound stays behind; what a summary or a truncation hides comes along with its mark, so that the new task
    can undo those.
    """
    view = replay(marks)
    seen = visible_ui(ui, view)
    index = next((index for index, message in enumerate(seen) if message.ts == ts), None)
    if index is None:
        raise NotFound(f"Message with timestamp {ts} not found in this conversation; reload it.", ts=ts)
    records = unrewound_api(api, view)
    end = fork_end(
        [Head.of(record) for record in records],
        ts,
        seen[index + 1].ts if index + 1 < len(seen) else None,
        from_person=index == 0 or seen[index].say == "user_feedback",
    )
    folds = _folds_before(view, ts, end)
    summaries = {mark.summary_seq for mark in folds if isinstance(mark, CondenseMark)}
    kept = [record for record in records if record.seq < end and (not record.is_summary or record.seq in summaries)]
    seqs = [record.seq for record in kept]
    numbers = {old: new for new, old in enumerate(seqs, 1)}
    return Fork(
        ui=[_placed(message, seqs) for message in seen[: index + 1]],
        api=[_moved(record, numbers, renumber) for record in kept],
        marks=[_renumbered(mark, seqs, ts) for mark in folds],
    )


def _placed(message: ClineMessage, seqs: Sequence[int]) -> ClineMessage:
    """The message with its place among the API messages that come along; places count from 0."""
    place = message.conversation_history_index
    if place is None:
        return message
    return message.model_copy(update={"conversation_history_index": bisect_right(seqs, place + 1) - 1})


def _folds_before(view: HistoryView, ts: int, end: int) -> list[FoldMark]:
    folds = (
        mark for mark in view.applied if isinstance(mark, FoldMark) and view.in_place(mark) and mark.event_ts <= ts
    )
    return [mark for mark in folds if (mark.summary_seq if isinstance(mark, CondenseMark) else mark.hides[-1][1]) < end]


def _moved(record: ApiRecord, numbers: Mapping[int, int], renumber: Renumber) -> ApiRecord:
    told = None if record.told is None else renumber(record.told, numbers)
    return record.model_copy(update={"seq": numbers[record.seq], "told": told})


def _renumbered(mark: FoldMark, seqs: Sequence[int], ts: int) -> FoldMark:
    """The mark for records that are numbered by their place among ``seqs``."""
    ends = {"ui_end": ts, "api_end": len(seqs)}
    if isinstance(mark, CondenseMark):
        return mark.model_copy(
            update={
                **ends,
                "summary_seq": bisect_left(seqs, mark.summary_seq) + 1,
                "covers": _renumbered_ranges(mark.covers, seqs),
                "after": bisect_right(seqs, mark.after),
            }
        )
    before = bisect_left(seqs, mark.before) + 1
    return mark.model_copy(update={**ends, "hides": _renumbered_ranges(mark.hides, seqs), "before": before})


def _renumbered_ranges(ranges: Iterable[SeqRange], seqs: Sequence[int]) -> list[SeqRange]:
    places = ((bisect_left(seqs, first) + 1, bisect_right(seqs, last)) for first, last in ranges)
    return [(first, last) for first, last in places if first <= last]
