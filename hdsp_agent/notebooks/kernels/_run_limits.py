"""What a run may take: time from the person's settings, memory and display from the design."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RunLimits"]


@dataclass(frozen=True)
class RunLimits:
    """The limits of one run. ``None`` means no limit; sizes are of one cell."""

    idle_seconds: float | None = None
    """A running cell that says nothing for this long is interrupted."""
    total_seconds: float | None = None
    """A cell that runs this long is interrupted."""
    display_characters: int = 200_000
    """Of streams and tracebacks; beyond it the beginning and the end stay. JupyterLab draws a text anew whenever it grows,
    and a million characters stop a page for seconds each time."""
    tail_characters: int = 50_000
    """How much of the end stays."""
    rich_bytes: int = 10_000_000
    """Of images, HTML and other displays; larger ones give way to a word about them."""
    outputs: int = 1_000
    """How many outputs a cell may have; what comes after is counted."""
    kept_bytes: int = 32_000_000
    """Of the whole text of an output that is too long to show, for the artifact."""
    interrupt_seconds: float = 10
    """How long an interrupted cell may take to end before it counts as deaf."""
    start_seconds: float = 60
    """How long a kernel may take to answer for the first time."""
