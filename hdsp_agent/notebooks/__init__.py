"""Notebooks and kernels: one way to read, change and run them, wherever they are open.

Imports neither Jupyter's server nor its clients; the modules without an underscore are the adapters that do.
"""

from __future__ import annotations

from ._access import NotebookAccess
from ._agent_outputs import AgentOutput
from ._apply import ChangedNotebook, apply_operations, resolve_edits
from ._cells import new_cell_id
from ._document import (
    Applied,
    Cell,
    CellConflict,
    CellType,
    EditSource,
    NotebookDocument,
    NotebookSnapshot,
    Operation,
    OutputSummary,
)
from ._execution_history import ExecutionHistory
from ._format import as_notebook, parse_notebook
from ._freshness import NOTHING_SEEN, CellFreshness, RanCell, RunMemory, freshness_of
from ._hashes import source_hash
from ._lazy import Lazy, lazy_contents, lazy_kernels
from ._live_outputs import LiveOutputs
from ._many_cells import for_cells
from ._notebooks import Notebooks
from ._observed_runs import ObservedRun, PersonRunLog, cell_of
from ._outline import OutlineLine, outline_of
from ._output_texts import bounded_outputs, without_escapes
from ._person_runs import PersonRun
from ._renamed_paths import is_within, renamed, under
from ._snapshot import snapshot_of
from ._tab_port import TabGone, TabPort, TabSilent, TabView
from ._unreviewed import Unreviewed
from ._unreviewed_change import UnreviewedChange
from ._unreviewed_files import UnreviewedFiles

__all__ = [
    "NOTHING_SEEN",
    "AgentOutput",
    "Applied",
    "Cell",
    "CellConflict",
    "CellFreshness",
    "CellType",
    "ChangedNotebook",
    "EditSource",
    "ExecutionHistory",
    "Lazy",
    "LiveOutputs",
    "NotebookAccess",
    "NotebookDocument",
    "NotebookSnapshot",
    "Notebooks",
    "ObservedRun",
    "Operation",
    "OutlineLine",
    "OutputSummary",
    "PersonRun",
    "PersonRunLog",
    "RanCell",
    "RunMemory",
    "TabGone",
    "TabPort",
    "TabSilent",
    "TabView",
    "Unreviewed",
    "UnreviewedChange",
    "UnreviewedFiles",
    "apply_operations",
    "as_notebook",
    "bounded_outputs",
    "cell_of",
    "for_cells",
    "freshness_of",
    "is_within",
    "lazy_contents",
    "lazy_kernels",
    "new_cell_id",
    "outline_of",
    "parse_notebook",
    "renamed",
    "resolve_edits",
    "snapshot_of",
    "source_hash",
    "under",
    "without_escapes",
]
