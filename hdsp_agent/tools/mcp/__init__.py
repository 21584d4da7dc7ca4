"""Tools and resources of MCP servers."""

from __future__ import annotations

from ._answers import answer_blocks
from ._port import (
    MCP_PREFIX,
    AskPerson,
    McpAnswer,
    McpImage,
    McpOffer,
    McpPart,
    McpResource,
    McpServers,
    OfferedMcpTool,
    Progressed,
)
from ._tools import MCP_TOOLS, MOST_OFFERED_MCP_TOOLS, mcp_tool_specs, named_mcp_tool, offers_search

__all__ = [
    "MCP_PREFIX",
    "MCP_TOOLS",
    "MOST_OFFERED_MCP_TOOLS",
    "AskPerson",
    "McpAnswer",
    "McpImage",
    "McpOffer",
    "McpPart",
    "McpResource",
    "McpServers",
    "OfferedMcpTool",
    "Progressed",
    "answer_blocks",
    "mcp_tool_specs",
    "named_mcp_tool",
    "offers_search",
]
