"""Whether what a code cell shows is what it would show now.

The rules, for code cells in the order of the notebook; the first that fits decides:

1. Nothing but white space in it: ``empty``.
2. It ran in the present kernel, as far as the server saw, and
   - its source is not the one that ran: ``stale``, ``source_changed``;
   - its last run failed: ``failed``;
   - a code cell above it ran later: ``stale``, ``ran_before_cell_above``, which names the one that ran last;
   - otherwise ``fresh``.
3. The server did not see it run, and it has neither an execution count nor outputs: ``never_ran``.
4. The server saw all that ran in the present kernel, and this cell not: ``stale``, ``not_in_this_kernel``. What it
   defines is not there.
5. By the file alone: a code cell above has a higher execution count: ``stale``, ``ran_before_cell_above``; otherwise
   ``unknown``. It ran sometime, perhaps with another source or in a kernel that is gone.

A cell that was deleted says nothing about others, and a failed cell above counts as one that ran. Where the server saw
a run, its order goes before execution counts, which begin anew with each kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from ..messages import CellId, SourceHash
from ._document import Cell

__all__ = ["NOTHING_SEEN", "CellFreshness", "FreshnessState", "RanCell", "RunMemory", "StaleReason", "freshness_of"]

FreshnessState = Literal["empty", "fresh", "stale", "failed", "never_ran", "unknown"]
StaleReason = Literal["source_changed", "ran_before_cell_above", "not_in_this_kernel"]


@dataclass(frozen=True)
class RanCell:
    """A cell's last run in the present kernel."""

    source_hash: SourceHash
    order: int
    """Rises with every run of the kernel."""
    failed: bool = False


@dataclass(frozen=True)
class RunMemory:
    """What the server saw running in a notebook's present kernel, whoever ran it."""

    ran: Mapping[CellId, RanCell]
    complete: bool = False
    """Whether it watched from the kernel's start on."""


NOTHING_SEEN: Final = RunMemory({})


@dataclass(frozen=True)
class CellFreshness:
    """How it stands with one code cell."""

    state: FreshnessState
    reason: StaleReason | None = None
    because_of: CellId | None = None
    """The cell above that ran later."""


def freshness_of(cells: Iterable[Cell], memory: RunMemory = NOTHING_SEEN) -> dict[CellId, CellFreshness]:
    """How it stands with each code cell; other cells are not in it."""
    states: dict[CellId, CellFreshness] = {}
    last_seen: tuple[int, CellId] | None = None
    last_counted: tuple[int, CellId] | None = None
    for cell in cells:
        if cell.cell_type != "code":
            continue
        ran = memory.ran.get(cell.id)
        if not cell.source.strip():
            states[cell.id] = CellFreshness("empty")
        elif ran is not None:
            states[cell.id] = _of_seen(cell, ran, last_seen)
        else:
            states[cell.id] = _of_unseen(cell, memory, last_counted)
        if ran is not None:
            last_seen = max(last_seen or (ran.order, cell.id), (ran.order, cell.id))
        if cell.execution_count is not None:
            last_counted = max(last_counted or (cell.execution_count, cell.id), (cell.execution_count, cell.id))
    return states


def _of_seen(cell: Cell, ran: RanCell, above: tuple[int, CellId] | None) -> CellFreshness:
    if ran.source_hash != cell.hash:
        return CellFreshness("stale", "source_changed")
    if ran.failed:
        return CellFreshness("failed")
    if above is not None and above[0] > ran.order:
        return CellFreshness("stale", "ran_before_cell_above", above[1])
    return CellFreshness("fresh")


def _of_unseen(cell: Cell, memory: RunMemory, above: tuple[int, CellId] | None) -> CellFreshness:
    if cell.execution_count is None and not cell.has_outputs:
        return CellFreshness("never_ran")
    if memory.complete:
        return CellFreshness("stale", "not_in_this_kernel")
    if above is not None and cell.execution_count is not None and above[0] > cell.execution_count:
        return CellFreshness("stale", "ran_before_cell_above", above[1])
    return CellFreshness("unknown")
