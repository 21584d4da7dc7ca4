"""Undoing and redoing parts of a conversation: what the page asks for, and what it is told."""

from typing import Annotated, Literal

from pydantic import Field

from ._base import Flag, Message, Name, Timestamp
from ._conversation_messages import ClineMessage
from ._webview_base import Request

__all__ = [
    "ChangeNewer",
    "ConversationChange",
    "ConversationChangedMessage",
    "ConversationEffect",
    "ConversationMark",
    "ConversationMarks",
    "ConversationMarksUpdatedMessage",
    "ConversationPreview",
    "ConversationPreviewMessage",
    "ConversationRequest",
    "ConversationUpdate",
    "FileChange",
    "FilesPreview",
    "ForkTaskRequest",
    "GoBack",
    "PreviewConversationRequest",
    "RedoConversationRequest",
    "RetryAnswerRequest",
    "RewindTaskRequest",
    "TakeBack",
    "TimeSpan",
    "UndoConversationRequest",
    "UndoOrRedo",
]

ChangeNewer = Literal["refuse", "set_aside"]
"""What an undo does about messages that came since: refuse, or put them aside as well."""


# ---- what the page asks for


class RewindTaskRequest(Request):
    """Rewind the conversation to the message ``messageTs``, which stays if ``keep``; optionally restore files too."""

    type: Literal["rewindTask"] = "rewindTask"
    message_ts: Timestamp
    keep: Flag
    restore_files: Flag | None = None


class ForkTaskRequest(Request):
    """Go on from the message ``messageTs`` in a new task, which is shown; the answer is its id."""

    type: Literal["forkTask"] = "forkTask"
    message_ts: Timestamp


class RetryAnswerRequest(Request):
    """Remove the answer that the message ``messageTs`` is part of, and all that followed, and ask the model again."""

    type: Literal["retryAnswer"] = "retryAnswer"
    message_ts: Timestamp
    restore_files: Flag | None = None


class UndoConversationRequest(Request):
    """Undo the change ``markId``, or the newest one."""

    type: Literal["undoConversation"] = "undoConversation"
    mark_id: Name | None = None
    newer: ChangeNewer | None = None


class RedoConversationRequest(Request):
    """Redo what the undo ``markId``, or the newest one, undid."""

    type: Literal["redoConversation"] = "redoConversation"
    mark_id: Name | None = None
    newer: ChangeNewer | None = None


class TakeBack(Message):
    """Delete the message ``messageTs`` and what follows, edit it and send it again, or have the model answer anew."""

    operation: Literal["delete", "edit", "retry"]
    message_ts: Timestamp


class GoBack(Message):
    """Rewind to the message ``messageTs``, which stays if ``keep``."""

    operation: Literal["rewind"]
    message_ts: Timestamp
    keep: Flag


class UndoOrRedo(Message):
    """Undo the change ``markId``, or the newest; or redo what was undone."""

    operation: Literal["undo", "redo"]
    mark_id: Name | None = None


ConversationChange = Annotated[TakeBack | GoBack | UndoOrRedo, Field(discriminator="operation")]


class PreviewConversationRequest(Request):
    """Preview what a change would remove; with ``restoreFiles``, also which files it would restore."""

    type: Literal["previewConversation"] = "previewConversation"
    change: ConversationChange
    restore_files: Flag | None = None


ConversationRequest = (
    RewindTaskRequest
    | ForkTaskRequest
    | RetryAnswerRequest
    | UndoConversationRequest
    | RedoConversationRequest
    | PreviewConversationRequest
)


# ---- what it is told


class ConversationMark(Message):
    """A change that can be undone or redone; of a redo ``kind`` and ``messageTs`` are those of what comes back.

    ``messageTs`` is the message that a rewind went back to.
    """

    id: str
    kind: Literal["condense", "truncate", "rewind"]
    ts: int
    message_ts: int | None = None


class ConversationMarks(Message):
    """What an undo and a redo would act on; absent where there is nothing."""

    undoable: ConversationMark | None = None
    redoable: ConversationMark | None = None


class TimeSpan(Message):
    """The messages from the time ``first`` to ``last``, both included."""

    first: int
    last: int


class ConversationChangedMessage(Message):
    """The conversation on screen lost the messages of these spans, then got these; nothing else is different.

    A restored message that is older than all a page has comes with the page of older messages it belongs to.
    """

    type: Literal["conversationChanged"] = "conversationChanged"
    task_id: str
    removed: list[TimeSpan]
    restored: list[ClineMessage]
    marks: ConversationMarks


class ConversationMarksUpdatedMessage(Message):
    """What can be undone and redone in the conversation on screen."""

    type: Literal["conversationMarksUpdated"] = "conversationMarksUpdated"
    task_id: str
    marks: ConversationMarks


class ConversationEffect(Message):
    """Something done in the part of a conversation that is removed, which stays done; ``count`` times."""

    kind: Literal["file", "command", "cell", "mcp", "subtask"]
    name: str
    count: int


class FileChange(Message):
    """A file that would be made, written or deleted."""

    path: str
    action: Literal["create", "overwrite", "delete", "leave"]


class FilesPreview(Message):
    """What would become of files: the first that change, and how many others.

    ``kept`` are those the person changed since, which stay as they are; so do ``openNotebooks``, which are open in a tab.
    ``incomplete`` says that of some of what was done no state of the files before it is kept, so that stays done.
    """

    changes: list[FileChange]
    more_changes: int
    kept: list[str]
    open_notebooks: list[str]
    incomplete: Literal[True] | None = None


class ConversationPreview(Message):
    """What a change of a conversation would do.

    ``removed`` and ``restored`` count what the person or the agent said, ``toolCalls`` approved calls among the messages removed. ``effects`` are the
    first of what those did outside of the conversation, ``moreEffects`` says how many others there are.
    ``goneOn`` says that an undo sets aside what is newer and must be told to; ``stopsTask`` that the task works now.
    """

    operation: Literal["delete", "edit", "retry", "rewind", "undo", "redo"]
    removed: int
    restored: int
    tool_calls: int
    effects: list[ConversationEffect]
    more_effects: int
    can_be_undone: bool
    gone_on: bool
    stops_task: bool
    files: FilesPreview | None = None
    """Only if asked for, and if there is something to do."""


class ConversationPreviewMessage(Message):
    """The answer to ``previewConversation``."""

    type: Literal["conversationPreview"] = "conversationPreview"
    request_id: str
    task_id: str
    preview: ConversationPreview


ConversationUpdate = ConversationChangedMessage | ConversationMarksUpdatedMessage | ConversationPreviewMessage
