"""What ran in each notebook's kernel, as far as it was seen: by it an outline says which cells are out of date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from ..messages import CellId, SourceHash
from ._freshness import NOTHING_SEEN, RanCell, RunMemory
from ._hashes import source_hash
from ._renamed_paths import renamed
from .kernels import CellRun, Run

__all__ = ["ExecutionHistory"]

_NO_KERNEL: Final = RunMemory({}, complete=True)
"""Where no kernel runs, nothing that ran is there any more."""
_MOST_BOOKS: Final = 200


@dataclass
class _KernelHistory:
    """What ran in one life of one kernel."""

    kernel_id: str
    life: str
    ran: dict[CellId, RanCell] = field(default_factory=dict)
    order: int = 0


class ExecutionHistory:
    """Listens to the agent's runs, and is told of the person's. A restart of the kernel begins it anew.

    ``life`` gives another text after each restart of a kernel, see ``KernelPort``; ``now_at`` the path a notebook has
    now that had another when its run began.
    """

    def __init__(self, life: Callable[[str], str], *, now_at: Callable[[str], str] = str) -> None:
        self._life = life
        self._now_at = now_at
        self._books: dict[str, _KernelHistory] = {}
        self._running: dict[tuple[str, CellId], int] = {}

    def changed(self, run: Run, cell: CellRun) -> None:
        """Something about a cell of the agent's run changed. Called for every message, so most of it does nothing."""
        if cell.cell_id is None or cell.started_at is None:
            return
        key = run.id, cell.cell_id
        if not cell.ended:
            if key not in self._running:
                path = self._now_at(run.path)
                self._running[key] = self.began(path, run.kernel_id, cell.cell_id, source_hash(cell.code))
        elif key in self._running:
            order, path = self._running.pop(key), self._now_at(run.path)
            if cell.state == "dead":
                self._books.pop(path, None)
            elif cell.state != "ok":
                self.failed(path, cell.cell_id, order)

    def turn(self, path: str, kernel_id: str) -> int:
        """The number of a run that begins now, whose cell is told later."""
        book = self._book(path, kernel_id)
        book.order += 1
        return book.order

    def began(self, path: str, kernel_id: str, cell_id: CellId, source: SourceHash, *, order: int | None = None) -> int:
        """A cell with this source begins to run, or began with the run of this number; the number of the run."""
        book = self._book(path, kernel_id)
        number = self.turn(path, kernel_id) if order is None else order
        known = book.ran.get(cell_id)
        if known is None or known.order < number:
            book.ran[cell_id] = RanCell(source, number)
        return number

    def failed(self, path: str, cell_id: CellId, order: int) -> None:
        """The run of this number failed."""
        book = self._books.get(path)
        ran = book.ran.get(cell_id) if book is not None else None
        if book is not None and ran is not None and ran.order == order:
            book.ran[cell_id] = replace(ran, failed=True)

    def memory(self, path: str, kernel_id: str | None) -> RunMemory:
        """What is known to have run in the notebook's kernel as it is now; None is no kernel."""
        if kernel_id is None:
            return _NO_KERNEL
        book = self._books.get(path)
        if book is None or book.kernel_id != kernel_id or book.life != self._life(kernel_id):
            return NOTHING_SEEN
        return RunMemory(dict(book.ran))

    def moved(self, old: str, new: str) -> None:
        """The notebook, or a folder it is in, has another path now."""
        self._books = renamed(self._books, old, new)

    def _book(self, path: str, kernel_id: str) -> _KernelHistory:
        book, life = self._books.pop(path, None), self._life(kernel_id)
        if book is None or book.kernel_id != kernel_id or book.life != life:
            book = _KernelHistory(kernel_id, life)
        self._books[path] = book
        for oldest in list(self._books)[:-_MOST_BOOKS]:
            del self._books[oldest]
        return book
