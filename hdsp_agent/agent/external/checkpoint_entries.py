"""Checkpoints, and what restoring them does, as programs outside are told of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...checkpoints import CheckpointRecord
from ...checkpoints.timeline import OperationView, RestorePreview, RestoreResult
from ...tools import StructuredOutput

__all__ = [
    "CheckpointEntry",
    "CheckpointList",
    "CheckpointOperation",
    "DiffReport",
    "DifferingFile",
    "DoneRestore",
    "checkpoint_operation",
    "planned_lines",
    "restore_report",
]

_MOST_LINES = 60


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class CheckpointEntry(_Entry):
    """A state of the workspace that was saved."""

    id: str
    """What checkpoint_diff and checkpoint_restore take."""
    ts: int
    """Milliseconds since 1970."""
    reason: str
    author: str
    """Whose changes led to it: person or agent."""
    mine: bool
    """Whether it was saved around a call of this conversation."""
    here: bool
    """Whether the workspace is in this state."""
    notebooks: list[str]
    """Notebooks whose cells are kept, saved or not."""
    variables: list[str]
    """Notebooks whose kernel's variables are kept."""


class CheckpointOperation(_Entry):
    """Something that was done: a checkpoint was saved, or restored."""

    operation: str
    """What checkpoint_undo takes, if it can be undone."""
    kind: Literal["save", "restore", "undo", "recovery"]
    checkpoint: CheckpointEntry | None = None
    restored: str | None = None
    """The checkpoint that a restore went to."""
    can_be_undone: bool


class CheckpointList(StructuredOutput):
    """What was done to a workspace, the newest first."""

    operations: list[CheckpointOperation]
    more: bool


class DifferingFile(_Entry):
    """A file that differs."""

    path: str
    change: Literal["added", "removed", "modified", "attributes", "renamed"]
    renamed_from: str | None = None
    diff: str | None = None


class DiffReport(StructuredOutput):
    """What differs between two states of a workspace."""

    checkpoint: str
    against: str
    files: list[DifferingFile]
    left_out: int
    """Files that differ and are kept from you, or had no room."""


class DoneRestore(StructuredOutput):
    """What a restore, or an undo, did."""

    operation: str
    """Give it to checkpoint_undo to take this back."""
    files_written: int
    files_deleted: int
    files_kept: int
    """Files left as the person had changed them since."""
    notebooks: list[str]
    variables: list[str]
    """Notebooks whose variables were brought back."""
    notes: list[str]


def checkpoint_operation(
    done: OperationView, records: Mapping[str, CheckpointRecord], owner: str | None, task_id: str
) -> CheckpointOperation:
    """A row of the time line. What somebody else wrote on a checkpoint stays theirs."""
    view, checkpoint = done.checkpoint, None
    if view is not None:
        record = records.get(view.id)
        is_own = view.kind != "note" or (record is not None and record.owner is not None and record.owner == owner)
        checkpoint = CheckpointEntry(
            id=view.id,
            ts=view.ts,
            reason=view.reason if is_own else "asked for",
            author=view.author,
            mine=view.task_id == task_id,
            here=view.here,
            notebooks=list(view.notebooks),
            variables=list(view.variables),
        )
    return CheckpointOperation(
        operation=done.id, kind=done.kind, checkpoint=checkpoint, restored=done.target, can_be_undone=done.undoable
    )


def planned_lines(preview: RestorePreview) -> list[str]:
    """What a restore would change, a line each, for the person who decides."""
    signs = {"create": "+", "overwrite": "~", "delete": "-", "leave": "="}
    lines: list[str] = []
    if preview.files is not None:
        lines += [f"{signs[change.action]} {change.path}" for change in preview.files.changes]
        if preview.files.more_changes:
            lines.append(f"… {preview.files.more_changes} more files")
    for notebook in preview.notebooks:
        if notebook.why_not is not None:
            lines.append(f"= {notebook.path}: {notebook.why_not}")
        elif cells := [cell for cell in notebook.cells if cell.action != "keep"]:
            lines.append(f"~ {notebook.path}: {len(cells) + notebook.more_cells} cells")
    for variables in preview.variables:
        if variables.why_not is not None:
            lines.append(f"= variables of {variables.path}: {variables.why_not}")
        else:
            lines.append(f"~ variables of {variables.path}")
    return [*lines[:_MOST_LINES], *(["…"] if len(lines) > _MOST_LINES else [])]


def restore_report(result: RestoreResult) -> DoneRestore:
    """What was done."""
    done = result.operation
    looked_at = [(one.path, one.why_not) for one in result.notebooks]
    looked_at += [(one.path, one.why_not) for one in result.variables]
    return DoneRestore(
        operation=done.id,
        files_written=done.written,
        files_deleted=done.deleted,
        files_kept=done.kept,
        notebooks=[one.path for one in result.notebooks if one.why_not is None],
        variables=[one.path for one in result.variables if one.why_not is None],
        notes=[f"{path} stays as it is: {why_not}" for path, why_not in looked_at if why_not is not None],
    )
