"""Printed tables in little room: the first rows, the last ones, and how many there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ._token_estimate import utf8_length
from ._truncation import Budget, truncated

__all__ = ["is_table", "shortened_table"]

_SHAPE: Final = re.compile(
    r"\[\d[\d,]* rows x \d[\d,]* columns\]$|shape: \(\d[\d_,]*, ?\d[\d_,]*\)$|Length: \d+|\(\d[\d,]* rows"
)
_COLUMNS: Final = re.compile(r"\S {2,}\S|[|│┆]|\t")
_RULE: Final = re.compile(r"[\s+|:=\-─━═┌┬┐├┼┤└┴┘╞╪╡│╭╮╰╯]+$")
_LEAST_ROWS: Final = 6
_LOOKED_AT: Final = 200
_MOST_HEADER: Final = 6
_LEAST_WIDTH: Final = 120


def is_table(text: str) -> bool:
    """Whether a text is a printed table, by its last or first line or by how its lines are built."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < _LEAST_ROWS:
        return False
    if _SHAPE.match(lines[-1]) or _SHAPE.match(lines[0]):
        return True
    lines = lines if len(lines) <= _LOOKED_AT else [*lines[: _LOOKED_AT // 2], *lines[-_LOOKED_AT // 2 :]]
    return sum(_COLUMNS.search(line) is not None for line in lines) >= 0.9 * len(lines)


def shortened_table(text: str, budget: Budget) -> str:
    """A table in about this much room: its header, first and last rows, and its shape, which is counted if it is not told."""
    if utf8_length(text) <= budget.bytes:
        return text
    lines = text.strip("\n").split("\n")
    shape = [line for line in lines if _SHAPE.match(line)]
    # Frames that are too wide for the page come in several parts, one below the other.
    parts = _parts([line for line in lines if not _SHAPE.match(line)])
    share = max(1, (budget.bytes - sum(utf8_length(line) + 1 for line in shape)) // len(parts))
    shown = ["\n".join(_shortened(part, share)) for part in parts]
    rows = max(len(part) - _header(part) for part in parts)
    counted = shape[:1] or [f"[{rows} rows]"]
    return "\n".join([*counted, *shown]) if shape and lines[0] == shape[0] else "\n".join([*shown, *counted])


def _parts(lines: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            parts[-1].append(line)
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part] or [[]]


def _header(lines: Sequence[str]) -> int:
    """How many lines stand over the rows: one, and with a rule below it or a frame around it some more."""
    rules = [place for place, line in enumerate(lines[:_MOST_HEADER]) if _RULE.match(line)]
    return rules[-1] + 1 if rules else 1


def _shortened(lines: Sequence[str], most: int) -> list[str]:
    header = _header(lines)
    width = max(_LEAST_WIDTH, most // (header + _LEAST_ROWS))
    sizes = [min(utf8_length(line), width) + 1 for line in lines]
    left = most - sum(sizes[:header])
    first, last = header, len(lines)
    # One from the top, one from the bottom, until there is no more room; one of each in any case.
    while first < last:
        size = sizes[first] + (sizes[last - 1] if last - 1 > first else 0)
        if size > left and first > header:
            break
        left -= size
        first += 1
        last = max(first, last - 1)
    note = [f"[… {last - first} rows left out …]"] if first < last else []
    return [*(_narrow(line, width) for line in lines[:first]), *note, *(_narrow(line, width) for line in lines[last:])]


def _narrow(line: str, width: int) -> str:
    return truncated(line, Budget("bytes", width)) if len(line) > width // 4 else line
