"""What people hear of a repair after a refused request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["RecoveryNotice"]


@dataclass(frozen=True)
class RecoveryNotice:
    """How it goes with a request that a provider refused: something was tried, it helped, or nothing is left."""

    kind: Literal["tried", "recovered", "exhausted"]
    text: str
