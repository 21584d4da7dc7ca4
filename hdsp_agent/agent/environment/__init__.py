"""What a model is told of its environment: all of it once, later only what changed."""

from __future__ import annotations

from .basic_sections import facts
from .current import CurrentEnvironment
from .environment_log import renumbered
from .environment_prompt import EnvironmentBasis
from .sections import Section, SectionEntry, bounded

__all__ = [
    "CurrentEnvironment",
    "EnvironmentBasis",
    "Section",
    "SectionEntry",
    "bounded",
    "facts",
    "renumbered",
]
