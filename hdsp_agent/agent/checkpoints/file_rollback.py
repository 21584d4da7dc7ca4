"""Files that go along when a conversation is changed: back with it, and again with an undo."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from ...checkpoints import AsyncFileCheckpoints, CheckpointId, CheckpointRecord
from ...checkpoints.timeline import Parts, RestorePreview, Timeline
from ...errors import InvalidInput, NotFound, UnknownTask
from ...messages import ConversationChange, FileChange, FilesPreview, GoBack, TakeBack, TaskId, UndoOrRedo
from ...persistence import MessageManager, TaskReader
from .._agent_services import AgentServices
from ..conversation.side_effects import SideEffects
from .checkpoint_service import CheckpointService

__all__ = ["FileRollback", "WorkspaceRollback"]

logger = logging.getLogger(__name__)

_MOST_TOLD: Final = 200
_BACK: Final = Parts(files=True, notebooks=True)
"""What goes back with a conversation: what the agent wrote. Variables go back only where somebody asks for them."""


class WorkspaceRollback:
    """Brings files and notebooks back to before what some tasks did, and again; what others did stays."""

    def __init__(self, service: CheckpointService) -> None:
        self._service = service

    async def preview(
        self, folder: Path, task_ids: Sequence[TaskId], since: int, acts: SideEffects
    ) -> FilesPreview | None:
        """What going back to before what these tasks did from the time ``since`` on would change; None is nothing.

        ``acts`` is what the conversation tells of that: of all of it there should be a state before.
        """
        async with self._service.locked(folder):
            steps = await self._steps(folder, task_ids, since)
            told = None
            if steps:
                plan = await self._plan(folder, task_ids, steps[0].id, since=steps[0])
                told = plan.told(folder, await plan.line.preview(plan.target, _BACK, leave=plan.left))
        done_before = acts.any_before([step.message_ts for step in steps if step.message_ts is not None])
        if done_before:
            return _incomplete() if told is None else told.model_copy(update={"incomplete": True})
        return told

    async def preview_undo(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> FilesPreview:
        """What ``undo`` would change; nothing, and so told, if what it needs is not kept any more."""
        async with self._service.locked(folder):
            plan = await self._plan_undo(folder, task_ids, operation)
            if plan is None:
                return _incomplete()
            return plan.told(folder, await plan.line.preview_undo(operation, leave=plan.left))

    async def go_back(self, folder: Path, task_ids: Sequence[TaskId], since: int) -> str | None:
        """Bring files and notebooks back to before what these tasks did from then on; the operation's id, None if nothing
        changed.

        What the person changed stays, and so does what other tasks changed.
        """
        async with self._service.locked(folder):
            steps = await self._steps(folder, task_ids, since)
            if not steps:
                return None
            plan = await self._plan(folder, task_ids, steps[0].id, since=steps[0])
            if (await plan.line.preview(plan.target, _BACK, leave=plan.left)).nothing:
                return None
            return (await plan.line.restore(plan.target, _BACK, leave=plan.left)).operation.id

    async def undo(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> str:
        """Take back what ``go_back``, or an undo, did; the id of this operation."""
        async with self._service.locked(folder):
            plan = await self._plan_undo(folder, task_ids, operation)
            left = plan.left if plan is not None else ()
            return (await (await self._service.timeline(folder)).undo(operation, leave=left)).operation.id

    # ---- inside

    async def _steps(self, folder: Path, task_ids: Sequence[TaskId], since: int) -> Sequence[CheckpointRecord]:
        """What was saved before what these tasks did from the time ``since`` on, in the order they did it."""
        self._service.refuse_disabled()
        records = await (await self._service.timeline(folder)).files.list()
        # A call that was shown early may have been done late, so the times of messages are no order.
        return [
            record
            for record in reversed(records)
            if record.task_id in task_ids and record.message_ts is not None and record.message_ts >= since
        ]

    async def _plan_undo(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> _RollbackPlan | None:
        done = await (await self._service.timeline(folder)).operation(operation)
        if done is None or done.before is None or done.checkpoint is None:
            return None
        return await self._plan(folder, task_ids, done.before, since=done.checkpoint)

    async def _plan(
        self, folder: Path, task_ids: Sequence[TaskId], target: CheckpointId, *, since: CheckpointRecord
    ) -> _RollbackPlan:
        await self._service.claim(folder)
        line = await self._service.timeline(folder)
        others = await _changed_by_others(line.files, since, task_ids)
        changes = (await line.files.plan_restore(target)).changes if others else ()
        left = sorted(others.intersection(change.path for change in changes))
        return _RollbackPlan(line, target, left)


class FileRollback:
    """Moves the workspace of a task with its conversation, or not at all."""

    def __init__(self, services: AgentServices) -> None:
        self._services = services

    async def refuse_early(
        self, log: TaskReader, history: MessageManager, change: ConversationChange, *, wanted: bool
    ) -> None:
        """Raise why no files can go along."""
        if isinstance(change, UndoOrRedo):
            if _went_along(history, change) is None:
                return
        elif wanted:
            self._services.checkpoint_service.refuse_disabled()
        else:
            return
        await self._services.checkpoint_service.refuse_interrupted(self._folder(log))

    async def preview(
        self, log: TaskReader, history: MessageManager, change: ConversationChange, acts: SideEffects
    ) -> FilesPreview | None:
        """What would become of the files; None is nothing. With an undo they go as they went with what it undoes.

        ``acts`` is what was done in the part that is taken back.
        """
        if isinstance(change, UndoOrRedo):
            went_along = _went_along(history, change)
            if went_along is None:
                return None
            return await self._rollback().preview_undo(self._folder(log), await self._family(log), went_along)
        since = await _since(history, change)
        if since is None:
            return None
        return await self._rollback().preview(self._folder(log), await self._family(log), since, acts)

    @asynccontextmanager
    async def moved(
        self, log: TaskReader, history: MessageManager, change: ConversationChange, *, wanted: bool
    ) -> AsyncIterator[str | None]:
        """The files as the change wants them, while it is recorded with this operation's id; if it cannot be, as before."""
        operation = await self._move(log, history, change, wanted=wanted)
        try:
            yield operation
        except BaseException:
            if operation is not None:
                await self._rollback().undo(self._folder(log), await self._family(log), operation)
            raise

    # ---- inside

    async def _move(
        self, log: TaskReader, history: MessageManager, change: ConversationChange, *, wanted: bool
    ) -> str | None:
        if isinstance(change, UndoOrRedo):
            went_along = _went_along(history, change)
            return None if went_along is None else await self._undone(log, went_along)
        since = await _since(history, change) if wanted else None
        if since is None:
            return None
        return await self._rollback().go_back(self._folder(log), await self._family(log), since)

    async def _undone(self, log: TaskReader, operation: str) -> str | None:
        try:
            return await self._rollback().undo(self._folder(log), await self._family(log), operation)
        except (NotFound, InvalidInput) as error:
            # No quota, and nobody who took it back by itself, may keep the conversation from being brought back.
            logger.warning("Task %s: the files were not restored: %s", log.task_id, error.message)
            return None

    def _rollback(self) -> WorkspaceRollback:
        return WorkspaceRollback(self._services.checkpoint_service)

    def _folder(self, log: TaskReader) -> Path:
        return Path(log.metadata.workspace) if log.metadata.workspace else self._services.workspace

    async def _family(self, log: TaskReader) -> Sequence[TaskId]:
        """The task and its subtasks at any depth: what they do is what it does."""
        family = [log.task_id]
        for member in family:
            try:
                state = await (await self._services.store.view(member)).read_state()
            except UnknownTask:
                continue
            children = state.history_item.child_ids if state.history_item else None
            family += [TaskId(child) for child in children or () if child not in family]
        return family


def _went_along(history: MessageManager, change: UndoOrRedo) -> str | None:
    """The operation on files that went with what this would take back."""
    return history.files_of(change.mark_id, redo=change.operation == "redo")


async def _since(history: MessageManager, change: ConversationChange) -> int | None:
    """The time from which on what was done is taken back; None where that is said by the mark itself."""
    match change:
        case TakeBack(operation="edit", message_ts=ts):
            return await history.edit_cutoff(ts)
        case TakeBack(operation="retry", message_ts=ts):
            return await history.retry_cutoff(ts)
        case TakeBack(message_ts=ts):
            return ts
        case GoBack(message_ts=ts, keep=keep):
            return ts + 1 if keep else ts
        case UndoOrRedo():
            return None
        case _:
            assert_never(change)


@dataclass(frozen=True)
class _RollbackPlan:
    """How to go back: ``left`` is what other tasks changed since, which stays."""

    line: Timeline
    target: CheckpointId
    left: Sequence[str]

    def told(self, folder: Path, preview: RestorePreview) -> FilesPreview:
        """The files and notebooks that would change, and those that would not although they differ."""
        files = preview.files or FilesPreview(changes=[], more_changes=0, kept=[], open_notebooks=[])
        stuck, kept, cells = [], [*files.kept, *self.left], []
        for notebook in preview.notebooks:
            path = self._file(folder, notebook.path)
            if notebook.why_not is not None:
                stuck.append(path)
            elif any(cell.action != "keep" for cell in notebook.cells):
                cells.append(FileChange(path=path, action="overwrite"))
            elif notebook.cells and path not in kept:
                kept.append(path)
        changes = [*files.changes, *cells]
        return FilesPreview(
            changes=changes[:_MOST_TOLD],
            more_changes=files.more_changes + max(0, len(changes) - _MOST_TOLD),
            kept=kept[:_MOST_TOLD],
            open_notebooks=[*files.open_notebooks, *stuck],
            incomplete=files.incomplete,
        )

    def _file(self, folder: Path, path: str) -> str:
        """A notebook as a file of the workspace."""
        root = None if self.line.notebooks is None else self.line.notebooks.access.root
        if root is None:
            return path
        return os.path.relpath(root / path, folder).replace(os.sep, "/")


def _incomplete() -> FilesPreview:
    return FilesPreview(changes=[], more_changes=0, kept=[], open_notebooks=[], incomplete=True)


async def _changed_by_others(
    store: AsyncFileCheckpoints, since: CheckpointRecord, task_ids: Sequence[TaskId]
) -> set[str]:
    """What tasks of other conversations changed after this: who takes back one conversation keeps the others' work."""
    paths: set[str] = set()
    for record in await store.list():
        if record.id == since.id:
            break
        if _made_by(record) - set(task_ids):
            found = await store.changes(record.id, with_content=False)
            # What a step says it wrote is its own, whoever else was at work.
            ours = {file.path for file in record.claims or ()} if record.task_id in task_ids else ()
            paths.update(file.path for file in found.files if file.path not in ours)
    return paths


def _made_by(record: CheckpointRecord) -> set[TaskId]:
    """The tasks that may have made what changed up to this."""
    if record.under_way:
        return set(record.under_way)
    # An older log names only who was saved for. What was saved before a step, and named a message, is not its work.
    is_end = record.author == "agent" and record.message_ts is None and record.task_id is not None
    return {record.task_id} if is_end and record.task_id is not None else set()
