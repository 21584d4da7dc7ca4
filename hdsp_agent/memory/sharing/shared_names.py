"""Which files of a memory folder are shared with other servers, and how large they may be. Everything here blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..._portable_names import is_portable
from ..._private_files import Identity, identity_of
from ...persistence import LARGEST_SHARED_FILE
from ..memory_folder import CONSOLIDATED, EXTRACTED_FOLDER, HANDBOOK, RAW_MEMORIES, SUMMARIES_FOLDER, SUMMARY

__all__ = ["RECORD", "SharedNames", "is_consolidated", "is_shared_name", "lock_of", "shared_names"]

RECORD: Final = ".shared.json"
"""What this folder has in common with the database."""

_MOST_FILES: Final = 10_000
_MOST_BYTES: Final = 64_000_000
_OTHERS: Final = frozenset({"people"})
"""The memory of other persons has folders of its own."""
_HIDDEN: Final = frozenset({".published", ".versions"})
"""Folders of ours. What else is hidden belongs to editors, to Jupyter or to git."""
_LOCKED: Final = frozenset({"profile.md", "usage.json", "runs.jsonl"})
_ENDINGS: Final = (".lock", ".tmp")


class SharedNames(dict[str, Identity]):
    """The files there are to share, by their names; ``left_out`` are there as well, and are not shared."""

    def __init__(self) -> None:
        super().__init__()
        self.left_out: set[str] = set()


def is_shared_name(name: str) -> bool:
    """Whether a file of this name is shared, and is a file of the folder wherever it is put."""
    parts = name.split("/")
    seen = parts[1:] if parts[0] in _HIDDEN else parts
    return (
        all(is_portable(part) for part in parts)
        and parts[0] not in _OTHERS
        and not any(part.startswith(".") for part in seen)
        and not parts[-1].endswith(_ENDINGS)
    )


def shared_names(root: Path) -> SharedNames:
    """What there is to share, and what would be too much. Raises OSError."""
    found, total = SharedNames(), 0
    for name, path in _files(root):
        identity = None if path.is_symlink() else identity_of(path)
        if identity is None or identity[1] > LARGEST_SHARED_FILE:
            found.left_out.add(name)
            continue
        total += identity[1]
        if len(found) == _MOST_FILES or total > _MOST_BYTES:
            total -= identity[1]
            found.left_out.add(name)
            continue
        found[name] = identity
    return found


def is_consolidated(name: str) -> bool:
    """Whether only a consolidation, or who takes something out of one, writes this file."""
    first = name.split("/", 1)[0]
    return name in (CONSOLIDATED, RAW_MEMORIES) or first in (SUMMARIES_FOLDER, *_HIDDEN)


def lock_of(name: str) -> str | None:
    """What is locked, besides the folder's record, by who changes this file."""
    if name in (SUMMARY, HANDBOOK):
        return HANDBOOK
    if name.startswith(f"{EXTRACTED_FOLDER}/"):
        return EXTRACTED_FOLDER
    return name if name in _LOCKED else None


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    def fail(error: OSError) -> None:
        # What cannot be looked into must not count as deleted.
        raise error

    for place, folders, names in os.walk(root, onerror=fail):
        inside = Path(place).relative_to(root).as_posix()
        before = "" if inside == "." else f"{inside}/"
        folders[:] = sorted(
            folder
            for folder in folders
            if is_shared_name(f"{before}{folder}/x") and not Path(place, folder).is_symlink()
        )
        for name in sorted(names):
            if is_shared_name(f"{before}{name}"):
                yield f"{before}{name}", Path(place, name)
