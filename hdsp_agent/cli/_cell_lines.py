"""Cells and kernels on the terminal: how they ran, and what happened to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from ..messages import CellExecuted, KernelChanged
from ._columns import one_line

__all__ = ["executed_lines", "kernel_line"]

_MOST_LINES: Final = 40


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


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
