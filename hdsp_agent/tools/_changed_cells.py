"""Which cells a request has changed, and how they were before. It outlives the process, so that they can be put back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Literal

from ..messages import CellId, EndingCheck, JsonObject, SourceHash
from ..wire import WireModel

__all__ = ["ChangedCell", "ChangedCells", "FailedRun"]


class FailedRun(WireModel):
    """How a cell had failed before it was changed."""

    ename: str
    evalue: str
    line: int | None = None

    @classmethod
    def unknown(cls) -> FailedRun:
        """It ended without an error that says why."""
        return cls(ename="", evalue="")


class ChangedCell(WireModel):
    """One cell: as it was before the request, and as a tool left it."""

    cell_id: CellId
    source: str | None = None
    """Before; None of a cell that was not there."""
    before: SourceHash | None = None
    now: SourceHash | None = None
    """Of the source that a tool gave it; None of one that it deleted."""
    cell_type: Literal["code", "markdown", "raw"] = "code"
    after: CellId | None = None
    """The cell above it."""
    outputs: str | None = None
    """What it showed, as JSON; None where that was too long to keep."""
    execution_count: int | None = None
    had_run: bool = False
    """In the kernel as it is, as this source, to its end."""
    failure: FailedRun | None = None
    works: bool = False
    """Whether the tool was content with what came of the change."""
    checks: tuple[EndingCheck, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether it has another source, not only other outputs."""
        return self.now != self.before

    @property
    def shows_failure(self) -> bool:
        """Whether it only failed in a run, and did not before."""
        return self.failure is not None and not self.is_changed and self.before is not None


class _Kept(WireModel):
    cells: tuple[ChangedCell, ...] = ()
    newest: CellId | None = None
    newest_source: SourceHash | None = None


class ChangedCells:
    """Those of the present request, in the order of their first change."""

    def __init__(self) -> None:
        self._cells: dict[CellId, ChangedCell] = {}
        self._save: Callable[[JsonObject], Awaitable[None]] | None = None
        self._newest: tuple[CellId, SourceHash | None] | None = None
        """The cell that was changed last in the requests before, and what it got."""

    def attach(self, kept: JsonObject | None, save: Callable[[JsonObject], Awaitable[None]]) -> None:
        """Begin with what was saved before."""
        known = _Kept() if kept is None else _Kept.model_validate(kept)
        self._cells = {cell.cell_id: cell for cell in known.cells}
        self._newest = None if known.newest is None else (known.newest, known.newest_source)
        self._save = save

    def __iter__(self) -> Iterator[ChangedCell]:
        return iter(list(self._cells.values()))

    def get(self, cell: CellId) -> ChangedCell | None:
        """The cell, if it was changed."""
        return self._cells.get(cell)

    def is_newest(self, cell: CellId, source: SourceHash) -> bool:
        """Whether it was changed last in the requests before, and by nobody since."""
        return self._newest is not None and self._newest[0] == cell and self._newest[1] in (None, source)

    async def put(self, cells: Iterable[ChangedCell], *, without: Iterable[CellId] = ()) -> None:
        """These are so now, and ``without`` are as they were; on the disk then."""
        for cell_id in without:
            self._cells.pop(cell_id, None)
        for cell in cells:
            self._cells[cell.cell_id] = cell
        await self._kept()

    async def over(self) -> None:
        """The request has its end: what there is now is where the next one begins."""
        there = [cell for cell in self._cells.values() if cell.now is not None and cell.is_changed]
        if not self._cells:
            return
        if there:
            self._newest = (there[-1].cell_id, there[-1].now)
        self._cells = {}
        await self._kept()

    async def _kept(self) -> None:
        if self._save is not None:
            newest, source = self._newest or (None, None)
            kept = _Kept(cells=tuple(self._cells.values()), newest=newest, newest_source=source)
            await self._save(kept.to_wire())
