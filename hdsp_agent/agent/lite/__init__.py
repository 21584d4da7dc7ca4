"""Working with a small model: a short prompt, and what it may do next decided by what has happened."""

from __future__ import annotations

from ._chosen import ChosenContext
from ._context import LiteContext
from ._since import since_asked

__all__ = ["ChosenContext", "LiteContext", "since_asked"]
