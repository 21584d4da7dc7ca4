"""The checkpoints of a workspace: what files, notebooks, variables and a conversation were at once, and restoring them.

``Timeline`` is what others use. ``_notebook_states`` keeps what a notebook's cells were, ``_cell_plan`` is the pure plan from what they
are to what they were, ``_state_capture`` takes both from notebooks and kernels, ``_restore`` brings parts back together or not at
all, and ``_views`` is what pages are sent of it.
"""

from __future__ import annotations

from ._reasons import FOR_VERIFICATION, is_of_restore, kind_of
from ._restore import ConversationPart
from ._restore_lock import RestoreLock
from ._timeline import Timeline
from ._timeline_limits import TimelineLimits
from ._verification_reports import VerificationReport
from ._views import (
    CellVersions,
    CheckpointView,
    OperationView,
    Parts,
    RestartedCell,
    RestartedRun,
    RestartPreview,
    RestorePreview,
    RestoreResult,
    StepView,
    StoreView,
    TimelineView,
    VariablesPreview,
    VariablesSince,
    VerifiedView,
)

__all__ = [
    "FOR_VERIFICATION",
    "CellVersions",
    "CheckpointView",
    "ConversationPart",
    "OperationView",
    "Parts",
    "RestartPreview",
    "RestartedCell",
    "RestartedRun",
    "RestoreLock",
    "RestorePreview",
    "RestoreResult",
    "StepView",
    "StoreView",
    "Timeline",
    "TimelineLimits",
    "TimelineView",
    "VariablesPreview",
    "VariablesSince",
    "VerificationReport",
    "VerifiedView",
    "is_of_restore",
    "kind_of",
]
