"""The API history as Roo Code keeps it in one file: hidden messages name the summary or marker that hides them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..messages import ApiMessage
from ._histories import marker_record, unrewound_api
from ._marks import AnyMark, CondenseMark, FoldMark, TruncateMark
from ._records import ApiRecord
from ._replay import HistoryView, Marker, replay, tells_of
from ._spans import Spans

__all__ = ["roo_messages"]


@dataclass(slots=True)
class _Line:
    """A message on its way; a marker's comes with its mark."""

    record: ApiRecord
    truncation: TruncateMark | None = None
    condense_parent: str | None = None
    truncation_parent: str | None = None


def roo_messages(api: Sequence[ApiRecord], marks: Iterable[AnyMark]) -> list[ApiMessage]:
    """The messages with ``condenseParent``, ``truncationParent``, summaries and markers where Roo Code would have them.

    Roo Code reads from the last summary on, so what a summary covers stands before it and what it spares after it.
    """
    view = replay(marks)
    condenses = {mark.summary_seq for mark in view.condenses}
    records = {record.seq: record for record in unrewound_api(api, view) if record.role != "system"}
    lines = [_Line(record) for seq, record in records.items() if seq not in condenses]
    for mark in _folds(view):
        if isinstance(mark, TruncateMark):
            lines = _truncated(lines, mark)
        elif mark.summary_seq in records:
            lines = _condensed(lines, mark, records[mark.summary_seq])
    return [_message(line) for line in lines]


def _folds(view: HistoryView) -> list[FoldMark]:
    """What has effect, in order, but a truncation before the summary that tells of it.

    It stands after only where the summary was undone, the truncation made, and the summary put in force again.
    """
    folds: list[FoldMark] = []
    for mark in view.applied:
        if isinstance(mark, TruncateMark) and view.in_place(mark):
            told = (i for i, other in enumerate(folds) if isinstance(other, CondenseMark) and tells_of(other, mark))
            folds.insert(next(told, len(folds)), mark)
        elif isinstance(mark, CondenseMark) and view.in_place(mark):
            folds.append(mark)
    return folds


def _truncated(lines: list[_Line], mark: TruncateMark) -> list[_Line]:
    hides = Spans.of(mark.hides)
    for line in lines:
        if line.record.seq in hides and line.truncation_parent is None:
            line.truncation_parent = mark.truncation_id
    marker = marker_record(Marker(mark.truncation_id, mark.count, mark.marker_ts))
    kept = (index for index, line in enumerate(lines) if line.record.seq >= mark.before and not line.record.is_summary)
    place = next(kept, len(lines))
    return [*lines[:place], _Line(marker, mark), *lines[place:]]


def _condensed(lines: list[_Line], mark: CondenseMark, summary: ApiRecord) -> list[_Line]:
    covers = Spans.of(mark.covers)
    hidden: list[_Line] = []
    spared: list[_Line] = []
    for line in lines:
        told = line.record.seq in covers if line.truncation is None else tells_of(mark, line.truncation)
        (hidden if told or line.record.is_summary else spared).append(line)
    for line in hidden:
        line.condense_parent = line.condense_parent or mark.condense_id
    return [*hidden, _Line(summary), *spared]


def _message(line: _Line) -> ApiMessage:
    parents = {"condense_parent": line.condense_parent, "truncation_parent": line.truncation_parent}
    return line.record.message().model_copy(update=parents)
