"""What the page may ask of the agent over the channel: begin, answer, stop, say more.

A request that names no task means the one on screen.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from uuid import NAMESPACE_OID, uuid4, uuid5

from pydantic import JsonValue

from ..config import ContextProxy
from ..messages import (
    AskResponseRequest,
    CancelAutoApprovalRequest,
    CancelTaskRequest,
    ClearTaskRequest,
    CondenseTaskContextRequest,
    CondenseTaskContextResponseMessage,
    CondenseTaskContextStartedMessage,
    DecideNoteSuggestionRequest,
    EditCellRequest,
    EditQueuedMessageRequest,
    NewTaskRequest,
    NotebookRef,
    ProposalMessage,
    ProposalRequest,
    ProposedText,
    QueueMessageRequest,
    RateMessageRequest,
    RemoveQueuedMessageRequest,
    Request,
    RuleSuggestionsMessage,
    ShowTaskWithIdRequest,
    SuggestRulesRequest,
    TaskId,
    TerminalOperationRequest,
    UpdateTodoListRequest,
)
from ._channel_hub import ChannelHub
from ._dispatch import Dispatcher, RequestContext
from .conversation_requests import ConversationRequests
from .history import History
from .open_panels import OpenPanels
from .open_task_requests import OpenTaskRequests
from .running_agent import RunningAgent

if TYPE_CHECKING:
    from ..agent import TaskManager

__all__ = ["AgentRequests"]


class AgentRequests:
    """Handles what concerns tasks that are worked on, or shall be."""

    def __init__(
        self, agent: RunningAgent, history: History, channels: ChannelHub, panels: OpenPanels, config: ContextProxy
    ) -> None:
        self._agent = agent
        self._config = config
        self._history = history
        self._channels = channels
        self._panels = panels
        self._conversations = ConversationRequests(agent, history, channels, panels)
        self._open_tasks = OpenTaskRequests(agent, history, panels)

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "newTask": self.new_task,
                "askResponse": self.answer,
                "suggestRules": self.suggest_rules,
                "requestProposal": self.request_proposal,
                "cancelTask": self.cancel,
                "clearTask": self.clear,
                "showTaskWithId": self.show,
                "cancelAutoApproval": self.cancel_auto_answer,
                "terminalOperation": self.terminal_operation,
                "queueMessage": self.queue,
                "removeQueuedMessage": self.remove_queued,
                "editQueuedMessage": self.edit_queued,
                "updateTodoList": self.update_todos,
                "condenseTaskContextRequest": self.condense,
                "decideNoteSuggestion": self.decide_note_suggestion,
                "rateMessage": self.rate_message,
            }
        )
        self._conversations.register(dispatcher)
        self._open_tasks.register(dispatcher)

    # ---- a task's life

    async def new_task(self, context: RequestContext, message: NewTaskRequest) -> JsonValue:
        """Begin, and show it on all tabs; the answer is the task's id. Tasks under way go on."""
        return await self.begin(context, message)

    async def begin(self, context: RequestContext, wanted: NewTaskRequest) -> TaskId:
        """Begin a task, and show it on all tabs."""
        manager = await self._agent.manager()
        task_id, is_begun = await self._id_of(context)
        if is_begun:
            await self._panels.show(context.owner, task_id)
            return task_id
        await manager.start(wanted, owner=context.owner, task_id=task_id)
        await self._history.show(context.owner, task_id)
        return task_id

    async def begin_at_cell(self, context: RequestContext, wanted: NewTaskRequest, cell: NotebookRef) -> TaskId:
        """Begin a task that may change a cell without another question, among the open ones; the panel stays as it is."""
        manager = await self._agent.manager()
        task_id, is_begun = await self._id_of(context)
        if not is_begun:
            await manager.start(wanted, owner=context.owner, task_id=task_id, may_edit=cell)
            await self._history.open(context.owner, task_id)
        return task_id

    async def say_at_cell(
        self, context: RequestContext, task_id: TaskId, said: EditCellRequest, cell: NotebookRef
    ) -> None:
        """Go on in a task with what was said at a cell, and put it among the open ones, or the subtask that heard it."""
        manager = await self._agent.manager()
        heard_by = await manager.say_at_cell(task_id, said.text, said.attachments or (), cell)
        await self._history.open(context.owner, heard_by)

    async def _id_of(self, context: RequestContext) -> tuple[TaskId, bool]:
        """The id of the task that a request begins, and whether it has begun it already."""
        task_id = _task_of(context)
        if not await self._history.has(context.owner, task_id):
            return task_id, False
        if (await self._history.messages(context.owner, task_id, limit=1)).messages:
            return task_id, True
        # Not a word of it was recorded.
        return TaskId(str(uuid4())), False

    async def answer(self, context: RequestContext, message: AskResponseRequest) -> None:
        """Answer one question, named by its time; a second answer is a conflict."""
        manager = await self._agent.manager()
        await manager.answer(
            self.meant(context, message),
            message.message_ts,
            message.ask_response,
            message.text,
            message.images or (),
            message.attachments or (),
            message.edited,
            run=message.run is True,
        )

    async def request_proposal(self, context: RequestContext, message: ProposalRequest) -> None:
        """What may be edited before approving goes to the tab that asked, before the answer."""
        task_id = self.meant(context, message)
        texts = (await self._agent.manager()).proposal(task_id, message.message_ts)
        await self._channels.send_to(
            context,
            ProposalMessage(
                request_id=context.request_id,
                task_id=task_id,
                message_ts=message.message_ts,
                texts=[ProposedText(name=name, text=text) for name, text in texts],
            ),
        )

    async def suggest_rules(self, context: RequestContext, message: SuggestRulesRequest) -> None:
        """The rules that would have approved what is asked go to the tab that asked, before the answer."""
        task_id = self.meant(context, message)
        manager = await self._agent.manager()
        suggested = await manager.suggest_rules(task_id, message.message_ts, fixed=sorted(self._config.fixed))
        await self._channels.send_to(
            context,
            RuleSuggestionsMessage(
                request_id=context.request_id,
                task_id=task_id,
                message_ts=message.message_ts,
                rules=list(suggested.rules),
                reason=suggested.reason,
            ),
        )

    async def cancel(self, context: RequestContext, message: CancelTaskRequest) -> None:
        """Stop what is being done."""
        await (await self._agent.manager()).cancel(self.meant(context, message))

    async def clear(self, context: RequestContext, message: ClearTaskRequest) -> None:
        """Put it aside and close it, on all tabs; it can be taken up again."""
        shown = self._history.shown(context.owner)
        task_id = message.task_id or (shown.item.id if shown else None)
        if task_id is None:
            return
        if self._history.details(task_id) is not None:
            await (await self._agent.manager()).tasks.close(TaskId(task_id))
        self._history.open_tasks.remove(context.owner, [task_id])
        if self._history.shows(context.owner, task_id):
            self._history.hide(context.owner)

    async def show(self, context: RequestContext, message: ShowTaskWithIdRequest) -> None:
        """Show it on all tabs. One that was interrupted asks whether to go on, or what it had asked."""
        await self._panels.show(context.owner, message.task_id)

    async def cancel_auto_answer(self, context: RequestContext, message: CancelAutoApprovalRequest) -> None:
        """Let the person think: the question is not answered by itself any more."""
        task_id = self.meant(context, message)
        (await self._agent.manager()).tasks.get(task_id).auto_answer.cancel()
        self._agent.tell_progress(task_id)

    async def terminal_operation(self, context: RequestContext, message: TerminalOperationRequest) -> None:
        """Let running commands go on in the background, or end them."""
        task = (await self._agent.manager()).tasks.get(self.meant(context, message))
        if message.terminal_operation == "continue":
            task.state.tool_state.commands.continue_all()
        else:
            task.state.tool_state.commands.abort_all()

    # ---- saying more

    async def queue(self, context: RequestContext, message: QueueMessageRequest) -> JsonValue:
        """Keep it for the next turn; a task that nobody works on takes it as an answer where words are one."""
        manager = await self._agent.manager()
        task_id = self.meant(context, message)
        if manager.tasks.opened(task_id) is None:
            await manager.send(task_id, message.text, message.images or (), message.attachments or ())
            return None
        queued = await manager.queue(task_id, message.text, message.images or (), message.attachments or ())
        return queued.id

    async def remove_queued(self, context: RequestContext, message: RemoveQueuedMessageRequest) -> None:
        """Take it back."""
        task = (await self._agent.manager()).tasks.get(self.meant(context, message))
        await task.state.queue.remove(message.text)

    async def edit_queued(self, context: RequestContext, message: EditQueuedMessageRequest) -> None:
        """Say it differently."""
        task, edited = (await self._agent.manager()).tasks.get(self.meant(context, message)), message.payload
        await task.state.queue.edit(edited.id, edited.text, edited.images, edited.attachments)

    async def update_todos(self, context: RequestContext, message: UpdateTodoListRequest) -> None:
        """The person's own plan."""
        manager = await self._agent.manager()
        await manager.update_todos(self.meant(context, message), message.payload.todos)

    async def condense(self, context: RequestContext, message: CondenseTaskContextRequest) -> None:
        """Condense what the model sees. All tabs hear when it begins and when it is over, however it ends."""
        task_id = self._history.meant(context.owner, message.task_id)
        manager = await self._agent.manager()
        channel = self._channels.channel(context.owner)
        channel.publish(CondenseTaskContextStartedMessage(text=task_id))
        try:
            await manager.condense(task_id)
        finally:
            channel.publish(CondenseTaskContextResponseMessage(text=task_id))

    async def decide_note_suggestion(self, context: RequestContext, message: DecideNoteSuggestionRequest) -> None:
        """Keep the note that was suggested with a result, or put the suggestion away."""
        task_id = self._history.meant(context.owner, message.task_id)
        notes = (await self._agent.manager()).notes
        if message.keep:
            await notes.keep(task_id, message.message_ts, message.text)
        else:
            await notes.dismiss(task_id, message.message_ts)

    async def rate_message(self, context: RequestContext, message: RateMessageRequest) -> None:
        """Keep what the person thinks of an answer."""
        task_id = self._history.meant(context.owner, message.task_id)
        feedback = (await self._agent.manager()).feedback
        await feedback.rate(task_id, message.message_ts, message.rating, message.reason)

    # ---- of an open task, beside the settings

    async def switch_mode(self, context: RequestContext, message: Request, slug: str) -> bool:
        """Let the task that is meant go on in this mode; whether the message named it, and so means it alone."""
        return await self._switch(context, message, lambda manager, task_id: manager.switch_mode(task_id, slug))

    async def switch_profile(self, context: RequestContext, message: Request, name: str) -> bool:
        """The same with a profile."""
        return await self._switch(context, message, lambda manager, task_id: manager.switch_profile(task_id, name))

    # ---- inside

    async def _switch(
        self,
        context: RequestContext,
        message: Request,
        switch: Callable[[TaskManager, TaskId], Awaitable[None]],
    ) -> bool:
        shown = self._history.shown(context.owner)
        task_id = message.task_id
        if task_id is None and shown is not None and self._history.details(shown.item.id) is not None:
            task_id = TaskId(shown.item.id)
        if task_id is not None:
            await switch(await self._agent.manager(), task_id)
        return message.task_id is not None

    def meant(self, context: RequestContext, message: Request) -> TaskId:
        """The task that a request names, or that is on screen."""
        return self._history.meant(context.owner, message.task_id)


def _task_of(context: RequestContext) -> TaskId:
    """The id of the task that a request begins: sent again to a server that started anew, it begins no second one."""
    return TaskId(str(uuid5(NAMESPACE_OID, json.dumps([context.owner, context.client_id, context.request_id]))))
