"""How monitoring is told of a tool."""

from __future__ import annotations

from typing import Final

__all__ = ["shown_tool"]

_MCP_TOOLS: Final = "mcp--"


def shown_tool(name: str) -> str:
    """Its name. Those of people's own tools say what they work on, and there is no end to them: they are one."""
    return "mcp" if name.startswith(_MCP_TOOLS) else name
