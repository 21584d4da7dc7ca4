"""What the model is told: its role, how it works, and the instructions of the person and the workspace."""

from __future__ import annotations

from ._rules_files import agent_rules, folder_rules, mode_rules, shared_rules, subfolders_with_rules
from ._system_prompt import PromptFacts, standing_prompt

__all__ = [
    "PromptFacts",
    "agent_rules",
    "folder_rules",
    "mode_rules",
    "shared_rules",
    "standing_prompt",
    "subfolders_with_rules",
]
