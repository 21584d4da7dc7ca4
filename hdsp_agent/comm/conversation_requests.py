"""What the page may ask for to change what was said: delete, edit, ask again, go back, undo, redo, copy; and a look first."""

from __future__ import annotations

from pydantic import JsonValue

from ..messages import (
    ConversationPreviewMessage,
    DeleteMessageConfirmRequest,
    DeleteMessageRequest,
    EditMessageConfirmRequest,
    ForkTaskRequest,
    PreviewConversationRequest,
    RedoConversationRequest,
    RetryAnswerRequest,
    RewindTaskRequest,
    ShowDeleteMessageDialogMessage,
    ShowEditMessageDialogMessage,
    SubmitEditedMessageRequest,
    TakeBack,
    TaskId,
    UndoConversationRequest,
)
from ._channel_hub import ChannelHub
from ._dispatch import Dispatcher, RequestContext
from .history import History
from .open_panels import OpenPanels
from .running_agent import RunningAgent

__all__ = ["ConversationRequests"]


class ConversationRequests:
    """Handles what changes conversations. A request that names no task means the one on screen."""

    def __init__(self, agent: RunningAgent, history: History, channels: ChannelHub, panels: OpenPanels) -> None:
        self._agent = agent
        self._history = history
        self._channels = channels
        self._panels = panels

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "deleteMessage": self.delete_message,
                "deleteMessageConfirm": self.delete_message_confirmed,
                "submitEditedMessage": self.edit_message,
                "editMessageConfirm": self.edit_message_confirmed,
                "retryAnswer": self.retry,
                "rewindTask": self.rewind,
                "undoConversation": self.undo,
                "redoConversation": self.redo,
                "forkTask": self.fork,
                "previewConversation": self.preview,
            }
        )

    async def delete_message(self, context: RequestContext, message: DeleteMessageRequest) -> None:
        """Ask the person first, on the tab that asked, with what it would take back."""
        manager = await self._agent.manager()
        change = TakeBack(operation="delete", message_ts=message.value)
        preview = await manager.messages.preview(self._history.meant(context.owner, message.task_id), change)
        await self._channels.send_to(context, ShowDeleteMessageDialogMessage(message_ts=message.value, preview=preview))

    async def delete_message_confirmed(self, context: RequestContext, message: DeleteMessageConfirmRequest) -> None:
        """Take back the message and all that followed."""
        task_id = self._history.meant(context.owner, message.task_id)
        manager = await self._agent.manager()
        await manager.messages.delete(task_id, message.message_ts, files=bool(message.restore_checkpoint))
        await self._go_on(context, task_id)

    async def edit_message(self, context: RequestContext, message: SubmitEditedMessageRequest) -> None:
        """Ask the person first, on the tab that asked, with what it would take back."""
        manager = await self._agent.manager()
        change = TakeBack(operation="edit", message_ts=message.value)
        preview = await manager.messages.preview(self._history.meant(context.owner, message.task_id), change)
        await self._channels.send_to(
            context,
            ShowEditMessageDialogMessage(
                message_ts=message.value,
                text=message.edited_message_content,
                images=message.images,
                attachments=message.attachments,
                preview=preview,
            ),
        )

    async def edit_message_confirmed(self, context: RequestContext, message: EditMessageConfirmRequest) -> None:
        """Say something else instead, and go on from there."""
        manager = await self._agent.manager()
        await manager.messages.edit(
            self._history.meant(context.owner, message.task_id),
            message.message_ts,
            message.text,
            message.images or (),
            message.attachments or (),
            files=bool(message.restore_checkpoint),
        )

    async def retry(self, context: RequestContext, message: RetryAnswerRequest) -> None:
        """Have the model answer anew."""
        manager = await self._agent.manager()
        await manager.messages.retry(
            self._history.meant(context.owner, message.task_id), message.message_ts, files=bool(message.restore_files)
        )

    async def rewind(self, context: RequestContext, message: RewindTaskRequest) -> None:
        """Go back to a message."""
        task_id = self._history.meant(context.owner, message.task_id)
        manager = await self._agent.manager()
        await manager.messages.rewind(task_id, message.message_ts, keep=message.keep, files=bool(message.restore_files))
        await self._go_on(context, task_id)

    async def undo(self, context: RequestContext, message: UndoConversationRequest) -> None:
        """Take back a change."""
        task_id = self._history.meant(context.owner, message.task_id)
        manager = await self._agent.manager()
        await manager.messages.undo(task_id, message.mark_id, newer=message.newer or "refuse")
        await self._go_on(context, task_id)

    async def redo(self, context: RequestContext, message: RedoConversationRequest) -> None:
        """Take back an undo."""
        task_id = self._history.meant(context.owner, message.task_id)
        manager = await self._agent.manager()
        await manager.messages.redo(task_id, message.mark_id, newer=message.newer or "refuse")
        await self._go_on(context, task_id)

    async def fork(self, context: RequestContext, message: ForkTaskRequest) -> JsonValue:
        """Go on in a copy, on all tabs; the answer is its id. The other one goes on, or rests, as before."""
        manager = await self._agent.manager()
        fork = await manager.messages.fork(self._history.meant(context.owner, message.task_id), message.message_ts)
        await self._panels.show(context.owner, fork)
        return fork

    async def preview(self, context: RequestContext, message: PreviewConversationRequest) -> None:
        """What a change would do goes to the tab that asked, before the answer."""
        task_id = self._history.meant(context.owner, message.task_id)
        manager = await self._agent.manager()
        preview = await manager.messages.preview(task_id, message.change, files=bool(message.restore_files))
        await self._channels.send_to(
            context,
            ConversationPreviewMessage(request_id=context.request_id, task_id=task_id, preview=preview),
        )

    async def _go_on(self, context: RequestContext, task_id: TaskId) -> None:
        """Whoever changed the conversation on screen is asked whether to go on from there."""
        if self._history.shows(context.owner, task_id):
            await self._panels.take_up(context.owner, task_id)
