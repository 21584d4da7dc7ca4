"""The API history as Roo Code keeps it in one file: hidden messages name the summary or marker that hides them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...messages import ApiMessage
from .._records import ApiRecord, ApiRole
from ..marks._histories import marker_record
from ..marks._marks import CondenseMark, FoldMark, TruncateMark
from ..marks._replay import HistoryView, Marker, tells_of
from ..marks._spans import SpanSet

__all__ = ["RooHead", "RooLine", "roo_lines", "roo_message"]


class RooHead(NamedTuple):
    """What the layout asks of a message."""

    seq: int
    role: ApiRole
    is_summary: bool

    @classmethod
    def of(cls, record: ApiRecord) -> RooHead:
        """The head of a record."""
        return cls(record.seq, record.role, bool(record.is_summary))


@dataclass(slots=True)
class RooLine:
    """A message in its place; a marker, which is in no log, comes with its mark."""

    head: RooHead
    truncation: TruncateMark | None = None
    condense_parent: str | None = None
    truncation_parent: str | None = None


def roo_lines(heads: Iterable[RooHead], view: HistoryView) -> list[RooLine]:
    """The lines with ``condenseParent``, ``truncationParent``, summaries and markers where Roo Code would have them.

    Roo Code reads from the last summary on, so what a summary covers stands before it and what it spares after it. The
    messages themselves are not here, so that a long task can be written piece by piece.
    """
    condenses = {mark.summary_seq for mark in view.condenses}
    present = view.api.membership()
    kept = {
        head.seq: head
        for head in heads
        if head.role != "system" and present(head.seq) and (not head.is_summary or head.seq in condenses)
    }
    lines = [RooLine(head) for seq, head in kept.items() if seq not in condenses]
    for mark in _folds(view):
        if isinstance(mark, TruncateMark):
            lines = _truncated(lines, mark)
        elif mark.summary_seq in kept:
            lines = _condensed(lines, mark, kept[mark.summary_seq])
    return lines


def roo_message(line: RooLine, record: ApiRecord | None) -> ApiMessage:
    """The message of a line; a marker's is made, any other's is the record."""
    if line.truncation is not None:
        mark = line.truncation
        record = marker_record(Marker(mark.truncation_id, mark.count, mark.marker_ts))
    assert record is not None
    parents = {"condense_parent": line.condense_parent, "truncation_parent": line.truncation_parent}
    return record.message().model_copy(update=parents)


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


def _truncated(lines: list[RooLine], mark: TruncateMark) -> list[RooLine]:
    hides = SpanSet.of(mark.hides)
    for line in lines:
        if line.head.seq in hides and line.truncation_parent is None:
            line.truncation_parent = mark.truncation_id
    kept = (index for index, line in enumerate(lines) if line.head.seq >= mark.before and not line.head.is_summary)
    place = next(kept, len(lines))
    return [*lines[:place], RooLine(RooHead(0, "user", False), mark), *lines[place:]]


def _condensed(lines: list[RooLine], mark: CondenseMark, summary: RooHead) -> list[RooLine]:
    covers = SpanSet.of(mark.covers)
    hidden: list[RooLine] = []
    spared: list[RooLine] = []
    for line in lines:
        told = line.head.seq in covers if line.truncation is None else tells_of(mark, line.truncation)
        (hidden if told or line.head.is_summary else spared).append(line)
    for line in hidden:
        line.condense_parent = line.condense_parent or mark.condense_id
    return [*hidden, RooLine(summary), *spared]
