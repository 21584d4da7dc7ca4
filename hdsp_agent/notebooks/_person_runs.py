"""What the person ran by themselves: context for the agent, which never takes part in those runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..messages import CellId

__all__ = ["NoPersonRuns", "PersonRun", "PersonRuns"]


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


class PersonRuns(Protocol):
    """Knows them, newest last."""

    def __call__(self, path: str) -> Sequence[PersonRun]:
        """The last ones in the kernel of this notebook."""


class NoPersonRuns:
    """Where nobody watches the kernels."""

    def __call__(self, path: str) -> Sequence[PersonRun]:
        """None are known."""
        return ()
