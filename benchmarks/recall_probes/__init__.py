"""Generated conversations of data scientists in three languages, with questions as people ask them."""

from __future__ import annotations

from .generate import generate

__all__ = ["generate"]
