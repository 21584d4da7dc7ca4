"""What of the past a model had before it for the answer that it gives now: told with its request, or read by its tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ...messages import RecalledItem
from ..conversation.dialogue import MOST_RECALLED

if TYPE_CHECKING:
    from .task_state import TaskState

__all__ = ["recalled_for_answer"]

_MOST_LOOKED_AT: Final = 2_000
"""Messages. Who worked longer on one answer is shown what was read last."""


async def recalled_for_answer(state: TaskState) -> Sequence[RecalledItem]:
    """Told notes and files first, then what was read since the answer before, each once and neither without bounds."""
    items = _each_once([*await state.context.recalled(), *await _read_since_answer(state)])
    told = [item for item in items if item.told]
    read = [item for item in items if not item.told]
    # Each has room of its own: many notes must not hide what was read.
    return [*told[:MOST_RECALLED], *read[:MOST_RECALLED]]


async def _read_since_answer(state: TaskState) -> list[RecalledItem]:
    read: list[RecalledItem] = []
    before: int | None = None
    looked_at = 0
    while looked_at < _MOST_LOOKED_AT and (page := await state.conversation.history.ui_page(before)):
        for message in reversed(page):
            if message.say == "completion_result":
                return read
            read[:0] = message.recalled or ()
        before = page[0].ts
        looked_at += len(page)
    return read


def _each_once(items: Iterable[RecalledItem]) -> list[RecalledItem]:
    kept: dict[tuple[str, str, str | None], RecalledItem] = {}
    for item in items:
        kept.setdefault((item.kind, item.source, item.place), item)
    return list(kept.values())
