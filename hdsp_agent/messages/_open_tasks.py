"""The conversations a person has open beside each other: which they are, and opening, closing and naming them."""

from typing import Annotated, Literal

from pydantic import Field

from ..config import ApprovalPreset
from ._additions import NotebookRef
from ._base import Flag, Message, TaskIdField
from ._kinds import TaskStatus
from ._webview_base import Request

__all__ = [
    "CloseConversationRequest",
    "FavoriteTaskRequest",
    "NewConversationRequest",
    "OpenTask",
    "OpenTasksMessage",
    "OpenTasksUpdatedMessage",
    "RememberTaskRequest",
    "RenameTaskRequest",
    "SetTaskApprovalsRequest",
]

_Title = Annotated[str, Field(max_length=500)]


class OpenTask(Message):
    """One open conversation.

    ``needsYou`` while it waits for an answer without which it does not go on, ``failed`` while it does not go on because
    of an error: the model gave no answer, it made one mistake after the other, or something else broke.
    """

    task_id: str
    title: str
    status: TaskStatus
    needs_you: bool
    failed: Literal[True] | None = None
    notebook: NotebookRef | None = None
    external_agent: str | None = None
    """The name of the program outside whose conversation it is."""
    pictures: int | None = None
    """How many it began with, where it has no title and began without a word."""
    root_task_id: str | None = None
    """The conversation that the person began, of which this is a subtask."""


class OpenTasksUpdatedMessage(Message):
    """All open conversations as they are now, in their order."""

    type: Literal["openTasksUpdated"] = "openTasksUpdated"
    open_tasks: list[OpenTask]


class NewConversationRequest(Request):
    """Show an empty panel. What is under way goes on, and what is open stays open."""

    type: Literal["newConversation"] = "newConversation"


class CloseConversationRequest(Request):
    """Close an open conversation. One that rests is put aside; one at work goes on unless ``stop``."""

    type: Literal["closeConversation"] = "closeConversation"
    task_id: TaskIdField
    stop: Flag | None = None


class RenameTaskRequest(Request):
    """Give a task a title; a blank one takes it away."""

    type: Literal["renameTask"] = "renameTask"
    task_id: TaskIdField
    title: _Title


class FavoriteTaskRequest(Request):
    """Mark a task as a favorite, or remove the mark."""

    type: Literal["favoriteTask"] = "favoriteTask"
    task_id: TaskIdField
    favorite: Flag


class RememberTaskRequest(Request):
    """Turn memory off for a task, or on again: whether it is told what is remembered, and whether anything is learned from it."""

    type: Literal["rememberTask"] = "rememberTask"
    task_id: TaskIdField
    remember: Flag


class SetTaskApprovalsRequest(Request):
    """Set what a task may do without asking; without ``approvalPreset`` the settings decide again."""

    type: Literal["setTaskApprovals"] = "setTaskApprovals"
    task_id: TaskIdField
    approval_preset: ApprovalPreset | None = None


OpenTasksMessage = (
    NewConversationRequest
    | CloseConversationRequest
    | RenameTaskRequest
    | FavoriteTaskRequest
    | RememberTaskRequest
    | SetTaskApprovalsRequest
)
