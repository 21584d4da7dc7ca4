"""The one error by which a tool tells the model what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["PresentCell", "ToolFailed"]


@dataclass(frozen=True)
class PresentCell:
    """A cell as it is now, for whoever named another one; the source is masked, and absent where it does not matter."""

    id: str
    number: int
    cell_type: str
    source: str | None = None


class ToolFailed(Exception):
    """A tool cannot do what it was asked. The message is for the model: what happened, and what to do instead.

    ``code`` says to a program what kind of failure it is, and ``cells`` which cells there are.
    """

    def __init__(self, message: str, *, code: str = "failed", cells: Sequence[PresentCell] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.cells = tuple(cells)
