"""Checkpoints: what a workspace's files, notebooks and variables were, and restoring them, which can always be undone.

``files`` keeps files in a store of git's own format and restores them; ``variables`` keeps what is in a kernel; ``timeline`` puts
both together with notebooks and the conversation, and is what the rest of the product uses.
"""

from __future__ import annotations

from .files.async_file_checkpoints import AsyncFileCheckpoints
from .files.checkpoint_store import workspace_with_checkpoints
from .files.diff import CheckpointDiff, FileDiff
from .files.file_limits import FileLimits
from .files.notebook_diff import CellDiff, notebook_diff
from .files.records import (
    Changed,
    CheckpointId,
    CheckpointRecord,
    FileRestorePlan,
    OperationRecord,
    PlannedChange,
    RestoredConversation,
    StoreStatistics,
)
from .files.text_diff import Hunk
from .files.undo import restore_to_undo

__all__ = [
    "AsyncFileCheckpoints",
    "CellDiff",
    "Changed",
    "CheckpointDiff",
    "CheckpointId",
    "CheckpointRecord",
    "FileDiff",
    "FileLimits",
    "FileRestorePlan",
    "Hunk",
    "OperationRecord",
    "PlannedChange",
    "RestoredConversation",
    "StoreStatistics",
    "notebook_diff",
    "restore_to_undo",
    "workspace_with_checkpoints",
]
