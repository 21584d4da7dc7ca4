"""Working with a small model: a short prompt, and what it may do next decided by what has happened."""

from __future__ import annotations

from ._lite_context import LiteContext
from ._recent_steps import since_asked

__all__ = ["LiteContext", "since_asked"]
