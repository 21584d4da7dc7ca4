"""Moments: what files, notebooks, variables and a conversation were at once, and the one way back for all of them.

``TimeLine`` is the door. ``_states`` is what a notebook's cells were, ``_cell_plan`` the pure plan from what they are to what they
were, ``_watching`` takes both from notebooks and kernels, ``_restoring`` brings parts back together or not at all, and ``_views``
says all of it to people.
"""

from __future__ import annotations

from ._conversation import ConversationPart
from ._limits import MomentLimits
from ._reasons import kind_of
from ._time_line import TimeLine
from ._told import (
    CellChange,
    CellVersion,
    CellVersions,
    MomentView,
    NotebookPreview,
    OperationView,
    Parts,
    RestartedCell,
    RestartedRun,
    RestartPreview,
    RestorePreview,
    RestoreResult,
    StoreView,
    TimeLineView,
    VariablesPreview,
)
from ._turn import Turn

__all__ = [
    "CellChange",
    "CellVersion",
    "CellVersions",
    "ConversationPart",
    "MomentLimits",
    "MomentView",
    "NotebookPreview",
    "OperationView",
    "Parts",
    "RestartPreview",
    "RestartedCell",
    "RestartedRun",
    "RestorePreview",
    "RestoreResult",
    "StoreView",
    "TimeLine",
    "TimeLineView",
    "Turn",
    "VariablesPreview",
    "kind_of",
]
