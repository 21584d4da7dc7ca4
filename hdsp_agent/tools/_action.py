"""What a tool wants to do, in the words the approval engine decides by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..messages import ApprovalFlag

__all__ = ["ActionRequest", "Risk"]

Risk: TypeAlias = Literal[
    "read",
    "read_outside",
    "write",
    "write_outside",
    "write_protected",
    "run_code",
    "kernel",
    "shell",
    "install",
    "network",
    "mcp",
    "mode_switch",
    "subtask",
    "followup",
    "none",
]
"""``read_outside`` and ``write_outside`` also stand for another person's files, and reading for files that commonly hold
passwords, wherever they are: leave to read the workspace is not leave to read those."""


@dataclass(frozen=True)
class ActionRequest:
    """One action. All of its risks must be allowed for it to go on without asking."""

    risks: frozenset[Risk]
    tool: str
    command: str | None = None
    cwd: str | None = None
    path: str | None = None
    """As shown: relative to the workspace inside it, absolute outside."""
    paths: tuple[str, ...] = ()
    server: str | None = None
    matches_hidden: str | None = None
    """A pattern in a command that ``.hdspignore`` keeps some matches of from the agent: only a person may allow that."""
    puts_back_masked: bool = False
    """Whether a masked value would be given back to where it was not before: only a person may allow that."""
    flags: tuple[ApprovalFlag, ...] = ()
    """What the tool itself found to warn of."""
    exactly: bool = False
    """Whether the command runs as it stands, in a cell, and not as it is rendered anew."""
    always_asks: bool = False
    """Whether only a person decides about it, whatever is allowed."""
    allowed_before: bool = False
    """Whether the person allowed this with what they said: a run together with the change of the cells, which are as they
    were approved, or a change of the cell at which they asked for it."""
    not_always_allowed: str | None = None
    """Why a tool of an MCP server is asked about whatever the settings allow: only a person may allow it."""
    same_as: str | None = None
    """A command that would do the same: a rule that denies it denies this, none allows it."""
