"""The one door to all tasks: for the panel, for programs outside, for the command line."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakValueDictionary

from pydantic import JsonValue

from .._background_tasks import BackgroundTasks
from ..config import GlobalSettings, ModeConfig, check_setting
from ..errors import Conflict, ForbiddenByOperator, HdspAgentError, InvalidInput, UnknownTask
from ..events import Emitter
from ..messages import (
    AggregatedCosts,
    ClineAskResponse,
    JsonObject,
    NewTaskRequest,
    NotebookRef,
    QueuedMessage,
    TaskCreated,
    TaskFocused,
    TaskId,
    TaskStatus,
    TaskUnfocused,
    TodoItem,
)
from ..persistence import MessageManager, NewTaskRecord, TaskKey, TaskLog
from ..tools import format_todos
from ._agent_services import AgentServices
from ._ipc_commands import IpcCommandSession
from .approval import Suggestions, suggest_rules
from .checkpoints.kernel_restarts import KernelRestarts
from .checkpoints.operations import CheckpointOperations
from .conversation.asks import AnswerGiven, AskNotOpen
from .conversation.history_items import TaskConfig
from .conversation.message_operations import MessageOperations
from .task.outcomes import Again, Begin, ChildDone, Completed, Delegated, Opening, Outcome
from .task.subtasks import Subtasks, last_word
from .task.task import Task
from .task.task_metadata import recorded
from .task.todo_list import todos_text

__all__ = ["TaskManager", "TaskRequest"]

logger = logging.getLogger(__name__)

_READY_SECONDS: Final = 30.0


@dataclass(frozen=True)
class TaskRequest:
    """What is asked of a new task. ``settings`` hold for it alone."""

    text: str
    images: Sequence[str] = ()
    notebook: NotebookRef | None = None
    workspace: str | None = None
    mode: str | None = None
    profile: str | None = None
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    owner: str | None = None
    source: str = "jupyterlab"
    """Through what the task came."""


class TaskManager:
    """Starts, finds, and stops tasks. Several work at once; each is named by its id."""

    def __init__(self, services: AgentServices) -> None:
        self.services: Final = services
        if services.files is not None:
            services.files.lines.on_event = services.events.emit_checkpoint
        self._open: dict[TaskId, Task] = {}
        self._doors: WeakValueDictionary[TaskId, asyncio.Lock] = WeakValueDictionary()
        self._current: TaskId | None = None
        self._held = BackgroundTasks()
        self._stopping = False
        self._settling: set[Task] = set()
        self._delegation = Subtasks(self)
        self.messages: Final = MessageOperations(self)
        self.checkpoints: Final = CheckpointOperations(services, self.messages)
        self.restarts: Final = KernelRestarts(services)
        self.on_left: Callable[[TaskId], None] = lambda task_id: None
        """Told of a task that is not worked on any more."""

    @property
    def events(self) -> Emitter:
        """What happens to tasks."""
        return self.services.events

    @property
    def current(self) -> TaskId | None:
        """The task last begun or taken up."""
        return self._current

    @property
    def open(self) -> Sequence[TaskId]:
        """The tasks that are worked on."""
        return list(self._open)

    def get(self, task_id: TaskId) -> Task:
        """A task that is worked on. Raises UnknownTask."""
        task = self._open.get(task_id)
        if task is None:
            raise UnknownTask(f"Task {task_id} is not being worked on. Resume it first.", task=task_id)
        return task

    def status(self, task_id: TaskId) -> TaskStatus:
        """What a task is doing; ``none`` for one that is not worked on."""
        task = self._open.get(task_id)
        return "none" if task is None else task.status

    # ---- begin and end

    async def start(
        self, wanted: NewTaskRequest | TaskRequest, *, owner: str | None = None, task_id: TaskId | None = None
    ) -> TaskId:
        """Start a task; its id, which may be chosen. It works from then on."""
        if isinstance(wanted, NewTaskRequest):
            wanted = TaskRequest(wanted.text, tuple(wanted.images or ()), wanted.notebook, owner=owner)
        if not wanted.text.strip() and not wanted.images:
            raise InvalidInput("Say what the task is: it has neither text nor pictures.", field="text")
        mode = await self._mode(wanted.mode or self.services.settings().mode, wanted.workspace)
        new = NewTaskRecord(
            task_key=TaskKey(task_source=wanted.source),
            config=self._own_settings(wanted.settings),
            user=wanted.owner or owner,
            workspace=wanted.workspace or str(self.services.workspace),
            notebook=wanted.notebook,
            mode=mode.slug,
            task_id=task_id,
        )
        profile = wanted.profile or self.services.models.profile_for(mode.slug)
        return await self._held.finish(self._create(new, mode, profile, Begin(wanted.text, tuple(wanted.images))))

    async def resume(self, task_id: TaskId) -> Task:
        """Take a task up again; it asks whether to go on, or puts the question that waits."""
        task = self._open.get(task_id)
        if task is not None:
            self._focus(task_id)
            return task
        opening = await self._delegation.opening_of(task_id)
        return await self._take_up(task_id, opening)

    async def answer(
        self,
        task_id: TaskId,
        ask_ts: int,
        response: ClineAskResponse,
        text: str | None = None,
        images: Sequence[str] = (),
        edited: Sequence[str] | None = None,
    ) -> None:
        """Answer the question ``ask_ts``, with what the person made of the texts it proposes; a task that waits for it only in its log is taken up first."""
        given = AnswerGiven(response, text, tuple(images), None if edited is None else tuple(edited))
        task = self._open.get(task_id)
        if task is None:
            if await self._waits_for(task_id) != ask_ts:
                raise AskNotOpen("This question is not open: the task went on without it.", ask=ask_ts)
            opening = await self._delegation.opening_of(task_id)
            if isinstance(opening, ChildDone):
                # Asked whether to go on without its subtask, which is done meanwhile: it goes on with the result.
                task = await self._take_up(task_id, opening)
                if given.says_something:
                    await task.queue.add(text or "", images)
                return
            task = await self._take_up(task_id, Again(answering=ask_ts))
            await task.dialogue.asks.first(_READY_SECONDS)
        await task.answer(ask_ts, given)

    async def cancel(self, task_id: TaskId) -> None:
        """Stop what a task is doing, or the subtask it waits for. Answers within 200 ms."""
        task = self._open.get(task_id)
        if task is None:
            child = await self._delegation.working_child_of(task_id)
            if child is None:
                raise UnknownTask(f"Task {task_id} is not being worked on, so there is nothing to stop.", task=task_id)
            task = child
        await task.cancel()

    async def close(self, task_id: TaskId, *, finished: bool = False) -> None:
        """Put a task aside as it is, or with the completed ones; it can be resumed."""
        task = self._open.get(task_id)
        if task is None:
            # It may be ending by itself: it is put aside once that is done.
            async with self._door(task_id):
                return
        # Outside the door: a task that ends just now goes through it itself.
        await task.halt()
        async with self._door(task_id):
            if self._open.pop(task_id, None) is None:
                return
            self.on_left(task_id)
            if self._current == task_id:
                self._current = None
                self.events.emit(TaskUnfocused(payload=(task_id,)))
            await self._held.finish(task.finish() if finished else task.let_go())

    async def run_out(self, task_id: TaskId, why: str) -> None:
        """The time for a task is over: it ends where it is, with the subtasks it waits for. All can be resumed.

        Raises what kept one of them from being recorded, once all have ended.
        """
        refusal: HdspAgentError | None = None
        for member in await self._delegation.waiting_line(task_id):
            task = self._open.get(member)
            if task is None:
                # It waits for the next one.
                task = await self.open_at_rest(member)
            elif task.completed:
                await task.ended()
                continue
            try:
                await self._run_out(task, why)
            except HdspAgentError as error:
                refusal = error
        if refusal is not None:
            raise refusal

    async def _run_out(self, task: Task, why: str) -> None:
        await task.halt()
        async with self._door(task.task_id):
            if self._open.pop(task.task_id, None) is not None:
                self.on_left(task.task_id)
                await self._held.finish(task.run_out(why))

    async def stop(self) -> None:
        """Put all tasks aside: what waits in their logs goes on waiting."""
        self._stopping = True
        await self.messages.close()
        tasks, settling = list(self._open.values()), list(self._settling)
        self._open.clear()
        await asyncio.gather(*(task.close() for task in tasks), *(task.ended() for task in settling))
        await self._held.drain()
        await self.services.models.close()
        if self.services.files is not None:
            await self.services.files.close()

    # ---- say something

    async def send(self, task_id: TaskId, text: str, images: Sequence[str] = ()) -> None:
        """What the person says without naming a question: an answer if one is asked that words can answer, else queued.

        Words never approve anything: while an approval waits they wait too.
        """
        waiting = await self._question_for_words(task_id)
        if waiting is None:
            await self.queue(task_id, text, images)
        else:
            await self.answer(task_id, waiting, "messageResponse", text, images)

    async def queue(self, task_id: TaskId, text: str, images: Sequence[str] = ()) -> QueuedMessage:
        """Keep a message for the task's next turn."""
        return await self.get(task_id).queue.add(text, images)

    async def edit_queued(
        self, task_id: TaskId, message_id: str, text: str, images: Sequence[str] | None = None
    ) -> QueuedMessage:
        """Change a message that still waits."""
        return await self.get(task_id).queue.edit(message_id, text, images)

    async def remove_queued(self, task_id: TaskId, message_id: str) -> QueuedMessage:
        """Take a message out of the queue."""
        return await self.get(task_id).queue.remove(message_id)

    async def update_todos(self, task_id: TaskId, todos: Sequence[TodoItem]) -> None:
        """Replace the task's plan by the person's; the model hears of it in its next turn."""
        task = self.get(task_id)
        task.todos = list(todos)
        if any(
            message.ask == "tool" and "updateTodoList" in (message.text or "") for message in task.dialogue.asks.open
        ):
            task.edited_todos = list(todos)
        await task.conversation.say("user_edit_todos", todos_text(todos), durable=True)
        task.words.note(f"The user edited the to-do list. It is now:\n{format_todos(todos)}")

    def cancel_auto_answer(self, task_id: TaskId) -> None:
        """The person answers a question themselves, so nothing answers it for them."""
        self.get(task_id).answers_itself.cancel()

    def proposal(self, task_id: TaskId, ask_ts: int) -> Sequence[tuple[str, str]]:
        """The texts that may be edited before the open question ``ask_ts`` is approved, by name. Raises AskNotOpen."""
        proposal = self.get(task_id).dialogue.proposal_of(ask_ts)
        if proposal is None:
            raise AskNotOpen("This question is not open, or there is nothing to edit in it.", ask=ask_ts)
        return proposal.texts

    async def suggest_rules(self, task_id: TaskId, ask_ts: int, *, fixed: Sequence[str] = ()) -> Suggestions:
        """The rules that would approve what the open question ``ask_ts`` is about. Raises AskNotOpen."""
        task = self.get(task_id)
        action = task.dialogue.action_of(ask_ts)
        if action is None:
            raise AskNotOpen("This question is not open, or not about something to approve.", ask=ask_ts)
        settings, policy, mode = task.settings, self.services.policy(), task.mode
        # Each rule is tried, with a look at the files that a command names.
        return await asyncio.to_thread(
            lambda: suggest_rules(action, settings=settings, policy=policy, mode=mode, fixed=fixed)
        )

    async def switch_mode(self, task_id: TaskId, slug: str) -> None:
        """Let a task go on in another mode."""
        await self.get(task_id).switch_mode(slug)

    async def switch_profile(self, task_id: TaskId, name: str) -> None:
        """Let a task go on with the model of another profile."""
        await self.get(task_id).switch_profile(name)

    async def condense(self, task_id: TaskId) -> None:
        """Condense what a task's model sees, whatever the task is doing. Raises Conflict saying why that cannot be."""
        task = self._open.get(task_id)
        if task is not None and task.completed:
            # The person saw that it is done before it was put with the completed ones.
            await task.ended()
            task = self._open.get(task_id)
        if task is not None:
            await task.upkeep.condense_now()
            return
        await self.refuse_beside_child(task_id)
        task = await self.open_at_rest(task_id)
        try:
            await task.recount()
            await task.upkeep.condense_now()
        finally:
            await self.close(task_id, finished=task.item.status == "completed")

    async def costs(self, task_id: TaskId) -> AggregatedCosts:
        """What a task cost, and its subtasks."""
        return await self._delegation.costs(task_id)

    def session(self) -> IpcCommandSession:
        """A program outside, from its first command to its last."""

        async def manager() -> TaskManager:
            return self

        return IpcCommandSession(manager)

    # ---- for the parts of the door in other modules

    def opened(self, task_id: TaskId) -> Task | None:
        """A task that is worked on, if it is."""
        return self._open.get(task_id)

    async def worked_on_for(self, task_id: TaskId) -> Task | None:
        """A task that is worked on, or else the subtask that is worked on for it."""
        return self._open.get(task_id) or await self._delegation.working_child_of(task_id)

    async def refuse_beside_child(self, task_id: TaskId) -> None:
        """Raise Conflict while a subtask of this task is worked on."""
        await self._delegation.refuse_beside_child(task_id)

    async def create_child(self, parent: Task, wanted: Delegated) -> None:
        """Make the subtask a task waits for, and let it work."""
        mode = await self._mode(wanted.mode, parent.workspace)
        metadata = parent.conversation.log.metadata
        new = NewTaskRecord(
            task_key=TaskKey(task_source=metadata.task_key.task_source), config=metadata.config, user=metadata.user, parent_task_id=parent.task_id,
            root_task_id=metadata.root_task_id or parent.task_id, workspace=metadata.workspace,
            notebook=metadata.notebook, mode=mode.slug, task_id=wanted.child,
        )  # fmt: skip
        profile = self.services.models.profile_for(mode.slug, parent.profile)
        await self._create(new, mode, profile, Begin(wanted.message, todos=wanted.todos))

    async def take_up(self, task_id: TaskId, opening: Opening) -> Task:
        """Open a task that nobody works on."""
        return await self._take_up(task_id, opening)

    async def open_log(self, task_id: TaskId) -> tuple[TaskLog, MessageManager]:
        """A task's log, to change its history while nobody works on it."""
        log = await self.services.store.resume(task_id)
        return log, MessageManager(log, [mark async for mark in log.marks.iterate()])

    # ---- inside

    def _own_settings(self, settings: Mapping[str, JsonValue]) -> JsonObject:
        """What is set for one task alone, as its metadata keeps it. Raises InvalidSetting for a value that cannot be."""
        config = TaskConfig(settings).to_json()
        for key, value in TaskConfig.of(config).overrides.items():
            check_setting(GlobalSettings, key, value)
        return config

    async def _mode(self, slug: str, workspace: str | None) -> ModeConfig:
        policy = self.services.policy()
        if not policy.allows_mode(slug):
            raise ForbiddenByOperator(f"The operator of this server does not allow the mode {slug}.", field="mode")
        mode = await self.services.modes.get(slug, workspace or str(self.services.workspace))
        if mode is None:
            raise InvalidInput(f"There is no mode {slug}. Choose another one.", field="mode", mode=slug)
        return mode

    async def _sticky_mode(self, log: TaskLog) -> ModeConfig:
        """The mode a task was in; the default one if that is gone."""
        item = log.state.history_item
        wanted = (item.mode if item else None) or log.metadata.mode or self.services.settings().mode
        try:
            return await self._mode(wanted, log.metadata.workspace)
        except HdspAgentError:
            return await self._mode(self.services.settings().mode, log.metadata.workspace)

    async def _create(self, new: NewTaskRecord, mode: ModeConfig, profile: str, opening: Begin) -> TaskId:
        log = await self.services.store.create(await recorded(new, self.services, profile))
        try:
            task = self._task(log, MessageManager(log), mode, profile, parent_waits=new.parent_task_id is not None)
        except BaseException:
            await log.close()
            raise
        self.events.emit(TaskCreated(payload=(task.task_id,)))
        self._begin(task, opening)
        return task.task_id

    async def _take_up(self, task_id: TaskId, opening: Opening) -> Task:
        async with self._door(task_id):
            known = self._open.get(task_id)
            return known if known is not None else await self._held.finish(self._open_task(task_id, opening))

    def _door(self, task_id: TaskId) -> asyncio.Lock:
        """Held while a task is opened or put aside, so that it is never both."""
        door = self._doors.get(task_id)
        if door is None:
            door = self._doors[task_id] = asyncio.Lock()
        return door

    async def open_at_rest(self, task_id: TaskId) -> Task:
        """Open a task that nobody works on, and let it do nothing yet."""
        async with self._door(task_id):
            if task_id in self._open:
                raise Conflict(f"Task {task_id} is being worked on. Stop it first.", task=task_id)
            return await self._held.finish(self._open_task(task_id, None))

    async def _open_task(self, task_id: TaskId, opening: Opening | None) -> Task:
        log, history = await self.open_log(task_id)
        try:
            mode = await self._sticky_mode(log)
            item = log.state.history_item
            profile = (item.api_config_name if item else None) or self.services.models.profile_for(mode.slug)
            waits = await self._delegation.parent_waits(log.metadata.parent_task_id, task_id)
            task = self._task(log, history, mode, profile, parent_waits=waits)
        except BaseException:
            await log.close()
            raise
        self._begin(task, opening)
        return task

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
            self._focus(task.task_id)
            task.launch(opening)

    def _focus(self, task_id: TaskId) -> None:
        if self._current == task_id:
            return
        if self._current is not None:
            self.events.emit(TaskUnfocused(payload=(self._current,)))
        self._current = task_id
        self.events.emit(TaskFocused(payload=(task_id,)))

    async def _settled(self, task: Task, outcome: Outcome) -> None:
        """A task has done what it can; what comes next is somebody else's."""
        self._settling.add(task)
        try:
            async with self._door(task.task_id):
                self._open.pop(task.task_id, None)
                self.on_left(task.task_id)
                await (task.finish() if isinstance(outcome, Completed) else task.let_go())
            if not self._stopping:
                await self._hand_over(task, outcome)
        finally:
            self._settling.discard(task)

    async def _hand_over(self, task: Task, outcome: Outcome) -> None:
        """Work goes on in another task: in the parent of one that is done, or in a subtask."""
        match outcome:
            case Completed(result=result):
                if task.parent is not None and not task.returned:
                    await self._delegation.child_done(task.parent, task.task_id, result)
            case Delegated():
                await self._delegation.begin_child(task, outcome)

    async def _failed(self, task: Task) -> None:
        await self._held.finish(self._put_aside(task))

    async def _put_aside(self, task: Task) -> None:
        async with self._door(task.task_id):
            self._open.pop(task.task_id, None)
            self.on_left(task.task_id)
            await task.let_go()

    async def _waits_for(self, task_id: TaskId) -> int | None:
        """The time of the question a closed task waits with."""
        message = await last_word(await self.services.store.view(task_id))
        waits = message is not None and message.type == "ask" and message.is_answered is None and not message.partial
        return message.ts if message is not None and waits else None

    async def _question_for_words(self, task_id: TaskId) -> int | None:
        task = self._open.get(task_id)
        if task is None:
            waiting = await last_word(await self.services.store.view(task_id))
            if waiting is not None and waiting.ask in _WORDS_ANSWER and waiting.is_answered is None:
                return waiting.ts
            task = await self.resume(task_id)
            await task.dialogue.asks.first(_READY_SECONDS)
        question = task.dialogue.asks.newest(*_WORDS_ANSWER)
        return question.ts if question is not None else None


_WORDS_ANSWER: Final = (
    "followup",
    "completion_result",
    "resume_task",
    "resume_completed_task",
    "mistake_limit_reached",
)
