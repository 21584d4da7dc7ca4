"""What the model is told: its role, how it works, and the instructions of the person and the workspace."""

from __future__ import annotations

from ._rules import RuleText, agent_rules, folder_rules, mode_rules, shared_rules, subfolders_with_rules
from ._system import Surroundings, standing_prompt

__all__ = [
    "RuleText",
    "Surroundings",
    "agent_rules",
    "folder_rules",
    "mode_rules",
    "shared_rules",
    "standing_prompt",
    "subfolders_with_rules",
]
