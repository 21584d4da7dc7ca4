"""A conversation as one part of what goes back to a moment, with files, notebooks and variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import Conflict, NotFound
from ..messages import ConversationChange, ConversationPreview, TaskId, UndoOrRedo

if TYPE_CHECKING:
    from ._message_operations import MessageOperations
    from ._task import Task

__all__ = ["ConversationForeseen", "ConversationGoingBack"]


class ConversationForeseen:
    """What a change would do, for a preview: nothing is stopped or changed."""

    def __init__(self, operations: MessageOperations, task_id: TaskId, change: ConversationChange) -> None:
        self._operations = operations
        self._change = change
        self._task_id = task_id

    @property
    def task_id(self) -> TaskId:
        """Whose it is."""
        return self._task_id

    async def preview(self) -> ConversationPreview | None:
        """None where the conversation would stay as it is."""
        preview = await self._operations.preview(self._task_id, self._change, files=False)
        return preview if preview.can_be_undone else None

    async def go_back(self) -> str:
        """Refused: only a conversation at rest is changed."""
        raise self._at_work()

    async def undo(self, mark_id: str) -> str:
        """Refused: only a conversation at rest is changed."""
        raise self._at_work()

    def _at_work(self) -> Conflict:
        return Conflict("This conversation is only looked at. Stop its task first, then go back.", task=self._task_id)


class ConversationGoingBack(ConversationForeseen):
    """The same for a task that is at rest."""

    def __init__(self, operations: MessageOperations, task: Task, change: ConversationChange) -> None:
        super().__init__(operations, task.task_id, change)
        self._task = task

    async def go_back(self) -> str:
        """Do the change; the id of its mark."""
        return await self._do(self._change)

    async def undo(self, mark_id: str) -> str:
        """Take a change back; the id of the new mark."""
        return await self._do(UndoOrRedo(operation="undo", mark_id=mark_id))

    async def _do(self, change: ConversationChange) -> str:
        mark = await self._operations.change_at_rest(self._task, change)
        if mark is None:
            raise NotFound("There is nothing to take back in this conversation.", task=self.task_id)
        return mark
