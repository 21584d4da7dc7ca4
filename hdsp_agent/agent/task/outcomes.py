"""How the work on a task ends, and what it begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...messages import Attachment, NotebookRef, StoppedBy, TaskId, TodoItem

__all__ = [
    "Again",
    "Begin",
    "ChildDone",
    "Completed",
    "Delegated",
    "Edited",
    "Opening",
    "Outcome",
    "Retried",
    "TaskStopped",
]


@dataclass(frozen=True)
class Begin:
    """The person's first words."""

    text: str
    images: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    todos: tuple[TodoItem, ...] = ()
    may_edit: NotebookRef | None = None
    """The cell that may be changed without another question."""


@dataclass(frozen=True)
class Again:
    """Taken up from the log. ``answering`` is the question whose answer is on its way, ``stopped_by`` who ended the work."""

    answering: int | None = None
    stopped_by: StoppedBy | None = None


@dataclass(frozen=True)
class Edited:
    """Taken up after a rewind, with what the person says instead."""

    text: str
    images: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True)
class Retried:
    """Taken up after a rewind, to have the model answer anew."""


@dataclass(frozen=True)
class ChildDone:
    """Taken up because its subtask is done."""

    child: TaskId
    summary: str


Opening: TypeAlias = Begin | Again | Edited | Retried | ChildDone


@dataclass(frozen=True)
class Completed:
    """The task has its result. ``again`` says that everybody has heard of it before."""

    result: str
    again: bool = False


@dataclass(frozen=True)
class Delegated:
    """The task waits for a subtask, which is yet to be made."""

    child: TaskId
    mode: str
    message: str
    todos: tuple[TodoItem, ...] = ()


Outcome: TypeAlias = Completed | Delegated


class TaskStopped(Exception):
    """The person does not want the task to go on just now."""
