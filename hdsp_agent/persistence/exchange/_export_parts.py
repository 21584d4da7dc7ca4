"""What all exports need of a task: its line in the history, who may read what, and its messages page by page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final

from pydantic import JsonValue, ValidationError

from ..._iso_time import parse_iso_time
from ...messages import ClineMessage, CodebaseSearchResult, HistoryItem, JsonObject, SearchHit, words_of
from .._records import ApiRecord
from .._task_reader import TaskReader
from ..marks._replay import HistoryView, replay

__all__ = [
    "history_item_of",
    "past_hits",
    "shown_ui",
    "unrewound",
    "view_of",
    "without_frames",
    "without_keys",
    "without_the_past",
]

_TITLE_CHARACTERS: Final = 4_000
_KEY_NAME: Final = re.compile(
    r"api[_-]?key|secret|passw|credential|(access|auth|refresh|session|bearer)[_-]?token|private[_-]?key|key[_-]?file|^token$"
    r"|authorization|headers",
    re.IGNORECASE,
)
_ENVIRONMENT: Final = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_FRAME: Final = re.compile(r"</?(?:task|user_message|feedback|answer)>")


async def history_item_of(reader: TaskReader) -> HistoryItem:
    """The line the task has in the history; for a task that never got one, what its records tell."""
    state = await reader.read_state()
    if state.history_item is not None:
        return state.history_item
    metadata = reader.metadata
    first = await reader.ui.page(after=0, limit=1)
    began = parse_iso_time(metadata.created_at)
    return HistoryItem(
        id=metadata.uuid,
        number=0,
        ts=first[0].ts if first else int(began.timestamp() * 1000) if began else 0,
        task=(first[0].text or words_of(first[0]) if first else "")[:_TITLE_CHARACTERS],
        tokens_in=state.total_tokens_used,
        tokens_out=0,
        total_cost=0.0,
        parent_task_id=metadata.parent_task_id,
        root_task_id=metadata.root_task_id,
        forked_from=metadata.forked_from,
        workspace=metadata.workspace,
        notebook=metadata.notebook,
        mode=metadata.mode,
    )


async def view_of(reader: TaskReader) -> HistoryView:
    """What is visible of the task."""
    return replay([mark async for mark in reader.marks.iterate()])


async def shown_ui(reader: TaskReader, view: HistoryView) -> AsyncIterator[ClineMessage]:
    """The messages a person sees, oldest first."""
    visible = view.visible_ui.membership()
    async for message in reader.ui.iterate():
        if visible(message.ts):
            yield message


def past_hits(message: ClineMessage) -> list[SearchHit]:
    """What this message found in other conversations, notebooks and memory; what Roo Code found in code is none of it."""
    if message.say != "codebase_search_result":
        return []
    with suppress(ValidationError):
        hits = CodebaseSearchResult.model_validate_json(message.text or "").content.results
        return [hit for hit in hits if hit.kind is not None]
    return []


def without_the_past(message: ClineMessage) -> ClineMessage | None:
    """The message without words of other conversations and notes, which whoever gets this one shall not read."""
    if past_hits(message):
        return None
    return message if message.recalled is None else message.model_copy(update={"recalled": None})


async def unrewound(reader: TaskReader, view: HistoryView) -> AsyncIterator[ApiRecord]:
    """What was said to and by the model and not taken back, hidden from it by now or not; no summaries."""
    present: Callable[[int], bool] = view.api.membership()
    async for record in reader.api.iterate():
        if (
            present(record.seq)
            and not record.is_summary
            and not record.is_truncation_marker
            and record.role != "system"
        ):
            yield record


def without_frames(text: str) -> str:
    """What a person or the model said, without what the agent put around it for the model."""
    return _FRAME.sub("", _ENVIRONMENT.sub("", text)).strip()


def without_keys(config: JsonObject) -> JsonObject:
    """A configuration without whatever is named like a key: no export carries one."""
    return {name: _keyless(value) for name, value in config.items() if not _KEY_NAME.search(name)}


def _keyless(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return without_keys(value)
        case list():
            return [_keyless(item) for item in value]
        case _:
            return value
