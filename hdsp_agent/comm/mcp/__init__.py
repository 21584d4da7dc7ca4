"""The way to the MCP server: where programs reach it, who may, and the bridge from Tornado to it."""
