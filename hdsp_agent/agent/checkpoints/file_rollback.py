"""Files that go along when a conversation is changed: back with it, and again with an undo."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import assert_never

from ...errors import InvalidInput, NotFound, UnknownTask, Unsupported
from ...messages import ConversationChange, FilesPreview, GoBack, TakeBack, TaskId, UndoOrRedo
from ...persistence import MessageManager, TaskReader
from .._agent_services import AgentServices
from ..conversation.side_effects import SideEffects
from .automatic import AutomaticCheckpoints

__all__ = ["FileRollback"]

logger = logging.getLogger(__name__)


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
            self._history().refuse_disabled()
        else:
            return
        await self._history().refuse_interrupted(self._folder(log))

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
            return await self._history().preview_undo(self._folder(log), await self._family(log), went_along)
        since = await _since(history, change)
        if since is None:
            return None
        return await self._history().preview(self._folder(log), await self._family(log), since, acts)

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
                await self._history().undo(self._folder(log), await self._family(log), operation)
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
        return await self._history().go_back(self._folder(log), await self._family(log), since)

    async def _undone(self, log: TaskReader, operation: str) -> str | None:
        try:
            return await self._history().undo(self._folder(log), await self._family(log), operation)
        except (NotFound, InvalidInput) as error:
            # No quota, and nobody who took it back by itself, may keep the conversation from being brought back.
            logger.warning("Task %s: the files stay as they are: %s", log.task_id, error.message)
            return None

    def _history(self) -> AutomaticCheckpoints:
        if self._services.files is None:
            raise Unsupported("This agent keeps no checkpoints, so files cannot be brought back.")
        return self._services.files

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
        case TakeBack(message_ts=ts):
            return ts
        case GoBack(message_ts=ts, keep=keep):
            return ts + 1 if keep else ts
        case UndoOrRedo():
            return None
        case _:
            assert_never(change)
