"""Programs outside that work through the agent's tools, under its approvals and checkpoints."""
