"""The tasks that are worked on: opened and put aside one by one, so that none is ever both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from weakref import WeakValueDictionary

from ..._background_tasks import BackgroundTasks
from ...config import ApprovalPreset, ModeConfig
from ...errors import Conflict, ForbiddenByOperator, HdspAgentError, InvalidInput, UnknownTask
from ...events import Emitter
from ...messages import TaskCreated, TaskFocused, TaskId, TaskStatus, TaskUnfocused
from ...persistence import MessageManager, NewTaskRecord, TaskKey, TaskLog
from .._agent_services import AgentServices
from ..conversation.history_items import TaskConfig
from .outcomes import Begin, Completed, Delegated, Opening, Outcome
from .task import Task
from .task_metadata import recorded

__all__ = ["TaskPool"]


class TaskPool:
    """Makes tasks, finds them, and lets go of them. What they do, and what follows, is decided elsewhere."""

    def __init__(self, services: AgentServices) -> None:
        self.services: Final = services
        self._open: dict[TaskId, Task] = {}
        self._locks: WeakValueDictionary[TaskId, asyncio.Lock] = WeakValueDictionary()
        self.current: TaskId | None = None
        """The task last begun or taken up."""
        self._held = BackgroundTasks()
        self._stopping = False
        self._settling: set[Task] = set()
        self.on_left: Callable[[TaskId], None] = lambda task_id: None
        """Told of a task that is not worked on any more."""
        self.hand_over: Callable[[Task, Outcome], Awaitable[None]] = _nothing_follows
        """Lets work go on in another task: in the parent of one that is done, or in a subtask."""
        self.parent_waits: Callable[[TaskId | None, TaskId], Awaitable[bool]] = _nobody_waits
        """Whether a parent waits for just this subtask."""

    @property
    def events(self) -> Emitter:
        """What happens to tasks."""
        return self.services.events

    @property
    def open(self) -> Sequence[TaskId]:
        """The tasks that are worked on."""
        return list(self._open)

    def get(self, task_id: TaskId) -> Task:
        """A task that is worked on. Raises UnknownTask."""
        task = self._open.get(task_id)
        if task is None:
            raise UnknownTask(f"Task {task_id} is not running. Resume it first.", task=task_id)
        return task

    def status(self, task_id: TaskId) -> TaskStatus:
        """What a task is doing; ``none`` for one that is not worked on."""
        task = self._open.get(task_id)
        return "none" if task is None else task.state.status

    def owner_of(self, task_id: TaskId) -> str | None:
        """Whose task it is that is worked on, if it names anybody."""
        return self.get(task_id).state.conversation.log.metadata.user

    # ---- begin and end

    async def close(self, task_id: TaskId, *, finished: bool = False) -> None:
        """Put a task aside as it is, or with the completed ones; it can be resumed."""
        task = self._open.get(task_id)
        if task is None:
            # It may be ending by itself: it is put aside once that is done.
            async with self._lock(task_id):
                return
        # Outside the lock: a task that ends just now takes it itself.
        await task.halt()
        async with self._lock(task_id):
            if self._open.pop(task_id, None) is None:
                return
            self.on_left(task_id)
            if self.current == task_id:
                self.current = None
                self.events.emit(TaskUnfocused(payload=(task_id,)))
            await self._held.finish(task.finish() if finished else task.let_go())

    async def run_out(self, task: Task, why: str) -> None:
        """The time for a task is over: it ends where it is."""
        await task.halt()
        async with self._lock(task.task_id):
            if self._open.pop(task.task_id, None) is not None:
                self.on_left(task.task_id)
                await self._held.finish(task.run_out(why))

    async def stop(self) -> None:
        """Put all tasks aside: what waits in their logs goes on waiting."""
        self._stopping = True
        tasks, settling = list(self._open.values()), list(self._settling)
        self._open.clear()
        await asyncio.gather(*(task.close() for task in tasks), *(task.ended() for task in settling))
        await self._held.drain()

    def opened(self, task_id: TaskId) -> Task | None:
        """A task that is worked on, if it is."""
        return self._open.get(task_id)

    async def at_work(self, task_id: TaskId) -> Task | None:
        """The same; one whose result is on screen already is put with the completed ones first, and waits in its log alone."""
        task = self._open.get(task_id)
        if task is not None and task.state.completed:
            await task.ended()
            task = self._open.get(task_id)
        return task

    async def create_child(self, parent: Task, wanted: Delegated) -> None:
        """Make the subtask a task waits for, and let it work."""
        mode = await self.mode(wanted.mode, parent.state.workspace)
        metadata = parent.state.conversation.log.metadata
        new = NewTaskRecord(
            task_key=TaskKey(task_source=metadata.task_key.task_source), config=metadata.config, user=metadata.user, parent_task_id=parent.task_id,
            root_task_id=metadata.root_task_id or parent.task_id, workspace=metadata.workspace,
            notebook=parent.state.notebook, mode=mode.slug, task_id=wanted.child,
        )  # fmt: skip
        profile = self.services.models.profile_for(mode.slug, parent.state.profile)
        begin = Begin(wanted.message, todos=wanted.todos)
        item = parent.state.item
        await self._create(new, mode, profile, begin, item.approval_preset, memory_off=item.memory_off)

    async def take_up(self, task_id: TaskId, opening: Opening) -> Task:
        """Open a task that nobody works on."""
        async with self._lock(task_id):
            known = self._open.get(task_id)
            return known if known is not None else await self._held.finish(self._open_task(task_id, opening))

    async def open_log(self, task_id: TaskId) -> tuple[TaskLog, MessageManager]:
        """A task's log, to change its history while nobody works on it."""
        log = await self.services.store.resume(task_id)
        return log, MessageManager(log, [mark async for mark in log.marks.iterate()])

    # ---- inside

    async def mode(self, slug: str, workspace: str | None) -> ModeConfig:
        """The mode of this name. Raises where there is none, or the operator does not allow it."""
        policy = self.services.policy()
        if not policy.allows_mode(slug):
            raise ForbiddenByOperator(f"Your administrator does not allow the mode {slug}.", field="mode")
        mode = await self.services.modes.get(slug, workspace or str(self.services.workspace))
        if mode is None:
            raise InvalidInput(f"There is no mode {slug}. Choose another one.", field="mode", mode=slug)
        return mode

    async def _sticky_mode(self, log: TaskLog) -> ModeConfig:
        """The mode a task was in; the default one if that is gone."""
        item = log.state.history_item
        wanted = (item.mode if item else None) or log.metadata.mode or self.services.settings().mode
        try:
            return await self.mode(wanted, log.metadata.workspace)
        except HdspAgentError:
            return await self.mode(self.services.settings().mode, log.metadata.workspace)

    async def create(
        self,
        new: NewTaskRecord,
        mode: ModeConfig,
        profile: str,
        opening: Begin,
        *,
        approvals: ApprovalPreset | None = None,
    ) -> TaskId:
        """Make a task and let it work; its id."""
        return await self._held.finish(self._create(new, mode, profile, opening, approvals))

    async def _create(
        self,
        new: NewTaskRecord,
        mode: ModeConfig,
        profile: str,
        opening: Begin,
        approvals: ApprovalPreset | None,
        *,
        memory_off: bool | None = None,
    ) -> TaskId:
        log = await self.services.store.create(await recorded(new, self.services, profile))
        try:
            task = self._task(log, MessageManager(log), mode, profile, parent_waits=new.parent_task_id is not None)
        except BaseException:
            await log.close()
            raise
        # Recorded with its first words.
        chosen = {"approval_preset": approvals, "memory_off": memory_off}
        task.state.item = task.state.item.model_copy(update=chosen)
        self.events.emit(TaskCreated(payload=(task.task_id,)))
        self._begin(task, opening)
        return task.task_id

    def _lock(self, task_id: TaskId) -> asyncio.Lock:
        """Held while a task is opened or put aside, so that it is never both."""
        return self._locks.setdefault(task_id, asyncio.Lock())

    async def open_at_rest(self, task_id: TaskId) -> Task:
        """Open a task that nobody works on, and let it do nothing yet."""
        async with self._lock(task_id):
            if task_id in self._open:
                raise Conflict(f"Task {task_id} is running. Stop it first.", task=task_id)
            return await self._held.finish(self._open_task(task_id, None))

    async def _open_task(self, task_id: TaskId, opening: Opening | None) -> Task:
        log, history = await self.open_log(task_id)
        try:
            mode = await self._sticky_mode(log)
            profile = self._sticky_profile(log, mode)
            waits = await self.parent_waits(log.metadata.parent_task_id, task_id)
            task = self._task(log, history, mode, profile, parent_waits=waits)
        except BaseException:
            await log.close()
            raise
        self._begin(task, opening)
        return task

    def _sticky_profile(self, log: TaskLog, mode: ModeConfig) -> str:
        """The profile of the model a task had; none for the calls of a program outside."""
        if TaskConfig.of(log.metadata.config).external_agent is not None:
            return ""
        item = log.state.history_item
        return (item.api_config_name if item else None) or self.services.models.profile_for(mode.slug)

    def _task(
        self, log: TaskLog, history: MessageManager, mode: ModeConfig, profile: str, *, parent_waits: bool
    ) -> Task:
        return Task(
            self.services, log, history, mode, profile,
            parent_waits=parent_waits, on_settled=self._settled, on_failure=self._failed,
        )  # fmt: skip

    def _begin(self, task: Task, opening: Opening | None) -> None:
        self._open[task.task_id] = task
        if opening is not None:
            if task.state.external_agent is None:
                # What a program does by itself is not what the person turned to.
                self.focus(task.task_id)
            task.launch(opening)

    def focus(self, task_id: TaskId) -> None:
        """This is the task last begun or taken up."""
        if self.current == task_id:
            return
        if self.current is not None:
            self.events.emit(TaskUnfocused(payload=(self.current,)))
        self.current = task_id
        self.events.emit(TaskFocused(payload=(task_id,)))

    async def _settled(self, task: Task, outcome: Outcome) -> None:
        """A task has done what it can; what comes next is somebody else's."""
        self._settling.add(task)
        try:
            async with self._lock(task.task_id):
                self._open.pop(task.task_id, None)
                self.on_left(task.task_id)
                await (task.finish() if isinstance(outcome, Completed) else task.let_go())
            if not self._stopping:
                await self.hand_over(task, outcome)
        finally:
            self._settling.discard(task)

    async def _failed(self, task: Task) -> None:
        await self._held.finish(self._put_aside(task))

    async def _put_aside(self, task: Task) -> None:
        async with self._lock(task.task_id):
            self._open.pop(task.task_id, None)
            self.on_left(task.task_id)
            await task.let_go()


async def _nothing_follows(task: Task, outcome: Outcome) -> None:
    """The work of a task that nobody brought about has no sequel."""


async def _nobody_waits(parent: TaskId | None, task_id: TaskId) -> bool:
    return False
