"""What the page sends about MCP servers, files, images and models."""

from typing import Annotated, Literal

from pydantic import Field

from ._base import Count, FilePath, Flag, Message, Name, Query, Text, Timestamp
from ._catalogue import Source
from ._webview_base import Request

__all__ = [
    "DeleteMcpServerRequest",
    "FindFileRequest",
    "FlushRouterModelsRequest",
    "FocusPanelRequest",
    "InsertTextIntoTextareaRequest",
    "OpenAiModelsValues",
    "OpenExternalRequest",
    "OpenFileRequest",
    "OpenFileValues",
    "OpenImageRequest",
    "OpenMarkdownPreviewRequest",
    "OpenMcpSettingsRequest",
    "OpenMentionRequest",
    "OpenProjectMcpSettingsRequest",
    "ReadFileContentRequest",
    "RefreshAllMcpServersRequest",
    "RequestLmStudioModelsRequest",
    "RequestOllamaModelsRequest",
    "RequestOpenAiModelsRequest",
    "RequestRouterModelsRequest",
    "RestartMcpServerRequest",
    "RouterModelsValues",
    "SaveImageRequest",
    "SearchCommitsRequest",
    "SearchFilesRequest",
    "SelectImagesRequest",
    "ServicesMessage",
    "SwitchTabRequest",
    "Tab",
    "TabValues",
    "ToggleMcpServerRequest",
    "ToggleToolAlwaysAllowRequest",
    "ToggleToolEnabledForPromptRequest",
    "UpdateMcpTimeoutRequest",
]

Tab = Literal["settings", "history", "mcp", "modes", "chat"]


class OpenMcpSettingsRequest(Request):
    """Open the file that lists the person's MCP servers."""

    type: Literal["openMcpSettings"] = "openMcpSettings"


class OpenProjectMcpSettingsRequest(Request):
    """Open the file that lists the workspace's MCP servers."""

    type: Literal["openProjectMcpSettings"] = "openProjectMcpSettings"


class RestartMcpServerRequest(Request):
    """Connect to the MCP server named ``text`` again."""

    type: Literal["restartMcpServer"] = "restartMcpServer"
    text: Name
    source: Source | None = None


class RefreshAllMcpServersRequest(Request):
    """Connect to all MCP servers again."""

    type: Literal["refreshAllMcpServers"] = "refreshAllMcpServers"


class ToggleToolAlwaysAllowRequest(Request):
    """Let an MCP tool run without asking, or not."""

    type: Literal["toggleToolAlwaysAllow"] = "toggleToolAlwaysAllow"
    server_name: Name
    source: Source | None = None
    tool_name: Name
    always_allow: Flag


class ToggleToolEnabledForPromptRequest(Request):
    """Offer an MCP tool to the model, or not."""

    type: Literal["toggleToolEnabledForPrompt"] = "toggleToolEnabledForPrompt"
    server_name: Name
    source: Source | None = None
    tool_name: Name
    is_enabled: Flag


class ToggleMcpServerRequest(Request):
    """Switch an MCP server on or off."""

    type: Literal["toggleMcpServer"] = "toggleMcpServer"
    server_name: Name
    source: Source | None = None
    disabled: Flag


class UpdateMcpTimeoutRequest(Request):
    """Set how many seconds an MCP server may take."""

    type: Literal["updateMcpTimeout"] = "updateMcpTimeout"
    server_name: Name
    source: Source | None = None
    timeout: Annotated[Count, Field(ge=1, le=3600)]


class DeleteMcpServerRequest(Request):
    """Remove an MCP server from the list."""

    type: Literal["deleteMcpServer"] = "deleteMcpServer"
    server_name: Name
    source: Source | None = None


class SelectImagesRequest(Request):
    """Let the person choose images for a message."""

    type: Literal["selectImages"] = "selectImages"
    context: Annotated[str, Field(max_length=100)] | None = None
    message_ts: Timestamp | None = None


class OpenImageRequest(Request):
    """Open the image ``text``, a path or a data URL, in a tab."""

    type: Literal["openImage"] = "openImage"
    text: Annotated[str, Field(min_length=1, max_length=20_000_000)]


class SaveImageRequest(Request):
    """Save an image into the workspace."""

    type: Literal["saveImage"] = "saveImage"
    data_uri: Annotated[str, Field(max_length=20_000_000, pattern=r"^data:image/[a-z0-9.+-]+;base64,")]


class OpenFileValues(Message):
    """Where to go in the file, and whether to make it."""

    create: Flag | None = None
    content: Text | None = None
    line: Count | None = None


class OpenFileRequest(Request):
    """Open the file at the path ``text``."""

    type: Literal["openFile"] = "openFile"
    text: FilePath
    values: OpenFileValues | None = None


class ReadFileContentRequest(Request):
    """Ask for the content of the file at the path ``text``."""

    type: Literal["readFileContent"] = "readFileContent"
    text: FilePath


class OpenMentionRequest(Request):
    """Open what the mention ``text`` names."""

    type: Literal["openMention"] = "openMention"
    text: FilePath


class SearchFilesRequest(Request):
    """Search the workspace's files by name."""

    type: Literal["searchFiles"] = "searchFiles"
    query: Query | None = None


class FindFileRequest(Request):
    """Whether there is a file or folder of this path; the answer says so."""

    type: Literal["findFile"] = "findFile"
    path: FilePath


class SearchCommitsRequest(Request):
    """Search the workspace's commits."""

    type: Literal["searchCommits"] = "searchCommits"
    query: Query | None = None


class InsertTextIntoTextareaRequest(Request):
    """Put ``text`` into the input of the panel."""

    type: Literal["insertTextIntoTextarea"] = "insertTextIntoTextarea"
    text: Text


class OpenMarkdownPreviewRequest(Request):
    """Show the Markdown ``text`` in a tab."""

    type: Literal["openMarkdownPreview"] = "openMarkdownPreview"
    text: Text


class OpenExternalRequest(Request):
    """Open a web address outside."""

    type: Literal["openExternal"] = "openExternal"
    url: Annotated[str, Field(max_length=4096, pattern=r"^(https?://|mailto:)")]


class TabValues(Message):
    """The section of the tab to show."""

    section: Name | None = None


class SwitchTabRequest(Request):
    """Show a tab of the panel."""

    type: Literal["switchTab"] = "switchTab"
    tab: Tab
    values: TabValues | None = None


class FocusPanelRequest(Request):
    """Bring the panel to the front."""

    type: Literal["focusPanelRequest"] = "focusPanelRequest"


class FlushRouterModelsRequest(Request):
    """Forget the cached models of the provider ``text``."""

    type: Literal["flushRouterModels"] = "flushRouterModels"
    text: Name


class RouterModelsValues(Message):
    """Of which provider, and whether to ask it anew."""

    provider: Name | None = None
    refresh: Flag | None = None


class RequestRouterModelsRequest(Request):
    """Ask for the models of the providers that list them."""

    type: Literal["requestRouterModels"] = "requestRouterModels"
    values: RouterModelsValues | None = None


class OpenAiModelsValues(Message):
    """The endpoint to ask, and with what."""

    base_url: Annotated[str, Field(min_length=1, max_length=4096)]
    api_key: Annotated[str, Field(max_length=10_000)] | None = Field(default=None, repr=False)
    open_ai_headers: Annotated[dict[Name, Annotated[str, Field(max_length=10_000)]], Field(max_length=100)] | None = (
        Field(default=None, repr=False)
    )


class RequestOpenAiModelsRequest(Request):
    """Ask an OpenAI-compatible endpoint for its models."""

    type: Literal["requestOpenAiModels"] = "requestOpenAiModels"
    values: OpenAiModelsValues


class RequestOllamaModelsRequest(Request):
    """Ask Ollama for its models."""

    type: Literal["requestOllamaModels"] = "requestOllamaModels"


class RequestLmStudioModelsRequest(Request):
    """Ask LM Studio for its models."""

    type: Literal["requestLmStudioModels"] = "requestLmStudioModels"


ServicesMessage = (
    OpenMcpSettingsRequest
    | OpenProjectMcpSettingsRequest
    | RestartMcpServerRequest
    | RefreshAllMcpServersRequest
    | ToggleToolAlwaysAllowRequest
    | ToggleToolEnabledForPromptRequest
    | ToggleMcpServerRequest
    | UpdateMcpTimeoutRequest
    | DeleteMcpServerRequest
    | SelectImagesRequest
    | OpenImageRequest
    | SaveImageRequest
    | OpenFileRequest
    | ReadFileContentRequest
    | OpenMentionRequest
    | SearchFilesRequest
    | FindFileRequest
    | SearchCommitsRequest
    | InsertTextIntoTextareaRequest
    | OpenMarkdownPreviewRequest
    | OpenExternalRequest
    | SwitchTabRequest
    | FocusPanelRequest
    | FlushRouterModelsRequest
    | RequestRouterModelsRequest
    | RequestOpenAiModelsRequest
    | RequestOllamaModelsRequest
    | RequestLmStudioModelsRequest
)
