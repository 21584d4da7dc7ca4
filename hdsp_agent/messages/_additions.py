"""Everything we add to Roo Code's vocabulary, in one place.

Kinds listed here are unknown to a client of ``@roo-code/types``, fields listed here are dropped by it. A compatibility
test holds that these are the only ones.
"""

from typing import Final, Literal

from ._base import CellId, FilePath, Record

__all__ = [
    "OWN_CLINE_MESSAGE_FIELDS",
    "OWN_CONDENSE_FIELDS",
    "OWN_EVENT_FIELDS",
    "OWN_EXTENSION_TYPES",
    "OWN_HISTORY_FIELDS",
    "OWN_IPC_COMMANDS",
    "OWN_IPC_TYPES",
    "OWN_SAY_TOOL_FIELDS",
    "OWN_TRUNCATION_FIELDS",
    "OWN_WEBVIEW_TYPES",
    "CommandRun",
    "Halt",
    "ModelFailure",
    "ModelFailureParts",
    "NotebookRef",
    "OwnSay",
    "OwnSayTool",
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
]
"""What a ``tool`` message can be about besides what Roo Code knows."""

OWN_SAY_TOOL_FIELDS: Final = frozenset({"cellEdits", "cells", "kernel"})
OWN_CLINE_MESSAGE_FIELDS: Final = frozenset(
    {"approvalFlags", "commandRun", "denied", "failure", "halt", "modelFailure", "notebook", "stoppedBy"}
)
OWN_CONDENSE_FIELDS: Final = frozenset({"kept", "dropped", "model", "way", "markId"})
OWN_TRUNCATION_FIELDS: Final = frozenset({"cleared", "end", "markId"})
OWN_HISTORY_FIELDS: Final = frozenset(
    {"title", "isFavorited", "forkedFrom", "notebook", "pictures", "renames", "state"}
)
OWN_EXTENSION_TYPES: Final = frozenset(
    {
        "messageCreated",
        "messageDelta",
        "messagesPage",
        "taskProgress",
        "conversationChanged",
        "conversationMarksUpdated",
        "conversationPreview",
        "taskHistoryItemsRemoved",
        "settingsUpdated",
        "profilesUpdated",
        "noticesUpdated",
        "secretsUpdated",
        "contextNotice",
        "kernelStatus",
        "applyNotebookOperations",
        "readNotebook",
        "reloadNotebook",
        "changeOutputs",
        "notebookWork",
        "openTasksUpdated",
        "ruleSuggestions",
        "proposal",
        "folderTrustUpdated",
    }
)
OWN_WEBVIEW_TYPES: Final = frozenset(
    {
        "errorDetails",
        "loadMessages",
        "dismissNotice",
        "rewindTask",
        "forkTask",
        "undoConversation",
        "redoConversation",
        "previewConversation",
        "openNotebooks",
        "notebookOperationsResult",
        "notebookPage",
        "cellReview",
        "fixCell",
        "newConversation",
        "closeConversation",
        "renameTask",
        "favoriteTask",
        "suggestRules",
        "findEmbeddedConversation",
        "openEmbeddedConversation",
        "requestProposal",
        "findFile",
    }
)
OWN_IPC_TYPES: Final = frozenset({"Error"})
OWN_IPC_COMMANDS: Final = frozenset({"AnswerAsk"})
OWN_EVENT_FIELDS: Final = frozenset({"tool", "tools"})
"""The names of tools as they are, beside a payload that may only hold names Roo Code knows."""


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


class Halt(Record):
    """What made the agent stop and ask: mistakes in a row, or the same call of ``tool`` again and again."""

    kind: Literal["mistakes", "repetition"]
    tool: str | None = None


class Rename(Record):
    """That a file, or a folder, has had another path since ``ts``."""

    old: FilePath
    new: FilePath
    ts: int


class NotebookRef(Record):
    """The notebook, and perhaps the cell, something is about."""

    path: FilePath
    cell_id: CellId | None = None
