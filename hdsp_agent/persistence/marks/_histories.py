"""The effective histories: what a person sees and what the model is sent, computed from the logs and the marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ..._iso_time import iso_time
from ...messages import ClineMessage
from .._records import ApiRecord, estimated_tokens
from ._marks import AnyMark, truncation_text
from ._replay import HistoryView, Marker, replay

__all__ = ["effective_ui", "in_force", "marker_record", "unrewound_api", "visible_ui"]


def effective_ui(ui: Sequence[ClineMessage], marks: Iterable[AnyMark]) -> list[ClineMessage]:
    """The messages a person sees. ``ui`` is the log as read: a later line with the same ``ts`` replaces the earlier."""
    return visible_ui(ui, replay(marks))


def visible_ui(ui: Iterable[ClineMessage], view: HistoryView) -> list[ClineMessage]:
    """The messages of the log that a view shows, each as its last line says."""
    visible = view.visible_ui.membership()
    latest = {message.ts: message for message in ui}
    return [message for ts, message in latest.items() if visible(ts)]


def in_force(parts: Iterable[ApiRecord | Marker], view: HistoryView) -> Iterator[ApiRecord]:
    """What is read from the log piece by piece, as a view shows it.

    A summary without a mark that counts was never put in force, or no longer is. Of markers that come to stand side by
    side, one speaks for all.
    """
    summaries = {mark.summary_seq for mark in view.condenses[-1:]}
    marker: Marker | None = None
    for part in parts:
        if isinstance(part, Marker):
            marker = part if marker is None else replace(part, count=marker.count + part.count)
            continue
        if part.is_summary and part.seq not in summaries:
            continue
        if marker is not None:
            yield marker_record(marker)
            marker = None
        yield part
    if marker is not None:
        yield marker_record(marker)


def unrewound_api(api: Iterable[ApiRecord], view: HistoryView) -> list[ApiRecord]:
    """The records that were not rewound, hidden or not, less the summaries that have no effect."""
    present = view.api.membership()
    summaries = {mark.summary_seq for mark in view.condenses}
    return [record for record in api if present(record.seq) and (not record.is_summary or record.seq in summaries)]


def marker_record(marker: Marker) -> ApiRecord:
    """The message that stands where others were truncated, as Roo Code words it."""
    text = truncation_text(marker.count)
    return ApiRecord.model_construct(
        seq=0,
        role="user",
        content=text,
        ts=marker.ts,
        is_truncation_marker=True,
        truncation_id=marker.truncation_id,
        timestamp=iso_time(datetime.fromtimestamp(marker.ts / 1000, tz=UTC)),
        token_count=estimated_tokens(text),
    )
