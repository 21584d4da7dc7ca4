"""All that can be done with tasks: for the panel, for programs outside, for the command line."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from ..config import ApprovalPreset, GlobalSettings, ModeConfig, check_setting, setting_keys
from ..errors import HdspAgentError, InvalidInput, InvalidSetting, UnknownTask, Unsupported
from ..messages import (
    Attachment,
    ClineAsk,
    ClineAskResponse,
    ClineMessage,
    JsonObject,
    NewTaskRequest,
    NotebookRef,
    QueuedMessage,
    StoppedBy,
    TaskId,
    TodoItem,
)
from ..persistence import NewTaskRecord, TaskKey
from ..tools import format_todos
from ._agent_services import AgentServices
from .approval import NO_RULES, Suggestions, suggest_rules
from .checkpoints.checkpoint_service import CheckpointService
from .checkpoints.kernel_restarts import KernelRestarts
from .conversation.answer_feedback import AnswerFeedback
from .conversation.asks import AskNotOpen, GivenAnswer
from .conversation.history_items import TaskConfig
from .conversation.message_operations import MessageOperations
from .conversation.note_suggestions import NoteSuggestions
from .conversation.user_text import says_something
from .modes import DEFAULT_MODE, allows_group, file_refusal
from .task.outcomes import Again, Begin, ChildDone, Completed, Outcome
from .task.subtasks import Subtasks, last_word
from .task.task import Task
from .task.task_pool import TaskPool
from .task.todo_list import todos_text

__all__ = ["TaskManager", "TaskRequest"]

logger = logging.getLogger(__name__)

_READY_SECONDS: Final = 30.0
_WORDS_ANSWER: Final[tuple[ClineAsk, ...]] = (
    "followup",
    "completion_result",
    "resume_task",
    "resume_completed_task",
    "mistake_limit_reached",
)
_AT_CELL: Final[tuple[ClineAsk, ...]] = (*_WORDS_ANSWER, "api_req_failed")
"""What is said at a cell after the model gave no answer is told when it is asked again."""


@dataclass(frozen=True)
class TaskRequest:
    """What is asked of a new task. ``settings`` hold for it alone."""

    text: str
    images: Sequence[str] = ()
    attachments: Sequence[Attachment] = ()
    notebook: NotebookRef | None = None
    workspace: str | None = None
    mode: str | None = None
    profile: str | None = None
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    owner: str | None = None
    source: str = "jupyterlab"
    """Through what the task came."""
    approvals: ApprovalPreset | None = None
    """What it may do without asking; None for what the settings say."""


class TaskManager:
    """Starts, finds, and stops tasks. Several work at once; each is named by its id."""

    def __init__(self, services: AgentServices) -> None:
        self.services: Final = services
        self.tasks: Final = TaskPool(services)
        self._subtasks: Final = Subtasks(self.tasks)
        self.tasks.hand_over = self._hand_over
        self.tasks.parent_waits = self._subtasks.parent_waits
        self.messages: Final = MessageOperations(self.tasks, self._subtasks)
        self.notes: Final = NoteSuggestions(self.tasks, self._subtasks)
        self.feedback: Final = AnswerFeedback(self.tasks, self._subtasks)
        if services.checkpoints is not None:
            services.checkpoints.on_event = services.events.emit_checkpoint
            services.checkpoints.conversations = self.messages
        self.restarts: Final = KernelRestarts(services)

    @property
    def checkpoints(self) -> CheckpointService:
        """The checkpoints of the workspaces. Raises Unsupported where there are none."""
        return self.services.checkpoint_service

    # ---- begin and end

    async def start(
        self,
        wanted: NewTaskRequest | TaskRequest,
        *,
        owner: str | None = None,
        task_id: TaskId | None = None,
        may_edit: NotebookRef | None = None,
    ) -> TaskId:
        """Start a task; its id, which may be chosen. It works from then on.

        ``may_edit`` is a cell that it may change without another question; its mode is one that edits then.
        """
        if isinstance(wanted, NewTaskRequest):
            wanted = TaskRequest(
                wanted.text,
                tuple(wanted.images or ()),
                tuple(wanted.attachments or ()),
                wanted.notebook,
                owner=owner,
                approvals=wanted.approval_preset,
            )
        if not says_something(wanted):
            raise InvalidInput("The task has no text and no images. Say what to do.", field="text")
        mode = await self.tasks.mode(wanted.mode or self.services.settings().mode, wanted.workspace)
        if may_edit is not None and not _edits(mode, may_edit.path):
            mode = await self.tasks.mode(DEFAULT_MODE, wanted.workspace)
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
        begin = Begin(wanted.text, tuple(wanted.images), tuple(wanted.attachments), may_edit=may_edit)
        return await self.tasks.create(new, mode, profile, begin, approvals=wanted.approvals)

    async def resume(self, task_id: TaskId) -> Task:
        """Take a task up again; it asks whether to go on, or puts the question that waits."""
        task = self.tasks.opened(task_id)
        if task is not None:
            self.tasks.focus(task_id)
            return task
        opening = await self._subtasks.opening_of(task_id)
        return await self.tasks.take_up(task_id, opening)

    async def answer(
        self,
        task_id: TaskId,
        ask_ts: int,
        response: ClineAskResponse,
        text: str | None = None,
        images: Sequence[str] = (),
        attachments: Sequence[Attachment] = (),
        edited: Sequence[str] | None = None,
        run: bool = False,
        may_edit: NotebookRef | None = None,
    ) -> None:
        """Answer the question ``ask_ts``; a task that waits for it only in its log is taken up first.

        ``edited`` is what the person made of the texts it proposes; with ``run`` the cells that it changes may run, too.
        ``may_edit`` is a cell that may be changed with these words without another question.
        """
        texts = None if edited is None else tuple(edited)
        given = GivenAnswer(response, text, tuple(images), tuple(attachments), texts, run, may_edit=may_edit)
        task = await self.tasks.at_work(task_id)
        if task is None:
            if await self._waits_for(task_id) != ask_ts:
                raise AskNotOpen("This question is no longer open: the task continued without it.", ask=ask_ts)
            opening = await self._subtasks.opening_of(task_id)
            if isinstance(opening, ChildDone):
                # Asked whether to go on without its subtask, which is done meanwhile: it goes on with the result.
                task = await self.tasks.take_up(task_id, opening)
                if given.says_something:
                    await task.state.queue.add(text or "", images, attachments)
                return
            task = await self.tasks.take_up(task_id, Again(answering=ask_ts))
            await task.state.dialogue.asks.first(_READY_SECONDS)
        await task.answer(ask_ts, given)

    async def cancel(self, task_id: TaskId, by: StoppedBy = "person") -> None:
        """Stop what a task is doing, or the subtask it waits for. Answers within 200 ms."""
        task = self.tasks.opened(task_id)
        if task is None:
            child = await self._subtasks.working_child_of(task_id)
            if child is None:
                raise UnknownTask(f"Task {task_id} is not running, so there is nothing to stop.", task=task_id)
            task = child
        await task.cancel(by)

    async def run_out(self, task_id: TaskId, why: str) -> None:
        """The time for a task is over: it ends where it is, with the subtasks it waits for. All can be resumed.

        Raises what kept one of them from being recorded, once all have ended.
        """
        refusal: HdspAgentError | None = None
        for member in await self._subtasks.waiting_line(task_id):
            task = self.tasks.opened(member)
            if task is None:
                # It waits for the next one.
                task = await self.tasks.open_at_rest(member)
            elif task.state.completed:
                await task.ended()
                continue
            try:
                await self.tasks.run_out(task, why)
            except HdspAgentError as error:
                refusal = error
        if refusal is not None:
            raise refusal

    async def stop(self) -> None:
        """Put all tasks aside: what waits in their logs goes on waiting."""
        await self.messages.close()
        await self.tasks.stop()
        await self.services.models.close()
        if self.services.checkpoints is not None:
            await self.services.checkpoints.close()

    # ---- say something

    async def send(
        self, task_id: TaskId, text: str, images: Sequence[str] = (), attachments: Sequence[Attachment] = ()
    ) -> None:
        """What the person says without naming a question: an answer if one is asked that words can answer, else queued.

        Words never approve anything: while an approval waits they wait too.
        """
        waiting = await self._question_for_words(task_id)
        if waiting is None:
            await self.queue(task_id, text, images, attachments)
        else:
            await self.answer(task_id, waiting, "messageResponse", text, images, attachments)

    async def say_at_cell(
        self, task_id: TaskId, text: str, attachments: Sequence[Attachment], cell: NotebookRef
    ) -> TaskId:
        """What the person says at a cell, which may be changed then without another question; who hears it.

        That is the subtask that is worked on for the task, if there is one. It is said as ``send`` does.
        """
        await self.tasks.at_work(task_id)
        task = await self.worked_on_for(task_id)
        heard_by = task_id if task is None else task.task_id
        waiting = await self._question_for_words(heard_by, _AT_CELL)
        if waiting is None:
            await self.tasks.get(heard_by).state.queue.add(text, attachments=attachments, may_edit=cell)
        else:
            await self.answer(heard_by, waiting, "messageResponse", text, attachments=attachments, may_edit=cell)
        return heard_by

    async def queue(
        self, task_id: TaskId, text: str, images: Sequence[str] = (), attachments: Sequence[Attachment] = ()
    ) -> QueuedMessage:
        """Keep a message for the task's next turn."""
        return await self.tasks.get(task_id).state.queue.add(text, images, attachments)

    async def update_todos(self, task_id: TaskId, todos: Sequence[TodoItem]) -> None:
        """Replace the task's plan by the person's; the model hears of it in its next turn."""
        task = self.tasks.get(task_id)
        task.state.todos = list(todos)
        if any(
            message.ask == "tool" and "updateTodoList" in (message.text or "")
            for message in task.state.dialogue.asks.open
        ):
            task.state.edited_todos = list(todos)
        await task.state.conversation.say("user_edit_todos", todos_text(todos), durable=True)
        task.user_input.note(f"The user edited the to-do list. It is now:\n{format_todos(todos)}")

    def proposal(self, task_id: TaskId, ask_ts: int) -> Sequence[tuple[str, str]]:
        """The texts that may be edited before the open question ``ask_ts`` is approved, by name. Raises AskNotOpen."""
        proposal = self.tasks.get(task_id).state.dialogue.proposal_of(ask_ts)
        if proposal is None:
            raise AskNotOpen("This question is no longer open, or it has nothing to edit.", ask=ask_ts)
        return proposal.texts

    async def suggest_rules(self, task_id: TaskId, ask_ts: int, *, fixed: Sequence[str] = ()) -> Suggestions:
        """The rules that would approve what the open question ``ask_ts`` is about. Raises AskNotOpen."""
        task = self.tasks.get(task_id)
        action = task.state.dialogue.action_of(ask_ts)
        if action is None:
            raise AskNotOpen("This question is no longer open, or it asks for no approval.", ask=ask_ts)
        if task.external is not None:
            # The person's rules are for their own agent. What others may do is chosen for each of them.
            return NO_RULES
        settings, policy, mode = task.state.settings, self.services.policy(), task.state.mode
        # Each rule is tried, with a look at the files that a command names.
        return await asyncio.to_thread(
            lambda: suggest_rules(action, settings=settings, policy=policy, mode=mode, fixed=fixed)
        )

    async def switch_mode(self, task_id: TaskId, slug: str) -> None:
        """Let a task go on in another mode."""
        await self.tasks.get(task_id).state.switch_mode(slug)

    async def switch_profile(self, task_id: TaskId, name: str) -> None:
        """Let a task go on with the model of another profile."""
        await self.tasks.get(task_id).state.switch_profile(name)

    async def condense(self, task_id: TaskId) -> None:
        """Condense what a task's model sees, whatever the task is doing. Raises Conflict saying why that cannot be."""
        task = await self.tasks.at_work(task_id)
        if task is not None and task.external is not None:
            raise Unsupported("This is the conversation of another agent. There is nothing to condense here.")
        if task is not None:
            await task.window.condense_now()
            return
        await self._subtasks.refuse_beside_child(task_id)
        task = await self.tasks.open_at_rest(task_id)
        try:
            if task.external is not None:
                raise Unsupported("This is the conversation of another agent. There is nothing to condense here.")
            await task.state.recount()
            await task.window.condense_now()
        finally:
            await self.tasks.close(task_id, finished=task.state.item.status == "completed")

    async def worked_on_for(self, task_id: TaskId) -> Task | None:
        """A task that is worked on, or else the subtask that is worked on for it."""
        return self.tasks.opened(task_id) or await self._subtasks.working_child_of(task_id)

    def _own_settings(self, settings: Mapping[str, JsonValue]) -> JsonObject:
        """What is set for one task alone, as its metadata keeps it. Raises InvalidSetting for a value that cannot be."""
        config = TaskConfig(settings).to_json()
        for key, value in TaskConfig.of(config).overrides.items():
            check_setting(GlobalSettings, key, value)
            if key in setting_keys():
                raise InvalidSetting("A task cannot store a key. Save it in the settings.", field=key)
        return config

    async def _hand_over(self, task: Task, outcome: Outcome) -> None:
        """What follows when a task has done what it can: its subtask or parent works, or itself for what was said last."""
        await self._subtasks.hand_over(task, outcome)
        if isinstance(outcome, Completed) and task.state.queue.wants_to_go_on:
            # Said after the loop had looked for it a last time: nobody else will.
            await self._go_on_with_queue(task.task_id)

    async def _go_on_with_queue(self, task_id: TaskId) -> None:
        done = await self._waits_for(task_id)
        if done is None:
            return
        try:
            await self.answer(task_id, done, "messageResponse")
        except AskNotOpen:
            # Whoever answered first has made it go on.
            return
        except HdspAgentError as error:
            logger.error("Task %s could not continue with the last message; it waits: %s", task_id, error)

    async def _waits_for(self, task_id: TaskId) -> int | None:
        """The time of the question a closed task waits with."""
        message = await last_word(await self.services.store.view(task_id))
        waits = message is not None and message.type == "ask" and message.is_answered is None and not message.partial
        return message.ts if message is not None and waits else None

    async def _question_for_words(self, task_id: TaskId, kinds: Sequence[ClineAsk] = _WORDS_ANSWER) -> int | None:
        """The time of the question that words answer; a task that nobody works on is taken up if none waits in its log."""
        task = self.tasks.opened(task_id)
        if task is None:
            waiting = _for_words(await last_word(await self.services.store.view(task_id)), kinds)
            if waiting is not None:
                return waiting.ts
            task = await self.resume(task_id)
            await task.state.dialogue.asks.first(_READY_SECONDS)
        question = task.state.dialogue.asks.newest(*kinds)
        return question.ts if question is not None else None


def _for_words(message: ClineMessage | None, kinds: Sequence[ClineAsk]) -> ClineMessage | None:
    """The message, if it is a question of these kinds that waits."""
    if message is None or message.ask not in kinds or message.is_answered is not None:
        return None
    return message


def _edits(mode: ModeConfig, path: str) -> bool:
    return allows_group(mode, "edit") and file_refusal(mode, path) is None
