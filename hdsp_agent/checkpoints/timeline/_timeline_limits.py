"""What checkpoints may cost: everything here an operator may want to change."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TimelineLimits"]


@dataclass(frozen=True)
class TimelineLimits:
    """Budgets of what is kept besides files."""

    cell_output_bytes: int = 2_000_000
    """A cell's outputs that are larger are left out, and so noted."""
    notebook_output_bytes: int = 20_000_000
    """The same for all outputs of a notebook, the first cells first."""
    notebook_seconds: float = 10.0
    """How long to wait for a notebook; a tab that is silent longer is left out of the checkpoint."""
    variables_seconds: float = 30.0
    """How long to wait for a kernel that is idle."""
    busy_seconds: float = 2.0
    """The same for one that runs a cell."""
    notebooks_bytes: int = 500_000_000
    """What all kept cells may take; the oldest go first."""
    variables_bytes: int = 2_000_000_000
    """What all kept variables may take; the oldest go first."""
    spared_seconds: float = 600.0
    """What is younger may belong to a checkpoint that is being made, so it is not dropped."""
    pointers_bytes: int = 10_000
    """What the pointers in a notebook's metadata may take together."""
