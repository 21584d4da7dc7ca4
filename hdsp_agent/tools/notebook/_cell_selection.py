"""Which cells a call means: by id, by number, or from one to another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, StringConstraints

from ...messages import CellId
from ...notebooks import Cell, NotebookSnapshot
from .._tool_failed import PresentCell, ToolFailed

__all__ = ["CellName", "CellNames", "as_list", "cell_named", "chosen_cells", "numbers_of"]

_NUMBERS: Final = re.compile(r"(\d+)\s*-\s*(\d+)")
_MOST_LISTED: Final = 60


def _as_text(value: object) -> object:
    """A number as models give it, without the quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def as_list(value: object) -> object:
    """One value as models give it where a list is due."""
    return [value] if isinstance(value, (str, int)) else value


CellName = Annotated[str, BeforeValidator(_as_text), StringConstraints(min_length=1, max_length=200)]
CellNames = Annotated[list[CellName], BeforeValidator(as_list), Field(min_length=1, max_length=1_000)]


def numbers_of(snapshot: NotebookSnapshot) -> dict[CellId, int]:
    """Each cell's number, from 1."""
    return {cell.id: number for number, cell in enumerate(snapshot.cells, 1)}


def cell_named(name: str, snapshot: NotebookSnapshot, shown: str) -> Cell:
    """The cell of this id or number. Raises ToolFailed that says which there are."""
    return snapshot.cells[_place(name, snapshot, shown)]


def chosen_cells(names: Sequence[str], snapshot: NotebookSnapshot, shown: str) -> list[Cell]:
    """The cells meant, in the notebook's order, each once."""
    places: set[int] = set()
    for name in names:
        places.update(_places(name.strip(), snapshot, shown))
    return [snapshot.cells[place] for place in sorted(places)]


def _places(name: str, snapshot: NotebookSnapshot, shown: str) -> range:
    if any(cell.id == name for cell in snapshot.cells):
        at = _place(name, snapshot, shown)
        return range(at, at + 1)
    if name == "all":
        return range(len(snapshot.cells))
    numbers = _NUMBERS.fullmatch(name)
    first, separator, last = (numbers[1], "-", numbers[2]) if numbers else name.partition("..")
    if not separator:
        at = _place(name, snapshot, shown)
        return range(at, at + 1)
    begin = _place(first, snapshot, shown) if first.strip() else 0
    end = _place(last, snapshot, shown) if last.strip() else len(snapshot.cells) - 1
    if end < begin:
        raise ToolFailed(f"{name} leads backwards: in {shown} {last} comes before {first}.")
    return range(begin, end + 1)


def _place(name: str, snapshot: NotebookSnapshot, shown: str) -> int:
    name = name.strip()
    for place, cell in enumerate(snapshot.cells):
        if cell.id == name:
            return place
    if name.isascii() and name.isdigit() and 1 <= int(name) <= len(snapshot.cells):
        return int(name) - 1
    cells = [PresentCell(cell.id, at, cell.cell_type) for at, cell in enumerate(snapshot.cells[:_MOST_LISTED], 1)]
    raise ToolFailed(f"{shown} has no cell {name}. {_there_are(snapshot)}", code="cell_unknown", cells=cells)


def _there_are(snapshot: NotebookSnapshot) -> str:
    if not snapshot.cells:
        return "It has no cells at all."
    listed = ", ".join(f"{number} {cell.id}" for number, cell in enumerate(snapshot.cells[:_MOST_LISTED], 1))
    more = f" and so on to {len(snapshot.cells)}" if len(snapshot.cells) > _MOST_LISTED else ""
    return f"Its cells, by number and id: {listed}{more}."
