"""Text in columns of a terminal, where a Korean, Japanese or Chinese character takes two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from wcwidth import iter_graphemes, width

__all__ = ["Align", "cut", "one_line", "padded", "table", "width_of"]

Align = Literal["left", "right"]

_GAP: Final = "  "


def width_of(text: str) -> int:
    """How many columns the text takes."""
    # Most text is plain, and most of the time is spent here.
    return len(text) if text.isascii() else width(text)


def cut(text: str, columns: int) -> str:
    """The text, cut with an ellipsis if it takes more columns."""
    if width_of(text) <= columns:
        return text
    if columns < 1:
        return ""
    taken, end = 0, 0
    for grapheme in iter_graphemes(text):
        taken += width(grapheme)
        if taken >= columns:
            break
        end += len(grapheme)
    return text[:end].rstrip() + "…"


def padded(text: str, columns: int, align: Align = "left") -> str:
    """The text, filled up to this many columns."""
    blanks = " " * max(0, columns - width_of(text))
    return blanks + text if align == "right" else text + blanks


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: frozenset[int] = frozenset(),
    width: int | None = None,
) -> Iterator[str]:
    """Lines of a table. Where the terminal is too narrow its last column is cut; ``right`` columns are numbers."""
    lines = [heads, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(width_of(line[column]) for line in lines) for column in range(len(heads))]
    if width is not None:
        taken = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
        widths[-1] = max(min(widths[-1], width - taken), 8)
    for line in lines:
        cells = [
            padded(cut(cell, columns), columns, "right" if column in right else "left")
            for column, (cell, columns) in enumerate(zip(line, widths, strict=True))
        ]
        yield _GAP.join(cells).rstrip()
