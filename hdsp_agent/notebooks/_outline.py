"""A notebook in one line a cell: what there is, where, how long, and how it stands with each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..messages import CellId
from ._document import Cell, CellType, NotebookSnapshot, OutputSummary
from ._freshness import NOTHING_SEEN, CellFreshness, RunMemory, freshness_of

__all__ = ["OutlineLine", "outline_of"]

_LONGEST_TITLE: Final = 80
_FENCED: Final = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S.*)$", re.MULTILINE)
_CLOSING_MARKS: Final = re.compile(r"[ \t]#+$")
_UNDERLINED: Final = re.compile(r"^ {0,3}(\S.*)\n {0,3}(=+|-+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class OutlineLine:
    """What an outline says of one cell."""

    number: int
    """From 1, as a person counts."""
    cell_id: CellId
    cell_type: CellType
    title: str
    """A Markdown cell's first heading, else the first line that says something, shortened."""
    level: int | None
    """Of the heading, from 1."""
    lines: int
    characters: int
    execution_count: int | None
    outputs: OutputSummary
    freshness: CellFreshness | None
    """Of code cells."""


def outline_of(snapshot: NotebookSnapshot, memory: RunMemory = NOTHING_SEEN) -> tuple[OutlineLine, ...]:
    """A line for each cell, in the notebook's order."""
    states = freshness_of(snapshot.cells, memory)
    return tuple(_line(number, cell, states) for number, cell in enumerate(snapshot.cells, start=1))


def _line(number: int, cell: Cell, states: Mapping[CellId, CellFreshness]) -> OutlineLine:
    heading = _heading(cell.source) if cell.cell_type == "markdown" else None
    title, level = heading or (_first_line(cell.source), None)
    return OutlineLine(
        number=number,
        cell_id=cell.id,
        cell_type=cell.cell_type,
        title=_shortened(title),
        level=level,
        lines=cell.source.count("\n") + 1 if cell.source else 0,
        characters=len(cell.source),
        execution_count=cell.execution_count,
        outputs=cell.output_summary,
        freshness=states.get(cell.id),
    )


def _heading(source: str) -> tuple[str, int] | None:
    text = _FENCED.sub("", source) if "```" in source or "~~~" in source else source
    marked, underlined = _HEADING.search(text), _UNDERLINED.search(text)
    if marked and (underlined is None or marked.start() < underlined.start()):
        return _CLOSING_MARKS.sub("", marked[2].rstrip()).rstrip(), len(marked[1])
    return (underlined[1], 1 if underlined[2].startswith("=") else 2) if underlined else None


def _first_line(source: str) -> str:
    return next((line.strip() for line in source.splitlines() if line.strip()), "")


def _shortened(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"
