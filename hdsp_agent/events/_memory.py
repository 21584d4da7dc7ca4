"""What the memory work did, for operators: Roo Code has no such events for programs outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["MemoryEvent"]


@dataclass(frozen=True)
class MemoryEvent:
    """One extraction or consolidation, and what it took."""

    event: Literal["extract", "consolidate"]
    user: str
    outcome: Literal["saved", "nothing", "external", "failed"]
    task_id: str | None = None
    model: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
