"""The place of a cursor, and the gap that a model is to fill there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ...notebooks.kernels import Variable
from ...providers import Gap

__all__ = [
    "CellAbove",
    "Kind",
    "Place",
    "empty_block",
    "gap_at",
    "indentation_of",
    "is_python",
    "line_below",
    "takes_lines",
]

Kind = Literal["code", "markdown"]

_MOST_BEFORE: Final = 3_000
"""Characters. A model on this machine reads some hundred tokens a second."""
_MOST_AFTER: Final = 600
_MOST_KNOWN: Final = 700
_MOST_COLUMNS: Final = 12
_LINE_TOKENS: Final = 40
_LINES_TOKENS: Final = 112
_OPENS: Final = re.compile(r"[:\[({]\s*\Z")


@dataclass(frozen=True)
class CellAbove:
    """A cell before the one that is written in."""

    kind: Kind
    source: str


@dataclass(frozen=True)
class Place:
    """Where somebody writes."""

    before: str
    after: str
    kind: Kind = "code"
    language: str = "python"
    cells: Sequence[CellAbove] = ()
    """The nearest last."""


def takes_lines(place: Place) -> bool:
    """Whether several lines may come here: where a line begins, and behind what opens a block.

    Right above other code it is one line, unless a block is empty: small models write on to the end of the function, past
    what is there already.
    """
    line, rest = place.before.rpartition("\n")[2], place.after.partition("\n")[0]
    if place.kind != "code" or rest.strip() or (line.strip() and not _OPENS.search(line)):
        return False
    return not line_below(place) or empty_block(place) is not None


def line_below(place: Place) -> str:
    """The line right below that of the cursor; empty if it is blank."""
    return place.after.partition("\n")[2].partition("\n")[0].rstrip()


def empty_block(place: Place) -> int | None:
    """How far the line is indented that opens a block here, if code follows and none of it is in the block."""
    opener = next((line for line in reversed(place.before.split("\n")) if line.strip()), "")
    below, indentation = line_below(place), indentation_of(opener)
    is_empty = _OPENS.search(opener) is not None and below and indentation_of(below) <= indentation
    return indentation if is_empty else None


def indentation_of(line: str) -> int:
    """How many characters of white space a line begins with."""
    return len(line) - len(line.lstrip())


def is_python(place: Place) -> bool:
    """Whether Python comes here."""
    return place.kind == "code" and place.language.startswith(("python", "ipython"))


def gap_at(place: Place, variables: Sequence[Variable] = ()) -> Gap:
    """What a model is shown of a place."""
    lines = takes_lines(place)
    known = _known(variables) if is_python(place) else ""
    above = _above(place, _MOST_BEFORE - len(known))
    return Gap(
        before=f"{known}{above}{place.before[-_MOST_BEFORE:]}",
        after=place.after[:_MOST_AFTER],
        most_tokens=_LINES_TOKENS if lines else _LINE_TOKENS,
        stop=("\n\n",) if lines else ("\n",),
    )


def _above(place: Place, room: int) -> str:
    """The cells above, whole ones, so that their beginning stays as it is while somebody types: a model keeps what it read."""
    left = room - min(len(place.before), _MOST_BEFORE)
    kept: list[str] = []
    for cell in reversed(place.cells):
        text = _text(cell, place)
        if not text:
            continue
        left -= len(text)
        if left < 0:
            break
        kept.append(text)
    return "".join(reversed(kept))


def _text(cell: CellAbove, place: Place) -> str:
    source = cell.source.strip("\n")
    if not source.strip():
        return ""
    if place.kind == "code" and cell.kind == "markdown":
        source = "\n".join(f"# {line}".rstrip() for line in source.split("\n"))
    elif place.kind == "markdown" and cell.kind == "code":
        source = f"```{place.language.removeprefix('i')}\n{source}\n```"
    return f"{source}\n\n"


def _known(variables: Sequence[Variable]) -> str:
    """What the kernel has, in comments."""
    lines: list[str] = []
    left = _MOST_KNOWN
    for variable in variables:
        line = f"# {variable.name}: {variable.type.rpartition('.')[2]}"
        if variable.columns:
            shown = [name for name, _ in variable.columns[:_MOST_COLUMNS]]
            more = ", …" if len(variable.columns) > _MOST_COLUMNS else ""
            line += f" with columns {', '.join(map(repr, shown))}{more}"
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    return "\n".join([*lines, "", ""]) if lines else ""
