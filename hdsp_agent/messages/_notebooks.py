"""What server and page say about open notebooks: which there are, changes of cells, and what a running cell prints.

One tab is asked at a time: the one that holds the lease on the notebook. It does an operation once, however often it is
asked, and answers a repeated one as before.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from ._attachments import AttachmentList
from ._base import CellId, Count, FilePath, Flag, JsonObject, Message, Name, Text
from ._webview_base import Request

__all__ = [
    "AppendOutput",
    "ApplyNotebookOperationsMessage",
    "CellMismatch",
    "CellReviewRequest",
    "ChangeCellType",
    "ChangeOutputsMessage",
    "ClearOutputs",
    "DeleteCell",
    "EditCellRequest",
    "ExtendStream",
    "FailedCellRequest",
    "InsertCell",
    "MoveCell",
    "NotebookMessage",
    "NotebookOperation",
    "NotebookOperationsResultRequest",
    "NotebookPageRequest",
    "NotebookPointer",
    "NotebookUpdate",
    "NotebookWorkMessage",
    "OpenNotebook",
    "OpenNotebooksRequest",
    "OutputChange",
    "OutputDetail",
    "PutOutput",
    "ReadNotebookMessage",
    "ReloadNotebookMessage",
    "ReplaceSource",
    "RunState",
    "SetAttachments",
    "SetCellMetadata",
    "SetNotebookMetadata",
    "SetOutputs",
    "SourceHash",
    "TruncateOutputs",
    "WorkingCell",
]

SourceHash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""sha256 of a cell's source as UTF-8."""

CellType = Literal["code", "markdown", "raw"]
OutputDetail = Literal["none", "bounded", "full"]
RunState = Literal["queued", "running", "ok", "error", "interrupted", "dead", "timed_out"]

_NewCellId = Annotated[CellId, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
_OpId = Annotated[str, Field(min_length=1, max_length=128)]


# ---- operations on cells


class InsertCell(Message):
    """A new cell behind ``after``, or as the first. Its id is the server's."""

    op: Literal["insertCell"] = "insertCell"
    cell_id: _NewCellId
    after: CellId | None = None
    cell_type: CellType
    source: Text
    metadata: JsonObject | None = None
    outputs: list[JsonObject] | None = None
    """Of a deleted code cell that comes back."""
    trusted: Flag | None = None
    """Whether the person trusted these outputs."""
    execution_count: Count | None = None
    attachments: JsonObject | None = None
    """Of a deleted Markdown or raw cell that comes back: files by name, each by type."""


class ReplaceSource(Message):
    """Another source, if the cell's is still the one expected."""

    op: Literal["replaceSource"] = "replaceSource"
    cell_id: CellId
    expect: SourceHash | None = None
    source: Text


class DeleteCell(Message):
    """Take a cell away."""

    op: Literal["deleteCell"] = "deleteCell"
    cell_id: CellId
    expect: SourceHash | None = None


class MoveCell(Message):
    """Put a cell behind ``after``, or first."""

    op: Literal["moveCell"] = "moveCell"
    cell_id: CellId
    after: CellId | None = None


class ChangeCellType(Message):
    """Make it code, Markdown or raw; its id and source stay."""

    op: Literal["changeCellType"] = "changeCellType"
    cell_id: CellId
    expect: SourceHash | None = None
    cell_type: CellType


class SetOutputs(Message):
    """These are a code cell's outputs now, as nbformat has them."""

    op: Literal["setOutputs"] = "setOutputs"
    cell_id: CellId
    outputs: list[JsonObject]
    execution_count: Count | None = None
    trusted: Flag | None = None
    """Of outputs that come back: whether the person trusted them. Others are trusted as the cell is."""


class AppendOutput(Message):
    """One output more."""

    op: Literal["appendOutput"] = "appendOutput"
    cell_id: CellId
    output: JsonObject


class ClearOutputs(Message):
    """No outputs and no execution count."""

    op: Literal["clearOutputs"] = "clearOutputs"
    cell_id: CellId


class SetAttachments(Message):
    """These are a Markdown or raw cell's files now, by name."""

    op: Literal["setAttachments"] = "setAttachments"
    cell_id: CellId
    attachments: JsonObject


class SetCellMetadata(Message):
    """One key of a cell's metadata; without ``value`` it is taken away."""

    op: Literal["setCellMetadata"] = "setCellMetadata"
    cell_id: CellId
    key: Name
    value: JsonValue = None


class SetNotebookMetadata(Message):
    """One key of the notebook's metadata; without ``value`` it is taken away."""

    op: Literal["setNotebookMetadata"] = "setNotebookMetadata"
    key: Name
    value: JsonValue = None


NotebookPointer = Annotated[SetCellMetadata | SetNotebookMetadata, Field(discriminator="op")]

NotebookOperation = Annotated[
    InsertCell
    | ReplaceSource
    | DeleteCell
    | MoveCell
    | ChangeCellType
    | SetOutputs
    | AppendOutput
    | ClearOutputs
    | SetAttachments
    | SetCellMetadata
    | SetNotebookMetadata,
    Field(discriminator="op"),
]


class CellMismatch(Message):
    """Why an operation could not be done: the cell is gone, or its source is another."""

    index: Count
    """Which operation of the batch."""
    cell_id: CellId
    source: str | None = None
    """What it is now; absent when there is no such cell."""


# ---- what the page tells


class OpenNotebook(Message):
    """A notebook that a tab has open."""

    path: FilePath
    revision: Count
    """Rises with every change of the model, whoever makes it."""
    dirty: Flag
    content_hash: str | None = None
    """Of the file, as the contents API told it last."""
    kernel_id: str | None = None
    visible: Flag = False
    read_only: Flag = False
    collaborative: Flag = False
    """Whether the model is shared through jupyter-collaboration."""


class OpenNotebooksRequest(Request):
    """All notebooks this tab has open now. Sent whenever something about them changed, and after a reconnect."""

    type: Literal["openNotebooks"] = "openNotebooks"
    notebooks: Annotated[list[OpenNotebook], Field(max_length=500)]
    renamed: dict[str, str] | None = None
    """Old to new path, of what was just renamed."""


class NotebookOperationsResultRequest(Request):
    """What became of a batch. ``mismatch``: nothing of it was done."""

    type: Literal["notebookOperationsResult"] = "notebookOperationsResult"
    op_id: _OpId
    status: Literal["applied", "mismatch", "notOpen", "readOnly", "failed"]
    revision: Count | None = None
    saved: Flag = False
    content_hash: str | None = None
    mismatches: list[CellMismatch] | None = None
    message: Text | None = None


class NotebookPageRequest(Request):
    """Part of a notebook, in answer to ``readNotebook``: cells from ``first`` on."""

    type: Literal["notebookPage"] = "notebookPage"
    op_id: _OpId
    status: Literal["read", "notOpen", "failed"]
    revision: Count | None = None
    first: Count = 0
    total: Count = 0
    cells: list[JsonObject] | None = None
    """As nbformat has them, each with its id."""
    metadata: JsonObject | None = None
    nbformat: Count | None = None
    nbformat_minor: Count | None = None
    message: Text | None = None


class CellReviewRequest(Request):
    """The person kept or took back what the agent did to a cell."""

    type: Literal["cellReview"] = "cellReview"
    path: FilePath
    cell_id: CellId
    accepted: Flag
    part: Literal["whole", "hunk"] = "whole"
    before: Text | None = None
    """What is left of the change is what differs from this; of a part that was kept."""
    is_last: Flag = False
    """Nothing is left of the change of the cell after this part."""


class FailedCellRequest(Request):
    """Begin a task that fixes a failed cell; the answer is its id."""

    type: Literal["fixCell"] = "fixCell"
    path: FilePath
    cell_id: CellId
    source: Text
    traceback: Text | None = None
    label: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """How the page calls it in the person's language: ``Fix cell 5: NameError…``."""


class EditCellRequest(Request):
    """Have a cell changed as ``text`` says, by ``taskId`` or else a new task; the answer is the task's id.

    The cell may be changed without another question until the person says something else, or stops the task.
    """

    type: Literal["editCell"] = "editCell"
    path: FilePath
    cell_id: CellId
    text: Text
    attachments: AttachmentList | None = None


NotebookMessage = (
    OpenNotebooksRequest
    | NotebookOperationsResultRequest
    | NotebookPageRequest
    | CellReviewRequest
    | FailedCellRequest
    | EditCellRequest
)


# ---- what the server asks of the tab that holds the lease


class ApplyNotebookOperationsMessage(Message):
    """Do all of these in one transaction, or none; then save, if asked to."""

    type: Literal["applyNotebookOperations"] = "applyNotebookOperations"
    op_id: str
    path: str
    operations: list[NotebookOperation]
    save: bool = True
    task_id: str | None = None
    review: bool = False
    """Whether to show the person what changed, to keep or undo."""
    pointers: list[NotebookPointer] | None = None
    """What the next save takes along, whoever saves: until then the notebook does not have it, and nobody can undo it. What
    points to checkpoints replaces what waits of that already, and a conversation the one that waits."""


class ReadNotebookMessage(Message):
    """Tell cells from ``first`` on, as many as fit into about ``budget`` characters."""

    type: Literal["readNotebook"] = "readNotebook"
    op_id: str
    path: str
    first: int = 0
    outputs: OutputDetail = "none"
    budget: int = 1_000_000


class ReloadNotebookMessage(Message):
    """Another tab saved; this one has nothing unsaved and shows what is on the disk."""

    type: Literal["reloadNotebook"] = "reloadNotebook"
    path: str
    content_hash: str | None = None


class PutOutput(Message):
    """An output at this place: another one, or one more at the end."""

    change: Literal["put"] = "put"
    index: int
    output: JsonObject


class ExtendStream(Message):
    """Of the stream output at this place the first ``keep`` characters stay, and ``text`` follows."""

    change: Literal["extend"] = "extend"
    index: int
    keep: int
    text: str


class TruncateOutputs(Message):
    """Only the first ``count`` outputs stay."""

    change: Literal["truncate"] = "truncate"
    count: int


OutputChange = Annotated[PutOutput | ExtendStream | TruncateOutputs, Field(discriminator="change")]


class ChangeOutputsMessage(Message):
    """How the outputs of a cell the agent runs went on, from version ``base`` of them to ``version``.

    ``base`` 0 begins with no outputs. A tab that has another version than ``base`` ignores it; the whole follows.
    """

    type: Literal["changeOutputs"] = "changeOutputs"
    path: str
    cell_id: CellId
    run_id: str
    base: int
    version: int
    changes: list[OutputChange]
    state: RunState
    execution_count: int | None = None


class WorkingCell(Message):
    """A cell the agent runs, or waits to run."""

    cell_id: CellId
    state: RunState
    task_id: str | None = None


class NotebookWorkMessage(Message):
    """All cells of a notebook the agent has under way, for the marks on them. Goes to every tab."""

    type: Literal["notebookWork"] = "notebookWork"
    path: str
    cells: list[WorkingCell]


NotebookUpdate = (
    ApplyNotebookOperationsMessage
    | ReadNotebookMessage
    | ReloadNotebookMessage
    | ChangeOutputsMessage
    | NotebookWorkMessage
)
