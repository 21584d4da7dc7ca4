"""How often *Check the numbers* is wrong: answers made with a seed, with numbers that stand in outputs and some that stand nowhere.

A family is a way to write a number, such as a rounded percentage, or to mention one that is no result, such as a date. As
in ``benchmarks.errands`` a hash of its name puts it into *development* or into *held out*, of which only totals are told.
"""

from __future__ import annotations

from ._generate import ANSWERS_EACH, answers_of
from ._measure import measure

__all__ = ["ANSWERS_EACH", "answers_of", "measure"]
