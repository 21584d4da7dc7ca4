"""What a person sees of a conversation: messages, usage, todos, the queue."""

from typing import Literal

from pydantic import JsonValue

from ._additions import (
    CommandRun,
    Ending,
    Halt,
    MessageFeedback,
    ModelFailure,
    NotebookRef,
    NoteSuggestion,
    RecalledItem,
)
from ._approval_flags import ApprovalFlag
from ._attachments import Attachment
from ._base import Record
from ._kinds import AnyAsk, AnySay, StoppedBy

__all__ = [
    "ApiProtocol",
    "AutoAnswerTime",
    "ClineMessage",
    "ContextCleared",
    "ContextCondense",
    "ContextDropped",
    "ContextKept",
    "ContextTruncation",
    "ModelRoom",
    "ProgressStatus",
    "QueuedMessage",
    "TodoItem",
    "TodoStatus",
    "TokenUsage",
    "ToolCounts",
    "ToolUsage",
]

ApiProtocol = Literal["openai", "anthropic"]
TodoStatus = Literal["pending", "in_progress", "completed"]


class ProgressStatus(Record):
    """What a running tool shows beside its message."""

    icon: str | None = None
    text: str | None = None


class ContextKept(Record):
    """What a condensation carried over word for word, of one kind: how many there are, and the beginnings of the first.

    ``messages`` are those of the person that stay as they are, ``requests`` words of theirs that stand in the summary.
    """

    kind: Literal[
        "messages",
        "requests",
        "goals",
        "decisions",
        "todos",
        "constraints",
        "files",
        "cells",
        "variables",
        "commands",
    ]
    count: int
    items: list[str]


class ContextDropped(Record):
    """What the model does not see any more after a condensation: messages, the outputs of tools among them, their tokens."""

    messages: int
    outputs: int
    tokens: int


class ContextCondense(Record):
    """The outcome of a condensation, on a ``condense_context`` message.

    ``way`` says whether the agent had a model write the summary, or the provider condensed by itself. ``markId`` is what
    an undo reverts.
    """

    cost: float
    prev_context_tokens: int
    new_context_tokens: int
    summary: str
    condense_id: str | None = None
    kept: list[ContextKept] | None = None
    dropped: ContextDropped | None = None
    model: str | None = None
    way: Literal["local", "remote"] | None = None
    mark_id: str | None = None


class ContextCleared(Record):
    """Outputs of tools that are not sent any more: because they are old, or because a request was refused as too long.

    ``tools`` says how many there were of each, by name.
    """

    reason: Literal["old", "too_long"]
    outputs: int
    tokens: int
    tools: dict[str, int]


class ContextTruncation(Record):
    """The outcome of a truncation, on a ``sliding_window_truncation`` message; with ``cleared`` only outputs went.

    ``end`` says which end of the conversation is hidden: ``newest`` for a step that was removed.
    """

    truncation_id: str
    messages_removed: int
    prev_context_tokens: int
    new_context_tokens: int
    cleared: ContextCleared | None = None
    mark_id: str | None = None
    end: Literal["oldest", "newest"] | None = None


class ClineMessage(Record):
    """One message of a conversation as the person sees it.

    ``ts`` is its identity: unique within the task and never changed. ``partial`` is true while it streams, false when
    a streamed one is complete, absent when it came in one piece.
    """

    ts: int
    type: Literal["ask", "say"]
    ask: AnyAsk | None = None
    say: AnySay | None = None
    text: str | None = None
    images: list[str] | None = None
    attachments: list[Attachment] | None = None
    partial: bool | None = None
    reasoning: str | None = None
    conversation_history_index: int | None = None
    checkpoint: dict[str, JsonValue] | None = None
    progress_status: ProgressStatus | None = None
    context_condense: ContextCondense | None = None
    context_truncation: ContextTruncation | None = None
    is_protected: bool | None = None
    api_protocol: ApiProtocol | None = None
    is_answered: bool | None = None
    approval_flags: list[ApprovalFlag] | None = None
    """On a question about an action: what to look at before one says yes, by the approval engine."""
    command_run: CommandRun | None = None
    model_failure: ModelFailure | None = None
    denied: Literal[True] | None = None
    """On what was asked for: the person said no to it."""
    answered_in: str | None = None
    """On what another agent asked for: its name, where it was answered in its own window and not here."""
    failure: str | None = None
    """On what was asked for, or was to be: why it failed."""
    halt: Halt | None = None
    note_suggestion: NoteSuggestion | None = None
    feedback: MessageFeedback | None = None
    notebook: NotebookRef | None = None
    recalled: list[RecalledItem] | None = None
    """On a result: what of the past the model was told or read for it. On a tool: what it read there."""
    stopped_by: StoppedBy | None = None
    """On the question whether to go on: who stopped the work, where that is known."""
    ending: Ending | None = None
    """On the result of a small model: whether it was checked, or not done."""


class TokenUsage(Record):
    """What a task has used so far, and how full its context is."""

    total_tokens_in: int
    total_tokens_out: int
    total_cache_writes: int | None = None
    total_cache_reads: int | None = None
    total_cost: float
    context_tokens: int


class AutoAnswerTime(Record):
    """When the first suggested answer to the open question is taken, in milliseconds.

    ``at`` is by the server's clock, which may differ from a page's; ``left`` is what is left when it is told.
    """

    at: int
    left: int


class ModelRoom(Record):
    """How many tokens the model of a task takes in, and may answer with, as far as that is known.

    ``reserved`` are those kept free for an answer; at ``condenseAt`` the conversation is condensed, if it ever is.
    """

    context_window: int | None = None
    max_output: int | None = None
    reserved: int | None = None
    condense_at: int | None = None


class ToolCounts(Record):
    """How often a tool was tried, and how often it failed."""

    attempts: int
    failures: int


ToolUsage = dict[str, ToolCounts]
"""Counts by tool name. Roo's clients know only Roo's tool names here."""


class TodoItem(Record):
    """One line of a task's plan."""

    id: str
    content: str
    status: TodoStatus


class QueuedMessage(Record):
    """A message typed while the agent worked, waiting for its turn."""

    timestamp: int
    id: str
    text: str
    images: list[str] | None = None
    attachments: list[Attachment] | None = None
