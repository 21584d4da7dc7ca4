"""The tools for checkpoints: what was saved, what differs, and going back, which a person always decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ClassVar, Final

from pydantic import Field, StringConstraints

from ..._background_tasks import BackgroundTasks
from ..._threads import in_thread
from ...checkpoints import CheckpointDiff
from ...checkpoints.timeline import RestorePreview
from ...config import ToolGroup
from ...messages import CellId, ClineSayTool, OwnSayTool, Parts, TaskId
from ...tools import (
    ActionRequest,
    Risk,
    SimpleTool,
    Tool,
    ToolArguments,
    ToolContext,
    ToolFailed,
    ToolResult,
    answered,
    denied,
    middle_left_out,
)
from ..checkpoints.checkpoint_service import CheckpointService
from ..checkpoints.diff_text import file_diff_text, may_be_shown
from .checkpoint_entries import (
    CheckpointList,
    DifferingFile,
    DiffReport,
    DoneRestore,
    checkpoint_operation,
    planned_lines,
    restore_report,
)

__all__ = ["OwnerOf", "checkpoint_tools"]

OwnerOf = Callable[[TaskId], str | None]
"""Whose task it is."""

_SHORT: Final = 8
_MOST_FILES: Final = 200
_MOST_DIFF: Final = 20_000
_MOST_OF_ONE: Final = 8_000

CheckpointName = Annotated[str, StringConstraints(min_length=4, max_length=100, strip_whitespace=True)]


def checkpoint_tools(checkpoints: CheckpointService, owner_of: OwnerOf) -> list[Tool]:
    """All of them, over these checkpoints."""
    return [
        ListCheckpoints(checkpoints, owner_of),
        DiffCheckpoint(checkpoints),
        RestoreCheckpoint(checkpoints),
        UndoRestore(checkpoints),
    ]


class ListCheckpointsArguments(ToolArguments):
    """The arguments of ``checkpoint_list``."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    """How many, from the newest on."""
    before: CheckpointName | None = None
    """The last `operation` of the list before, to go on from there."""
    mine: bool = False
    """Only those of this conversation."""


class ListCheckpoints(SimpleTool[ListCheckpointsArguments]):
    """Lists checkpoints."""

    name: ClassVar[str] = "checkpoint_list"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        "See the checkpoints of the workspace, the newest first: what files, notebooks and variables were before and after "
        "each step, and what was restored."
    )
    parallel_safe: ClassVar[bool] = True
    Output = CheckpointList

    def __init__(self, checkpoints: CheckpointService, owner_of: OwnerOf) -> None:
        self._checkpoints = checkpoints
        self._owner_of = owner_of

    async def _run(self, arguments: ListCheckpointsArguments, context: ToolContext) -> ToolResult:
        # Which states there are is no secret of the workspace; what is in them is.
        action = ActionRequest(risks=frozenset({"none"}), tool=self.name)
        approval = await context.approve(action, "tool", ClineSayTool(tool="listCheckpoints").to_json())
        if not approval.approved:
            return denied(approval)
        self._checkpoints.refuse_disabled()
        line = await self._checkpoints.timeline(context.workspace)
        task_id = context.task_id if arguments.mine else None
        view = await line.view(before=arguments.before, limit=arguments.limit, task_id=task_id)
        records = {record.id: record for record in await line.files.list()}
        owner = self._owner_of(context.task_id)
        told = CheckpointList(
            operations=[checkpoint_operation(done, records, owner, context.task_id) for done in view.operations],
            more=view.more,
        )
        text = context.mask(_listed(told))
        return ToolResult(text, structured=lambda: told.model_dump(exclude_none=True))


class DiffCheckpointArguments(ToolArguments):
    """The arguments of ``checkpoint_diff``."""

    checkpoint: CheckpointName
    """The checkpoint, by its id."""
    against: Annotated[str, StringConstraints(min_length=3, max_length=100, strip_whitespace=True)] = "previous"
    """What it is compared with: previous, beginning, now, or the id of an older checkpoint."""
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = None
    """Only this file, relative to the workspace."""


class DiffCheckpoint(SimpleTool[DiffCheckpointArguments]):
    """Compares states of the workspace."""

    name: ClassVar[str] = "checkpoint_diff"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        "See what differs between a checkpoint and the one before it, the beginning, the present, or another one."
    )
    parallel_safe: ClassVar[bool] = True
    Output = DiffReport

    def __init__(self, checkpoints: CheckpointService) -> None:
        self._checkpoints = checkpoints

    async def _run(self, arguments: DiffCheckpointArguments, context: ToolContext) -> ToolResult:
        place = await in_thread(lambda _stop: context.paths.resolve(arguments.path or "."))
        shown = ClineSayTool(tool="diffCheckpoint", path=place.shown, reason=arguments.checkpoint[:_SHORT])
        action = ActionRequest(risks=place.read_risks, tool=self.name, path=place.shown)
        approval = await context.approve(action, "tool", shown.to_json())
        if not approval.approved:
            return denied(approval)
        self._checkpoints.refuse_disabled()
        only = None if arguments.path is None else place.shown
        diff = await self._checkpoints.diff(context.workspace, arguments.checkpoint, arguments.against, only=only)
        told = await in_thread(lambda _stop: _report(diff, arguments, context))
        return answered(approval, ToolResult(_diff_text(told), structured=lambda: told.model_dump(exclude_none=True)))


class RestoreCheckpointArguments(ToolArguments):
    """The arguments of ``checkpoint_restore``."""

    checkpoint: CheckpointName
    """The checkpoint, by its id."""
    files: bool = True
    """Whether files go back to what they were."""
    notebooks: bool = True
    """Whether cells of notebooks do, open ones too."""
    variables: bool = False
    """Whether variables of kernels do."""
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = None
    """Only this file or notebook, relative to the workspace."""
    cell: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """Only this cell of the notebook `path`, by its id."""


class RestoreCheckpoint(SimpleTool[RestoreCheckpointArguments]):
    """Goes back to a checkpoint."""

    name: ClassVar[str] = "checkpoint_restore"
    group: ClassVar[ToolGroup | None] = "edit"
    description: ClassVar[str] = (
        "Bring files, notebooks or variables back to what they were at a checkpoint. The person is always asked. What they "
        "changed themselves since stays. The restore can be undone with checkpoint_undo."
    )
    Output = DoneRestore

    def __init__(self, checkpoints: CheckpointService) -> None:
        self._checkpoints = checkpoints
        self._held = BackgroundTasks()

    async def _run(self, arguments: RestoreCheckpointArguments, context: ToolContext) -> ToolResult:
        self._checkpoints.refuse_disabled()
        checkpoints, folder = self._checkpoints, context.workspace
        parts = await in_thread(lambda _stop: _parts(arguments, context))
        preview = await checkpoints.preview(folder, arguments.checkpoint, parts)
        if preview.nothing:
            raise ToolFailed("Nothing differs from that checkpoint in what you chose, so there is nothing to restore.")
        action = await _action(self.name, parts, context)
        approval = await context.approve(action, "tool", _shown("restoreCheckpoint", preview, parts.path))
        if not approval.approved:
            return denied(approval)
        # Whole or not at all, whoever goes away meanwhile.
        result = await self._held.finish(checkpoints.restore(folder, preview.target.id, parts))
        told = restore_report(result)
        text = context.mask(_restored(told))
        return answered(approval, ToolResult(text, structured=lambda: told.model_dump(exclude_none=True)))


class UndoRestoreArguments(ToolArguments):
    """The arguments of ``checkpoint_undo``."""

    operation: CheckpointName | None = None
    """The restore to take back, as checkpoint_list or checkpoint_restore named it; absent for the newest."""


class UndoRestore(SimpleTool[UndoRestoreArguments]):
    """Takes a restore back."""

    name: ClassVar[str] = "checkpoint_undo"
    group: ClassVar[ToolGroup | None] = "edit"
    description: ClassVar[str] = "Take a restore back. The person is always asked. This can be undone the same way."
    Output = DoneRestore

    def __init__(self, checkpoints: CheckpointService) -> None:
        self._checkpoints = checkpoints
        self._held = BackgroundTasks()

    async def _run(self, arguments: UndoRestoreArguments, context: ToolContext) -> ToolResult:
        self._checkpoints.refuse_disabled()
        checkpoints, folder = self._checkpoints, context.workspace
        line = await checkpoints.timeline(folder)
        operations = (await line.view(limit=1_000)).operations
        wanted = arguments.operation
        done = next((one for one in operations if one.undoable and wanted in (None, one.id)), None)
        if done is None:
            which = f"{wanted} is no restore that can" if wanted else "There is no restore that could"
            raise ToolFailed(f"{which} be undone here. checkpoint_list shows which can.", code="not_found")
        if "conversation" in done.parts:
            raise ToolFailed("A conversation went back with that restore, so only the person can undo it.")
        preview = await checkpoints.preview_undo(folder, done.id)
        parts = Parts(variables="variables" in done.parts, path=done.path)
        action = await _action(self.name, parts, context)
        approval = await context.approve(action, "tool", _shown("undoRestore", preview, done.path))
        if not approval.approved:
            return denied(approval)
        result = await self._held.finish(checkpoints.undo(folder, done.id))
        told = restore_report(result)
        text = context.mask(_restored(told))
        return answered(approval, ToolResult(text, structured=lambda: told.model_dump(exclude_none=True)))


async def _action(tool: str, parts: Parts, context: ToolContext) -> ActionRequest:
    """What going back is: it may write anywhere in the workspace, and take the place of variables."""
    risks: set[Risk] = {"write", "kernel"} if parts.variables else {"write"}
    path = parts.path
    if path is not None:
        place = await in_thread(lambda _stop: context.paths.resolve(path))
        risks |= place.write_risks
    return ActionRequest(risks=frozenset(risks), tool=tool, path=path, always_asks=True)


def _parts(arguments: RestoreCheckpointArguments, context: ToolContext) -> Parts:
    if not (arguments.files or arguments.notebooks or arguments.variables):
        raise ToolFailed("Nothing is chosen to be restored: set files, notebooks or variables.")
    path = None
    if arguments.path is not None:
        place = context.paths.resolve(arguments.path)
        if place.is_outside:
            raise ToolFailed(f"{place.shown} is outside the workspace, of which nothing is kept.")
        path = place.shown
    if arguments.cell is not None and path is None:
        raise ToolFailed("A cell is restored in a notebook: give its `path`, too.")
    return Parts(
        files=arguments.files and arguments.cell is None,
        notebooks=arguments.notebooks,
        variables=arguments.variables and arguments.cell is None,
        path=path,
        cell_id=None if arguments.cell is None else CellId(arguments.cell),
    )


def _shown(tool: OwnSayTool, preview: RestorePreview, path: str | None) -> str:
    target = preview.target
    return ClineSayTool(
        tool=tool,
        path=path,
        reason=target.commit[:_SHORT],
        description=target.reason if target.kind != "note" else None,
        content="\n".join(planned_lines(preview)) or None,
    ).to_json()


def _report(diff: CheckpointDiff, arguments: DiffCheckpointArguments, context: ToolContext) -> DiffReport:
    """The files that may be read with leave to read the workspace; blocks."""
    files: list[DifferingFile] = []
    room = _MOST_DIFF
    for file in diff.files:
        if len(files) >= _MOST_FILES or not may_be_shown(file, context.paths):
            continue
        text = context.mask(file_diff_text(file))
        if len(text) > _MOST_OF_ONE:
            text = middle_left_out(text, _MOST_OF_ONE, "[… the middle is left out: name the file as `path` …]")
        text = text[: max(0, room)]
        room -= len(text)
        renamed = file.renamed_from.path if file.renamed_from is not None else None
        files.append(DifferingFile(path=file.path, change=file.change, renamed_from=renamed, diff=text or None))
    return DiffReport(
        checkpoint=diff.new, against=arguments.against, files=files, left_out=len(diff.files) - len(files)
    )


def _listed(told: CheckpointList) -> str:
    lines: list[str] = []
    for done in told.operations:
        state = done.checkpoint
        what = f"restored {done.restored}" if done.restored is not None else state.reason if state else done.kind
        named = f" {state.id}{' (the workspace is in this state)' if state.here else ''}" if state else ""
        undo = f"; can be undone as {done.operation}" if done.can_be_undone else ""
        lines.append(f"-{named}: {what}{undo}")
    if told.more:
        lines.append(f"[… older ones: give before={told.operations[-1].operation} …]")
    return "\n".join(lines) or "No checkpoint was saved yet."


def _diff_text(told: DiffReport) -> str:
    parts = [f"{file.change}: {file.path}\n{file.diff or ''}".rstrip() for file in told.files]
    if told.left_out:
        parts.append(f"[… {told.left_out} more files are kept from you or had no room …]")
    return "\n\n".join(parts) or "Nothing differs."


def _restored(told: DoneRestore) -> str:
    done = f"Restored: {told.files_written} files written, {told.files_deleted} deleted"
    kept = f", {told.files_kept} left as the person changed them since" if told.files_kept else ""
    others = [f"cells of {path}" for path in told.notebooks] + [f"variables of {path}" for path in told.variables]
    more = f"; {', '.join(others)}" if others else ""
    undo = f" Undo it with checkpoint_undo and operation {told.operation}."
    return "\n".join([f"{done}{kept}{more}.{undo}", *told.notes])
