"""One answer of the model while it is acted on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Turn"]


@dataclass
class Turn:
    """What all calls of one answer share."""

    rejected: bool = False
    """Whether the person refused something in this turn: nothing after it is done, or even asked about."""
