"""The MCP server: the protocol's methods, answered by the engine."""

from __future__ import annotations

from typing import Any, Final

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from ..._version import __version__
from ...agent.external.port import ExternalAgents
from ...errors import HdspAgentError
from ._call_limits import MOST_CALLS, CallLimits
from ._call_progress import CallClock, SystemClock
from ._calls import ToolCaller
from ._client_info import Context, client_of
from ._content import as_contents, as_resource, as_template, as_tool
from ._prompts import PROMPTS, prompt_result

__all__ = ["McpServer", "protocol_server"]

McpServer = Server[dict[str, Any]]

_INSTRUCTIONS: Final = (
    "HDSP Agent works in the Jupyter notebooks and kernels that a person has open. Address notebooks by path and cells by id. "
    "Never edit .ipynb files as text; what is on the person's screen may be newer. Read cells before you change them. The "
    "person is asked in JupyterLab about what their rules do not allow, so a call may take as long as they need. What runs "
    "long gives a handle to wait for. Every change can be taken back with the checkpoint tools."
)


def protocol_server(
    agents: ExternalAgents, *, most_calls: int = MOST_CALLS, clock: CallClock | None = None
) -> McpServer:
    """A server for clients of 2025-11-25 and of 2026-07-28."""
    calls = ToolCaller(agents, CallLimits(most_calls), clock or SystemClock())

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[as_tool(tool) for tool in await calls.offered(context)])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await calls.call(context, params.name, params.arguments or {})

    async def list_resources(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        offered = await agents.resources(client_of(context))
        return types.ListResourcesResult(resources=[as_resource(each) for each in offered if "{" not in each.uri])

    async def list_templates(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        offered = await agents.resources(client_of(context))
        return types.ListResourceTemplatesResult(
            resource_templates=[as_template(each) for each in offered if "{" in each.uri]
        )

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            parts = await calls.read(context, params.uri)
        except HdspAgentError as error:
            raise MCPError(types.INVALID_PARAMS, error.message, {"uri": params.uri}) from None
        return types.ReadResourceResult(contents=[as_contents(part) for part in parts])

    async def list_prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(PROMPTS))

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return prompt_result(params.name, params.arguments or {})

    return Server(
        "hdsp-agent",
        version=__version__,
        title="HDSP Agent",
        description="The live notebooks and kernels of JupyterLab",
        instructions=_INSTRUCTIONS,
        # No tool of ours declares headers; without this, every call would list all tools first.
        get_tool_input_schema=lambda name: None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
