"""Taking out of the files what came from conversations that are gone. Everything here blocks."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ..messages import TaskId
from .extracted_files import Extracted, ExtractedFiles
from .memory_folder import (
    ASIDE_FOLDER,
    CONSOLIDATED,
    DAMAGED,
    EXTRACTED_FOLDER,
    HANDBOOK,
    RAW_MEMORIES,
    SKILLS_FOLDER,
    SUMMARIES_FOLDER,
    SUMMARY,
    MemoryFolder,
)
from .publication import Publication, told_codes
from .rollout_files import rollout_file, selected_inputs, sync_rollout_files
from .sources import sources_by_code, without_sources

__all__ = ["forget_conversations", "forget_everything"]


def forget_conversations(folder: MemoryFolder, task_ids: Sequence[TaskId], *, now: float) -> bool:
    """Whether anything had been learned from them. ``now`` is in seconds. Raises StorageUnavailable."""
    files = ExtractedFiles(folder)
    known = list(files.all())
    gone = [each for each in known if each.task_id in set(task_ids)]
    if not gone:
        for task_id in task_ids:
            files.delete(task_id)
        return False
    codes, lost = frozenset(sources_by_code(known)), frozenset(sources_by_code(gone))
    files_gone = [rollout_file(each) for each in gone]

    def without(text: str) -> str:
        lines = (line for line in text.split("\n") if not any(name in line for name in files_gone))
        return without_sources("\n".join(lines), lost, codes)

    # First what is told, last what it is made from: killed in between, it is done again.
    Publication(folder).forget(without, at=datetime.fromtimestamp(now, tz=UTC))
    for task_id in task_ids:
        files.delete(task_id)
    told = told_codes(folder.text(SUMMARY))
    sync_rollout_files(folder, selected_inputs(files.all(), now=int(now * 1000), told=told))
    return any(not each.is_empty for each in gone)


def forget_everything(folder: MemoryFolder) -> None:
    """Have nothing that was learned. That a conversation was read stays known, or it would be learned again."""
    files = ExtractedFiles(folder)
    for each in files.all():
        if not each.is_empty:
            files.put(_emptied(each))
    for name in (SUMMARY, HANDBOOK, RAW_MEMORIES, CONSOLIDATED, f"{CONSOLIDATED}{DAMAGED}", "usage.json"):
        folder.remove(name)
    for name in folder.names(EXTRACTED_FOLDER):
        if name.endswith(DAMAGED):
            folder.remove(name)
    for name in folder.names(ASIDE_FOLDER):
        if name.partition("-")[2].startswith((f"{SKILLS_FOLDER}-", HANDBOOK, SUMMARY)):
            folder.remove(name)
    for hidden in (SUMMARIES_FOLDER, SKILLS_FOLDER, ".published", ".versions"):
        _remove(folder.root / hidden)


def _emptied(extracted: Extracted) -> Extracted:
    return extracted.model_copy(
        update={"raw_memory": "", "rollout_summary": "", "rollout_slug": None, "usage_count": 0, "last_usage": None}
    )


def _remove(place: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(place)
