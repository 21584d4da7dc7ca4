"""What we add to Roo Code's vocabulary: kinds of messages, and what they carry."""

from typing import Literal

from pydantic import JsonValue

from ._base import CellId, FilePath, Record

__all__ = [
    "CommandRun",
    "Ending",
    "EndingCheck",
    "EndingReason",
    "Halt",
    "MessageFeedback",
    "ModelFailure",
    "ModelFailureParts",
    "NoteSuggestion",
    "NotebookRef",
    "OwnSay",
    "OwnSayTool",
    "RecalledItem",
    "Rename",
]

OwnSay = Literal["cell_executed", "kernel_status", "notebook_conversation"]
"""``cell_executed``: what a cell the agent ran produced; ``kernel_status``: the kernel started, died or restarted;
``notebook_conversation``: what follows came with a notebook."""

OwnSayTool = Literal[
    "readNotebook",
    "editCells",
    "runCells",
    "runCode",
    "waitRun",
    "inspectVariables",
    "listKernels",
    "startKernel",
    "interruptKernel",
    "restartKernel",
    "createNotebook",
    "installPackages",
    "remember",
    "forget",
    "searchMemory",
    "readMemory",
    "listNotebooks",
    "listCheckpoints",
    "diffCheckpoint",
    "restoreCheckpoint",
    "undoRestore",
]
"""What a ``tool`` message can be about besides what Roo Code knows."""


class CommandRun(Record):
    """How a command fares, on the ``command_output`` message that shows what it writes."""

    execution_id: str
    started_at: int
    state: Literal["running", "exited", "timed_out", "stopped"]
    exit_code: int | None = None
    """Of one that exited by itself; that a signal ended it says its number, below zero."""
    duration_ms: int | None = None


class ModelFailureParts(Record):
    """What a message about a failure consists of besides the sentence of its class, which the page words itself."""

    status: int | None = None
    """Of HTTP."""
    particular: str | None = None
    """What our own message says beyond the class, in English; of the class ``other``, the provider's words."""
    raw: str | None = None
    """The provider's words."""


class ModelFailure(Record):
    """Why a model gave no answer, on the message that says so; ``kind`` is one of the classes of ``model_error``."""

    kind: str
    parts: ModelFailureParts | None = None
    """None where only the message's text says what went wrong."""
    retried: bool | None = None
    """Of one that is tried again after a wait: whether it was, or the wait was cut off."""


class NoteSuggestion(Record):
    """A note that the agent proposes to keep for later conversations, on the message with its result.

    ``text`` is the note as it was kept, once the person has decided so.
    """

    text: str
    scope: Literal["person", "workspace", "notebook"]
    decision: Literal["kept", "dismissed"] | None = None
    """None until the person decides."""


class MessageFeedback(Record):
    """What the person thinks of an answer, on its message. No model is sent it."""

    rating: Literal["up", "down"]
    reason: str | None = None


class Halt(Record):
    """What made the agent stop and ask: mistakes in a row, or the same call of ``tool`` again and again."""

    kind: Literal["mistakes", "repetition"]
    tool: str | None = None


class RecalledItem(Record):
    """Something of the past that a model had before it when it answered.

    ``source`` is a note's id, a memory file's name, a conversation's id or a notebook's whole path; ``place`` the message's
    time or the cell's id; ``path`` the notebook's path in Jupyter, where it has one. ``told`` is what stood in the request
    by itself; the rest a tool read.
    """

    kind: Literal["note", "learned", "conversation", "notebook"]
    source: str
    title: str
    place: str | None = None
    path: str | None = None
    told: Literal[True] | None = None


class Rename(Record):
    """That a file, or a folder, has had another path since ``ts``."""

    old: FilePath
    new: FilePath
    ts: int


class NotebookRef(Record):
    """The notebook, and perhaps the cell, something is about."""

    path: FilePath
    cell_id: CellId | None = None


class EndingCheck(Record):
    """Something that was seen of what a small model did; the page words it."""

    code: Literal["fixed", "renamed", "deleted", "exists", "runs", "picture", "numbers", "unchanged", "changed"]
    params: dict[str, JsonValue] | None = None


class EndingReason(Record):
    """Why a small model did not do what was asked for; the page words it."""

    code: Literal[
        "failed", "no_answer", "missing", "steps", "stopped", "limit", "model", "mistakes", "too_long", "gone"
    ]
    params: dict[str, JsonValue] | None = None


class Ending(Record):
    """How a request to a small model ended, on the message with its result.

    ``unchecked`` is what was done and nothing has checked. ``put_back`` says of ``not_done`` that the cells are as they were.
    """

    state: Literal["checked", "unchecked", "not_done"]
    checks: list[EndingCheck]
    reason: EndingReason | None = None
    put_back: bool = False
