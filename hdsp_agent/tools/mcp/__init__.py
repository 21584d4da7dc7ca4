"""Tools and resources of MCP servers."""

from __future__ import annotations

from ._answers import answer_blocks
from ._tools import MCP_TOOLS, MOST_OFFERED_MCP_TOOLS, mcp_tool_specs, named_mcp_tool, offers_search

__all__ = [
    "MCP_TOOLS",
    "MOST_OFFERED_MCP_TOOLS",
    "answer_blocks",
    "mcp_tool_specs",
    "named_mcp_tool",
    "offers_search",
]
