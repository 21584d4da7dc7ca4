"""MCP servers as pages see them, and what pages ask for about them."""

from typing import Literal, TypeAlias

from pydantic import Field

from ._base import Count, Flag, Message, Name
from ._webview_base import Request

__all__ = [
    "DeleteMcpServerRequest",
    "McpPrompt",
    "McpPromptArgument",
    "McpRequest",
    "McpResourceInfo",
    "McpResourceTemplate",
    "McpServer",
    "McpServersMessage",
    "McpSource",
    "McpTool",
    "RefreshAllMcpServersRequest",
    "RestartMcpServerRequest",
    "ToggleMcpServerRequest",
    "ToggleToolAlwaysAllowRequest",
    "ToggleToolEnabledForPromptRequest",
    "UpdateMcpTimeoutRequest",
]

McpSource: TypeAlias = Literal["global", "project"]


class McpTool(Message):
    """A tool of a server. ``changed``: it was always allowed, and is another one now. ``fingerprint``: what is allowed is
    the tool of this one. The claims decide nothing."""

    name: str
    title: str | None = None
    description: str | None = None
    always_allow: Flag
    enabled_for_prompt: Flag
    fingerprint: str
    changed: Flag = False
    read_only: bool | None = None
    destructive: bool | None = None


class McpResourceInfo(Message):
    """Something a server lets be read."""

    uri: str
    name: str
    mime_type: str | None = None
    description: str | None = None


class McpResourceTemplate(Message):
    """Addresses of one form that a server lets be read."""

    uri_template: str
    name: str
    mime_type: str | None = None
    description: str | None = None


class McpPromptArgument(Message):
    """What a prompt is filled in with."""

    name: str
    description: str | None = None
    required: Flag = False


class McpPrompt(Message):
    """A message that a server has written; ``command`` is what to type for it."""

    name: str
    title: str | None = None
    description: str | None = None
    command: str
    arguments: list[McpPromptArgument] = Field(default_factory=list)


class McpServer(Message):
    """One server, as it stands. What it offers is there only where it was asked for."""

    name: str
    config: str
    status: Literal["connected", "connecting", "disconnected"]
    auth_status: Literal["unauthenticated", "awaiting_auth", "authenticated"] | None = None
    error: str | None = None
    disabled: Flag
    timeout: float
    source: McpSource
    instructions: str | None = None
    address: str
    needs_approval: Flag = False
    forbidden: Flag = False
    unusable: Flag = False
    tool_count: Count = 0
    tools: list[McpTool] | None = None
    resources: list[McpResourceInfo] | None = None
    resource_templates: list[McpResourceTemplate] | None = None
    prompts: list[McpPrompt] | None = None


class McpServersMessage(Message):
    """The MCP servers are in another state now. Ask again for what they offer, if that is on screen."""

    type: Literal["mcpServers"] = "mcpServers"
    mcp_servers: list[McpServer]


class RestartMcpServerRequest(Request):
    """Connect anew to the server named ``text``."""

    type: Literal["restartMcpServer"] = "restartMcpServer"
    text: Name
    source: McpSource


class ToggleMcpServerRequest(Request):
    """Switch a server on or off; on is also the yes to one that a folder brings."""

    type: Literal["toggleMcpServer"] = "toggleMcpServer"
    server_name: Name
    source: McpSource
    disabled: Flag


class ToggleToolAlwaysAllowRequest(Request):
    """Allow a tool once and for all, or ask about it again. It is refused if the tool is no longer that of ``fingerprint``,
    as it was shown; without one it is allowed as it is now."""

    type: Literal["toggleToolAlwaysAllow"] = "toggleToolAlwaysAllow"
    server_name: Name
    source: McpSource
    tool_name: Name
    always_allow: Flag
    fingerprint: Name | None = None


class ToggleToolEnabledForPromptRequest(Request):
    """Offer a tool to the model, or do not."""

    type: Literal["toggleToolEnabledForPrompt"] = "toggleToolEnabledForPrompt"
    server_name: Name
    source: McpSource
    tool_name: Name
    is_enabled: Flag


class UpdateMcpTimeoutRequest(Request):
    """How many seconds a call may take without a sign of life."""

    type: Literal["updateMcpTimeout"] = "updateMcpTimeout"
    server_name: Name
    source: McpSource
    timeout: float


class DeleteMcpServerRequest(Request):
    """Take a server out of its file, with its keys."""

    type: Literal["deleteMcpServer"] = "deleteMcpServer"
    server_name: Name
    source: McpSource


class RefreshAllMcpServersRequest(Request):
    """Read the files again, and connect to all servers anew."""

    type: Literal["refreshAllMcpServers"] = "refreshAllMcpServers"


McpRequest = (
    RestartMcpServerRequest
    | ToggleMcpServerRequest
    | ToggleToolAlwaysAllowRequest
    | ToggleToolEnabledForPromptRequest
    | UpdateMcpTimeoutRequest
    | DeleteMcpServerRequest
    | RefreshAllMcpServersRequest
)
