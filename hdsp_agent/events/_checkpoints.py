"""What happens to a workspace's checkpoints, and how long it took: Roo Code has no such events for programs outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CheckpointEvent"]


@dataclass(frozen=True)
class CheckpointEvent:
    """``initialize``: a workspace's checkpoints were opened. ``checkpoint``: it was saved. ``restore``: a restore or an undo.

    ``commit`` is the state that was saved or restored.
    """

    event: Literal["initialize", "checkpoint", "restore"]
    duration_ms: int
    task_id: str | None = None
    commit: str | None = None
