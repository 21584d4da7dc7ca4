"""Errands that nobody tuned to: made of families, data sets and phrasings with a seed, and judged by their effect.

A hash of its name puts a family into *development*, which the harness is improved with, or into *held out*, whose rates are
what is reported. Another seed makes other errands of the same families. Both runners get the same weights and notebook, as in
``benchmarks.evals``. Of each errand three things are told: whether it is done, whether the runner says so, and whether
something of the person's was damaged.
"""

from __future__ import annotations

from ._damage import damage
from ._errand import LANGUAGES, Errand, Language
from ._generate import FAMILIES, errands_of, split_of
from ._measure import measure

__all__ = [
    "FAMILIES",
    "LANGUAGES",
    "Errand",
    "Language",
    "damage",
    "errands_of",
    "measure",
    "split_of",
]
