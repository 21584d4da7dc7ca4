"""Replaying marks: what is visible of the two logs, as spans, without reading either.

An undo of a condensation or truncation takes back just that; messages that came later stay. An undo of a rewind, or of
such an undo, returns to the state right before its target: what came later is set aside, and undoing the undo brings it
back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from ...messages import ConversationMark, ConversationMarks
from ._marks import AnyMark, CondenseMark, FoldMark, Mark, RewindMark, TruncateMark, UndoMark, UnknownMark
from ._spans import EVERYTHING, Span, SpanSet

__all__ = ["ApiPiece", "HistoryView", "MarkProblem", "MarkReplay", "Marker", "newest_marks", "replay", "tells_of"]


@dataclass(frozen=True, slots=True)
class Marker:
    """The word of a truncation about what it hides."""

    truncation_id: str
    count: int
    ts: int


ApiPiece = Span | Marker
"""A part of the effective API history: records of the log, or a marker."""


@dataclass(frozen=True, slots=True)
class MarkProblem:
    """A mark that was left out of account, and why."""

    mark_id: str | None
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class HistoryView:
    """What is visible after some marks.

    ``ui`` are times, ``api`` sequence numbers that no rewind took away; ``applied`` are the marks that count, in order,
    and ``undone`` the condensations and truncations that were taken back.
    """

    ui: SpanSet = EVERYTHING
    api: SpanSet = EVERYTHING
    applied: tuple[Mark, ...] = ()
    undone: tuple[FoldMark, ...] = ()

    def counts(self, mark: Mark) -> bool:
        """Whether a mark has effect: it was not undone, and neither its event nor its summary was rewound."""
        if all(applied.id != mark.id for applied in self.applied):
            return False
        return not isinstance(mark, FoldMark) or self.in_place(mark)

    @property
    def condenses(self) -> list[CondenseMark]:
        """The condensations that have effect, oldest first: the last one is what the model sees, the others are nested in it."""
        return [mark for mark in self.applied if isinstance(mark, CondenseMark) and self.in_place(mark)]

    @property
    def truncations(self) -> list[TruncateMark]:
        """The truncations that have effect, oldest first."""
        return [mark for mark in self.applied if isinstance(mark, TruncateMark) and self.in_place(mark)]

    @property
    def visible_ui(self) -> SpanSet:
        """The times of the messages a person sees. The event of something undone would tell an untruth."""
        return self.ui.without_all((fold.event_ts, fold.event_ts) for fold in self.undone)

    def api_pieces(self) -> list[ApiPiece]:
        """What the model sees, in order: spans of the log, with the summary and the markers in their places."""
        spans = self.api
        inserts: list[tuple[int, ApiPiece]] = []
        condense = next(reversed(self.condenses), None)
        if condense is not None:
            spans = spans.without_all(condense.covers).without(condense.summary_seq, condense.summary_seq)
            inserts.append((condense.after, Span(condense.summary_seq, condense.summary_seq)))
        for mark in self.truncations:
            spans = spans.without_all(mark.hides)
            if condense is None or not tells_of(condense, mark):
                inserts.append((mark.before - 1, Marker(mark.truncation_id, mark.count, mark.marker_ts)))
        return _interleave(spans, sorted(inserts, key=lambda insert: insert[0]))

    def in_place(self, fold: FoldMark) -> bool:
        """Whether neither the event of a condensation or truncation, nor the summary, was rewound."""
        return fold.event_ts in self.ui and (isinstance(fold, TruncateMark) or fold.summary_seq in self.api)


@dataclass(frozen=True, slots=True)
class _Switch:
    """A mark that makes a condensation or truncation count, or not count."""

    mark: Mark
    order: int
    fold: FoldMark
    on: bool


@dataclass(frozen=True, slots=True)
class _Move:
    """A mark that goes to another state of the conversation, with the views around it: undoing it goes back."""

    mark: Mark
    order: int
    before: HistoryView
    after: HistoryView


class MarkReplay:
    """The view after the marks so far; marks are added one by one, as they are read or made."""

    def __init__(self, marks: Iterable[AnyMark] = ()) -> None:
        self._view = HistoryView()
        self._steps: dict[str, _Switch | _Move] = {}
        self._problems: list[MarkProblem] = []
        self._last_ts = 0
        self._last_event_ts = 0
        for mark in marks:
            self.add(mark)

    @property
    def view(self) -> HistoryView:
        """What is visible now."""
        return self._view

    @property
    def problems(self) -> Sequence[MarkProblem]:
        """The marks that could not be taken into account."""
        return self._problems

    @property
    def last_ts(self) -> int:
        """The time of the newest mark, 0 if there is none."""
        return self._last_ts

    @property
    def last_event_ts(self) -> int:
        """The newest time set aside for the event of a condensation or truncation, 0 if there is none."""
        return self._last_event_ts

    def add(self, mark: AnyMark) -> None:
        """Take one more mark into account. One that makes no sense here is passed over and reported."""
        if isinstance(mark, UnknownMark):
            self._report(mark.id, mark.kind, "this version does not know the kind")
            return
        if mark.id in self._steps:
            self._report(mark.id, mark.kind, "a mark with this id came before")
            return
        after = self._after(mark)
        if after is None:
            self._report(mark.id, mark.kind, "what it undoes does not exist or does not count")
            return
        self._view = after
        self._last_ts = max(self._last_ts, mark.ts)
        if isinstance(mark, FoldMark):
            self._last_event_ts = max(self._last_event_ts, mark.event_ts)

    def foresee(self, mark: Mark) -> HistoryView:
        """What would be visible after one more mark, which is not taken into account; the same as now if it makes no sense."""
        after = self._after(mark)
        self._steps.pop(mark.id, None)
        return self._view if after is None else after

    def find(self, mark_id: str) -> Mark | None:
        """The mark with this id, whether it still counts or not."""
        step = self._steps.get(mark_id)
        return None if step is None else step.mark

    def goes_back(self, mark: Mark) -> bool:
        """Whether undoing the mark returns to the state before it, and so sets aside what came since."""
        return isinstance(self._steps[mark.id], _Move)

    def changed_since(self, mark: Mark) -> bool:
        """Whether other marks count now than did right after a mark that goes to another state."""
        step = self._steps[mark.id]
        return isinstance(step, _Move) and _deeds(self._view) != _deeds(step.after)

    def newest_deed(self) -> Mark | None:
        """The newest mark that an undo without a target takes back."""
        marks = reversed(self._view.applied)
        return next((mark for mark in marks if not isinstance(mark, UndoMark) and self._view.counts(mark)), None)

    def newest_undo(self) -> UndoMark | None:
        """The newest undo that a redo takes back."""
        marks = reversed(self._view.applied)
        return next((mark for mark in marks if isinstance(mark, UndoMark) and self._can_come_back(mark.target)), None)

    def newest_marks(self) -> ConversationMarks:
        """What a person can undo and redo."""
        undo = self.newest_undo()
        undone = None if undo is None else self.find(undo.target)
        return ConversationMarks(
            undoable=_told(self.newest_deed()),
            redoable=None if undo is None else _told(undone, undo),
        )

    def _can_come_back(self, mark_id: str) -> bool:
        mark = self.find(mark_id)
        return isinstance(mark, RewindMark) or (isinstance(mark, FoldMark) and self._view.in_place(mark))

    def _after(self, mark: Mark) -> HistoryView | None:
        """The view after the mark, which is noted down; None if it makes no sense here."""
        view = self._view
        match mark:
            case CondenseMark() | TruncateMark():
                self._steps[mark.id] = _Switch(mark, len(self._steps), mark, on=True)
                return replace(view, applied=(*view.applied, mark))
            case RewindMark():
                ui = view.ui.without(mark.ui_from, mark.ui_end)
                api = view.api.without_all(mark.api_hides)
                return self._moved(mark, replace(view, ui=ui, api=api, applied=(*view.applied, mark)))
            case UndoMark():
                target = self._steps.get(mark.target)
                if target is None or not view.counts(target.mark):
                    return None
                if isinstance(target, _Switch):
                    return self._switched(mark, target.fold, on=not target.on)
                return self._moved(mark, _view_before(target, mark))
            case _:
                assert_never(mark)

    def _moved(self, mark: Mark, after: HistoryView) -> HistoryView:
        self._steps[mark.id] = _Move(mark, len(self._steps), self._view, after)
        return after

    def _switched(self, mark: UndoMark, fold: FoldMark, *, on: bool) -> HistoryView:
        """A condensation or truncation counts again, in its old place among the marks, or it no longer does."""
        self._steps[mark.id] = _Switch(mark, len(self._steps), fold, on)
        others = [other for other in self._view.applied if self._fold_of(other) != fold.id]
        if on:
            others = sorted([*others, fold], key=lambda other: self._steps[other.id].order)
        undone = [other for other in self._view.undone if other.id != fold.id]
        return replace(self._view, applied=(*others, mark), undone=tuple(undone if on else [*undone, fold]))

    def _fold_of(self, mark: Mark) -> str | None:
        step = self._steps[mark.id]
        return step.fold.id if isinstance(step, _Switch) else None

    def _report(self, mark_id: str | None, kind: str, reason: str) -> None:
        self._problems.append(MarkProblem(mark_id, kind, reason))


def replay(marks: Iterable[AnyMark]) -> HistoryView:
    """What is visible after these marks."""
    return MarkReplay(marks).view


def newest_marks(marks: Iterable[AnyMark]) -> ConversationMarks:
    """What a person can undo and redo after these marks."""
    return MarkReplay(marks).newest_marks()


def tells_of(condense: CondenseMark, truncation: TruncateMark) -> bool:
    """Whether a summary covers all that a truncation hides, so that its marker has nothing to say."""
    return not SpanSet.of(truncation.hides).without_all(condense.covers).items


def _view_before(target: _Move, undo: UndoMark) -> HistoryView:
    old = target.before
    ui = old.ui.until(target.mark.ui_end).open_from(undo.ui_end + 1)
    api = old.api.until(target.mark.api_end).open_from(undo.api_end + 1)
    return replace(old, ui=ui, api=api, applied=(*old.applied, undo))


def _told(mark: Mark | None, undo: UndoMark | None = None) -> ConversationMark | None:
    """A mark, or the undo that took it back, as the page knows it."""
    if mark is None or isinstance(mark, UndoMark):
        return None
    named = undo or mark
    went_to = mark.target_ts if isinstance(mark, RewindMark) else None
    return ConversationMark(id=named.id, kind=mark.kind, ts=named.ts, message_ts=went_to)


def _deeds(view: HistoryView) -> list[str]:
    return [mark.id for mark in view.applied if not isinstance(mark, UndoMark)]


def _interleave(spans: SpanSet, inserts: Sequence[tuple[int, ApiPiece]]) -> list[ApiPiece]:
    """Each insert follows the number it comes with, whether that is in a span or between two."""
    pieces: list[ApiPiece] = []
    index = 0
    for span in spans.items:
        first = span.first
        while index < len(inserts) and inserts[index][0] < span.last:
            after, piece = inserts[index]
            if after >= first:
                pieces.append(Span(first, after))
                first = after + 1
            pieces.append(piece)
            index += 1
        pieces.append(Span(first, span.last))
    pieces += [piece for _, piece in inserts[index:]]
    return pieces
