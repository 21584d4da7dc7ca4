"""What people do with the checkpoints of a workspace: look, compare, go back with all that belongs to it, and take that back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...checkpoints import CheckpointDiff, CheckpointId, CheckpointRecord, OperationRecord
from ...checkpoints.timeline import (
    CellVersions,
    CheckpointView,
    ConversationPart,
    Parts,
    RestorePreview,
    RestoreResult,
    StoreView,
    TimelineView,
    kind_of,
)
from ...errors import HdspAgentError, NotFound, UnknownTask, Unsupported
from ...messages import ConversationChange, GoBack, TaskId, UndoOrRedo

if TYPE_CHECKING:
    from .._agent_services import AgentServices
    from ..conversation.message_operations import MessageOperations
    from .automatic import AutomaticCheckpoints

__all__ = ["CheckpointOperations"]


class CheckpointOperations:
    """The checkpoints of all workspaces, for people. A checkpoint is named by its id, or by the beginning of its commit."""

    def __init__(self, services: AgentServices, messages: MessageOperations) -> None:
        self._services = services
        self._messages = messages
        if services.files is not None:
            services.files.settling = messages.settling

    # ---- looking

    async def view(
        self, folder: Path, *, before: str | None = None, limit: int = 100, task_id: TaskId | None = None
    ) -> TimelineView:
        """What was done to a workspace, newest first."""
        line = await self._history.to_look_at(folder)
        return await line.view(before=before, limit=limit, task_id=task_id)

    async def notes_of_others(self, folder: Path, owner: str, *, unnamed: str) -> frozenset[CheckpointId]:
        """The checkpoints that have a note which is not this person's; what nobody's name is on is ``unnamed``'s."""
        line = await self._history.to_look_at(folder)
        return frozenset(
            record.id
            for record in await line.list()
            if kind_of(record) == "note" and (record.owner or unnamed) != owner
        )

    async def store(self, folder: Path) -> StoreView:
        """What its checkpoints take."""
        return await (await self._history.to_look_at(folder)).store()

    async def cell_versions(self, folder: Path, path: str, cell_id: str) -> CellVersions:
        """What a cell was before."""
        return await (await self._history.to_look_at(folder)).cell_versions(path, cell_id)

    async def diff(
        self, folder: Path, checkpoint: str, against: str, *, only: str | None = None, with_content: bool = True
    ) -> CheckpointDiff:
        """What differs between a checkpoint and ``previous``, ``beginning``, ``now``, or an older checkpoint."""
        new = await self._history.checkpoint(folder, checkpoint)
        chosen = None if only is None else [only]
        if against == "now":
            async with self._history.at(folder) as line:
                return await line.diff(new.id, "now", only=chosen, with_content=with_content)
        line = await self._history.to_look_at(folder)
        if against == "beginning":
            return await line.diff("beginning", new.id, only=chosen, with_content=with_content)
        if against != "previous":
            old = await self._history.checkpoint(folder, against)
            return await line.diff(old.id, new.id, only=chosen, with_content=with_content)
        changes = await line.changes(new.id, with_content=with_content)
        if only is None:
            return changes
        return changes.model_copy(update={"files": tuple(file for file in changes.files if file.path == only)})

    async def step_before(self, folder: Path, checkpoint: str) -> CheckpointDiff:
        """What differs between a checkpoint and the one before the same task's step before, which is in another state."""
        new = await self._history.checkpoint(folder, checkpoint)
        line = await self._history.to_look_at(folder)
        records = await line.list(task_id=new.task_id) if new.task_id is not None else []
        older = records[next((at for at, one in enumerate(records) if one.id == new.id), len(records)) + 1 :]
        old = next((one for one in older if one.message_ts is not None and one.commit != new.commit), None)
        return await (line.changes(new.id) if old is None else line.diff(old.id, new.id))

    async def since_beginning(self, folder: Path) -> CheckpointDiff:
        """What differs between the oldest checkpoint and now."""
        async with self._history.at(folder) as line:
            return await line.diff("beginning", "now")

    async def content(self, folder: Path, checkpoint: str, file: str) -> bytes:
        """A file as it was."""
        record = await self._history.checkpoint(folder, checkpoint)
        return await (await self._history.to_look_at(folder)).content(record.id, file)

    async def export(self, folder: Path, checkpoint: str, target: Path, kind: Literal["zip", "git"]) -> None:
        """A checkpoint's files as a zip, or it and those before it as a bare git repository."""
        record = await self._history.checkpoint(folder, checkpoint)
        await (await self._history.to_look_at(folder)).export(record.id, target, kind)

    # ---- saving

    async def save(self, folder: Path, note: str | None, *, owner: str, notebook: str | None = None) -> CheckpointView:
        """Save a workspace as it is now, and of this notebook the cells and the kernel's variables.

        With a note it is a checkpoint of its own; without one, and with nothing changed, it is the newest again.
        """
        notebooks = self._history.notebooks_of(folder, notebook, ())
        keeps_variables = bool(notebooks) and self._history.keeps_variables
        async with self._history.at(folder) as line:
            newest = await line.list(limit=1)
            record = await line.save(
                note or "asked for",
                owner=owner,
                notebooks=notebooks,
                code="thorough" if keeps_variables else "none",
                always=bool(note),
            )
            already = record.id in [one.id for one in newest]
            return (await line.told(record)).model_copy(update={"already": already})

    async def look_after(self, folder: Path, action: Literal["tidy", "roll_back", "keep"]) -> StoreView:
        """Bring the store within its limits, or settle a restore that was cut short."""
        if action != "tidy":
            await self._history.recover(folder, action)
        async with self._history.at(folder) as line:
            return await (line.gc() if action == "tidy" else line.store())

    # ---- going back

    async def told_at(self, folder: Path, commit: str, task_id: TaskId, ts: int) -> CheckpointId:
        """The checkpoint in this state that a task told of at the time ``ts``."""
        return (await self._history.checkpoint_told_at(folder, commit, task_id, ts)).id

    async def task_of(self, folder: Path, checkpoint: str) -> TaskId | None:
        """The task whose conversation goes back to this checkpoint, if it belongs to one that was not deleted."""
        return await self._if_kept((await self._history.checkpoint(folder, checkpoint)).task_id)

    async def task_gone_back(self, folder: Path, operation: str) -> TaskId | None:
        """The task whose conversation went back with this restore, unless it was deleted."""
        done = await self._operation(folder, operation)
        conversation = None if done.parts is None else done.parts.conversation
        return None if conversation is None else await self._if_kept(conversation.task_id)

    async def preview(self, folder: Path, checkpoint: str, parts: Parts) -> RestorePreview:
        """What going back would do."""
        record = await self._history.checkpoint(folder, checkpoint)
        going, gone = await self._going_back(record, parts)
        conversation = None if going is None else self._messages.foreseen(*going)
        async with self._history.at(folder) as line:
            preview = await line.preview(record.id, parts, conversation=conversation)
        return preview.model_copy(update={"conversation_gone": gone})

    async def restore(self, folder: Path, checkpoint: str, parts: Parts) -> RestoreResult:
        """Go back, whole or not at all. A task whose conversation goes back is stopped first; one that was deleted is left out."""
        record = await self._history.checkpoint(folder, checkpoint)
        going, gone = await self._going_back(record, parts)
        if gone and not (parts.files or parts.notebooks or parts.variables):
            raise NotFound(
                "The conversation of this checkpoint was deleted, so it cannot go back.",
                task=record.task_id,
                why="conversation_deleted",
            )
        await self._history.refuse_interrupted(folder)
        async with self._conversation(going) as conversation, self._history.at(folder) as line:
            return await line.restore(record.id, parts, conversation=conversation)

    async def preview_undo(self, folder: Path, operation: str, *, overwrite: bool = False) -> RestorePreview:
        """What taking a restore back would do."""
        going = await self._going_again(await self._operation(folder, operation))
        conversation = None if going is None else self._messages.foreseen(*going)
        async with self._history.at(folder) as line:
            return await line.preview_undo(operation, overwrite=overwrite, conversation=conversation)

    async def undo(self, folder: Path, operation: str, *, overwrite: bool = False) -> RestoreResult:
        """Take a restore back, or an undo."""
        going = await self._going_again(await self._operation(folder, operation))
        await self._history.refuse_interrupted(folder)
        async with self._conversation(going, overwrite=overwrite) as conversation, self._history.at(folder) as line:
            return await line.undo(operation, overwrite=overwrite, conversation=conversation)

    async def head(self, folder: Path) -> str | None:
        """In which state the workspace was last known to be, by a moment's commit; None where nothing was saved yet."""
        newest = await (await self._history.to_look_at(folder)).newest()
        if newest is None or newest.checkpoint is None:
            return None
        went_back = newest.kind in ("restore", "undo")
        return (await self.stands_at(folder, newest.id))[0] if went_back else newest.checkpoint.commit

    async def stands_at(self, folder: Path, operation: str) -> tuple[str, TaskId | None]:
        """In which state a restore left the workspace: by the commit of the moment it went to if that is there as a whole;
        and whose that checkpoint is.
        """
        done = await self._operation(folder, operation)
        assert done.checkpoint is not None
        target = await self._history.checkpoint(folder, done.target or done.checkpoint.id)
        is_there = target.tree == done.checkpoint.tree or _brought_all(done)
        return (target if is_there else done.checkpoint).commit, target.task_id

    # ---- inside

    @property
    def _history(self) -> AutomaticCheckpoints:
        if self._services.files is None:
            raise Unsupported("This agent keeps no checkpoints.")
        return self._services.files

    async def _operation(self, folder: Path, operation: str) -> OperationRecord:
        done = await self._history.operation(folder, operation)
        if done is None:
            raise NotFound(
                f"Nothing that was done to this folder is called {operation}.",
                operation=operation,
                why="unknown_operation",
            )
        return done

    async def _if_kept(self, task_id: TaskId | None) -> TaskId | None:
        """The task, unless it was deleted."""
        if task_id is not None:
            try:
                await self._services.store.view(task_id)
            except UnknownTask:
                return None
        return task_id

    async def _going_back(
        self, record: CheckpointRecord, parts: Parts
    ) -> tuple[tuple[TaskId, ConversationChange] | None, bool]:
        """The conversation that is to go back with the rest, and whether it was deleted."""
        if not parts.conversation or record.task_id is None or record.message_ts is None:
            return None, False
        if await self._if_kept(record.task_id) is None:
            return None, True
        if await self._messages.ends_before(record.task_id, record.message_ts):
            # It went back by itself; the rest can follow.
            return None, False
        return (record.task_id, GoBack(operation="rewind", message_ts=record.message_ts, keep=False)), False

    async def _going_again(self, done: OperationRecord) -> tuple[TaskId, ConversationChange] | None:
        """The conversation that went back with a restore, unless it was brought back by itself, or deleted, meanwhile."""
        conversation = None if done.parts is None else done.parts.conversation
        if conversation is None:
            return None
        change = UndoOrRedo(operation="undo", mark_id=conversation.mark_id)
        try:
            await self._messages.preview(conversation.task_id, change)
        except HdspAgentError:
            return None
        return conversation.task_id, change

    @asynccontextmanager
    async def _conversation(
        self, going: tuple[TaskId, ConversationChange] | None, *, overwrite: bool = False
    ) -> AsyncIterator[ConversationPart | None]:
        if going is None:
            yield None
            return
        async with self._messages.going_back(*going, newer="set_aside" if overwrite else "refuse") as part:
            yield part


def _brought_all(done: OperationRecord) -> bool:
    """Whether everything that is kept of files is as it was: of notebooks that is their cells, not every byte."""
    parts = done.parts
    chosen = parts is not None and parts.path is None and {"files", "notebooks"} <= set(parts.selected)
    return chosen and done.kept == 0
