"""What our vocabulary has beyond Roo Code's; the protocol page marks it. A compatibility test holds that it is complete.

A client of ``@roo-code/types`` does not know the kinds listed here, and drops the fields listed here.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "OWN_CLINE_MESSAGE_FIELDS",
    "OWN_EXTENSION_TYPES",
    "OWN_HISTORY_FIELDS",
    "OWN_IPC_TYPES",
    "OWN_WEBVIEW_TYPES",
]

OWN_CLINE_MESSAGE_FIELDS: Final = frozenset(
    {
        "answeredIn",
        "approvalFlags",
        "attachments",
        "commandRun",
        "denied",
        "ending",
        "failure",
        "feedback",
        "halt",
        "modelFailure",
        "noteSuggestion",
        "notebook",
        "recalled",
        "stoppedBy",
    }
)
OWN_HISTORY_FIELDS: Final = frozenset(
    {
        "approvalPreset",
        "externalAgent",
        "forkedFrom",
        "isFavorited",
        "memoryOff",
        "notebook",
        "pictures",
        "renames",
        "state",
        "title",
    }
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
        "cellEditPreview",
        "openTasksUpdated",
        "ruleSuggestions",
        "proposal",
        "folderTrustUpdated",
        "memoryUpdated",
        "externalAgentsUpdated",
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
        "editCell",
        "newConversation",
        "closeConversation",
        "renameTask",
        "favoriteTask",
        "rememberTask",
        "setTaskApprovals",
        "decideNoteSuggestion",
        "rateMessage",
        "retryAnswer",
        "suggestRules",
        "findEmbeddedConversation",
        "openEmbeddedConversation",
        "requestProposal",
        "findFile",
    }
)
OWN_IPC_TYPES: Final = frozenset({"Error"})
