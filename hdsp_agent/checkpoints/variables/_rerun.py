"""Which cells have to run again for what no bytes can bring back: as few as their texts allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ...wire import WireModel
from ._manifest import RecordedRun, VariableEntry
from .runtime import _code

if TYPE_CHECKING:
    from IPython.core.inputtransformer2 import TransformerManager

__all__ = ["Rerun", "RerunCell", "cell_to_rerun", "rerun_for"]


class RerunCell(WireModel):
    """A cell to run again."""

    run: int
    cell: str | None = None
    source: str | None = None
    """What ran, which the notebook's cell may not be any more; absent where it was too long to keep."""
    effects: tuple[str, ...] = ()
    """What running it would do besides; with any of these, ask."""
    overwrites: tuple[str, ...] = ()
    """Variables it writes that are right already: restore again afterwards, leaving what was lost."""
    uncertain: bool = False
    """It runs text or failed when it ran, so that nobody can tell from its code what it does."""


class Rerun(WireModel):
    """A slice of what ran, in its order."""

    cells: tuple[RerunCell, ...] = ()
    unexplained: tuple[str, ...] = ()
    """Variables that no known cell makes."""


def cell_to_rerun(number: int, cell: str, source: str, language: str) -> RerunCell:
    """A cell of a notebook that would run as this one of several, and what its text says that does. May take a while."""
    if language not in ("", "python"):
        return RerunCell(run=number, cell=cell, source=source, uncertain=True)
    facts = _code.facts(source, _transformer().transform_cell)  # type: ignore[no-untyped-call]  # for any Python
    return RerunCell(
        run=number, cell=cell, source=source, effects=tuple(sorted(facts.effects)), uncertain=bool(facts.opaque)
    )


@cache
def _transformer() -> TransformerManager:
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager()  # type: ignore[no-untyped-call]  # IPython leaves it untyped


def rerun_for(lost: Collection[str], runs: Sequence[RecordedRun], variables: Mapping[str, VariableEntry]) -> Rerun:
    """The cells that make what is lost, from what is there again or from other cells."""
    made = {name for run in runs for name in run.writes}
    last_touched = {name: run.run for run in runs for name in (*run.writes, *run.changes)}
    needed = set(lost)
    picked: list[RecordedRun] = []
    for run in reversed(runs):
        written = set(run.writes)
        if not needed & (written | set(run.changes)):
            continue
        picked.append(run)
        needed -= written
        for name in _inputs(run, variables):
            current = variables.get(name)
            is_there = (
                current is not None
                and current.status in ("saved", "module")
                and name not in lost
                and last_touched.get(name, 0) <= run.run
            )
            if name in made and not (is_there and name not in written):
                needed.add(name)
    opaque = [run for run in runs if run.opaque and run not in picked]
    unexplained = sorted(name for name in needed if name in lost)
    if unexplained and opaque:
        # One of them may have made it by a name that its text does not show.
        picked += opaque
    ordered = sorted(picked, key=lambda run: run.run)
    return Rerun(cells=tuple(_cell(run, lost, variables) for run in ordered), unexplained=tuple(unexplained))


def _inputs(run: RecordedRun, variables: Mapping[str, VariableEntry]) -> set[str]:
    """What a cell reads, and what functions it calls read."""
    found: set[str] = set()
    todo = list(run.reads)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        if (entry := variables.get(name)) is not None:
            todo.extend(entry.needs)
    return found


def _cell(run: RecordedRun, lost: Collection[str], variables: Mapping[str, VariableEntry]) -> RerunCell:
    others = sorted(
        name
        for name in {*run.writes, *run.changes}
        if name not in lost and (entry := variables.get(name)) is not None and entry.status == "saved"
    )
    return RerunCell(
        run=run.run,
        cell=run.cell,
        source=run.source,
        effects=run.effects,
        overwrites=tuple(others),
        uncertain=run.opaque or not run.ok or run.source is None,
    )
