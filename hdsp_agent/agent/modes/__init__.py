"""Modes: the role the agent is in, and the tools that go with it."""

from __future__ import annotations

from ._book import ModeBook
from ._builtin import BUILT_IN, DEFAULT_MODE
from ._project_modes import MODE_FILES, project_modes
from ._restrictions import allows_group, changeable_files, file_refusal

__all__ = [
    "BUILT_IN",
    "DEFAULT_MODE",
    "MODE_FILES",
    "ModeBook",
    "allows_group",
    "changeable_files",
    "file_refusal",
    "project_modes",
]
