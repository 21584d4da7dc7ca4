"""What messages about notebooks carry as JSON in their ``text``: changes of cells, code to run, how a cell ran.

All of it is ours; Roo Code has no notebooks.
"""

from typing import Literal

from ._base import CellId, Record
from ._notebooks import CellType, RunState

__all__ = ["CellCode", "CellEdit", "CellEditKind", "CellExecuted", "KernelChange", "KernelChanged"]

CellEditKind = Literal["insert", "replace", "edit", "delete", "move", "changeType", "clearOutputs"]
KernelChange = Literal["started", "restarted", "interrupted", "died"]


class CellEdit(Record):
    """One change of a cell, as a person is asked about it."""

    op: CellEditKind
    cell_id: CellId | None = None
    number: int | None = None
    """Its place before the change, from 1."""
    cell_type: CellType | None = None
    """What an inserted cell is, or what a cell becomes."""
    after: int | None = None
    """Behind which cell it is put, by its number before the change; 0 is the beginning."""
    diff: str | None = None
    """Unified, of the cell's source."""
    added: int | None = None
    removed: int | None = None


class CellCode(Record):
    """Code that is run, byte for byte."""

    cell_id: CellId | None = None
    number: int | None = None
    code: str


class CellExecuted(Record):
    """The text of a ``cell_executed`` message: how a cell the agent ran fares, anew with each change."""

    path: str
    cell_id: CellId | None = None
    """Absent for code that is in no cell."""
    number: int | None = None
    run_id: str
    state: RunState
    execution_count: int | None = None
    started_at: int | None = None
    duration_ms: int | None = None
    result: str | None = None
    """The value of its last expression, or what it showed last, as text."""
    table: str | None = None
    """The same as HTML, where it is a table; a page makes it harmless before it shows it."""
    error: str | None = None
    """Name and message of the exception it ended with."""
    reason: str | None = None
    """Why it ended other than by itself."""
    artifact: str | None = None
    """Where the whole of a very long output is."""


class KernelChanged(Record):
    """The text of a ``kernel_status`` message."""

    path: str
    change: KernelChange
    kernel: str | None = None
    """Its name as people know it."""
