"""Working with a small model: a short prompt, examples, and what it may do next."""

from __future__ import annotations

from ._lite_context import LiteContext
from ._recent_steps import PUT_BACK, since_asked

__all__ = ["PUT_BACK", "LiteContext", "since_asked"]
