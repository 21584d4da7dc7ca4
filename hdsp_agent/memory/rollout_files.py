"""The files that a consolidation begins from: one summary a conversation, and all raw memories in one. Blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from .._iso_time import iso_time
from .extracted_files import Extracted, rollout_name, short_id
from .memory_folder import RAW_MEMORIES, SUMMARIES_FOLDER, MemoryFolder
from .pipeline_limits import MAX_CONSOLIDATION_INPUTS, MAX_UNUSED_DAYS

__all__ = ["rollout_file", "selected_inputs", "sync_rollout_files"]

_DAY: Final = 24 * 3600 * 1000
_TITLE: Final = "# Raw memories\n\nWhat each conversation taught, the newest first.\n"


def selected_inputs(extracted: Iterable[Extracted], *, now: int, told: frozenset[str] = frozenset()) -> list[Extracted]:
    """What is consolidated: what was used most comes first, and what nobody used for long is left out.

    ``now`` is in milliseconds. ``told`` are the codes of conversations that are named in what every conversation is told.
    """
    oldest = now - MAX_UNUSED_DAYS * _DAY
    useful = [
        each
        for each in extracted
        if not each.is_empty and (each.used_or_updated_at >= oldest or short_id(each.task_id) in told)
    ]
    useful.sort(key=lambda each: (-each.usage_count, -each.used_or_updated_at, each.task_id))
    return useful[:MAX_CONSOLIDATION_INPUTS]


def rollout_file(extracted: Extracted) -> str:
    """The name of a conversation's summary from the memory folder."""
    return f"{SUMMARIES_FOLDER}/{rollout_name(extracted)}.md"


def sync_rollout_files(folder: MemoryFolder, selected: Sequence[Extracted]) -> None:
    """Have the summaries of just these conversations, and their raw memories. Raises StorageUnavailable."""
    folder.make()
    wanted = {rollout_file(each): _summary(each) for each in selected}
    for name in folder.names(SUMMARIES_FOLDER):
        if name not in wanted:
            folder.remove(name)
    for name, text in wanted.items():
        _write_changed(folder, name, text)
    newest_first = sorted(selected, key=lambda each: (-each.source_updated_at, each.task_id))
    if newest_first:
        _write_changed(folder, RAW_MEMORIES, "\n".join([_TITLE, *map(_raw_memory, newest_first)]))
    else:
        folder.remove(RAW_MEMORIES)


def _write_changed(folder: MemoryFolder, name: str, text: str) -> None:
    if folder.text(name) != text:
        folder.write(name, text)


def _summary(extracted: Extracted) -> str:
    facts = [
        f"conversation: {extracted.task_id}",
        f"began: {extracted.began_at}",
        f"last said: {_time(extracted.source_updated_at)}",
        *([f"folder: {extracted.workspace}"] if extracted.workspace else []),
        *([f"notebook: {extracted.notebook}"] if extracted.notebook else []),
    ]
    return "\n".join([*facts, "", extracted.rollout_summary.strip(), ""])


def _raw_memory(extracted: Extracted) -> str:
    return "\n".join(
        [
            f"## Conversation {extracted.task_id}",
            "",
            f"last said: {_time(extracted.source_updated_at)}",
            f"summary: {rollout_file(extracted)}",
            "",
            extracted.raw_memory.strip(),
            "",
        ]
    )


def _time(milliseconds: int) -> str:
    return iso_time(datetime.fromtimestamp(milliseconds / 1000, tz=UTC))
