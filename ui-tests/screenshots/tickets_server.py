"""An MCP server for the picture of the page that lists such servers."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("Tickets")

READS = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READS)
def find_tickets(text: str) -> str:
    """Search the tickets for words."""
    return f"No ticket has {text}."


@server.tool(annotations=READS)
def read_ticket(number: int) -> str:
    """Read a ticket with its comments."""
    return f"There is no ticket {number}."


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True))
def close_ticket(number: int, reason: str) -> str:
    """Close a ticket, and say why."""
    return f"There is no ticket {number} to close because {reason}."


@server.resource("tickets://open")
def open_tickets() -> str:
    """The open tickets."""
    return "None."


@server.prompt()
def triage(urgency: str) -> str:
    """Sort the open tickets."""
    return f"Sort the open tickets that are {urgency}."


if __name__ == "__main__":
    server.run("stdio")
