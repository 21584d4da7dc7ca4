"""One task: how it starts, its loop of requests and tool calls, its limits, and how it ends."""
