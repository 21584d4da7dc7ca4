"""What doing an errand takes, whoever does it, and how far it may go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = ["MOST_REQUESTS", "MOST_SECONDS", "MOST_TOKENS", "Done"]

MOST_REQUESTS: Final = 8
"""Requests to the model for one errand."""
MOST_TOKENS: Final = 4096
"""Tokens the model may write for one errand; the request that passes it is the last."""
MOST_SECONDS: Final = 420
"""A last resort for a machine that does much else: nothing should be decided by it."""


@dataclass
class Done:
    """How an errand was done: what the person is told, what it took, and what was said on the way."""

    answer: str = ""
    requests: int = 0
    tokens: int = 0
    ended: str = "answered"
    """Why it ended, if not with an answer."""
    transcript: list[str] = field(default_factory=list)
