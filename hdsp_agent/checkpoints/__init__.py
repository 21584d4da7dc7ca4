"""Time travel: what a workspace's files were, and the way back, which can always be undone.

``Checkpoints`` is the door. From the outside in: ``_engine`` makes whole operations; ``_workspace``, ``_walk``, ``_reading`` and
``_capture`` turn a folder into objects; ``_plan`` and ``_restoration`` turn objects into a folder again; ``_operation_log`` is
the truth about what happened; ``_repository``, ``_packs`` and ``_pack_writer`` keep the objects in git's own format, so that
stock git reads a store, though none is needed. Nothing but ``_service`` knows of an event loop.
"""

from __future__ import annotations

from ._checkpoint_store import workspace_with_checkpoints
from ._diff import CheckpointDiff, FileDiff
from ._file_names import NamedFile
from ._limits import Limits
from ._notebook_diff import CellDiff, NotebookDiff, notebook_diff
from ._records import (
    Author,
    Changed,
    CheckpointId,
    CheckpointRecord,
    OperationRecord,
    PlannedChange,
    RestoredConversation,
    RestorePlan,
    StoreStatistics,
)
from ._service import Checkpoints
from ._text_diff import Hunk
from ._undoing import restore_to_undo

__all__ = [
    "Author",
    "CellDiff",
    "Changed",
    "CheckpointDiff",
    "CheckpointId",
    "CheckpointRecord",
    "Checkpoints",
    "FileDiff",
    "Hunk",
    "Limits",
    "NamedFile",
    "NotebookDiff",
    "OperationRecord",
    "PlannedChange",
    "RestorePlan",
    "RestoredConversation",
    "StoreStatistics",
    "notebook_diff",
    "restore_to_undo",
    "workspace_with_checkpoints",
]
