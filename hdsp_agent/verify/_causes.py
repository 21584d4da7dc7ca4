"""Why a cell shows something else, as far as the notebook tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from ._comparison import ShownOutput
from ._report import Cause

__all__ = ["cause_of", "made_names"]

_NAME: Final = re.compile(r"name '([^']+)' is not defined")
_FILE: Final = re.compile(r"\[Errno 2\][^:]*: '([^']+)'|No such file or directory: '?([^'\n]+)'?")
_MODULE: Final = re.compile(r"No module named '([^']+)'")

Cells = Sequence[Mapping[str, object]]


def cause_of(
    at: int,
    now: Sequence[ShownOutput],
    cells: Cells,
    failed: Mapping[int, frozenset[str]],
    *,
    varies: bool,
    folder: Path,
) -> tuple[Cause, str]:
    """Of the code cell at this place: why, and what people should know.

    ``failed`` are the cells above that failed, by their places, with the names they were to make. ``varies`` is whether
    it showed something else again when the notebook ran once more, ``folder`` where the notebook is.
    """
    error = next((one.content for one in now if one.kind == "error"), None)
    if error is not None:
        return _of_error(at, error, cells, failed, folder)
    if varies:
        return "varies", "It is another at each run, as random numbers without a seed, the time and sets are."
    counts = [_count(cell) for cell in cells]
    before = [count for count in counts[: at + 1] if count is not None]
    if any(later < earlier for earlier, later in pairwise(before)):
        return "order", "The cells had run in another order than they stand in."
    if before and before != list(range(before[0], before[0] + len(before))):
        return "hidden_state", "A cell had run more often than once, or one that is gone had run."
    return "changed", "Data, code or a library are others than when it ran."


def made_names(source: str) -> frozenset[str]:
    """The names that a cell gives values to. Loads IPython: call it only for a notebook with a fault."""
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        tree = ast.parse(TransformerManager().transform_cell(source))  # type: ignore[no-untyped-call]
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update((each.asname or each.name).partition(".")[0] for each in names)
            case _:
                pass
    return frozenset(found)


def _of_error(
    at: int, error: str, cells: Cells, failed: Mapping[int, frozenset[str]], folder: Path
) -> tuple[Cause, str]:
    if found := _NAME.search(error):
        name = found[1]
        culprit = next((place for place, names in failed.items() if name in names), None)
        if culprit is not None:
            return "follows", f"Cell {culprit + 1}, which makes {name}, fails."
        below = next((place for place in range(at + 1, len(cells)) if name in made_names(_source(cells[place]))), None)
        if below is not None:
            return "order", f"{name} is made in cell {below + 1}, which is below."
        return "hidden_state", f"No cell seems to make {name}."
    if found := _MODULE.search(error):
        return "missing_module", f"{found[1]} is not installed for this kernel."
    if error.startswith("FileNotFoundError") and (found := _FILE.search(error)):
        file = found[1] or found[2]
        if (folder / file).exists():
            return "missing_file", f"{file} is far outside the folder that was copied. --in-place finds it."
        return "missing_file", f"There is no file {file}."
    if failed:
        return "follows", f"Cell {min(failed) + 1} above it fails."
    return "fails", "It fails."


def _count(cell: Mapping[str, object]) -> int | None:
    count = cell.get("execution_count")
    return count if isinstance(count, int) and cell.get("cell_type") == "code" else None


def _source(cell: Mapping[str, object]) -> str:
    return str(cell.get("source", "")) if cell.get("cell_type") == "code" else ""
