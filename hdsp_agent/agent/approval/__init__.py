"""Whether what the agent wants to do is done at once, asked about, or refused."""

from __future__ import annotations

from ._commands import CommandDecision, CommandPart, Verdict, decide_command
from ._engine import ApprovalEngine, Decision

__all__ = ["ApprovalEngine", "CommandDecision", "CommandPart", "Decision", "Verdict", "decide_command"]
