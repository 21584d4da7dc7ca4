"""What came of verifying a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pydantic import TypeAdapter

from ..messages import JsonObject

__all__ = ["Cause", "CellReport", "NotebookReport", "read_report", "written_report"]

Cause = Literal["hidden_state", "order", "varies", "missing_file", "missing_module", "follows", "changed", "fails"]
"""Why a cell shows something else:

* ``hidden_state``: a name that no cell makes, or cells that ran more often than once
* ``order``: the cells had run in another order than they stand in
* ``varies``: it is another at each run, as random numbers without a seed and the time are
* ``missing_file``, ``missing_module``: what it opens or imports is not there
* ``follows``: a cell above it failed
* ``changed``: data or code are others than when it ran
* ``fails``: it fails, for none of these reasons
"""


@dataclass(frozen=True)
class CellReport:
    """A code cell. ``number`` counts all cells from 1, as people and the agent do."""

    number: int
    id: str
    state: Literal["same", "differs", "skipped", "unsaved"]
    """``unsaved`` has no saved output to compare with, and runs."""
    cause: Cause | None = None
    detail: str = ""
    """In a few words, what is different."""
    seconds: float = 0.0


@dataclass(frozen=True)
class NotebookReport:
    """All code cells of a notebook; none if it could not be run."""

    path: str
    kernel: str
    cells: tuple[CellReport, ...]
    seconds: float
    runs: int
    """How often it ran: a second time tells what varies."""
    error: str | None = None
    """Why it could not be run."""

    @property
    def differing(self) -> tuple[CellReport, ...]:
        """The cells that show something else than what is saved."""
        return tuple(cell for cell in self.cells if cell.state == "differs")

    @property
    def is_proved(self) -> bool:
        """Whether every saved output came out again."""
        return self.error is None and not self.differing


_REPORT: Final = TypeAdapter(NotebookReport)


def written_report(report: NotebookReport) -> JsonObject:
    """The report as JSON."""
    written: JsonObject = _REPORT.dump_python(report, mode="json")
    return written


def read_report(written: JsonObject) -> NotebookReport:
    """The report that was written so. Raises ValueError if it is none."""
    return _REPORT.validate_python(written)
