"""What programs outside and the server say to each other over the IPC socket, in Roo Code's form."""

from typing import Annotated, Literal

from pydantic import Field

from ._base import Flag, Images, JsonObject, Name, Record, TaskIdField, Text, Timestamp
from ._errors import ErrorBody
from ._kinds import ClineAskResponse
from ._task_events import TaskEvent

__all__ = [
    "AnswerAskCommand",
    "AnswerAskData",
    "CancelTaskCommand",
    "CloseTaskCommand",
    "DeleteQueuedMessageCommand",
    "GetCommandsCommand",
    "GetModelsCommand",
    "GetModesCommand",
    "IpcAck",
    "IpcAckData",
    "IpcError",
    "IpcMessage",
    "IpcMessageType",
    "IpcTaskCommand",
    "IpcTaskEvent",
    "ResumeTaskCommand",
    "SendMessageCommand",
    "SendMessageData",
    "StartNewTaskCommand",
    "StartNewTaskData",
    "TaskCommand",
]

IpcMessageType = Literal["Connect", "Disconnect", "Ack", "TaskCommand", "TaskEvent", "Error"]
"""``Connect`` and ``Disconnect`` are said by the socket itself; ``Error`` is ours."""


class StartNewTaskData(Record):
    """What to do, with which settings."""

    configuration: JsonObject = Field(repr=False)
    text: Text
    images: Images | None = None
    new_tab: Flag | None = None


class StartNewTaskCommand(Record):
    """Start a task."""

    command_name: Literal["StartNewTask"] = "StartNewTask"
    data: StartNewTaskData


class _AboutATask(Record):
    """The base of commands about one task. ``taskId`` is ours: without it, the task this client began or named last."""

    task_id: TaskIdField | None = None


class CancelTaskCommand(_AboutATask):
    """Stop what the task is doing."""

    command_name: Literal["CancelTask"] = "CancelTask"


class CloseTaskCommand(_AboutATask):
    """Put the task aside."""

    command_name: Literal["CloseTask"] = "CloseTask"


class ResumeTaskCommand(Record):
    """Take up the task with the id ``data``."""

    command_name: Literal["ResumeTask"] = "ResumeTask"
    data: TaskIdField


class SendMessageData(Record):
    """What the person says."""

    text: Text | None = None
    images: Images | None = None


class SendMessageCommand(_AboutATask):
    """Say something to the task."""

    command_name: Literal["SendMessage"] = "SendMessage"
    data: SendMessageData


class GetCommandsCommand(Record):
    """Ask for the slash commands."""

    command_name: Literal["GetCommands"] = "GetCommands"


class GetModesCommand(Record):
    """Ask for the modes."""

    command_name: Literal["GetModes"] = "GetModes"


class GetModelsCommand(Record):
    """Ask for the models."""

    command_name: Literal["GetModels"] = "GetModels"


class DeleteQueuedMessageCommand(_AboutATask):
    """Take the message with the id ``data`` out of the queue."""

    command_name: Literal["DeleteQueuedMessage"] = "DeleteQueuedMessage"
    data: Name


class AnswerAskData(Record):
    """An answer to the question with the time ``messageTs``, as the panel gives it."""

    message_ts: Timestamp
    ask_response: ClineAskResponse
    text: Text | None = None
    images: Images | None = None


class AnswerAskCommand(_AboutATask):
    """Answer one question: approve, refuse, or say something. Ours; Roo Code's clients can only send words."""

    command_name: Literal["AnswerAsk"] = "AnswerAsk"
    data: AnswerAskData


TaskCommand = Annotated[
    StartNewTaskCommand
    | CancelTaskCommand
    | CloseTaskCommand
    | ResumeTaskCommand
    | SendMessageCommand
    | GetCommandsCommand
    | GetModesCommand
    | GetModelsCommand
    | DeleteQueuedMessageCommand
    | AnswerAskCommand,
    Field(discriminator="command_name"),
]


class IpcAckData(Record):
    """The name given to a client, and whose server it talks to."""

    client_id: str
    pid: int
    ppid: int


class IpcAck(Record):
    """The first thing a client hears."""

    type: Literal["Ack"] = "Ack"
    origin: Literal["server"] = "server"
    data: IpcAckData


class IpcTaskCommand(Record):
    """A command of a client."""

    type: Literal["TaskCommand"] = "TaskCommand"
    origin: Literal["client"] = "client"
    client_id: Annotated[str, Field(min_length=1, max_length=128)]
    data: TaskCommand


class IpcTaskEvent(Record):
    """An event, for all clients or for the one named."""

    type: Literal["TaskEvent"] = "TaskEvent"
    origin: Literal["server"] = "server"
    relay_client_id: str | None = None
    data: TaskEvent


class IpcError(Record):
    """What was wrong with what the client sent. Roo Code says nothing, so its clients drop this."""

    type: Literal["Error"] = "Error"
    origin: Literal["server"] = "server"
    relay_client_id: str | None = None
    data: ErrorBody


IpcMessage = Annotated[IpcAck | IpcTaskCommand | IpcTaskEvent | IpcError, Field(discriminator="type")]
