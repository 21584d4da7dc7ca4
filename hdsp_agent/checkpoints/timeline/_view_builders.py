"""Records and plans as views of ``_views``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from ...errors import HdspAgentError
from ...messages import ConversationPreview, FileChange, FilesPreview
from ..failure_codes import Why, why_of
from ..files.records import CheckpointId, CheckpointRecord, FileRestorePlan, OperationRecord, Part
from ._reasons import kind_of, tool_of
from ._restore import Restored
from ._restore_plan import NotebookPlan, RestorePlan, VariablesRestorePlan
from ._verification_reports import VerificationReport
from ._views import (
    CellChange,
    CheckpointView,
    NotebookPreview,
    OperationView,
    RestorePreview,
    RestoreResult,
    VariablesPreview,
    VerifiedView,
)

__all__ = ["checkpoint_view", "operation_view", "preview_of", "result_of", "verified_views"]

_MOST_FILES: Final = 200
_MOST_CELLS: Final = 200
_MOST_VARIABLES: Final = 200
_NOT_SHOWN: Final = frozenset(("keep", "leave"))
_FOLDER_ACTIONS: Final = frozenset(("make_folder", "remove_folder", "attributes"))


def checkpoint_view(
    record: CheckpointRecord, *, head: CheckpointId | None, before: CheckpointRecord | None
) -> CheckpointView:
    """One state of the workspace; ``before`` is the one before it."""
    return CheckpointView(
        id=record.id,
        commit=record.commit,
        ts=record.ts,
        reason=record.reason,
        kind=kind_of(record),
        tool=tool_of(record),
        author=record.author,
        task_id=record.task_id,
        message_ts=record.message_ts,
        notebooks=tuple(one.path for one in record.notebooks),
        variables=tuple(one.path for one in record.variables),
        left_out=record.left_out,
        files=record.files,
        skipped=record.skipped,
        scope=record.scope,
        scope_reason=record.scope_reason,
        here=record.id == head,
        same_files=before is not None and before.commit == record.commit,
        changed=record.changed,
    )


def operation_view(
    done: OperationRecord, checkpoints: Mapping[CheckpointId, CheckpointView], undoable: Collection[CheckpointId]
) -> OperationView:
    """One row of the time line; ``checkpoints`` are all by id."""
    parts = done.parts
    target = checkpoints.get(done.target) if done.target is not None else None
    selected: tuple[Part, ...] = ("files",) if done.kind in ("restore", "undo") else ()
    return OperationView(
        id=done.id,
        ts=done.ts,
        kind=done.kind,
        status=done.status,
        checkpoint=checkpoints.get(done.checkpoint.id) if done.checkpoint is not None else None,
        target=target.id if target is not None else done.target,
        undo_of=done.undo_of,
        parts=parts.selected if parts is not None else selected,
        path=parts.path if parts is not None else None,
        cell_id=parts.cell_id if parts is not None else None,
        written=done.written,
        deleted=done.deleted,
        kept=done.kept,
        undoable=done.id in undoable,
        error=done.error,
        error_why=done.error_why,
    )


def preview_of(way: RestorePlan, target: CheckpointView, conversation: ConversationPreview | None) -> RestorePreview:
    """What would be done."""
    files = _files(way.files, way.open_notebooks) if way.files is not None else None
    notebooks = [_notebook(one) for one in way.notebooks]
    variables = [_variables(one) for one in way.variables]
    changes = (
        (files is not None and (files.changes or files.more_changes))
        or any(one.plan is not None and one.plan.operations for one in way.notebooks)
        or any(one.changes for one in way.variables)
        or conversation is not None
    )
    return RestorePreview(
        target=target,
        files=files,
        notebooks=tuple(one for one in notebooks if one.cells or one.why_not),
        variables=tuple(one for one in variables if one.variables or one.why_not),
        conversation=conversation,
        nothing=not changes,
    )


def result_of(done: Restored, operation: OperationView) -> RestoreResult:
    """What was done."""
    notebooks = [_notebook(one) for one in done.notebooks]
    variables = [_variables(one) for one in done.variables]
    return RestoreResult(
        operation=operation,
        notebooks=tuple(one for one in notebooks if one.cells or one.why_not),
        variables=tuple(one for one in variables if one.variables or one.why_not),
    )


def verified_views(
    reports: Sequence[VerificationReport], owner: str
) -> Mapping[CheckpointId, tuple[VerifiedView, ...]]:
    """By checkpoint, the newest that this person has of each notebook, the newest first; the reports come oldest first."""
    found: defaultdict[CheckpointId, dict[str, VerifiedView]] = defaultdict(dict)
    for one in reversed(reports):
        if one.owner == owner:
            view = VerifiedView(id=one.id, ts=one.ts, path=one.path, same=one.same, differing=one.differing)
            found[one.checkpoint].setdefault(one.path, view)
    return {checkpoint: tuple(views.values()) for checkpoint, views in found.items()}


def _files(plan: FileRestorePlan, opened: Sequence[str]) -> FilesPreview:
    changes = [change for change in plan.changes if change.action not in _FOLDER_ACTIONS]
    return FilesPreview(
        changes=[FileChange(path=change.path, action=change.action) for change in changes[:_MOST_FILES]],
        more_changes=max(0, len(changes) - _MOST_FILES),
        kept=[change.path for change in plan.conflicts[:_MOST_FILES]],
        open_notebooks=list(opened),
    )


def _notebook(way: NotebookPlan) -> NotebookPreview:
    cells: Sequence[CellChange] = way.plan.changes if way.plan is not None else ()
    return NotebookPreview(
        path=way.path,
        open=way.seen is not None and way.seen.open,
        cells=tuple(cells[:_MOST_CELLS]),
        more_cells=max(0, len(cells) - _MOST_CELLS),
        why_not=_sentence(way.why_not),
        coded=_coded(way.why_not),
    )


def _variables(way: VariablesRestorePlan) -> VariablesPreview:
    if way.plan is None:
        return VariablesPreview(
            path=way.path, why_not=_sentence(way.why_not), coded=_coded(way.why_not), refuses=way.refuses
        )
    others = [one for one in way.plan.variables if one.action not in _NOT_SHOWN]
    # A person is asked about these, so none is beyond what is shown.
    others.sort(key=lambda one: one.action not in ("keep_unsaved", "lost", "keep_live"))
    return VariablesPreview(
        path=way.path,
        cold=way.plan.cold,
        right=sum(1 for one in way.plan.variables if one.action == "keep"),
        variables=tuple(others[:_MOST_VARIABLES]),
        more_variables=max(0, len(others) - _MOST_VARIABLES),
        rerun=way.plan.rerun,
    )


def _sentence(error: HdspAgentError | None) -> str | None:
    return error.message if error is not None else None


def _coded(error: HdspAgentError | None) -> Why | None:
    return why_of(error) if error is not None else None
