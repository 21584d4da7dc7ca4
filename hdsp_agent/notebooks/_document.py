"""What a notebook is to the agent, wherever it is kept: a snapshot to read, and operations to change it by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ..errors import Conflict, NotFound
from ..messages import (
    CellId,
    CellMismatch,
    ChangeOutputsMessage,
    JsonObject,
    NotebookOperation,
    OutputDetail,
    SourceHash,
    TaskId,
)

__all__ = [
    "Applied",
    "Cell",
    "CellConflict",
    "CellDisplay",
    "CellType",
    "EditSource",
    "NotebookDocument",
    "NotebookSnapshot",
    "NotebookSource",
    "Operation",
    "OutputSummary",
]

CellType = Literal["code", "markdown", "raw"]
NotebookSource = Literal["tab", "room", "disk"]
"""Where a snapshot came from."""


@dataclass(frozen=True)
class OutputSummary:
    """What a cell's outputs are, without them."""

    count: int = 0
    characters: int = 0
    """Of all text in them; images and other binary data not counted."""
    images: int = 0
    error: str | None = None
    """The name of the last error among them."""


@dataclass(frozen=True)
class Cell:
    """One cell of a snapshot."""

    id: CellId
    cell_type: CellType
    source: str
    hash: SourceHash
    """sha256 of the source as UTF-8: what an operation expects."""
    execution_count: int | None = None
    outputs: tuple[JsonObject, ...] = ()
    """As nbformat has them, in the detail that was asked for."""
    metadata: JsonObject = field(default_factory=dict)
    attachments: JsonObject = field(default_factory=dict)
    """Files in a Markdown or raw cell, by name; told with full outputs."""
    signature: str | None = None
    """Told with full outputs that the person trusts: shows later that they were trusted."""
    has_outputs: bool = False
    output_summary: OutputSummary = OutputSummary()


@dataclass(frozen=True)
class NotebookSnapshot:
    """A notebook at one moment.

    A notebook below format 4.5 has no cell ids; its cells are named by what they say. Such an id holds until that
    cell's source changes, see ``cell_ids``.
    """

    path: str
    cells: tuple[Cell, ...]
    metadata: JsonObject
    nbformat: int
    nbformat_minor: int
    revision: str
    """Opaque; the same for the same content from the same source."""
    source: NotebookSource
    dirty: bool = False
    """Whether a tab has changes that the disk does not have."""
    kernel_name: str | None = None
    language: str | None = None

    def cell(self, cell_id: CellId) -> Cell:
        """The cell of this id."""
        return self.cells[self.index(cell_id)]

    def index(self, cell_id: CellId) -> int:
        """At which place, from 0, the cell of this id is."""
        for place, cell in enumerate(self.cells):
            if cell.id == cell_id:
                return place
        raise NotFound(
            f"{self.path} has no cell {cell_id}. Read the notebook again and use an id it shows.",
            path=self.path,
            cell=cell_id,
        )


@dataclass(frozen=True)
class EditSource:
    """Replace one piece of a cell's source; ``old`` must be in it exactly once."""

    cell_id: CellId
    old: str
    new: str
    expect: SourceHash | None = None


Operation = NotebookOperation | EditSource


@dataclass(frozen=True)
class Applied:
    """What became of operations that were all done."""

    snapshot_revision: str | None
    """The revision of a snapshot taken now, where it is known."""
    saved: bool
    changed: tuple[CellId, ...]
    """Cells that were inserted, changed or moved, in the order of the operations, by the ids they have now."""
    content_hash: str | None
    """Of the file, as the contents API tells it."""
    renamed: Mapping[CellId, CellId] = field(default_factory=dict)
    """Old to new ids of cells that are named by what they say (below format 4.5) and say something else now."""


class CellConflict(Conflict):
    """Cells are not as an operation expects them. Nothing was changed; each mismatch has the cell's present source."""

    code = "cell_conflict"

    def __init__(self, message: str, *, path: str, mismatches: Sequence[CellMismatch]) -> None:
        super().__init__(message, path=path)
        self.path = path
        self.mismatches = tuple(mismatches)


class NotebookDocument(Protocol):
    """A notebook, through whatever has it: a tab, a shared room or the contents manager."""

    @property
    def path(self) -> str:
        """Its path in the contents API."""

    async def snapshot(self, *, outputs: OutputDetail = "none") -> NotebookSnapshot:
        """The notebook as it is now."""

    async def apply(
        self,
        operations: Sequence[Operation],
        *,
        save: bool = True,
        task_id: TaskId | None = None,
        review: bool = False,
        signatures: Collection[str] | None = None,
    ) -> Applied:
        """Do all of them and, if asked, save; or raise and do none. ``CellConflict``: cells are not as expected.

        ``signatures`` are given for outputs that come back: those with one of them are trusted, as they were when the seal was
        made, and others are not.
        """


class CellDisplay(Protocol):
    """Shows outputs of a running cell to whoever has the notebook open."""

    async def show(self, change: ChangeOutputsMessage) -> bool:
        """Whether somebody was there to see it."""
