"""What a question about an action warns of, as codes: the approval engine finds them, the panel words them."""

from __future__ import annotations

from typing import Literal

__all__ = ["ApprovalFlag"]

ApprovalFlag = Literal[
    "deletes_recursively",
    "network_to_shell",
    "as_other_user",
    "reads_secrets",
    "reads_outside",
    "writes_outside",
    "installs",
    "uses_network",
    "runs_text",
    "runs_programs",
    "overwrites_history",
    "hidden_parts",
    "strange_characters",
    "remote_content",
    "mcp_changed",
]
"""``network_to_shell``: what the network sends is run. ``runs_text``: a program is given as text (``bash -c``, ``eval``).
``runs_programs``: a cell starts programs from Python. ``overwrites_history``: Git loses or replaces commits or changes.
``hidden_parts``: only the shell knows what it becomes. ``remote_content``: what is shown fetches from the network. ``mcp_changed``: an MCP tool that was always allowed says something else of itself now,
or takes something else."""
