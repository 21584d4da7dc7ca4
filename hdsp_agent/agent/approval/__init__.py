"""Whether what the agent wants to do is done at once, asked about, or refused."""

from __future__ import annotations

from ._commands import CommandDecision, CommandPart, Verdict, decide_command
from ._engine import ApprovalEngine, Decision, Standing, standing
from ._git_settings import git_settings_problem
from ._suggestions import Suggestions, suggest_rules

__all__ = [
    "ApprovalEngine",
    "CommandDecision",
    "CommandPart",
    "Decision",
    "Standing",
    "Suggestions",
    "Verdict",
    "decide_command",
    "git_settings_problem",
    "standing",
    "suggest_rules",
]
