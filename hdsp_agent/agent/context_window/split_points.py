"""Where a conversation can be parted: what is before is condensed, what is behind stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

from ...messages import JsonObject
from ...persistence import INTERRUPTED, ApiRecord

__all__ = ["newest_step", "newest_words", "partings", "reach"]


def partings(records: Sequence[ApiRecord]) -> list[int]:
    """The indexes before which no call waits for a result that comes behind; the summary of earlier ones stays in front."""
    found: list[int] = []
    waiting: set[str] = set()
    for index, record in enumerate(records):
        if record.role == "assistant":
            found.append(index)
            waiting = {str(block.get("id")) for block in _blocks(record, "tool_use")}
            continue
        if not waiting:
            found.append(index)
        # A call that still runs is read as one that was interrupted.
        results = (block for block in _blocks(record, "tool_result") if block.get("content") != INTERRUPTED)
        waiting -= {str(block.get("tool_use_id")) for block in results}
    if not waiting:
        found.append(len(records))
    summary = next((index for index, record in enumerate(records) if record.is_summary), -1)
    return [index for index in dict.fromkeys(found) if index > max(0, summary)]


def newest_words(records: Sequence[ApiRecord]) -> int:
    """Where begins what came after the last answer and its results."""
    index = len(records)
    while index > 0 and records[index - 1].role != "assistant" and not _blocks(records[index - 1], "tool_result"):
        index -= 1
    return index


def newest_step(records: Sequence[ApiRecord]) -> int:
    """Where the last answer is."""
    return next((index for index in range(len(records) - 1, -1, -1) if records[index].role == "assistant"), 0)


def reach(records: Sequence[ApiRecord]) -> int:
    """How far into the log these records go. The summary of earlier ones was written later than what follows it."""
    return max((record.seq for record in records if not record.is_summary), default=0)


def _blocks(record: ApiRecord, kind: str) -> list[JsonObject]:
    if isinstance(record.content, str):
        return []
    return [block for block in record.content if block.get("type") == kind]
