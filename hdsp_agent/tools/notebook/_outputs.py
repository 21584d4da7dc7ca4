"""What the notebook tools tell programs, in a shape of their own."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...notebooks.kernels import KernelInfo
from .._structured import StructuredOutput

__all__ = [
    "AvailableKernel",
    "CellRunReport",
    "CellsChanged",
    "ColumnEntry",
    "InsertedCell",
    "InspectedVariable",
    "KernelList",
    "NotebookCell",
    "NotebookContent",
    "RunReport",
    "RunningKernel",
    "VariableList",
    "running_kernel",
]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class RunningKernel(_Entry):
    """A kernel that runs."""

    path: str
    """The notebook."""
    name: str
    display_name: str
    state: str


def running_kernel(kernel: KernelInfo, path: str) -> RunningKernel:
    """A kernel of the notebook that is called so."""
    return RunningKernel(path=path, name=kernel.name, display_name=kernel.display_name, state=kernel.state)


class AvailableKernel(_Entry):
    """A kernel that can be started."""

    name: str
    display_name: str
    language: str


class KernelList(StructuredOutput):
    """Which kernels run, and which can be started."""

    running: list[RunningKernel]
    available: list[AvailableKernel]


class NotebookCell(_Entry):
    """A cell; what was not asked for is absent."""

    id: str
    number: int
    """From 1. Ids stay when cells are moved, numbers do not."""
    cell_type: str
    execution_count: int | None = None
    state: str | None = None
    """Whether the output is what the cell would show now: fresh, stale (and why), failed, never ran, or unknown."""
    error: str | None = None
    title: str | None = None
    """The first heading or line."""
    lines: int | None = None
    source: str | None = None
    output: str | None = None
    """What it printed; images are among the content blocks."""
    images: int | None = None


class NotebookContent(StructuredOutput):
    """A notebook, or those of its cells that were asked for."""

    path: str
    cell_count: int
    kernel: RunningKernel | None = None
    open_in_browser: bool
    unsaved_changes: bool
    cells: list[NotebookCell]
    left_out: int
    """How many cells had no room: ask for them with `cells`."""


class InsertedCell(_Entry):
    """A new cell."""

    id: str


class CellsChanged(StructuredOutput):
    """What was done to cells."""

    path: str
    saved: bool
    """Whether the file has it, too: one that is open in the browser is saved there."""
    inserted: list[InsertedCell]
    """In the order of the operations."""
    changed: list[str]
    """The ids of all cells that were inserted, changed or moved."""
    cell_count: int | None = None
    summary: str
    """What was done, and how the notebook is around it now."""


class CellRunReport(_Entry):
    """How a cell ran."""

    id: str | None = None
    """Absent for code that is in no cell."""
    number: int | None = None
    state: Literal["queued", "running", "ok", "error", "interrupted", "dead", "timed_out"]
    execution_count: int | None = None
    seconds: float | None = None
    output: str | None = None
    images: int | None = None
    error: str | None = None
    advice: str | None = None


class RunReport(StructuredOutput):
    """How a run of cells stands."""

    run: str
    """Its handle, for wait_run."""
    done: bool
    path: str
    cells: list[CellRunReport]
    notes: str | None = None
    """What else to know: which cells wait or were not run, and how to go on."""


class ColumnEntry(_Entry):
    """A column of a table."""

    name: str
    dtype: str


class InspectedVariable(_Entry):
    """A variable; ``memory`` is in bytes."""

    name: str
    type: str
    shape: list[int | None] | None = None
    length: int | None = None
    dtype: str | None = None
    device: str | None = None
    memory: int | None = None
    columns: list[ColumnEntry] | None = None
    head: str | None = None
    tables: str | None = None
    """Of a connection to a database: its tables and their columns."""
    error: str | None = None


class VariableList(StructuredOutput):
    """The variables of a kernel."""

    path: str
    variables: list[InspectedVariable]
    missing: list[str]
    """Names that were asked for and do not exist."""
    unseen: list[str]
    """Names there was no time or room for."""
