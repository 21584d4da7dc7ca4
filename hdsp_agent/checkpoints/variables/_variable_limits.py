"""What checkpoints of variables may cost: everything here an operator may want to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...config import GlobalSettings

__all__ = ["VariableLimits"]

_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True)
class VariableLimits:
    """Budgets of one kernel's variables."""

    inline_seconds: float = 0.3
    """How long a sweep after a run may keep the kernel; what is left is saved while it is idle."""
    variable_bytes: int = 512_000_000
    """A larger variable is not saved: it has to be computed again."""
    total_bytes: int = 2_000_000_000
    sent_variable_bytes: int = 64_000_000
    """As ``variable_bytes``, for a kernel that does not see the store and sends its variables as messages."""
    sent_total_bytes: int = 256_000_000
    held_bytes: int = 256_000_000
    """How much may wait in the kernel's memory until it is written."""
    free_bytes: int = 500_000_000
    """Where the disk has less left, no variables are saved for a moment."""
    busy_seconds: float = 600.0
    """How long to wait for a kernel that runs a cell."""
    write_seconds: float = 300.0
    """How long to wait for what was saved to be on disk."""
    last_seconds: float = 1.0
    """How long to wait for what the kernel knows already."""

    @classmethod
    def of(cls, settings: GlobalSettings) -> VariableLimits:
        """What the person and the operator decided."""
        return cls(
            inline_seconds=settings.checkpoint_max_sweep_milliseconds / 1000,
            variable_bytes=settings.checkpoint_max_variable_megabytes * _MEGABYTE,
            total_bytes=settings.checkpoint_max_variables_megabytes * _MEGABYTE,
        )
