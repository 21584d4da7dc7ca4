"""What happens to tasks, as IPC clients and listeners inside hear of it."""

from typing import Annotated, Literal

from pydantic import Field

from ._base import Record
from ._choices import Command, ModelRecord, ModeName
from ._conversation_messages import ClineMessage, QueuedMessage, TokenUsage, ToolUsage

__all__ = [
    "CommandsResponse",
    "CompletionInfo",
    "EvalFail",
    "EvalPass",
    "EventBase",
    "MessageEvent",
    "MessageEventPayload",
    "ModeChanged",
    "ModelsResponse",
    "ModesResponse",
    "ProviderProfile",
    "ProviderProfileChanged",
    "QueuedMessagesUpdated",
    "TaskAborted",
    "TaskActive",
    "TaskAskResponded",
    "TaskCompleted",
    "TaskCreated",
    "TaskDelegated",
    "TaskDelegationCompleted",
    "TaskDelegationResumed",
    "TaskEvent",
    "TaskFocused",
    "TaskIdle",
    "TaskInteractive",
    "TaskModeSwitched",
    "TaskPaused",
    "TaskResumable",
    "TaskSpawned",
    "TaskStarted",
    "TaskTokenUsageUpdated",
    "TaskToolFailed",
    "TaskUnfocused",
    "TaskUnpaused",
    "TaskUserMessage",
]

_Id = str


class EventBase(Record):
    """The base of all events. On the wire ``taskId`` is the number of an evaluation run, as in Roo Code."""

    run_id: int | None = Field(default=None, alias="taskId")


class TaskCreated(EventBase):
    """A task exists; payload: its id."""

    event_name: Literal["taskCreated"] = "taskCreated"
    payload: tuple[_Id]


class TaskStarted(EventBase):
    """A task began to work; payload: its id."""

    event_name: Literal["taskStarted"] = "taskStarted"
    payload: tuple[_Id]


class CompletionInfo(Record):
    """What kind of task was completed."""

    is_subtask: bool


class TaskCompleted(EventBase):
    """A task was completed; payload: its id, what it used, what its tools did, whether it was a subtask."""

    event_name: Literal["taskCompleted"] = "taskCompleted"
    payload: tuple[_Id, TokenUsage, ToolUsage, CompletionInfo]
    tools: ToolUsage | None = None


class TaskAborted(EventBase):
    """A task was stopped; payload: its id."""

    event_name: Literal["taskAborted"] = "taskAborted"
    payload: tuple[_Id]


class TaskFocused(EventBase):
    """A task came on screen; payload: its id."""

    event_name: Literal["taskFocused"] = "taskFocused"
    payload: tuple[_Id]


class TaskUnfocused(EventBase):
    """A task left the screen; payload: its id."""

    event_name: Literal["taskUnfocused"] = "taskUnfocused"
    payload: tuple[_Id]


class TaskActive(EventBase):
    """A task works again; payload: its id."""

    event_name: Literal["taskActive"] = "taskActive"
    payload: tuple[_Id]


class TaskInteractive(EventBase):
    """A task waits for an answer; payload: its id."""

    event_name: Literal["taskInteractive"] = "taskInteractive"
    payload: tuple[_Id]


class TaskResumable(EventBase):
    """A task was interrupted and can be resumed; payload: its id."""

    event_name: Literal["taskResumable"] = "taskResumable"
    payload: tuple[_Id]


class TaskIdle(EventBase):
    """A task came to a halt; payload: its id."""

    event_name: Literal["taskIdle"] = "taskIdle"
    payload: tuple[_Id]


class TaskPaused(EventBase):
    """A task waits for its subtask; payload: its id."""

    event_name: Literal["taskPaused"] = "taskPaused"
    payload: tuple[_Id]


class TaskUnpaused(EventBase):
    """A task goes on after its subtask; payload: its id."""

    event_name: Literal["taskUnpaused"] = "taskUnpaused"
    payload: tuple[_Id]


class TaskSpawned(EventBase):
    """A task made a subtask; payload: the ids of both."""

    event_name: Literal["taskSpawned"] = "taskSpawned"
    payload: tuple[_Id, _Id]


class TaskDelegated(EventBase):
    """A task handed its work to a subtask; payload: the ids of both."""

    event_name: Literal["taskDelegated"] = "taskDelegated"
    payload: tuple[_Id, _Id]


class TaskDelegationCompleted(EventBase):
    """A subtask is done; payload: the ids of both, and its result."""

    event_name: Literal["taskDelegationCompleted"] = "taskDelegationCompleted"
    payload: tuple[_Id, _Id, str]


class TaskDelegationResumed(EventBase):
    """A task took up its work after a subtask; payload: the ids of both."""

    event_name: Literal["taskDelegationResumed"] = "taskDelegationResumed"
    payload: tuple[_Id, _Id]


class MessageEventPayload(Record):
    """A message, and whether it is new."""

    task_id: str
    action: Literal["created", "updated"]
    message: ClineMessage


class MessageEvent(EventBase):
    """A message was added or changed."""

    event_name: Literal["message"] = "message"
    payload: tuple[MessageEventPayload]


class TaskModeSwitched(EventBase):
    """A task changed its mode; payload: its id and the mode."""

    event_name: Literal["taskModeSwitched"] = "taskModeSwitched"
    payload: tuple[_Id, str]


class TaskAskResponded(EventBase):
    """A task's question was answered; payload: its id."""

    event_name: Literal["taskAskResponded"] = "taskAskResponded"
    payload: tuple[_Id]


class TaskUserMessage(EventBase):
    """The person wrote to a task; payload: its id."""

    event_name: Literal["taskUserMessage"] = "taskUserMessage"
    payload: tuple[_Id]


class QueuedMessagesUpdated(EventBase):
    """A task's queue changed; payload: its id and the queue."""

    event_name: Literal["queuedMessagesUpdated"] = "queuedMessagesUpdated"
    payload: tuple[_Id, list[QueuedMessage]]


class TaskTokenUsageUpdated(EventBase):
    """A task used more; payload: its id, what it used, what its tools did."""

    event_name: Literal["taskTokenUsageUpdated"] = "taskTokenUsageUpdated"
    payload: tuple[_Id, TokenUsage, ToolUsage]
    tools: ToolUsage | None = None


class TaskToolFailed(EventBase):
    """A tool failed; payload: the task's id, the tool's name, the error."""

    event_name: Literal["taskToolFailed"] = "taskToolFailed"
    payload: tuple[_Id, str, str]
    tool: str | None = None


class ModeChanged(EventBase):
    """The current mode changed; payload: the mode."""

    event_name: Literal["modeChanged"] = "modeChanged"
    payload: tuple[str]


class ProviderProfile(Record):
    """A profile's name and provider."""

    name: str
    provider: str


class ProviderProfileChanged(EventBase):
    """Another profile is current; payload: its name and provider."""

    event_name: Literal["providerProfileChanged"] = "providerProfileChanged"
    payload: tuple[ProviderProfile]


class CommandsResponse(EventBase):
    """The answer to ``GetCommands``."""

    event_name: Literal["commandsResponse"] = "commandsResponse"
    payload: tuple[list[Command]]


class ModesResponse(EventBase):
    """The answer to ``GetModes``."""

    event_name: Literal["modesResponse"] = "modesResponse"
    payload: tuple[list[ModeName]]


class ModelsResponse(EventBase):
    """The answer to ``GetModels``."""

    event_name: Literal["modelsResponse"] = "modelsResponse"
    payload: tuple[ModelRecord]


class EvalPass(EventBase):
    """An evaluation run passed."""

    event_name: Literal["evalPass"] = "evalPass"
    run_id: int = Field(alias="taskId")


class EvalFail(EventBase):
    """An evaluation run failed."""

    event_name: Literal["evalFail"] = "evalFail"
    run_id: int = Field(alias="taskId")


TaskEvent = Annotated[
    TaskCreated
    | TaskStarted
    | TaskCompleted
    | TaskAborted
    | TaskFocused
    | TaskUnfocused
    | TaskActive
    | TaskInteractive
    | TaskResumable
    | TaskIdle
    | TaskPaused
    | TaskUnpaused
    | TaskSpawned
    | TaskDelegated
    | TaskDelegationCompleted
    | TaskDelegationResumed
    | MessageEvent
    | TaskModeSwitched
    | TaskAskResponded
    | TaskUserMessage
    | QueuedMessagesUpdated
    | TaskTokenUsageUpdated
    | TaskToolFailed
    | ModeChanged
    | ProviderProfileChanged
    | CommandsResponse
    | ModesResponse
    | ModelsResponse
    | EvalPass
    | EvalFail,
    Field(discriminator="event_name"),
]
