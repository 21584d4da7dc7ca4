"""What checkpoints may cost: everything here an operator may want to change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...config import GlobalSettings

__all__ = ["FileLimits"]

_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True)
class FileLimits:
    """Budgets of one workspace's checkpoints."""

    files: int = 20_000
    """More files than this, and only the files the agent touches are kept."""
    walk_seconds: float = 5.0
    """A walk that takes longer, and only the files the agent touches are kept."""
    file_bytes: int = 20_000_000
    """A larger file is kept whole beside the packs: where it can be cloned, or if the agent names it."""
    touched_file_bytes: int = 200_000_000
    """Of the files that the agent names, a larger one is not copied."""
    cloned_bytes: int = 1_000_000_000
    """What the large files of one checkpoint may have together where they can be cloned; beyond it the largest are left
    alone. To clone a file costs no space, but to know it again it has to be read."""
    total_bytes: int = 200_000_000
    """Total size of all other files in one checkpoint. Beyond it, the largest are left out."""
    quota_bytes: int = 2_000_000_000
    checkpoints: int = 200
    kept_checkpoints: int = 20
    """The newest, which no quota drops."""
    lock_seconds: float = 15.0
    """How long to wait for another server that uses the same store."""
    excluded: tuple[Path, ...] = ()
    """Folders that are never part of a checkpoint, besides the store's own."""
    touched_only: bool = False
    """Keep only what the agent touches, however small the workspace is."""
    watch: bool = True
    """Let the system tell what changed, where ``watchfiles`` is installed."""

    @classmethod
    def of(cls, settings: GlobalSettings, *excluded: Path) -> FileLimits:
        """What the person and the operator decided."""
        return cls(
            files=settings.checkpoint_max_files,
            walk_seconds=settings.checkpoint_max_walk_seconds,
            file_bytes=settings.checkpoint_max_file_megabytes * _MEGABYTE,
            touched_file_bytes=settings.checkpoint_max_touched_file_megabytes * _MEGABYTE,
            cloned_bytes=settings.checkpoint_max_cloned_megabytes * _MEGABYTE,
            total_bytes=settings.checkpoint_max_total_megabytes * _MEGABYTE,
            quota_bytes=settings.checkpoint_quota_megabytes * _MEGABYTE,
            checkpoints=settings.checkpoint_max_count,
            excluded=excluded,
        )
