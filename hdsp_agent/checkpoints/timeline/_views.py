"""What people and pages are told of a workspace's checkpoints, and what they choose of one."""

from __future__ import annotations

from typing import Literal

from ...messages import CellId, ConversationPreview, FilesPreview, Parts, RunState, TaskId
from ...wire import WireModel
from ..failure_codes import Why
from ..files.records import Author, Changed, CheckpointId, LeftOut
from ..variables import PlannedVariable, Rerun, RerunCell, VariableChange
from ._reasons import CheckpointKind, StepTool

__all__ = [
    "CellChange",
    "CellVersion",
    "CellVersions",
    "CheckpointView",
    "NotebookPreview",
    "OperationView",
    "Parts",
    "RestartPreview",
    "RestartedCell",
    "RestartedRun",
    "RestorePreview",
    "RestoreResult",
    "StepView",
    "StoreView",
    "TimelineView",
    "VariablesPreview",
    "VariablesSince",
    "VerifiedView",
]


class CheckpointView(WireModel):
    """One state of the workspace, as a row of the time line."""

    id: CheckpointId
    commit: str
    ts: int
    reason: str
    """``before run_cell``, ``after run_cell``, ``asked for``, ``before restore`` …, or a person's note."""
    kind: CheckpointKind
    """What kind of reason that is: by it the page words it."""
    tool: StepTool | None = None
    author: Author
    task_id: TaskId | None = None
    message_ts: int | None = None
    """The message of the conversation that it belongs to; there is a conversation to go back to only with one."""
    notebooks: tuple[str, ...] = ()
    """Notebooks whose cells are kept as they were, saved or not."""
    variables: tuple[str, ...] = ()
    """Notebooks whose kernel's variables are kept."""
    left_out: tuple[LeftOut, ...] = ()
    """What was to be kept too and could not be, and why."""
    files: int = 0
    skipped: int = 0
    scope: Literal["workspace", "touched"] = "workspace"
    scope_reason: str | None = None
    here: bool = False
    """Whether the workspace was last known to be in this state."""
    same_files: bool = False
    """Whether no file differs from the checkpoint before."""
    changed: Changed | None = None
    """How much does; absent where that was not counted."""
    already: bool = False
    """Answering a save: nothing has changed since this checkpoint, so no other was made."""


class StepView(WireModel):
    """What the agent did right after a checkpoint was saved, as the conversation says."""

    request: str | None = None
    """How the person's request begins that led to it; absent where the conversation is gone, or another person's."""
    request_ts: int | None = None
    cells: tuple[int, ...] = ()
    """The cells it ran or changed, by number, from 1; added ones by the numbers they got."""
    change: Literal["added", "edited", "deleted"] | None = None
    """What became of these cells; absent where they ran."""
    path: str | None = None


class VerifiedView(WireModel):
    """That a notebook was verified in a state of the workspace, and how many of its cells showed what was saved in them."""

    id: str
    """Of the verification, which has the whole report."""
    ts: int
    path: str
    """In the contents API."""
    same: int
    differing: int


class OperationView(WireModel):
    """Something done to the workspace: a row of the time line, newest first."""

    id: CheckpointId
    ts: int
    kind: Literal["save", "restore", "undo", "recovery"]
    status: Literal["done", "begun", "rolled_back", "left"]
    checkpoint: CheckpointView | None = None
    """The state it led to; absent where it failed or was cut short."""
    step: StepView | None = None
    """Of a checkpoint before a step of the agent: that step."""
    verified: tuple[VerifiedView, ...] = ()
    """Of each notebook that the person verified in this state, the newest, the newest first."""
    target: CheckpointId | None = None
    """The checkpoint a restore went to."""
    undo_of: CheckpointId | None = None
    """The operation that an undo took back."""
    parts: tuple[Literal["files", "notebooks", "variables", "conversation"], ...] = ()
    path: str | None = None
    cell_id: str | None = None
    written: int = 0
    deleted: int = 0
    kept: int = 0
    undoable: bool = False
    error: str | None = None
    error_why: Why | None = None
    """The same for a page to word."""


class StoreView(WireModel):
    """What a workspace's checkpoints take, and what they may."""

    checkpoints: int
    bytes: int
    quota_bytes: int
    quota_checkpoints: int
    variables_bytes: int
    oldest_ts: int | None = None
    scope: Literal["workspace", "touched"] | None = None
    scope_reason: str | None = None
    enabled: bool
    """Whether the settings let the agent make checkpoints."""


class TimelineView(WireModel):
    """What was done to a workspace, newest first."""

    workspace: str
    here: CheckpointView | None = None
    """You are here."""
    operations: tuple[OperationView, ...]
    more: bool = False
    """Whether there are older ones: ask with ``before`` the last one's id."""
    interrupted: OperationView | None = None
    """A restore that was cut short, and nobody has said what becomes of it."""
    store: StoreView


class CellChange(WireModel):
    """What a restore would do to one cell."""

    cell_id: str
    action: Literal["change", "insert", "delete", "move", "outputs", "keep"]
    """``keep``: it differs, but the person changed it since."""
    cell_type: str = "code"
    line: str = ""
    """How the cell begins, to recognise it by."""


class NotebookPreview(WireModel):
    """What a restore would do to a notebook's cells."""

    path: str
    open: bool
    """Whether it is open in a tab, and so changed there, as one step that the tab's own undo takes back."""
    cells: tuple[CellChange, ...]
    more_cells: int = 0
    why_not: str | None = None
    """Why it stays as it is."""
    coded: Why | None = None
    """The same for a page to word."""


class VariablesPreview(WireModel):
    """What a restore would do to a kernel's variables; those that are right already are only counted."""

    path: str
    cold: bool = False
    """Whether the kernel was started anew since."""
    right: int = 0
    variables: tuple[PlannedVariable, ...] = ()
    more_variables: int = 0
    rerun: Rerun = Rerun()
    """Cells that would have to run again for what is lost; none runs by itself."""
    why_not: str | None = None
    """Why they stay as they are: no kernel runs, another language, another version …"""
    coded: Why | None = None
    """The same for a page to word."""
    refuses: bool = False
    """Whether nothing can be brought back with them while this is so: a kernel that is busy will be free again."""


class RestorePreview(WireModel):
    """What a restore, or an undo, would do now. What is absent was not chosen, or nothing of it would change."""

    target: CheckpointView
    files: FilesPreview | None = None
    notebooks: tuple[NotebookPreview, ...] = ()
    variables: tuple[VariablesPreview, ...] = ()
    conversation: ConversationPreview | None = None
    conversation_gone: bool = False
    """Whether it was chosen, and was deleted meanwhile: the rest can be brought back without it."""
    nothing: bool = False
    """Whether nothing at all would change."""


class RestoreResult(WireModel):
    """What a restore, or an undo, did."""

    operation: OperationView
    notebooks: tuple[NotebookPreview, ...] = ()
    variables: tuple[VariablesPreview, ...] = ()
    """With what was lost, and the cells to run again for it."""
    duration_ms: int | None = None


class CellVersion(WireModel):
    """What a cell was, in one or more checkpoints."""

    checkpoint: CheckpointId
    """The newest checkpoint that has it so; restore the cell from there."""
    ts: int
    """When it was so first, as far as is known."""
    author: Author
    source: str
    cell_type: str
    outputs: int = 0
    now: bool = False
    """Whether it is what the cell is now."""


class CellVersions(WireModel):
    """The versions of one cell, newest first."""

    path: str
    cell_id: str
    versions: tuple[CellVersion, ...]


class VariablesSince(WireModel):
    """How a kernel's variables differ from the newest checkpoint that was made of them."""

    checkpoint: CheckpointId | None = None
    ts: int | None = None
    changes: tuple[VariableChange, ...] = ()
    unknown: Literal["busy", "pending", "no_checkpoint", "turned_off", "failed"] | None = None
    """Why it is not known: a cell runs, it will be known soon, there is no checkpoint of them, the settings keep none, or it could
    not be found out."""


class RestartPreview(WireModel):
    """What restarting a notebook's kernel and running its cells up to one of them again would do now."""

    path: str
    cell_id: CellId
    """The last one that would run."""
    cells: tuple[RerunCell, ...]
    """In this order, with the sources they have now."""
    kernel: str | None = None
    """The name of the kernel that runs, whose variables would be gone; absent if one would be started."""
    busy: bool = False
    """Whether it runs a cell, which would be stopped."""
    seen: str
    """Stands for these cells: those that run are those that were seen."""


class RestartedCell(WireModel):
    """What became of a cell that runs again."""

    cell_id: CellId
    state: RunState
    error: str | None = None
    """Why it did not run to its end."""


class RestartedRun(WireModel):
    """Cells that run again in a kernel that was restarted, or started, for them."""

    id: str
    path: str
    done: bool
    cells: tuple[RestartedCell, ...]
