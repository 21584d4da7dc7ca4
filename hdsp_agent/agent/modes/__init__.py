"""Modes: the role the agent is in, and the tools that go with it."""

from __future__ import annotations

from ._builtin import BUILT_IN, DEFAULT_MODE, display_name
from ._import_export import RuleFile, mode_file, mode_of_file, write_rules
from ._project_modes import MODE_FILES, project_modes
from ._registry import ModeRegistry
from ._restrictions import allows_group, changeable_files, file_refusal

__all__ = [
    "BUILT_IN",
    "DEFAULT_MODE",
    "MODE_FILES",
    "ModeRegistry",
    "RuleFile",
    "allows_group",
    "changeable_files",
    "display_name",
    "file_refusal",
    "mode_file",
    "mode_of_file",
    "project_modes",
    "write_rules",
]
