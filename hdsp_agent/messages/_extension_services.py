"""What the server says about files, images, MCP servers and models, and what it asks of the panel."""

from typing import Literal

from ._base import Message
from ._catalogue import (
    FileContent,
    FileResult,
    GitCommit,
    McpServer,
    ModelRecord,
)
from ._conversation_changes import ConversationPreview
from ._webview_services import Tab, TabValues

__all__ = [
    "AcceptInputMessage",
    "ActionMessage",
    "CommitSearchResultsMessage",
    "FileContentMessage",
    "FileSearchResultsMessage",
    "InsertTextIntoTextareaMessage",
    "InvokeMessage",
    "LmStudioModelsMessage",
    "McpServersMessage",
    "OllamaModelsMessage",
    "OpenAiModelsMessage",
    "RouterModelsMessage",
    "RouterValues",
    "SelectedImagesMessage",
    "ServicesUpdate",
    "ShowDeleteMessageDialogMessage",
    "ShowEditMessageDialogMessage",
    "SingleRouterModelFetchResponseMessage",
    "ThemeMessage",
    "WorkspaceUpdatedMessage",
]


class FileSearchResultsMessage(Message):
    """Files and folders a search found."""

    type: Literal["fileSearchResults"] = "fileSearchResults"
    results: list[FileResult]
    request_id: str | None = None
    error: str | None = None


class CommitSearchResultsMessage(Message):
    """Commits a search found."""

    type: Literal["commitSearchResults"] = "commitSearchResults"
    commits: list[GitCommit]


class FileContentMessage(Message):
    """The content of a file."""

    type: Literal["fileContent"] = "fileContent"
    file_content: FileContent


class SelectedImagesMessage(Message):
    """The images the person chose."""

    type: Literal["selectedImages"] = "selectedImages"
    images: list[str]
    context: str | None = None
    message_ts: int | None = None


class WorkspaceUpdatedMessage(Message):
    """The workspace's files or open documents changed."""

    type: Literal["workspaceUpdated"] = "workspaceUpdated"
    file_paths: list[str] | None = None


class McpServersMessage(Message):
    """The MCP servers and how they are doing."""

    type: Literal["mcpServers"] = "mcpServers"
    mcp_servers: list[McpServer]


class RouterValues(Message):
    """The provider an answer is about."""

    provider: str


class RouterModelsMessage(Message):
    """Models by provider and id."""

    type: Literal["routerModels"] = "routerModels"
    router_models: dict[str, ModelRecord]
    values: RouterValues | None = None


class SingleRouterModelFetchResponseMessage(Message):
    """Whether one provider's models could be fetched."""

    type: Literal["singleRouterModelFetchResponse"] = "singleRouterModelFetchResponse"
    success: bool
    error: str | None = None
    values: RouterValues


class OpenAiModelsMessage(Message):
    """The model ids of an OpenAI-compatible endpoint."""

    type: Literal["openAiModels"] = "openAiModels"
    open_ai_models: list[str]


class OllamaModelsMessage(Message):
    """The models of Ollama."""

    type: Literal["ollamaModels"] = "ollamaModels"
    ollama_models: ModelRecord


class LmStudioModelsMessage(Message):
    """The models of LM Studio."""

    type: Literal["lmStudioModels"] = "lmStudioModels"
    lm_studio_models: ModelRecord


class ActionMessage(Message):
    """Do what a button of the panel does."""

    type: Literal["action"] = "action"
    action: Literal[
        "chatButtonClicked",
        "settingsButtonClicked",
        "historyButtonClicked",
        "didBecomeVisible",
        "focusInput",
        "switchTab",
        "toggleAutoApprove",
    ]
    tab: Tab | None = None
    values: TabValues | None = None


class InvokeMessage(Message):
    """Do what the person would do in the chat."""

    type: Literal["invoke"] = "invoke"
    invoke: Literal["newChat", "sendMessage", "primaryButtonClick", "secondaryButtonClick", "setChatBoxMessage"]
    text: str | None = None
    images: list[str] | None = None


class AcceptInputMessage(Message):
    """Send what is in the input."""

    type: Literal["acceptInput"] = "acceptInput"


class InsertTextIntoTextareaMessage(Message):
    """Put ``text`` into the input."""

    type: Literal["insertTextIntoTextarea"] = "insertTextIntoTextarea"
    text: str


class ThemeMessage(Message):
    """The theme for code, as JSON in ``text``."""

    type: Literal["theme"] = "theme"
    text: str


class ShowDeleteMessageDialogMessage(Message):
    """Ask whether a message shall really be deleted."""

    type: Literal["showDeleteMessageDialog"] = "showDeleteMessageDialog"
    message_ts: int
    has_checkpoint: bool | None = None
    preview: ConversationPreview | None = None


class ShowEditMessageDialogMessage(Message):
    """Ask whether a message shall really be replaced by ``text``."""

    type: Literal["showEditMessageDialog"] = "showEditMessageDialog"
    message_ts: int
    text: str
    images: list[str] | None = None
    has_checkpoint: bool | None = None
    preview: ConversationPreview | None = None


ServicesUpdate = (
    FileSearchResultsMessage
    | CommitSearchResultsMessage
    | FileContentMessage
    | SelectedImagesMessage
    | WorkspaceUpdatedMessage
    | McpServersMessage
    | RouterModelsMessage
    | SingleRouterModelFetchResponseMessage
    | OpenAiModelsMessage
    | OllamaModelsMessage
    | LmStudioModelsMessage
    | ActionMessage
    | InvokeMessage
    | AcceptInputMessage
    | InsertTextIntoTextareaMessage
    | ThemeMessage
    | ShowDeleteMessageDialogMessage
    | ShowEditMessageDialogMessage
)
