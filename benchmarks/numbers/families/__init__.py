"""All families, each with what people say in three languages."""

from __future__ import annotations

from .._answer import Family
from . import mentions, results

__all__ = ["FAMILIES"]

FAMILIES: tuple[Family, ...] = (*results.FAMILIES, *mentions.FAMILIES)
