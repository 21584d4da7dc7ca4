"""The runs of cells one task has begun: by short names, for as long as the task is worked on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from ..messages import CellId

if TYPE_CHECKING:
    from ..notebooks.kernels import Run

__all__ = ["CellRuns", "KnownRun", "RunPublisher"]

_MOST_REMEMBERED: Final = 50


class RunPublisher(Protocol):
    """Shows the person how a run goes on."""

    async def settled(self) -> None:
        """Wait until all there is was shown."""

    async def close(self) -> None:
        """Show how it ended, waiting for that only briefly."""


@dataclass(frozen=True)
class KnownRun:
    """A run, under the name the model knows it by."""

    id: str
    run: Run
    shown: str
    """The notebook, as the model knows it."""
    numbers: Mapping[CellId, int]
    """Which cells of the notebook they were when it began."""
    report: RunPublisher


class CellRuns:
    """Holds every run of a task."""

    def __init__(self) -> None:
        self._known: dict[str, KnownRun] = {}
        self._count = 0
        self._interrupted: set[str] = set()
        self._held: set[asyncio.Task[None]] = set()

    def add(self, run: Run, shown: str, numbers: Mapping[CellId, int], report: RunPublisher) -> KnownRun:
        """A run has begun."""
        self._count += 1
        known = KnownRun(f"run-{self._count}", run, shown, numbers, report)
        self._known[known.id] = known
        ended = [one for one, other in self._known.items() if other.run.done]
        for oldest in ended[: max(0, len(self._known) - _MOST_REMEMBERED)]:
            self.hold(self._known.pop(oldest).report.close())
        return known

    def get(self, run_id: str) -> KnownRun | None:
        """A run by its name, while it is remembered."""
        return self._known.get(run_id)

    @property
    def running(self) -> Sequence[KnownRun]:
        """The runs that have not ended, oldest first."""
        return [known for known in self._known.values() if not known.run.done]

    def interrupt(self, known: KnownRun) -> None:
        """Stop a run, once; whoever asks does not wait for it."""
        if known.id not in self._interrupted:
            self._interrupted.add(known.id)
            self.hold(known.run.interrupt())

    def interrupt_all(self) -> None:
        """Stop what runs, in the background too."""
        for known in self.running:
            self.interrupt(known)

    def hold(self, work: Coroutine[object, object, None]) -> None:
        """Do this to its end, which ``close`` waits for."""
        task = asyncio.ensure_future(work)
        self._held.add(task)
        task.add_done_callback(self._held.discard)

    async def close(self) -> None:
        """Tell how each ended."""
        await asyncio.gather(*self._held, return_exceptions=True)
        known = list(self._known.values())
        self._known.clear()
        await asyncio.gather(*(one.report.close() for one in known))
