"""Ghost text: what a model would write at the cursor, shown greyed until somebody takes it."""

from __future__ import annotations

from ._ghost_text import GhostText
from ._place import CellAbove, Place

__all__ = ["CellAbove", "GhostText", "Place"]
