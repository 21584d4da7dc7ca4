"""Errands a data scientist gives, done by the embedded model, each judged by what came of it in a real notebook.

Both arms get the same weights, the same notebook with a real kernel, at most ``MOST_REQUESTS`` requests and ``MOST_TOKENS``
tokens. In the end the notebook's file is read, run from the top in a kernel of its own, and judged with the answer. What the
plain loop is stands in ``_plain``; the product is the agent as it is, with the embedded model's profile. It does the errands
a second time in other words, whose failures are not mended one by one, and a third time in words written blind.
"""

from __future__ import annotations

from ._errand import KINDS, Ending, Errand, NotDone, Outcome, SeenCell, Text
from ._fresh_words import FRESH_WORDS
from ._measure import measure
from ._other_words import OTHER_WORDS
from ._rerun import Rerun, rerun_kernel
from ._scene import DATA
from .kinds import ERRANDS

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
