"""The eval tasks, a module for each kind. They are worded as people word them, and stay as they are: the harness is improved."""

from __future__ import annotations

from typing import Final

from .._eval_task import EvalTask
from . import add, ask, change, data, fix, plot, rename

__all__ = ["EVAL_TASKS"]

EVAL_TASKS: Final[tuple[EvalTask, ...]] = (
    *add.EVAL_TASKS,
    *data.EVAL_TASKS,
    *fix.EVAL_TASKS,
    *ask.EVAL_TASKS,
    *change.EVAL_TASKS,
    *plot.EVAL_TASKS,
    *rename.EVAL_TASKS,
)
