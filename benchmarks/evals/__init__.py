"""Tasks a data scientist gives, done by the embedded model, each judged by what came of it in a real notebook.

Both arms get the same weights, the same notebook with a real kernel, at most ``MOST_REQUESTS`` requests and ``MOST_TOKENS``
tokens. In the end the notebook's file is read, run from the top in a kernel of its own, and judged with the answer. What the
plain loop is stands in ``_plain_loop``; the product is the agent as it is, with the embedded model's profile. It does the tasks
a second time with reworded prompts, whose failures are not fixed one by one, and a third time with prompts written blind.
"""

from __future__ import annotations

from ._blind_prompts import BLIND_PROMPTS
from ._eval_task import KINDS, EndState, EvalTask, Kind, NotDone, Outcome, SeenCell, Text
from ._measure import Ran, measure, page, ready_models, run_in_folder
from ._notebook_fixture import DATA, NotebookFixture
from ._plain_loop import run_plain_loop
from ._product import run_product
from ._rerun import FIGURES, RerunKernel, rerun_kernel
from ._reworded_prompts import REWORDED_PROMPTS
from ._runner import Attempt, Claim, ReadyModel, Runner
from .tasks import EVAL_TASKS

__all__ = [
    "BLIND_PROMPTS",
    "DATA",
    "EVAL_TASKS",
    "FIGURES",
    "KINDS",
    "REWORDED_PROMPTS",
    "Attempt",
    "Claim",
    "EndState",
    "EvalTask",
    "Kind",
    "NotDone",
    "NotebookFixture",
    "Outcome",
    "Ran",
    "ReadyModel",
    "RerunKernel",
    "Runner",
    "SeenCell",
    "Text",
    "measure",
    "page",
    "ready_models",
    "rerun_kernel",
    "run_in_folder",
    "run_plain_loop",
    "run_product",
]
