"""What was seen of the person's runs in one kernel, and which cells they were of."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ..messages import CellId, JsonObject
from ._document import NotebookSnapshot
from ._output_texts import without_escapes
from ._person_runs import PersonRun

__all__ = ["ObservedRun", "PersonRunLog", "cell_of"]

_MOST_RUNS: Final = 20
_MOST_OUTSIDE_CELLS: Final = 5
"""Of these, as many are of no cell but of consoles and extensions: some extensions run code after every cell."""
_MOST_HELD: Final = 200
"""So many, of whatever kind, until it is known which are of cells."""
_MOST_UNPLACED: Final = 2000
_MOST_LOOKS: Final = 2
_MOST_AT_ONCE: Final = 8
"""A kernel says when a run ends; if that was lost in a flood, the run is over when so many have begun after it."""
_SOURCE_CHARACTERS: Final = 400
_ERROR_CHARACTERS: Final = 500
_TRACEBACK_CHARACTERS: Final = 3000


@dataclass(eq=False)
class ObservedRun:
    """One run of the person's. Times are milliseconds since 1970."""

    code: str
    execution_count: int | None
    path: str | None = None
    """The notebook it is of, once that is known; with it comes the rest about the cell."""
    cell_id: CellId | None = None
    order: int | None = None
    """The number that the history of runs gave it."""
    ended_at: int | None = None
    error: str | None = None
    traceback: str | None = None
    looks: int = 0

    @property
    def is_sought(self) -> bool:
        """Whether its cell is still to be looked for: once when it has begun, since the person may change the cell
        meanwhile, and once at its end, when its execution count is in the notebook and tells equal cells apart.
        """
        return self.cell_id is None and self.looks < _MOST_LOOKS

    def looked_for(self) -> None:
        """Its cell was looked for."""
        self.looks = _MOST_LOOKS if self.ended_at is not None else 1

    def told(self) -> PersonRun:
        """It as the agent is told of it."""
        return PersonRun(
            self.cell_id,
            ok=self.error is None,
            ended_at=self.ended_at or 0,
            execution_count=self.execution_count,
            error=self.error,
            source=self.code[:_SOURCE_CHARACTERS],
            traceback=self.traceback,
        )


class PersonRunLog:
    """Remembers the last runs in a kernel. ``began`` and ``ended`` are called for each."""

    def __init__(self, began: Callable[[ObservedRun], None], ended: Callable[[ObservedRun], None]) -> None:
        self._began = began
        self._ended = ended
        self._open: dict[str, ObservedRun] = {}
        self._over: deque[ObservedRun] = deque(maxlen=_MOST_HELD)
        self._unplaced: deque[ObservedRun] = deque(maxlen=_MOST_UNPLACED)

    @property
    def ended_runs(self) -> list[ObservedRun]:
        """The last that ended, newest last."""
        outside = [run for run in self._over if run.cell_id is None][:-_MOST_OUTSIDE_CELLS]
        return [run for run in self._over if run not in outside][-_MOST_RUNS:]

    def unplaced(self) -> list[ObservedRun]:
        """Runs whose cell shall be looked for now, in the order they began."""
        self._unplaced = deque((run for run in self._unplaced if run.is_sought), maxlen=_MOST_UNPLACED)
        return [run for run in self._unplaced if run.looks == 0 or run.ended_at is not None]

    def input(self, request: str, content: JsonObject) -> None:
        """The kernel begins with a request of the person's."""
        count = content.get("execution_count")
        run = ObservedRun(_text(content.get("code")), count if isinstance(count, int) else None)
        self._open[request] = run
        self._unplaced.append(run)
        self._began(run)
        while len(self._open) > _MOST_AT_ONCE:
            self.idle(next(iter(self._open)))

    def error(self, request: str, content: JsonObject) -> None:
        """A request raised this."""
        run = self._open.get(request)
        if run is None:
            return
        name, value = _text(content.get("ename")) or "Error", _text(content.get("evalue"))
        run.error = without_escapes(f"{name}: {value}" if value else name)[:_ERROR_CHARACTERS]
        traceback = content.get("traceback")
        if isinstance(traceback, list):
            run.traceback = _end_of(without_escapes("\n".join(_text(line) for line in traceback)))

    def idle(self, request: str) -> None:
        """The kernel is done with a request."""
        run = self._open.pop(request, None)
        if run is None:
            return
        run.ended_at = int(time.time() * 1000)
        self._over.append(run)
        self._ended(run)

    def unheard(self, why: str) -> None:
        """How what was running ended is not known."""
        for request, run in list(self._open.items()):
            run.error = why
            self.idle(request)

    def lost(self, why: str) -> None:
        """The kernel's life is over, and with it all that ran well. What was running ended so."""
        self.unheard(why)
        self._over = deque((run for run in self._over if run.error is not None), maxlen=_MOST_HELD)
        # Placed later, they would count as runs of the next life.
        self._unplaced.clear()


def cell_of(run: ObservedRun, snapshots: Iterable[NotebookSnapshot]) -> tuple[str, CellId] | None:
    """The notebook and the cell with exactly this source; of several the one with the run's execution count."""
    found = [
        (cell.execution_count, (snapshot.path, cell.id))
        for snapshot in snapshots
        for cell in snapshot.cells
        if cell.cell_type == "code" and cell.source == run.code
    ]
    if len(found) > 1:
        found = [one for one in found if one[0] is not None and one[0] == run.execution_count]
    return found[0][1] if len(found) == 1 else None


def _end_of(traceback: str) -> str:
    """The last frames: where it happened."""
    if len(traceback) <= _TRACEBACK_CHARACTERS:
        return traceback
    return "…" + traceback[-_TRACEBACK_CHARACTERS:].partition("\n")[2]


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
