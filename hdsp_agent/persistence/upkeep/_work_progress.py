"""How long work tells what it has done so far."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress"]

Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and of how many if that is known. Called on the event loop."""
