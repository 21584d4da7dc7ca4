"""What people think of answers, without their reasons: Roo Code has no such events for programs outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FeedbackEvent"]


@dataclass(frozen=True)
class FeedbackEvent:
    """An answer was rated; ``none`` says that the rating was taken back."""

    task_id: str
    rating: Literal["up", "down", "none"]
    has_reason: bool
