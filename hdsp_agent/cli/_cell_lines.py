"""Cells on the terminal: what is to be changed or run, and how they ran."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from ..messages import CellCode, CellEdit, CellExecuted, ClineSayTool, KernelChanged
from ._columns import one_line

__all__ = ["cell_lines", "executed_lines", "kernel_line"]

_MOST_LINES: Final = 40


def cell_lines(text: str | None) -> Iterator[str]:
    """The cells a question is about: each change as a diff, all code as it will run."""
    try:
        asked = ClineSayTool.model_validate_json(text or "")
    except ValidationError:
        return
    for edit in asked.cell_edits or ():
        yield f"{_change(edit)}:" if edit.diff else _change(edit)
        yield from _indented((edit.diff or "").split("\n")[2:])
    for cell in asked.cells or ():
        yield f"{_named(cell)}:"
        yield from _indented(cell.code.split("\n"))


def executed_lines(text: str | None) -> Iterator[str]:
    """How a cell ended, and its last value."""
    try:
        ran = CellExecuted.model_validate_json(text or "")
    except ValidationError:
        return
    facts: list[str] = [ran.state]
    if ran.execution_count is not None and ran.cell_id is not None:
        facts.append(f"[{ran.execution_count}]")
    if ran.duration_ms is not None:
        facts.append(f"{ran.duration_ms / 1000:.1f} s")
    if ran.reason:
        facts.append(ran.reason)
    name = f"cell {ran.number}" if ran.number is not None else "code"
    yield f"{name}: {', '.join(facts)}"
    result = (ran.result or "").split("\n") if ran.result else []
    yield from _indented(result[:_MOST_LINES])
    if len(result) > _MOST_LINES:
        yield f"  (and {len(result) - _MOST_LINES} more lines)"


def kernel_line(text: str | None) -> str | None:
    """What happened to a kernel."""
    try:
        changed = KernelChanged.model_validate_json(text or "")
    except ValidationError:
        return None
    return one_line(f"kernel {changed.kernel or ''} of {changed.path}: {changed.change}")


def _change(edit: CellEdit) -> str:
    cell = f"cell {edit.number}" if edit.number is not None else f"cell {edit.cell_id or ''}".rstrip()
    where = "" if edit.after is None else " at the top" if edit.after == 0 else f" behind cell {edit.after}"
    match edit.op:
        case "insert":
            return f"new {edit.cell_type or 'code'} cell{where}"
        case "changeType":
            return f"{cell} becomes {edit.cell_type}"
        case "clearOutputs":
            return f"clear the outputs of {cell}"
        case _:
            return f"{edit.op} {cell}{where}"


def _named(cell: CellCode) -> str:
    return "code" if cell.number is None else f"cell {cell.number}"


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
