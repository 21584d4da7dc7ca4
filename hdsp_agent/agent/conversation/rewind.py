"""A conversation as one part of what goes back to a checkpoint, with files, notebooks and variables."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol

from ...errors import Conflict, NotFound
from ...messages import ConversationChange, ConversationPreview, TaskId, UndoOrRedo
from ..checkpoints.interrupted_restores import InterruptedRestores

if TYPE_CHECKING:
    from ..task.task_state import TaskState


__all__ = ["RewindPreview", "RewindTransaction"]


class PreviewChange(Protocol):
    """Says what a change would do."""

    def __call__(self, task_id: TaskId, change: ConversationChange, *, files: bool) -> Awaitable[ConversationPreview]:
        """Nothing is changed by it."""


class MakeChange(Protocol):
    """Makes a change of a conversation that is at rest."""

    def __call__(self, change: ConversationChange, *, mark_id: str | None = None) -> Awaitable[object]:
        """The mark of it, which may be given an id; None if there was nothing to change."""


class RewindPreview:
    """What a change would do, for a preview: nothing is stopped or changed."""

    def __init__(self, task_id: TaskId, change: ConversationChange, preview: PreviewChange) -> None:
        self._preview = preview
        self._change = change
        self._task_id = task_id

    @property
    def task_id(self) -> TaskId:
        """Whose it is."""
        return self._task_id

    async def preview(self) -> ConversationPreview | None:
        """None where the conversation would stay as it is."""
        preview = await self._preview(self._task_id, self._change, files=False)
        return preview if preview.can_be_undone else None

    async def go_back(self, mark_id: str) -> None:
        """Refused: only a conversation at rest is changed."""
        raise self._at_work()

    async def undo(self, mark_id: str, as_mark: str) -> None:
        """Refused: only a conversation at rest is changed."""
        raise self._at_work()

    async def put_back(self, mark_id: str) -> None:
        """Refused: only a conversation at rest is changed."""
        raise self._at_work()

    def _at_work(self) -> Conflict:
        return Conflict("This conversation is only looked at. Stop its task first, then go back.", task=self._task_id)


class RewindTransaction(RewindPreview):
    """The same for a task that is at rest."""

    def __init__(self, state: TaskState, change: ConversationChange, preview: PreviewChange, do: MakeChange) -> None:
        super().__init__(state.task_id, change, preview)
        self._state = state
        self._make = do

    async def go_back(self, mark_id: str) -> None:
        """Do the change; its mark gets this id."""
        await self._do(self._change, mark_id)

    async def undo(self, mark_id: str, as_mark: str) -> None:
        """Take a change back; the new mark gets the id ``as_mark``."""
        await self._do(UndoOrRedo(operation="undo", mark_id=mark_id), as_mark)

    async def put_back(self, mark_id: str) -> None:
        """Undo this mark, if it counts and the conversation has not gone on since."""
        history = self._state.conversation.history
        if not history.counts(mark_id):
            return
        change = UndoOrRedo(operation="undo", mark_id=mark_id)
        if (await history.foresee_undo(mark_id, aside=InterruptedRestores.is_its_own)).gone_on:
            self._state.logger.warning("It has gone on since it went back, so it stays as it is (mark %s)", mark_id)
            return
        await self._make(change)

    async def _do(self, change: ConversationChange, mark_id: str) -> None:
        mark = await self._make(change, mark_id=mark_id)
        if mark is None:
            raise NotFound("There is nothing to take back in this conversation.", task=self.task_id)
