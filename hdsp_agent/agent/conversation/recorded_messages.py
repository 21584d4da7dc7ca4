"""Messages of the past that a person decides about, whether their task is open or rests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ...errors import NotFound
from ...messages import ClineMessage, TaskId

if TYPE_CHECKING:
    from ..task.subtasks import Subtasks
    from ..task.task import Task
    from ..task.task_pool import TaskPool
    from ..task.task_state import TaskState

__all__ = ["message_shown", "task_to_change"]


@asynccontextmanager
async def task_to_change(tasks: TaskPool, subtasks: Subtasks, task_id: TaskId) -> AsyncIterator[Task]:
    """The task, to change what it recorded. One that rests is opened for it, and rests again afterwards."""
    task = await tasks.at_work(task_id)
    if task is not None:
        yield task
        return
    await subtasks.refuse_beside_child(task_id)
    task = await tasks.open_at_rest(task_id)
    try:
        yield task
    finally:
        await tasks.close(task_id, finished=task.state.item.status == "completed")


async def message_shown(state: TaskState, ts: int) -> ClineMessage:
    """The message, as it was recorded last. Raises NotFound if the conversation does not show it any more."""
    message = await state.conversation.log.ui.get(ts) if ts in state.conversation.history.view.visible_ui else None
    if message is None:
        raise NotFound("This message is no longer in the conversation. Reload it.", ts=ts)
    return message
