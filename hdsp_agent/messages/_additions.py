"""Everything we add to Roo Code's vocabulary, in one place.

Kinds listed here are unknown to a client of ``@roo-code/types``, fields listed here are dropped by it. A compatibility
test holds that these are the only ones.
"""

from typing import Final, Literal

from ._base import CellId, FilePath, Record

__all__ = [
    "OWN_CLINE_MESSAGE_FIELDS",
    "OWN_EXTENSION_TYPES",
    "OWN_HISTORY_FIELDS",
    "OWN_IPC_TYPES",
    "OWN_WEBVIEW_TYPES",
    "NotebookRef",
    "OwnSay",
]

OwnSay = Literal["cell_executed", "kernel_status"]
"""``cell_executed``: what a cell the agent ran produced; ``kernel_status``: the kernel started, died or restarted."""

OWN_CLINE_MESSAGE_FIELDS: Final = frozenset({"notebook"})
OWN_HISTORY_FIELDS: Final = frozenset({"title", "isFavorited", "forkedFrom", "notebook"})
OWN_EXTENSION_TYPES: Final = frozenset(
    {
        "messageCreated",
        "messageDelta",
        "messagesPage",
        "taskProgress",
        "taskHistoryPage",
        "taskHistoryItemsRemoved",
        "settingsUpdated",
        "profilesUpdated",
        "noticesUpdated",
        "secretsUpdated",
        "notice",
        "kernelStatus",
        "notebookLease",
        "applyNotebookOperations",
        "readNotebook",
        "reloadNotebook",
        "changeOutputs",
        "notebookWork",
    }
)
OWN_WEBVIEW_TYPES: Final = frozenset(
    {
        "loadMessages",
        "loadTaskHistory",
        "dismissNotice",
        "openNotebooks",
        "notebookOperationsResult",
        "notebookPage",
        "cellReview",
        "fixCell",
    }
)
OWN_IPC_TYPES: Final = frozenset({"Error"})


class NotebookRef(Record):
    """The notebook, and perhaps the cell, something is about."""

    path: FilePath
    cell_id: CellId | None = None
