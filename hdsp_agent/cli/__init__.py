"""``hdsp-agent …`` and ``jupyter hdsp-agent …``: what an operator does from a terminal."""

from __future__ import annotations

from ._main import main

__all__ = ["main"]
