"""What the tools of one task remember between calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from ..messages import CellId, NotebookRef, SourceHash
from ..wire import WireModel
from ._cell_runs import CellRuns
from ._changed_cells import ChangedCells
from ._file_access import Stamp
from ._running_commands import CommandListener, RunningCommands

__all__ = ["AllowedEdits", "AllowedRuns", "KeptOutput", "KeptOutputs", "SeenCells", "SeenFiles", "ToolState"]

_MOST_KEPT: Final = 20


class SeenFiles:
    """How files were when the agent last read or wrote them."""

    def __init__(self) -> None:
        self._stamps: dict[Path, Stamp] = {}

    def saw(self, path: Path, stamp: Stamp) -> None:
        """The agent knows the file as it is now."""
        self._stamps[path] = stamp

    def has_changed(self, path: Path, now: Stamp) -> bool:
        """Whether somebody changed a file the agent knows."""
        known = self._stamps.get(path)
        return known is not None and known != now


class SeenCells:
    """The sources of cells as the agent last read or wrote them, by the notebook's path in Jupyter."""

    def __init__(self) -> None:
        self._hashes: dict[str, dict[CellId, SourceHash]] = {}

    def saw(self, path: str, cells: Iterable[tuple[CellId, SourceHash]]) -> None:
        """The agent knows these cells as they are now."""
        self._hashes.setdefault(path, {}).update(cells)

    def knows(self, path: str, cell: CellId) -> bool:
        """Whether the agent has ever read or written this cell."""
        return cell in self._hashes.get(path, {})

    def has_changed(self, path: str, cell: CellId, now: SourceHash) -> bool:
        """Whether somebody changed a cell the agent knows."""
        known = self._hashes.get(path, {}).get(cell)
        return known is not None and known != now


class AllowedRuns:
    """Cells that the person allowed to run once, as they were when they approved their change, until they say more."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, CellId], SourceHash] = {}

    def allow(self, path: str, cells: Iterable[tuple[CellId, SourceHash]]) -> None:
        """These may run."""
        self._cells.update({(path, cell): now for cell, now in cells})

    def cover(self, path: str, cells: Iterable[tuple[CellId, SourceHash]]) -> bool:
        """Whether all of these may run as they are."""
        return all(self._cells.get((path, cell)) == now for cell, now in cells)

    def ran(self, path: str, cells: Iterable[CellId]) -> None:
        """Once was enough."""
        for cell in cells:
            self._cells.pop((path, cell), None)

    def forget(self) -> None:
        """The person has spoken or stopped the work: what they allowed was for what came before."""
        self._cells.clear()


class AllowedEdits:
    """The cell at which the person asked to have it changed: until they say more, that needs no further question."""

    def __init__(self) -> None:
        self._cell: tuple[str, CellId] | None = None

    @property
    def cell(self) -> tuple[str, CellId] | None:
        """The notebook, by the path that it had then, and the cell."""
        return self._cell

    def turn(self, cell: NotebookRef | None) -> None:
        """The person has spoken or stopped the work: what counts is the cell at which they said these words, if at one."""
        self._cell = None if cell is None or cell.cell_id is None else (cell.path, cell.cell_id)


class KeptOutput(WireModel):
    """Where the output of a command in the background is found when the process that ran it is gone."""

    said_at: int | None = None
    """The message that showed it as it came."""
    artifact: str | None = None
    """The whole of it, once the command had ended."""
    ending: str | None = None
    """How it ended, as the model is told."""


class KeptOutputs:
    """The outputs the model was given the ids of, newest last. They outlive the process: the task saves them."""

    def __init__(self) -> None:
        self._kept: dict[str, KeptOutput] = {}
        self._save: Callable[[Mapping[str, KeptOutput]], Awaitable[None]] | None = None
        self._shown: Callable[[int], Awaitable[str | None]] | None = None

    def attach(
        self,
        kept: Mapping[str, KeptOutput],
        *,
        save: Callable[[Mapping[str, KeptOutput]], Awaitable[None]],
        shown: Callable[[int], Awaitable[str | None]],
    ) -> None:
        """Begin with what was saved before; ``shown`` reads what a message showed."""
        self._kept, self._save, self._shown = dict(kept), save, shown

    async def note(self, command_id: str, output: KeptOutput) -> None:
        """Save where this output is found."""
        self._kept.pop(command_id, None)
        self._kept[command_id] = output
        for oldest in list(self._kept)[:-_MOST_KEPT]:
            del self._kept[oldest]
        if self._save is not None:
            await self._save(self._kept)

    def get(self, command_id: str) -> KeptOutput | None:
        """Where it is found, if it is known."""
        return self._kept.get(command_id)

    async def shown(self, output: KeptOutput) -> str:
        """What could be seen of it."""
        if output.said_at is None or self._shown is None:
            return ""
        return await self._shown(output.said_at) or ""


class ToolState:
    """One task's memory of what it has seen, and of the commands and cells it has running, and what those wrote."""

    def __init__(self, on_command: CommandListener | None = None) -> None:
        self.seen = SeenFiles()
        self.cells = SeenCells()
        self.changed = ChangedCells()
        self.commands = RunningCommands(on_command)
        self.outputs = KeptOutputs()
        self.runs = CellRuns()
        self.allowed_runs = AllowedRuns()
        self.allowed_edits = AllowedEdits()

    def person_spoke(self, may_edit: NotebookRef | None = None) -> None:
        """What the person allowed before was for what came before; ``may_edit`` is the cell at which they spoke."""
        self.allowed_runs.forget()
        self.allowed_edits.turn(may_edit)

    async def close(self) -> None:
        """End every command that still runs, and tell how the cells have ended, which were stopped before."""
        await self.commands.close()
        await self.runs.close()
