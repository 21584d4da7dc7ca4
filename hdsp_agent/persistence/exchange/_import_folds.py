"""What Roo Code's tags hide, as our marks: summaries and truncations of an API history, and the times of messages."""

from __future__ import annotations

import re
import uuid
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic import JsonValue

from ...messages import JsonObject
from ..marks._cuts import adjoining
from ..marks._marks import CondenseMark, FoldMark, Mark, TruncateMark
from ._import_messages import message_ts, whole_number

__all__ = ["ApiHead", "FoldEvents", "Folding", "UiTimes", "fold_tags"]

_NAMES: Final = uuid.UUID("6f1d3b1e-0a55-4d0e-9b1c-3f1f6a7e2c80")
_COUNT: Final = re.compile(r"truncation: (\d{1,9}) messages hidden")


class ApiHead(NamedTuple):
    """What the tags of one message say."""

    ts: int | None
    is_summary: bool
    condense_id: str | None
    is_marker: bool
    truncation_id: str | None
    truncation_parent: str | None
    hidden: int | None

    @classmethod
    def of(cls, raw: JsonObject) -> ApiHead:
        """The tags of a raw message."""
        is_marker = raw.get("isTruncationMarker") is True
        return cls(
            message_ts(raw),
            raw.get("isSummary") is True,
            _name(raw.get("condenseId")),
            is_marker,
            _name(raw.get("truncationId")),
            _name(raw.get("truncationParent")),
            _count(raw.get("content")) if is_marker else None,
        )


@dataclass
class FoldEvents:
    """The messages on screen that tell of a condensation or truncation, by the ids they name; some name none."""

    condenses: dict[str, int] = field(default_factory=dict)
    nameless: list[int] = field(default_factory=list)
    truncations: dict[str, int] = field(default_factory=dict)

    def see(self, index: int, raw: JsonObject) -> None:
        """Take note of the message with this place."""
        if raw.get("say") == "condense_context":
            details = raw.get("contextCondense")
            name = _name(details.get("condenseId")) if isinstance(details, dict) else None
            if name is None:
                self.nameless.append(index)
            else:
                self.condenses.setdefault(name, index)
        elif raw.get("say") == "sliding_window_truncation":
            details = raw.get("contextTruncation")
            name = _name(details.get("truncationId")) if isinstance(details, dict) else None
            if name is not None:
                self.truncations.setdefault(name, index)


@dataclass(frozen=True)
class Folding:
    """``seqs`` is the number each message gets in the log; None for a marker, which a mark stands for."""

    seqs: list[int | None]
    marks: list[FoldMark]
    condense_ids: dict[int, str]


class UiTimes:
    """Times for messages in their order: as they say, but unique and rising. ``changed`` counts those that got another."""

    def __init__(self, times: Sequence[int | None]) -> None:
        kept = _rising(times)
        first = next((times[index] or 1 for index in range(len(times)) if index in kept), len(times) + 1)
        lead = next((index for index in range(len(times)) if index in kept), 0)
        self.times: Final[list[int]] = []
        self.changed = 0
        last = max(0, first - lead - 1)
        for index, ts in enumerate(times):
            given = max(last + 1, ts) if index in kept and ts is not None else last + 1
            self.changed += given != ts
            self.times.append(given)
            last = given
        self._used = set(self.times)

    @property
    def last(self) -> int:
        """The newest time, 0 if there is none."""
        return self.times[-1] if self.times else 0

    def free(self, near: int | None) -> int:
        """A time that no message has, at or after this one."""
        ts = near if near is not None else self.last + 1
        while ts in self._used:
            ts += 1
        self._used.add(ts)
        return ts


def fold_tags(heads: Sequence[ApiHead], events: FoldEvents, times: UiTimes) -> Folding:
    """The marks that make the log look as Roo Code reads the tagged list: from its last summary on.

    Of what stands before that, the tags have no effect; a marker without hidden messages is a message like others.
    """
    last_summary = max((index for index, head in enumerate(heads) if head.is_summary), default=-1)
    hidden = _hidden_by(heads, last_summary)
    seqs: list[int | None] = []
    seq = 0
    for index in range(len(heads)):
        seq += index not in hidden
        seqs.append(None if index in hidden else seq)
    nameless = iter(events.nameless)
    marks: list[FoldMark] = []
    ids: dict[int, str] = {}
    for index, head in enumerate(heads):
        if index not in hidden and not head.is_summary:
            continue
        ends = {"ts": len(marks) + 1, "ui_end": times.last, "api_end": seq}
        if index in hidden:
            marks.append(_truncate(heads, index, hidden[index], seqs, seq, events, times, ends))
            continue
        condense_id = head.condense_id or f"summary-{head.ts or index}"
        while condense_id in ids.values():
            condense_id += "-again"
        ids[index] = condense_id
        event = events.condenses.get(condense_id) if head.condense_id else None
        event = next(nameless, None) if event is None else event
        own = seqs[index]
        assert own is not None
        marks.append(
            CondenseMark.model_validate(
                {
                    **ends, "id": _mark_id(f"{condense_id}/{index}"), "condense_id": condense_id, "summary_seq": own,
                    "covers": [(1, own - 1)] if own > 1 else [], "after": own - 1,
                    "event_ts": times.free(head.ts) if event is None else times.times[event],
                }
            )
        )  # fmt: skip
    return Folding(seqs, marks, ids)


def fold_range(
    first: int, last: int, size: int, truncation_id: str, times: UiTimes, marker_ts: int | None
) -> list[Mark]:
    """The mark for the messages ``first`` to ``last`` that Cline leaves out of a log of this size."""
    if not 1 <= first <= min(last, size):
        return []
    last = min(last, size)
    return [
        TruncateMark(
            id=_mark_id(truncation_id), ts=1, ui_end=times.last, api_end=size, truncation_id=truncation_id,
            hides=[(first, last)], count=last - first + 1, before=last + 1, marker_ts=marker_ts or 1,
            event_ts=times.free(None),
        )
    ]  # fmt: skip


def _truncate(
    heads: Sequence[ApiHead],
    index: int,
    hidden: Sequence[int],
    seqs: Sequence[int | None],
    last_seq: int,
    events: FoldEvents,
    times: UiTimes,
    ends: dict[str, int],
) -> FoldMark:
    head = heads[index]
    name = head.truncation_id or ""
    after = next((other for other in range(index + 1, len(heads)) if seqs[other] is not None), None)
    event = events.truncations.get(name)
    marker_ts = head.ts if head.ts is not None else (heads[after].ts or 1) - 1 if after is not None else times.last
    return TruncateMark.model_validate(
        {
            **ends, "id": _mark_id(f"{name}/{index}"), "truncation_id": name,
            "hides": adjoining(seq for other in hidden if (seq := seqs[other]) is not None),
            "count": head.hidden or len(hidden),
            "before": last_seq + 1 if after is None else seqs[after], "marker_ts": marker_ts,
            "event_ts": times.free(head.ts) if event is None else times.times[event],
        }
    )  # fmt: skip


def _hidden_by(heads: Sequence[ApiHead], last_summary: int) -> dict[int, list[int]]:
    """The markers that hide something, with the places of what they hide on their side of the last summary."""
    markers: dict[tuple[str, bool], int] = {}
    for index, head in enumerate(heads):
        if head.is_marker and not head.is_summary and head.truncation_id is not None:
            markers.setdefault((head.truncation_id, index > last_summary), index)
    hidden: dict[int, list[int]] = {}
    for index, head in enumerate(heads):
        if head.truncation_parent is None or head.is_marker or head.is_summary:
            continue
        marker = markers.get((head.truncation_parent, index > last_summary))
        if marker is not None:
            hidden.setdefault(marker, []).append(index)
    return hidden


def _rising(times: Sequence[int | None]) -> set[int]:
    """The places of a longest run of times that never go back: what is out of it is what has a wrong time."""
    ends: list[int] = []
    places: list[int] = []
    before: list[int] = [-1] * len(times)
    for index, ts in enumerate(times):
        if ts is None:
            continue
        length = bisect_right(ends, ts)
        before[index] = places[length - 1] if length else -1
        if length == len(ends):
            ends.append(ts)
            places.append(index)
        else:
            ends[length] = ts
            places[length] = index
    kept: set[int] = set()
    index = places[-1] if places else -1
    while index >= 0:
        kept.add(index)
        index = before[index]
    return kept


def _name(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(content: JsonValue) -> int | None:
    texts: Iterable[JsonValue] = [content]
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, dict)]
    found = next((match for text in texts if isinstance(text, str) and (match := _COUNT.search(text))), None)
    return None if found is None else whole_number(found[1], at_least=1)


def _mark_id(name: str) -> str:
    return str(uuid.uuid5(_NAMES, name))
