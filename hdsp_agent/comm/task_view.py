"""What is known of a conversation that is on screen or worked on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from ..config import ApprovalPreset
from ..messages import (
    AutoAnswerTime,
    ClineMessage,
    CommandStarted,
    ConversationMarks,
    HistoryItem,
    ModelRoom,
    NotebookRef,
    QueuedMessage,
    Rename,
    TodoItem,
    TokenUsage,
)
from ..messages import TaskStatus as RunningStatus
from ..notebooks import under

__all__ = ["ActiveTask", "ItemChange", "MessagePage", "ShownTask", "TaskDetails", "after_rename"]

_MOST_RENAMES: Final = 50


@dataclass(frozen=True)
class ItemChange:
    """What may be changed about a task; None leaves it as it is, a blank title takes the title away."""

    title: str | None = None
    favorite: bool | None = None
    memory_off: bool | None = None
    approvals: ApprovalPreset | Literal["as settings"] | None = None
    rename: Rename | None = None
    """Of a file or folder its messages may name."""


def after_rename(item: HistoryItem, rename: Rename) -> tuple[NotebookRef | None, list[Rename]]:
    """Where the task's notebook is then, and all renames that are remembered."""
    notebook = item.notebook
    if notebook is not None:
        notebook = notebook.model_copy(update={"path": under(notebook.path, rename.old, rename.new)})
    return notebook, [*(item.renames or ()), rename][-_MOST_RENAMES:]


@dataclass(frozen=True)
class MessagePage:
    """Messages of a conversation, oldest first, and whether there are older ones."""

    messages: list[ClineMessage]
    has_older: bool


@dataclass(frozen=True)
class ShownTask:
    """A conversation on screen: its line in the history, its newest messages, and what can be undone and redone.

    ``usage`` and ``room`` are from when it was brought there; of one that is worked on its details tell.
    """

    item: HistoryItem
    messages: list[ClineMessage]
    has_older: bool
    marks: ConversationMarks = field(default_factory=ConversationMarks)
    usage: TokenUsage | None = None
    room: ModelRoom | None = None
    """What its model takes in, as far as that is known without asking."""


@dataclass(frozen=True)
class TaskDetails:
    """What a task that is worked on is doing."""

    status: RunningStatus
    todos: Sequence[TodoItem]
    queue: Sequence[QueuedMessage]
    usage: TokenUsage
    room: ModelRoom | None = None
    """What its model takes in, once it was asked."""
    needs_you: bool = field(default=False, compare=False)
    """Whether it waits for an answer without which it does not go on."""
    answered_at: int | None = None
    """When its question is answered by itself, in milliseconds since 1970."""
    failed: bool = field(default=False, compare=False)
    """Whether the last word is an error, so that it does not go on once it stops."""
    commands: Sequence[CommandStarted] = field(default=(), compare=False)
    """The shell commands that run, oldest first."""

    @property
    def auto_answer(self) -> AutoAnswerTime | None:
        """The same as it is told now."""
        if self.answered_at is None:
            return None
        return AutoAnswerTime(at=self.answered_at, left=max(0, self.answered_at - int(time.time() * 1000)))


class ActiveTask(Protocol):
    """What is known of the tasks this process works on."""

    def current(self, shown: ShownTask) -> ShownTask:
        """A conversation on screen as it is now."""

    def details(self, task_id: str) -> TaskDetails | None:
        """What a task is doing; None if it is not worked on."""

    async def change(self, task_id: str, change: ItemChange) -> HistoryItem | None:
        """Change a task's line through the task; None if it is not worked on."""
