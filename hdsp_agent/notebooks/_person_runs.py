"""What the person ran by themselves: context for the agent, which never takes part in those runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..messages import CellId

__all__ = ["PersonRun", "PersonRuns"]


@dataclass(frozen=True)
class PersonRun:
    """One cell the person ran."""

    cell_id: CellId | None
    """None for code of a console or a widget."""
    ok: bool
    ended_at: int
    """Milliseconds since 1970."""
    execution_count: int | None = None
    error: str | None = None
    """Name and message of the exception."""
    source: str | None = None
    """The beginning of what ran."""
    traceback: str | None = None
    """Its last frames, without colours."""


PersonRuns: TypeAlias = Callable[[str], Sequence[PersonRun]]
"""The last ones in the kernel of the notebook at this path, newest last."""
