"""Tasks a data scientist gives, done by the embedded model, each judged by what came of it in a real notebook.

Both arms get the same weights, the same notebook with a real kernel, at most ``MOST_REQUESTS`` requests and ``MOST_TOKENS``
tokens. In the end the notebook's file is read, run from the top in a kernel of its own, and judged with the answer. What the
plain loop is stands in ``_plain_loop``; the product is the agent as it is, with the embedded model's profile. It does the tasks
a second time with reworded prompts, whose failures are not fixed one by one, and a third time with prompts written blind.
"""

from __future__ import annotations

from ._blind_prompts import BLIND_PROMPTS
from ._eval_task import KINDS, EndState, EvalTask, NotDone, Outcome, SeenCell, Text
from ._measure import measure
from ._notebook_fixture import DATA
from ._rerun import RerunKernel, rerun_kernel
from ._reworded_prompts import REWORDED_PROMPTS
from .tasks import EVAL_TASKS

__all__ = [
    "BLIND_PROMPTS",
    "DATA",
    "EVAL_TASKS",
    "KINDS",
    "REWORDED_PROMPTS",
    "EndState",
    "EvalTask",
    "NotDone",
    "Outcome",
    "RerunKernel",
    "SeenCell",
    "Text",
    "measure",
    "rerun_kernel",
]
