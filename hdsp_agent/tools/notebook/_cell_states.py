"""How it stands with cells, in the words the model reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from ...messages import CellId
from ...notebooks import CellFreshness, OutlineLine

__all__ = ["outline_line", "outline_text", "state_words"]


def state_words(freshness: CellFreshness, numbers: Mapping[CellId, int | CellId]) -> str:
    """One state, and why."""
    match freshness.state:
        case "empty" | "fresh" | "failed" | "unknown":
            return freshness.state
        case "never_ran":
            return "never ran"
        case "stale":
            return f"stale: {_why(freshness, numbers)}"
        case _:
            assert_never(freshness.state)


def outline_text(lines: Sequence[OutlineLine], numbers: Mapping[CellId, int] | None = None) -> str:
    """A line for each cell: number, id, type, count, state, outputs, first line."""
    known = numbers or {line.cell_id: line.number for line in lines}
    return "\n".join(f"{line.number} {outline_line(line, known)}" for line in lines)


def outline_line(line: OutlineLine, names: Mapping[CellId, int | CellId]) -> str:
    """What is said of one cell behind its number. ``names`` are what other cells are called."""
    facts: list[str] = []
    if line.cell_type == "code":
        facts.append(f"[{line.execution_count if line.execution_count is not None else ' '}]")
    if line.freshness is not None and line.freshness.state != "empty":
        facts.append(f"({state_words(line.freshness, names)})")
    if line.outputs.error is not None:
        facts.append(f"({line.outputs.error})")
    if line.outputs.images:
        facts.append(f"({line.outputs.images} images)" if line.outputs.images > 1 else "(1 image)")
    title = f"{'#' * line.level} {line.title}" if line.level else line.title
    more = f" … {line.lines} lines" if line.lines > 1 else ""
    about = f" {' '.join(facts)}" if facts else ""
    return f"{line.cell_id} {line.cell_type}{about} {title or '(empty)'}{more}"


def _why(freshness: CellFreshness, numbers: Mapping[CellId, int | CellId]) -> str:
    match freshness.reason:
        case "source_changed":
            return "changed since it ran"
        case "ran_before_cell_above":
            above = numbers.get(freshness.because_of) if freshness.because_of is not None else None
            return f"cell {above} above ran later" if above is not None else "a cell above ran later"
        case "not_in_this_kernel" | None:
            return "not run in this kernel"
        case _:
            assert_never(freshness.reason)
