"""Several listeners to one run."""

from __future__ import annotations

from .kernels import CellRun, Run, RunListener

__all__ = ["Listeners"]


class Listeners:
    """Passes on what happens to each of them."""

    def __init__(self, *listeners: RunListener) -> None:
        self._listeners = listeners

    def changed(self, run: Run, cell: CellRun) -> None:
        """Something about a cell changed."""
        for listener in self._listeners:
            listener.changed(run, cell)
