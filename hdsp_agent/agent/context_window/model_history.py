"""A stored conversation as a model is sent it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from ...config import GlobalSettings
from ...context import SentHistory, TokenCounter
from ...persistence import ApiRecord
from .persisted_context import ContextState

__all__ = ["Places", "most_picture_bytes", "sent_at_once", "sent_history", "take"]

Places = dict[str, tuple[int, int]]
"""Where each call stands in the log, by the id it is sent with."""

_BREATH: Final = 200
"""After so many records others get their turn: a long conversation takes a good part of a second."""


def most_picture_bytes(settings: GlobalSettings) -> int:
    """How many bytes the images of one request may have together."""
    return int(settings.max_total_image_size * 1_000_000)


async def sent_history(
    records: Iterable[ApiRecord],
    state: ContextState,
    *,
    images: bool,
    counter: TokenCounter,
    places: Places | None = None,
) -> SentHistory:
    """These records, with what was cleared of them."""
    sent, stubs = _begun(state, images, counter)
    for number, record in enumerate(records, 1):
        take(sent, record, stubs.get(record.seq), {} if places is None else places)
        if number % _BREATH == 0:
            await asyncio.sleep(0)
    return sent


def sent_at_once(
    records: Iterable[ApiRecord], state: ContextState, *, images: bool, counter: TokenCounter
) -> SentHistory:
    """The same. Blocks."""
    sent, stubs = _begun(state, images, counter)
    for record in records:
        take(sent, record, stubs.get(record.seq), {})
    return sent


def _begun(
    state: ContextState, images: bool, counter: TokenCounter
) -> tuple[SentHistory, Mapping[int, Mapping[int, str]]]:
    """A history without messages yet, and what is sent instead of results, by answer and place."""
    sent = SentHistory(
        images=images and not state.without_pictures, blanks=not state.without_blanks,
        thoughts_after=state.thoughts_after, counter=counter,
    )  # fmt: skip
    stubs: dict[int, dict[int, str]] = {}
    for stub in state.stubs:
        stubs.setdefault(stub.seq, {})[stub.place] = stub.text
    return sent, stubs


def take(sent: SentHistory, record: ApiRecord, stubs: Mapping[int, str] | None, places: Places) -> None:
    """Add the next record."""
    if record.role == "system":
        return
    sent.add(record.message(), stubs)
    if record.role == "assistant":
        places.update((id, (record.seq, place)) for place, id in enumerate(sent.newest_calls))
