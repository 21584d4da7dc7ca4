"""What ran in each notebook's kernel, as far as it was seen: by it an outline says which cells are out of date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..messages import CellId, SourceHash
from ._freshness import NOTHING_SEEN, RanCell, RunMemory
from ._hashes import source_hash
from .kernels import CellRun, Run

__all__ = ["Ledger"]

NO_KERNEL = RunMemory({}, complete=True)
"""What there is to remember where no kernel runs: nothing that ran is there any more."""


@dataclass
class _Book:
    """What ran in one life of one kernel."""

    kernel_id: str
    life: str
    ran: dict[CellId, RanCell] = field(default_factory=dict)
    order: int = 0


class Ledger:
    """Listens to the agent's runs, and is told of the person's. A restart of the kernel begins it anew.

    ``life`` gives another text after each restart of a kernel, see ``KernelPort``.
    """

    def __init__(self, life: Callable[[str], str]) -> None:
        self._life = life
        self._books: dict[str, _Book] = {}
        self._running: dict[tuple[str, CellId], int] = {}

    def changed(self, run: Run, cell: CellRun) -> None:
        """Something about a cell of the agent's run changed. Called for every message, so most of it does nothing."""
        if cell.cell_id is None or cell.started_at is None:
            return
        key = run.id, cell.cell_id
        if not cell.ended:
            if key not in self._running:
                self._running[key] = self.began(run.path, run.kernel_id, cell.cell_id, source_hash(cell.code))
        elif key in self._running:
            order = self._running.pop(key)
            if cell.state == "dead":
                self._books.pop(run.path, None)
            elif cell.state != "ok":
                self.failed(run.path, cell.cell_id, order)

    def turn(self, path: str, kernel_id: str) -> int:
        """Something begins to run, of which cell will be known later; the number of the run."""
        book = self._book(path, kernel_id)
        book.order += 1
        return book.order

    def began(self, path: str, kernel_id: str, cell_id: CellId, source: SourceHash, *, order: int | None = None) -> int:
        """A cell with this source begins to run, whoever asked for it, or began at that turn; the number of the run."""
        if order is None:
            order = self.turn(path, kernel_id)
        book = self._book(path, kernel_id)
        known = book.ran.get(cell_id)
        if known is None or known.order < order:
            book.ran[cell_id] = RanCell(source, order)
        return order

    def failed(self, path: str, cell_id: CellId, order: int) -> None:
        """The run of this number failed."""
        book = self._books.get(path)
        ran = book.ran.get(cell_id) if book is not None else None
        if book is not None and ran is not None and ran.order == order:
            book.ran[cell_id] = replace(ran, failed=True)

    def memory(self, path: str, kernel_id: str | None) -> RunMemory:
        """What is known to have run in the notebook's kernel as it is now; None is no kernel."""
        if kernel_id is None:
            return NO_KERNEL
        book = self._books.get(path)
        if book is None or book.kernel_id != kernel_id or book.life != self._life(kernel_id):
            return NOTHING_SEEN
        return RunMemory(dict(book.ran))

    def moved(self, old: str, new: str) -> None:
        """The notebook has another path now."""
        if old in self._books:
            self._books[new] = self._books.pop(old)

    def _book(self, path: str, kernel_id: str) -> _Book:
        book, life = self._books.get(path), self._life(kernel_id)
        if book is None or book.kernel_id != kernel_id or book.life != life:
            book = self._books[path] = _Book(kernel_id, life)
        return book
