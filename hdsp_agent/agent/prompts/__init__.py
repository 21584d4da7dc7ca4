"""What the model is told: its role, how it works, and the instructions of the person and the workspace."""

from __future__ import annotations

from ._rules import RuleText, agent_rules, mode_rules, shared_rules
from ._system import Surroundings, system_prompt

__all__ = ["RuleText", "Surroundings", "agent_rules", "mode_rules", "shared_rules", "system_prompt"]
