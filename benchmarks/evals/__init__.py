"""Errands a data scientist gives, done by the embedded model, each judged by what came of it in a real notebook.

Both arms get the same weights, the same notebook with a real kernel, at most ``MOST_REQUESTS`` requests and ``MOST_TOKENS``
tokens. In the end the notebook's file is read, run from the top in a kernel of its own, and judged with the answer. What the
plain loop is stands in ``_plain_loop``; the product is the agent as it is, with the embedded model's profile. It does the errands
a second time in other words, whose failures are not mended one by one, and a third time in words written blind.
"""

from __future__ import annotations

from ._blind_prompts import FRESH_WORDS
from ._eval_task import KINDS, Ending, Errand, NotDone, Outcome, SeenCell, Text
from ._measure import measure
from ._notebook_fixture import DATA
from ._rerun import Rerun, rerun_kernel
from ._reworded_prompts import OTHER_WORDS
from .tasks import ERRANDS

__all__ = [
    "DATA",
    "ERRANDS",
    "FRESH_WORDS",
    "KINDS",
    "OTHER_WORDS",
    "Ending",
    "Errand",
    "NotDone",
    "Outcome",
    "Rerun",
    "SeenCell",
    "Text",
    "measure",
    "rerun_kernel",
]
