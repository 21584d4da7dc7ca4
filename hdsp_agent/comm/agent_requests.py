"""What the page may ask of the agent over the channel: begin, answer, stop, say more, take back.

A request that names no task means the one on screen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from pydantic import JsonValue

from ..errors import Conflict, NotFound, StorageUnavailable, Unsupported
from ..messages import (
    AskResponseRequest,
    CancelAutoApprovalRequest,
    CancelTaskRequest,
    ClearTaskRequest,
    DeleteMessageConfirmRequest,
    DeleteMessageRequest,
    EditMessageConfirmRequest,
    EditQueuedMessageRequest,
    NewTaskRequest,
    QueueMessageRequest,
    RemoveQueuedMessageRequest,
    Request,
    ShowDeleteMessageDialogMessage,
    ShowEditMessageDialogMessage,
    ShowTaskWithIdRequest,
    SubmitEditedMessageRequest,
    TaskId,
    TerminalOperationRequest,
    UpdateTodoListRequest,
)
from ._channel import ChannelHub
from ._dispatch import Dispatcher, Handler, RequestContext
from .history import History
from .running_agent import RunningAgent

if TYPE_CHECKING:
    from ..agent import TaskManager

__all__ = ["AgentRequests"]

_TAKEN_UP_WHEN_SHOWN = frozenset({"active", "delegated"})


class AgentRequests:
    """Handles what concerns tasks that are worked on, or shall be."""

    def __init__(self, agent: RunningAgent, history: History, channels: ChannelHub) -> None:
        self._agent = agent
        self._history = history
        self._channels = channels

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        handlers: dict[str, Handler[NoReturn]] = {
            "newTask": self.new_task,
            "askResponse": self.answer,
            "cancelTask": self.cancel,
            "clearTask": self.clear,
            "showTaskWithId": self.show,
            "cancelAutoApproval": self.cancel_auto_answer,
            "terminalOperation": self.terminal_operation,
            "queueMessage": self.queue,
            "removeQueuedMessage": self.remove_queued,
            "editQueuedMessage": self.edit_queued,
            "updateTodoList": self.update_todos,
            "deleteMessage": self.delete_message,
            "deleteMessageConfirm": self.delete_message_confirmed,
            "submitEditedMessage": self.edit_message,
            "editMessageConfirm": self.edit_message_confirmed,
        }
        for message_type, handler in handlers.items():
            dispatcher.handle(message_type, handler)

    # ---- a task's life

    async def new_task(self, context: RequestContext, message: NewTaskRequest) -> JsonValue:
        """Begin, and show it on all tabs; the answer is the task's id. Tasks under way go on."""
        manager = await self._agent.manager()
        task_id = await manager.start(message, owner=context.owner)
        await self._history.show(context.owner, task_id)
        return task_id

    async def answer(self, context: RequestContext, message: AskResponseRequest) -> None:
        """Answer one question, named by its time; a second answer is a conflict."""
        manager = await self._agent.manager()
        await manager.answer(
            self._meant(context, message), message.message_ts, message.ask_response, message.text, message.images or ()
        )

    async def cancel(self, context: RequestContext, message: CancelTaskRequest) -> None:
        """Stop what is being done."""
        await (await self._agent.manager()).cancel(self._meant(context, message))

    async def clear(self, context: RequestContext, message: ClearTaskRequest) -> None:
        """Put it aside, on all tabs; it can be taken up again."""
        shown = self._history.shown(context.owner)
        task_id = message.task_id or (shown.item.id if shown else None)
        if task_id is None:
            return
        if self._history.details(task_id) is not None:
            await (await self._agent.manager()).close(TaskId(task_id))
        if self._history.shows(context.owner, task_id):
            self._history.hide(context.owner)

    async def show(self, context: RequestContext, message: ShowTaskWithIdRequest) -> None:
        """Show it on all tabs. One that was interrupted asks whether to go on, or what it had asked."""
        item = await self._history.item(context.owner, message.task_id)
        if item.status in _TAKEN_UP_WHEN_SHOWN and self._history.details(message.task_id) is None:
            # Another process works on it, or a subtask of it is worked on, or nothing can be written: then it is read.
            with suppress(Conflict, StorageUnavailable):
                await (await self._agent.manager()).resume(TaskId(message.task_id))
        await self._history.show(context.owner, message.task_id)

    async def cancel_auto_answer(self, context: RequestContext, message: CancelAutoApprovalRequest) -> None:
        """Let the person think: the question is not answered by itself any more."""
        (await self._agent.manager()).cancel_auto_answer(self._meant(context, message))

    async def terminal_operation(self, context: RequestContext, message: TerminalOperationRequest) -> None:
        """Let running commands go on in the background, or end them."""
        task = (await self._agent.manager()).get(self._meant(context, message))
        if message.terminal_operation == "continue":
            task.tool_state.commands.continue_all()
        else:
            task.tool_state.commands.abort_all()

    # ---- saying more

    async def queue(self, context: RequestContext, message: QueueMessageRequest) -> JsonValue:
        """Keep it for the next turn; a task that nobody works on takes it as an answer where words are one."""
        manager = await self._agent.manager()
        task_id = self._meant(context, message)
        if manager.opened(task_id) is None:
            await manager.send(task_id, message.text, message.images or ())
            return None
        return (await manager.queue(task_id, message.text, message.images or ())).id

    async def remove_queued(self, context: RequestContext, message: RemoveQueuedMessageRequest) -> None:
        """Take it back."""
        await (await self._agent.manager()).remove_queued(self._meant(context, message), message.text)

    async def edit_queued(self, context: RequestContext, message: EditQueuedMessageRequest) -> None:
        """Say it differently."""
        manager, edited = await self._agent.manager(), message.payload
        await manager.edit_queued(self._meant(context, message), edited.id, edited.text, edited.images)

    async def update_todos(self, context: RequestContext, message: UpdateTodoListRequest) -> None:
        """The person's own plan."""
        manager = await self._agent.manager()
        await manager.update_todos(self._meant(context, message), message.payload.todos)

    # ---- taking back

    async def delete_message(self, context: RequestContext, message: DeleteMessageRequest) -> None:
        """Ask the person first, on the tab that asked."""
        self._meant(context, message)
        channel = self._channels.channel(context.owner)
        await channel.send_to(context.client_id, ShowDeleteMessageDialogMessage(message_ts=message.value))

    async def delete_message_confirmed(self, context: RequestContext, message: DeleteMessageConfirmRequest) -> None:
        """Take back the message and all that followed."""
        _refuse_checkpoint(restore=message.restore_checkpoint)
        manager = await self._agent.manager()
        await manager.messages.delete(self._meant(context, message), message.message_ts)

    async def edit_message(self, context: RequestContext, message: SubmitEditedMessageRequest) -> None:
        """Ask the person first, on the tab that asked."""
        self._meant(context, message)
        await self._channels.channel(context.owner).send_to(
            context.client_id,
            ShowEditMessageDialogMessage(
                message_ts=message.value, text=message.edited_message_content, images=message.images
            ),
        )

    async def edit_message_confirmed(self, context: RequestContext, message: EditMessageConfirmRequest) -> None:
        """Say something else instead, and go on from there."""
        _refuse_checkpoint(restore=message.restore_checkpoint)
        manager = await self._agent.manager()
        await manager.messages.edit(
            self._meant(context, message), message.message_ts, message.text, message.images or ()
        )

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

    def _meant(self, context: RequestContext, message: Request) -> TaskId:
        if message.task_id is not None:
            return TaskId(message.task_id)
        shown = self._history.shown(context.owner)
        if shown is None:
            raise NotFound("No conversation is on screen. Open one from the history, or begin one.")
        return TaskId(shown.item.id)


def _refuse_checkpoint(*, restore: bool | None) -> None:
    if restore:
        raise Unsupported("This version of HDSP Agent cannot go back to checkpoints yet. Go back without the files.")
