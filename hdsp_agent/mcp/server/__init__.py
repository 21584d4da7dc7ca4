"""Our tools for other agents: the MCP server, without the way that leads to it."""
