"""What checkpoints of variables may cost: everything here an operator may want to change."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["VariableLimits"]


@dataclass(frozen=True)
class VariableLimits:
    """Budgets of one kernel's variables."""

    inline_seconds: float = 0.3
    """How long a sweep after a run may keep the kernel; what is left is saved while it is idle."""
    variable_bytes: int = 512_000_000
    """A larger variable is not saved: it has to be computed again."""
    total_bytes: int = 2_000_000_000
    held_bytes: int = 256_000_000
    """How much may wait in the kernel's memory until it is written."""
    busy_seconds: float = 600.0
    """How long to wait for a kernel that runs a cell."""
    write_seconds: float = 300.0
    """How long to wait for what was saved to be on disk."""
