"""How far a runner of an eval task may go, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = ["MOST_REQUESTS", "MOST_SECONDS", "MOST_TOKENS", "Attempt"]

MOST_REQUESTS: Final = 8
"""Requests to the model for one task."""
MOST_TOKENS: Final = 4096
"""Tokens the model may write for one task; the request that passes it is the last."""
MOST_SECONDS: Final = 420
"""A last resort for a machine that does much else: nothing should be decided by it."""


@dataclass
class Attempt:
    """How an eval task was attempted: what the person is told, what it took, and what was said on the way."""

    answer: str = ""
    requests: int = 0
    tokens: int = 0
    ended: str = "answered"
    """Why it ended, if not with an answer."""
    transcript: list[str] = field(default_factory=list)
