"""What the page sends about tasks, their messages, their queue and their checkpoints."""

from typing import Annotated, Literal

from pydantic import Field

from ..config import ApprovalPreset
from ._additions import NotebookRef
from ._attachments import AttachmentList
from ._base import CellId, Count, FilePath, Flag, Images, Message, Name, TaskIdField, Text, Timestamp
from ._conversation_messages import TodoItem
from ._kinds import ClineAskResponse
from ._webview_base import Request

__all__ = [
    "AskResponseRequest",
    "CancelAutoApprovalRequest",
    "CancelTaskRequest",
    "CheckpointDiffPayload",
    "CheckpointDiffRequest",
    "CheckpointRestorePayload",
    "CheckpointRestoreRequest",
    "ClearTaskRequest",
    "CondenseTaskContextRequest",
    "DecideNoteSuggestionRequest",
    "DeleteMessageConfirmRequest",
    "DeleteMessageRequest",
    "DeleteMultipleTasksWithIdsRequest",
    "DeleteTaskWithIdRequest",
    "DismissNoticeRequest",
    "EditMessageConfirmRequest",
    "EditQueuedMessagePayload",
    "EditQueuedMessageRequest",
    "ErrorDetailsRequest",
    "ExportTaskWithIdRequest",
    "GetTaskWithAggregatedCostsRequest",
    "LoadMessagesRequest",
    "NewTaskRequest",
    "Parts",
    "QueueMessageRequest",
    "RateMessageRequest",
    "RemoveQueuedMessageRequest",
    "ShowTaskWithIdRequest",
    "SubmitEditedMessageRequest",
    "TaskMessage",
    "TerminalOperationRequest",
    "UpdateTodoListPayload",
    "UpdateTodoListRequest",
]


class NewTaskRequest(Request):
    """Start a task. It is bound to the notebook given here, whichever tab is in front later."""

    type: Literal["newTask"] = "newTask"
    text: Text
    images: Images | None = None
    attachments: AttachmentList | None = None
    notebook: NotebookRef | None = None
    approval_preset: ApprovalPreset | None = None
    """What it may do without asking, where that differs from the settings."""


class AskResponseRequest(Request):
    """Answer the ask whose ``ts`` is ``messageTs``; with ``edited``, approve these texts instead of those proposed."""

    type: Literal["askResponse"] = "askResponse"
    message_ts: Timestamp
    ask_response: ClineAskResponse
    text: Text | None = None
    images: Images | None = None
    attachments: AttachmentList | None = None
    edited: list[Text] | None = None
    run: Flag | None = None
    """Whether the cells that are changed may also run, as they are then."""


class CancelTaskRequest(Request):
    """Stop what the task is doing; it can be resumed."""

    type: Literal["cancelTask"] = "cancelTask"


class ClearTaskRequest(Request):
    """Put the task aside and show an empty panel."""

    type: Literal["clearTask"] = "clearTask"


class TerminalOperationRequest(Request):
    """Let a running command go on in the background, or abort it."""

    type: Literal["terminalOperation"] = "terminalOperation"
    terminal_operation: Literal["continue", "abort"]


class CancelAutoApprovalRequest(Request):
    """Stop the countdown that would answer a question by itself."""

    type: Literal["cancelAutoApproval"] = "cancelAutoApproval"


class CondenseTaskContextRequest(Request):
    """Condense what the model sees of the task."""

    type: Literal["condenseTaskContextRequest"] = "condenseTaskContextRequest"
    task_id: TaskIdField


class QueueMessageRequest(Request):
    """Keep a message until the agent has time for it."""

    type: Literal["queueMessage"] = "queueMessage"
    text: Text
    images: Images | None = None
    attachments: AttachmentList | None = None


class RemoveQueuedMessageRequest(Request):
    """Remove the message with the id ``text`` from the queue."""

    type: Literal["removeQueuedMessage"] = "removeQueuedMessage"
    text: Name


class EditQueuedMessagePayload(Message):
    """The queued message and what it shall say."""

    id: Name
    text: Text
    images: Images | None = None
    attachments: AttachmentList | None = None


class EditQueuedMessageRequest(Request):
    """Change a message that still waits in the queue."""

    type: Literal["editQueuedMessage"] = "editQueuedMessage"
    payload: EditQueuedMessagePayload


class UpdateTodoListPayload(Message):
    """The whole list, as the person left it."""

    todos: Annotated[list[TodoItem], Field(max_length=1000)]


class UpdateTodoListRequest(Request):
    """Replace the task's todo list."""

    type: Literal["updateTodoList"] = "updateTodoList"
    payload: UpdateTodoListPayload


class DecideNoteSuggestionRequest(Request):
    """Keep the note that the message ``messageTs`` suggests, as ``text`` if that is given, or dismiss it."""

    type: Literal["decideNoteSuggestion"] = "decideNoteSuggestion"
    message_ts: Timestamp
    keep: Flag
    text: Text | None = None


class RateMessageRequest(Request):
    """Rate the answer ``messageTs``, and perhaps say why; without a rating, remove it."""

    type: Literal["rateMessage"] = "rateMessage"
    message_ts: Timestamp
    rating: Literal["up", "down"] | None = None
    reason: Annotated[str, Field(max_length=1_000)] | None = None


class ShowTaskWithIdRequest(Request):
    """Open a task of the history."""

    type: Literal["showTaskWithId"] = "showTaskWithId"
    task_id: TaskIdField


class DeleteTaskWithIdRequest(Request):
    """Delete a task and all that belongs to it."""

    type: Literal["deleteTaskWithId"] = "deleteTaskWithId"
    task_id: TaskIdField


class DeleteMultipleTasksWithIdsRequest(Request):
    """Delete several tasks."""

    type: Literal["deleteMultipleTasksWithIds"] = "deleteMultipleTasksWithIds"
    ids: Annotated[list[TaskIdField], Field(min_length=1, max_length=1000)]


class ExportTaskWithIdRequest(Request):
    """Export a task of the history."""

    type: Literal["exportTaskWithId"] = "exportTaskWithId"
    task_id: TaskIdField


class ErrorDetailsRequest(Request):
    """Ask for what a report of an error needs, as a file's content without keys."""

    type: Literal["errorDetails"] = "errorDetails"
    message_ts: Timestamp


class GetTaskWithAggregatedCostsRequest(Request):
    """Ask what a task cost together with its subtasks."""

    type: Literal["getTaskWithAggregatedCosts"] = "getTaskWithAggregatedCosts"
    task_id: TaskIdField


class LoadMessagesRequest(Request):
    """Ask for a page of older messages: those before ``beforeTs``."""

    type: Literal["loadMessages"] = "loadMessages"
    task_id: TaskIdField
    before_ts: Timestamp | None = None
    limit: Annotated[Count, Field(ge=1, le=500)] | None = None


class DismissNoticeRequest(Request):
    """Put a notice away."""

    type: Literal["dismissNotice"] = "dismissNotice"
    id: Name


class DeleteMessageRequest(Request):
    """Ask to delete the message with the ``ts`` ``value`` and what follows it."""

    type: Literal["deleteMessage"] = "deleteMessage"
    value: Timestamp


class DeleteMessageConfirmRequest(Request):
    """Confirm the deletion, and optionally restore the checkpoint before it."""

    type: Literal["deleteMessageConfirm"] = "deleteMessageConfirm"
    message_ts: Timestamp
    restore_checkpoint: Flag | None = None


class SubmitEditedMessageRequest(Request):
    """Ask to replace the message with the ``ts`` ``value`` and go on from there."""

    type: Literal["submitEditedMessage"] = "submitEditedMessage"
    value: Timestamp
    edited_message_content: Text
    images: Images | None = None
    attachments: AttachmentList | None = None


class EditMessageConfirmRequest(Request):
    """Confirm the edit, and optionally restore the checkpoint before it."""

    type: Literal["editMessageConfirm"] = "editMessageConfirm"
    message_ts: Timestamp
    text: Text
    images: Images | None = None
    attachments: AttachmentList | None = None
    restore_checkpoint: Flag | None = None


_CommitHash = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{4,64}$")]


class CheckpointDiffPayload(Message):
    """Which two states are compared."""

    ts: Timestamp | None = None
    previous_commit_hash: _CommitHash | None = None
    commit_hash: _CommitHash
    mode: Literal["full", "checkpoint", "from-init", "to-current"]


class CheckpointDiffRequest(Request):
    """Show what changed between checkpoints."""

    type: Literal["checkpointDiff"] = "checkpointDiff"
    payload: CheckpointDiffPayload


_VariableName = Annotated[str, Field(min_length=1, max_length=200)]


class Parts(Message):
    """What of a checkpoint to restore. ``path`` narrows it to one notebook or file, ``cellId`` to one of its cells.

    ``overwrite``: also what the person changed since, which stays otherwise. The undo restores that.
    ``leaveVariables``: names that stay as they are, as those whose values cannot be read. ``onlyVariables``: all but these do.
    """

    files: Flag = False
    notebooks: Flag = False
    variables: Flag = False
    conversation: Flag = False
    path: FilePath | None = None
    cell_id: Annotated[CellId, Field(min_length=1, max_length=64)] | None = None
    overwrite: Flag = False
    leave_variables: Annotated[tuple[_VariableName, ...], Field(max_length=1000)] | None = None
    only_variables: Annotated[tuple[_VariableName, ...], Field(max_length=1000)] | None = None


class CheckpointRestorePayload(Message):
    """Which checkpoint to restore, and whether only to preview it. Without ``parts``, all of it."""

    ts: Timestamp
    commit_hash: _CommitHash
    mode: Literal["preview", "restore"]
    parts: Parts | None = None


class CheckpointRestoreRequest(Request):
    """Restore a checkpoint, or preview that."""

    type: Literal["checkpointRestore"] = "checkpointRestore"
    payload: CheckpointRestorePayload


TaskMessage = (
    NewTaskRequest
    | AskResponseRequest
    | CancelTaskRequest
    | ClearTaskRequest
    | TerminalOperationRequest
    | CancelAutoApprovalRequest
    | CondenseTaskContextRequest
    | QueueMessageRequest
    | RemoveQueuedMessageRequest
    | EditQueuedMessageRequest
    | UpdateTodoListRequest
    | DecideNoteSuggestionRequest
    | RateMessageRequest
    | ShowTaskWithIdRequest
    | DeleteTaskWithIdRequest
    | DeleteMultipleTasksWithIdsRequest
    | ExportTaskWithIdRequest
    | ErrorDetailsRequest
    | GetTaskWithAggregatedCostsRequest
    | LoadMessagesRequest
    | DismissNoticeRequest
    | DeleteMessageRequest
    | DeleteMessageConfirmRequest
    | SubmitEditedMessageRequest
    | EditMessageConfirmRequest
    | CheckpointDiffRequest
    | CheckpointRestoreRequest
)
