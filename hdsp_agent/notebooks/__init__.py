"""Notebooks and kernels: one way to read, change and run them, wherever they are open.

Imports neither Jupyter's server nor its clients; the modules without an underscore are the adapters that do.
"""

from __future__ import annotations

from ._apply import ChangedNotebook, apply_operations, changed_cells, resolve_edits
from ._cells import new_cell_id
from ._desk import NotebookDesk
from ._document import (
    Applied,
    Cell,
    CellConflict,
    CellDisplay,
    CellType,
    EditSource,
    NotebookDocument,
    NotebookSource,
    Operation,
    OutputSummary,
    Snapshot,
)
from ._format import as_notebook, new_notebook, parse_notebook
from ._freshness import (
    NOTHING_SEEN,
    CellFreshness,
    FreshnessState,
    RanCell,
    RunMemory,
    StaleReason,
    freshness_of,
)
from ._hashes import source_hash
from ._later import Later, LaterDisk, LaterKernels
from ._ledger import Ledger
from ._many_cells import for_cells
from ._outline import OutlineLine, outline_of
from ._output_texts import bounded_outputs, without_escapes
from ._person_runs import NobodyRuns, PersonRun, PersonRuns
from ._printed import Printed
from ._renames import is_within, under
from ._service import Notebooks
from ._snapshot import cells_between, execution_order, snapshot_of
from ._stage import Stage
from ._tabs import NoTabs, TabGone, TabPort, TabSilent, TabView
from ._unreviewed import Unreviewed, UnreviewedChange
from ._witness import SeenRun, Witness, cell_of

__all__ = [
    "NOTHING_SEEN",
    "Applied",
    "Cell",
    "CellConflict",
    "CellDisplay",
    "CellFreshness",
    "CellType",
    "ChangedNotebook",
    "EditSource",
    "FreshnessState",
    "Later",
    "LaterDisk",
    "LaterKernels",
    "Ledger",
    "NoTabs",
    "NobodyRuns",
    "NotebookDesk",
    "NotebookDocument",
    "NotebookSource",
    "Notebooks",
    "Operation",
    "OutlineLine",
    "OutputSummary",
    "PersonRun",
    "PersonRuns",
    "Printed",
    "RanCell",
    "RunMemory",
    "SeenRun",
    "Snapshot",
    "Stage",
    "StaleReason",
    "TabGone",
    "TabPort",
    "TabSilent",
    "TabView",
    "Unreviewed",
    "UnreviewedChange",
    "Witness",
    "apply_operations",
    "as_notebook",
    "bounded_outputs",
    "cell_of",
    "cells_between",
    "changed_cells",
    "execution_order",
    "for_cells",
    "freshness_of",
    "is_within",
    "new_cell_id",
    "new_notebook",
    "outline_of",
    "parse_notebook",
    "resolve_edits",
    "snapshot_of",
    "source_hash",
    "under",
    "without_escapes",
]
