"""Parents and subtasks: handing work over and bringing its result back, whatever was restarted or stopped meanwhile."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ...errors import Conflict, HdspAgentError, UnknownTask
from ...messages import (
    ClineMessage,
    TaskDelegated,
    TaskId,
    TaskPaused,
    TaskSpawned,
)
from ...persistence import TaskReader, replay
from .outcomes import Again, ChildDone, Completed, Delegated, Opening

if TYPE_CHECKING:
    from .outcomes import Outcome
    from .task import Task
    from .task_pool import TaskPool

__all__ = ["Subtasks", "last_word"]

logger = logging.getLogger(__name__)

_PAGE: Final = 50


class Subtasks:
    """What a manager does about subtasks. The link is the parent's: it names the child it waits for in its own state."""

    def __init__(self, tasks: TaskPool) -> None:
        self._tasks = tasks

    async def hand_over(self, task: Task, outcome: Outcome) -> None:
        """Work goes on in another task: in the parent of one that is done, or in a subtask."""
        match outcome:
            case Completed(result=result):
                if task.state.parent is not None and not task.state.returned:
                    await self.child_done(task.state.parent, task.task_id, result)
            case Delegated():
                await self.begin_child(task, outcome)

    async def begin_child(self, parent: Task, wanted: Delegated) -> None:
        """Begin the subtask that a parent, which has stopped, waits for."""
        events = self._tasks.events
        try:
            await self._tasks.create_child(parent, wanted)
        except HdspAgentError as error:
            logger.error("The subtask %s of task %s could not start: %s", wanted.child, parent.task_id, error)
            await self._tasks.take_up(parent.task_id, Again())
            return
        events.emit(TaskSpawned(payload=(parent.task_id, wanted.child)))
        events.emit(TaskDelegated(payload=(parent.task_id, wanted.child)))
        events.emit(TaskPaused(payload=(parent.task_id,)))

    async def child_done(self, parent: TaskId, child: TaskId, result: str) -> None:
        """Bring a subtask's result to the parent, which goes on without being asked."""
        if not await self.parent_waits(parent, child):
            return
        asking = self._tasks.opened(parent)
        try:
            if asking is not None:
                # Looked at since a restart, it asks whether to go on without its subtask.
                await asking.go_on_with(ChildDone(child, result))
            else:
                await self._tasks.take_up(parent, ChildDone(child, result))
        except HdspAgentError as error:
            # The result stays with the child; the parent fetches it when it is taken up.
            logger.error("Task %s could not continue after its subtask %s: %s", parent, child, error)

    async def parent_waits(self, parent: TaskId | None, child: TaskId) -> bool:
        """Whether the parent still waits for just this subtask."""
        if parent is None:
            return False
        try:
            state = await (await self._tasks.services.store.view(parent)).read_state()
        except UnknownTask:
            return False
        return state.history_item is not None and state.history_item.awaiting_child_id == child

    async def opening_of(self, task_id: TaskId) -> Opening:
        """How a task is taken up: one whose subtask finished meanwhile goes on with its result."""
        store = self._tasks.services.store
        state = await (await store.view(task_id)).read_state()
        child = state.history_item.awaiting_child_id if state.history_item else None
        if child is None:
            return Again()
        await self.refuse_beside_child(task_id)
        try:
            item = (await (await store.view(TaskId(child))).read_state()).history_item
        except UnknownTask:
            return Again()
        if item is None or item.status != "completed":
            return Again()
        return ChildDone(TaskId(child), item.completion_result_summary or "")

    async def refuse_beside_child(self, task_id: TaskId) -> None:
        """Raise Conflict while a subtask is worked on for this task: nothing is done beside that."""
        child = await self.working_child_of(task_id)
        if child is not None:
            raise Conflict(
                f"Task {task_id} waits for its subtask {child.task_id}, which is still running. "
                "Finish or close that first.",
                task=task_id,
                child=child.task_id,
            )

    async def working_child_of(self, task_id: TaskId) -> Task | None:
        """The task being worked on for this one: the subtask it waits for, or what that waits for, however far down."""
        seen: set[str] = set()
        child = await self._awaited_by(task_id)
        while child is not None and child not in seen:
            seen.add(child)
            task = self._tasks.opened(child)
            if task is not None:
                return task
            child = await self._awaited_by(child)
        return None

    async def waiting_line(self, task_id: TaskId) -> list[TaskId]:
        """The task that is worked on for this one and those that wait for it, this one last."""
        line: list[TaskId] = []
        member: TaskId | None = task_id
        while member is not None and member not in line:
            line.insert(0, member)
            member = await self._awaited_by(member)
        return line

    async def _awaited_by(self, task_id: TaskId) -> TaskId | None:
        task = self._tasks.opened(task_id)
        try:
            store = self._tasks.services.store
            item = task.state.item if task else (await (await store.view(task_id)).read_state()).history_item
        except UnknownTask:
            return None
        return None if item is None or item.awaiting_child_id is None else TaskId(item.awaiting_child_id)


async def last_word(reader: TaskReader) -> ClineMessage | None:
    """The last word of a task's visible conversation."""
    view = replay([mark async for mark in reader.marks.iterate()])
    before: int | None = None
    while page := await reader.ui.page(before=before, limit=_PAGE):
        for message in reversed(page):
            if message.ts in view.visible_ui:
                return message
        before = page[0].ts
    return None
