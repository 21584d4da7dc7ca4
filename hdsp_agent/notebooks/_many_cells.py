"""How many cells a notebook may have for the agent, and where work on many is done.

What Python does for each cell adds up: of 100,000 cells, one reading kept all of the server waiting for seconds, and
Jupyter's own saving of them for longer. People's notebooks have hundreds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from ..errors import Unsupported

__all__ = ["MOST_CELLS", "cells_in_file", "for_cells", "require_few_cells"]

R = TypeVar("R")

MOST_CELLS: Final = 5_000
_MARK: Final = b'"cell_type"'
"""What each cell of a file has; inside of strings the quotes are escaped."""
_PIECE_BYTES: Final = 1 << 20


def require_few_cells(count: int, path: str) -> None:
    """Raise Unsupported for more than the agent works with."""
    if count > MOST_CELLS:
        raise Unsupported(
            f"{path} has {count:,} cells; the agent works with notebooks of up to {MOST_CELLS:,}. Split it in "
            "JupyterLab, then try again.",
            path=path,
            most=MOST_CELLS,
            why="too_many_cells",
        )


def cells_in_file(file: Path) -> int:
    """How many cells the file has, roughly, without parsing it. Blocks."""
    count, kept = 0, b""
    try:
        with open(file, "rb") as opened:
            while piece := opened.read(_PIECE_BYTES):
                count += (kept + piece).count(_MARK)
                kept = piece[-(len(_MARK) - 1) :]
    except OSError:
        # Whoever reads it next says what is wrong.
        return 0
    return count


async def for_cells(count: int, work: Callable[[], R]) -> R:
    """What comes of work on so many cells: in a thread, since few may be long, too."""
    return await asyncio.to_thread(work) if count else work()
