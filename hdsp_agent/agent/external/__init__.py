"""Agents outside that work through our tools: each is a session with a name, under the same approvals and checkpoints."""
