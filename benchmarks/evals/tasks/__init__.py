"""The errands, a module for each kind. They are worded as people word them, and stay as they are: the harness is improved."""

from __future__ import annotations

from typing import Final

from .._eval_task import Errand
from . import add, ask, change, data, fix, plot, rename

__all__ = ["ERRANDS"]

ERRANDS: Final[tuple[Errand, ...]] = (
    *add.ERRANDS,
    *data.ERRANDS,
    *fix.ERRANDS,
    *ask.ERRANDS,
    *change.ERRANDS,
    *plot.ERRANDS,
    *rename.ERRANDS,
)
