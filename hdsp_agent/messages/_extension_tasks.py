"""What the server says about tasks: their messages, checkpoints, commands, and the history."""

from typing import Literal

from ._base import Message
from ._conversation_messages import AutoAnswerTime, ClineMessage, ModelRoom, QueuedMessage, TodoItem, TokenUsage
from ._history_item import HistoryItem
from ._kinds import TaskStatus
from ._notebook_texts import CellEdit
from ._state import ExtensionState

__all__ = [
    "AggregatedCosts",
    "CellEditPreviewMessage",
    "CommandExecutionStatusMessage",
    "CondenseTaskContextResponseMessage",
    "CondenseTaskContextStartedMessage",
    "ContextNoticeMessage",
    "CurrentCheckpointUpdatedMessage",
    "HistorySnippet",
    "HistorySnippetPart",
    "KernelStatusMessage",
    "MessageCreated",
    "MessageDelta",
    "MessageUpdated",
    "MessagesPage",
    "StateMessage",
    "TaskHistoryItemUpdatedMessage",
    "TaskHistoryItemsRemovedMessage",
    "TaskHistoryUpdatedMessage",
    "TaskProgressMessage",
    "TaskUpdate",
    "TaskWithAggregatedCostsMessage",
]


class StateMessage(Message):
    """The state as of this frame: in answer to ``open``, or when a tab has fallen too far behind."""

    type: Literal["state"] = "state"
    state: ExtensionState


class MessageCreated(Message):
    """A message was added to a conversation."""

    type: Literal["messageCreated"] = "messageCreated"
    task_id: str
    message: ClineMessage


class MessageUpdated(Message):
    """A message changed; this is what it is now."""

    type: Literal["messageUpdated"] = "messageUpdated"
    task_id: str
    cline_message: ClineMessage


class MessageDelta(Message):
    """Text to add to a field of a message that streams.

    ``offset`` is the length the field must have before, in UTF-16 code units as JavaScript counts them.
    """

    type: Literal["messageDelta"] = "messageDelta"
    task_id: str
    ts: int
    field: Literal["text", "reasoning"]
    offset: int
    append: str


class TaskProgressMessage(Message):
    """What the task on screen is doing, what it has used, its plan and its queue: all of that as it is now."""

    type: Literal["taskProgress"] = "taskProgress"
    task_id: str
    status: TaskStatus
    todos: list[TodoItem]
    message_queue: list[QueuedMessage]
    token_usage: TokenUsage
    model_room: ModelRoom | None = None
    auto_answer: AutoAnswerTime | None = None


class MessagesPage(Message):
    """A page of older messages, oldest first."""

    type: Literal["messagesPage"] = "messagesPage"
    task_id: str
    cline_messages: list[ClineMessage]
    has_older_messages: bool


class CurrentCheckpointUpdatedMessage(Message):
    """The checkpoint ``text`` is the newest of the task."""

    type: Literal["currentCheckpointUpdated"] = "currentCheckpointUpdated"
    text: str
    task_id: str | None = None


class CommandExecutionStatusMessage(Message):
    """How a running command is doing; ``text`` is JSON."""

    type: Literal["commandExecutionStatus"] = "commandExecutionStatus"
    text: str
    task_id: str | None = None


class CondenseTaskContextStartedMessage(Message):
    """The context of the task ``text`` is being condensed."""

    type: Literal["condenseTaskContextStarted"] = "condenseTaskContextStarted"
    text: str


class CondenseTaskContextResponseMessage(Message):
    """The context of the task ``text`` has been condensed, or could not be."""

    type: Literal["condenseTaskContextResponse"] = "condenseTaskContextResponse"
    text: str


class ContextNoticeMessage(Message):
    """A conversation has come to fill so much of its model's window; of each kind once in its life."""

    type: Literal["contextNotice"] = "contextNotice"
    task_id: str
    kind: Literal["reassurance", "advice"]
    percent: int


class CellEditPreviewMessage(Message):
    """A change of cells that a model is writing, as far as it is there; without edits it is written no more. Goes to every tab.

    Also of a conversation that is on no screen: whoever asked for the change at the cell sees it come there.
    """

    type: Literal["cellEditPreview"] = "cellEditPreview"
    task_id: str
    path: str
    cell_edits: list[CellEdit]


class KernelStatusMessage(Message):
    """What a notebook's kernel is doing."""

    type: Literal["kernelStatus"] = "kernelStatus"
    path: str
    status: Literal["unknown", "starting", "idle", "busy", "restarting", "autorestarting", "terminating", "dead"]
    kernel_id: str | None = None


class TaskHistoryUpdatedMessage(Message):
    """The history changed as a whole; this is its newest page."""

    type: Literal["taskHistoryUpdated"] = "taskHistoryUpdated"
    task_history: list[HistoryItem]


class TaskHistoryItemUpdatedMessage(Message):
    """One line of the history is new or changed."""

    type: Literal["taskHistoryItemUpdated"] = "taskHistoryItemUpdated"
    task_history_item: HistoryItem


class TaskHistoryItemsRemovedMessage(Message):
    """These tasks are not in the history any more."""

    type: Literal["taskHistoryItemsRemoved"] = "taskHistoryItemsRemoved"
    task_ids: list[str]


class HistorySnippetPart(Message):
    """A stretch of a snippet, and whether it is what was searched for."""

    text: str
    found: bool


class HistorySnippet(Message):
    """A line out of a task's title, first message or conversation that says what was searched for."""

    field: Literal["title", "task", "text"]
    parts: list[HistorySnippetPart]


class AggregatedCosts(Message):
    """What a task cost by itself, and its subtasks."""

    total_cost: float
    own_cost: float
    children_cost: float


class TaskWithAggregatedCostsMessage(Message):
    """What the task ``text`` cost together with its subtasks."""

    type: Literal["taskWithAggregatedCosts"] = "taskWithAggregatedCosts"
    text: str
    aggregated_costs: AggregatedCosts | None = None


TaskUpdate = (
    StateMessage
    | MessageCreated
    | MessageUpdated
    | MessageDelta
    | MessagesPage
    | TaskProgressMessage
    | CurrentCheckpointUpdatedMessage
    | CommandExecutionStatusMessage
    | CondenseTaskContextStartedMessage
    | CondenseTaskContextResponseMessage
    | ContextNoticeMessage
    | CellEditPreviewMessage
    | KernelStatusMessage
    | TaskHistoryUpdatedMessage
    | TaskHistoryItemUpdatedMessage
    | TaskHistoryItemsRemovedMessage
    | TaskWithAggregatedCostsMessage
)
