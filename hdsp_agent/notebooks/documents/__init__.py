"""The notebook documents that the agent can read and change: in a browser tab, in a shared room, or as a file."""
