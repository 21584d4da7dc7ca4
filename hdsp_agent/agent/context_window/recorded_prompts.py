"""The system prompt in force: the newest one of the log, which is sent still when the turn it was made in was rewound."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final, Protocol

from ...persistence import ApiRecord, HistoryView, Records

__all__ = ["newest_prompt", "prompt_text"]

_PAGE: Final = 200


class _Reader(Protocol):
    @property
    def api(self) -> Records[ApiRecord]:
        """What the model was sent and said."""


async def newest_prompt(reader: _Reader, view: HistoryView, records: Iterable[ApiRecord]) -> ApiRecord | None:
    """The newest system message, given the ``records`` a view shows. No fold hides one, but a rewind does."""
    shown = max((record for record in records if record.role == "system"), key=lambda one: one.seq, default=None)
    least = 0 if shown is None else shown.seq
    gaps = [(max(before.last, least) + 1, after.first - 1) for before, after in pairwise(view.api.items)]
    for first, last in reversed(gaps):
        while first <= last:
            page = await reader.api.between(first, last, limit=_PAGE, newest=True)
            prompt = next((record for record in reversed(page) if record.role == "system"), None)
            if prompt is not None:
                return prompt
            last = page[0].seq - 1 if page else 0
    return shown


def prompt_text(record: ApiRecord) -> str:
    """What it says."""
    content = record.content
    return content if isinstance(content, str) else "\n".join(str(block.get("text", "")) for block in content)
