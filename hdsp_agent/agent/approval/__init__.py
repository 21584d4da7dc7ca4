"""Whether what the agent wants to do is done at once, asked about, or refused."""

from __future__ import annotations

from ._command_approval import CommandDecision, decide_command
from ._engine import ApprovalEngine, ApprovalSummary, Decision, standing
from ._git_settings import git_settings_problem
from ._rule_suggestions import NO_RULES, Suggestions, suggest_rules

__all__ = [
    "NO_RULES",
    "ApprovalEngine",
    "ApprovalSummary",
    "CommandDecision",
    "Decision",
    "Suggestions",
    "decide_command",
    "git_settings_problem",
    "standing",
    "suggest_rules",
]
