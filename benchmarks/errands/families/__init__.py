"""The families of errands, a module for each kind. A new family is put where the hash of its name says, and stays there."""

from __future__ import annotations

from typing import Final

from .._errand import Family
from . import changes, plots, reading, repairs, tables, values, writing

__all__ = ["FAMILIES"]

FAMILIES: Final[tuple[Family, ...]] = (
    *values.FAMILIES,
    *tables.FAMILIES,
    *plots.FAMILIES,
    *repairs.FAMILIES,
    *changes.FAMILIES,
    *writing.FAMILIES,
    *reading.FAMILIES,
)
