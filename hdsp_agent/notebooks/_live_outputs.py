"""Shows running cells to whoever has the notebook open, and puts what they printed into the notebook.

A tab gets what changed, many times a second. The notebook gets the whole when a cell has ended, or now and then while
nobody looks: a tab that closes, or a server that ends, costs at most the last seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic
from typing import Final
from weakref import WeakKeyDictionary

from ..errors import HdspAgentError
from ..messages import CellId, ChangeOutputsMessage, NotebookWorkMessage, SetOutputs, WorkingCell
from ._access import NotebookAccess
from ._agent_outputs import AgentOutput
from ._document import CellConflict
from ._renamed_paths import is_within, under
from .kernels import CellRun, Run

__all__ = ["LiveOutputs"]

logger = logging.getLogger(__name__)

_FRAME_SECONDS: Final = 0.04
_SAVE_SECONDS: Final = 2.0
"""Cells that end within this time are saved together."""
_UNSEEN_SAVE_SECONDS: Final = 15.0
"""How often a cell that goes on is saved while nobody looks."""
_MOST_MARKED: Final = 100
"""Of the cells under way, as many are told of; a run of a whole notebook has thousands."""

OnWork = Callable[[NotebookWorkMessage], None]


class _CellPublisher:
    """One cell of a run, as far as it was shown and kept."""

    def __init__(self, cell: CellRun) -> None:
        self.cell: Final = cell
        self.shown = 0
        self.kept: tuple[int, bool] | None = None
        self.refused = False
        """Whether it counts as kept only because nobody took it."""

    @property
    def is_kept(self) -> bool:
        return self.kept == (self.cell.outputs.version, self.cell.ended)


class LiveOutputs:
    """Listens to runs, and has one task a run that shows and keeps. It must be closed."""

    def __init__(self, access: NotebookAccess, *, on_work: OnWork | None = None) -> None:
        self._access = access
        self._on_work = on_work or (lambda message: None)
        self._plays: dict[str, _RunPublisher] = {}
        self._marked: dict[str, list[WorkingCell]] = {}
        self._run_again: WeakKeyDictionary[Run, set[CellId]] = WeakKeyDictionary()
        """Of each run, the cells that a later one has begun: what it still shows of them belongs nowhere."""
        self._closed = False

    def changed(self, run: Run, cell: CellRun) -> None:
        """Something about a cell changed."""
        if cell.cell_id is None or self._closed:
            return
        play = self._plays.get(run.id)
        if play is None:
            run_again = self._run_again.setdefault(run, set())
            play = self._plays[run.id] = _RunPublisher(run, self._access, run_again, self._mark, self._over)
        if play.begins(cell):
            self._take_from_earlier(run, cell.cell_id)
        play.touch(cell)

    def run_by_person(self, path: str, cell_id: CellId) -> None:
        """The person has run a cell since the agent did: what the agent's runs still show of it belongs nowhere."""
        for run, run_again in self._run_again.items():
            if self._access.now_at(run.path) == path and any(
                cell.cell_id == cell_id and cell.ended for cell in run.cells
            ):
                run_again.add(cell_id)

    def printed(self, path: str) -> dict[CellId, AgentOutput]:
        """What the agent's runs have printed so far of the cells of a notebook that nobody has run since."""
        found: dict[CellId, AgentOutput] = {}
        for run, run_again in self._run_again.items():
            if self._access.now_at(run.path) != path:
                continue
            play = self._plays.get(run.id)
            for cell in run.cells:
                if cell.cell_id is None or cell.started_at is None or cell.cell_id in run_again:
                    continue
                goes_on = not cell.ended or (play is not None and play.is_behind(cell.cell_id))
                found[cell.cell_id] = AgentOutput(cell.code, cell.outputs.outputs, cell.execution_count, goes_on)
        return found

    def look(self, path: str) -> None:
        """A tab begins to look at a notebook: it is shown from the beginning what is not in the file yet."""
        if self._marked.get(path):
            self._on_work(self.working(path))
        for play in self._plays.values():
            if (not play.over or play.is_refused) and self._access.now_at(play.run.path) == path:
                play.begin_again()

    def moved(self, old: str, new: str) -> None:
        """A notebook, or a folder, has another path now: so have the marks in it."""
        for path in [path for path in self._marked if is_within(path, old)]:
            cells, now = self._marked.pop(path), under(path, old, new)
            self._marked[now] = cells
            self._on_work(NotebookWorkMessage(path=path, cells=[]))
            self._on_work(NotebookWorkMessage(path=now, cells=cells))

    async def settled(self, run: Run) -> None:
        """Wait until what the run has printed so far is shown, and in the notebook where it has ended."""
        play = self._plays.get(run.id)
        if play is not None:
            await play.settled()

    def problem(self, run: Run) -> str | None:
        """Why outputs of the run are not in the notebook, if they are not."""
        play = self._plays.get(run.id)
        return play.problem if play is not None else None

    def working(self, path: str) -> NotebookWorkMessage:
        """The cells of a notebook under way now."""
        return NotebookWorkMessage(path=path, cells=self._marked.get(path, []))

    async def close(self) -> None:
        """Keep what there is, and end."""
        self._closed = True
        await asyncio.gather(*(play.close() for play in list(self._plays.values())))
        self._plays.clear()

    def _take_from_earlier(self, run: Run, cell_id: CellId) -> None:
        path = self._access.now_at(run.path)
        for other, run_again in self._run_again.items():
            if other is run:
                run_again.discard(cell_id)
            elif self._access.now_at(other.path) == path:
                run_again.add(cell_id)

    def _over(self, play: _RunPublisher) -> None:
        # The last ones stay, so that whoever waited can ask what became of them.
        done = [one for one, other in self._plays.items() if other.over and other is not play]
        for run_id in done[:-8]:
            del self._plays[run_id]

    def _mark(self, path: str) -> None:
        path = self._access.now_at(path)
        cells = [
            WorkingCell(cell_id=cell.cell_id, state=cell.state, task_id=play.run.task_id)
            for play in self._plays.values()
            if self._access.now_at(play.run.path) == path
            for cell in play.run.cells
            if not cell.ended and cell.cell_id is not None
        ][:_MOST_MARKED]
        if cells != self._marked.get(path, []):
            if cells:
                self._marked[path] = cells
            else:
                self._marked.pop(path, None)
            self._on_work(NotebookWorkMessage(path=path, cells=cells))


class _RunPublisher:
    """One run whose outputs are shown."""

    def __init__(
        self,
        run: Run,
        access: NotebookAccess,
        run_again: set[CellId],
        mark: Callable[[str], None],
        on_over: Callable[[_RunPublisher], None],
    ) -> None:
        self.run: Final = run
        self.problem: str | None = None
        self.over = False
        self._access = access
        self._run_again = run_again
        self._mark = mark
        self._on_over = on_over
        # Only of cells that are heard of: a run of long ago that comes back has kept what else it printed.
        self._scenes: dict[CellId, _CellPublisher] = {}
        self._begun: set[CellId] = set()
        self._touched: set[CellId] = set()
        self._wake = asyncio.Event()
        self._rest = asyncio.Event()
        self._hurry = asyncio.Event()
        self._seen = True
        self._saved_at = monotonic()
        self._worker: asyncio.Task[None] | None = None

    def begins(self, cell: CellRun) -> bool:
        """Whether the kernel has just begun with a cell."""
        if cell.cell_id is None or cell.started_at is None or cell.ended or cell.cell_id in self._begun:
            return False
        self._begun.add(cell.cell_id)
        return True

    def touch(self, cell: CellRun) -> None:
        if cell.cell_id is not None and not self._is_run_again(cell):
            self._scenes.setdefault(cell.cell_id, _CellPublisher(cell))
            self._touched.add(cell.cell_id)
            self._stir()

    def is_behind(self, cell_id: CellId) -> bool:
        """Whether something of a cell is not in the notebook yet."""
        scene = self._scenes.get(cell_id)
        return scene is not None and not scene.is_kept

    @property
    def is_refused(self) -> bool:
        """Whether there are outputs that a tab kept out of the notebook, which may be another by now."""
        return any(scene.refused for scene in self._scenes.values())

    def begin_again(self) -> None:
        for scene in self._scenes.values():
            scene.shown = 0
            if scene.refused:
                self.problem, scene.refused, scene.kept = None, False, None
            # One that is in the file may have been run again by the person since.
            if scene.cell.state != "queued" and not scene.is_kept:
                self.touch(scene.cell)

    async def settled(self) -> None:
        while not self._rest.is_set():
            self._hurry.set()
            self._wake.set()
            await self._rest.wait()

    async def close(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])
        await self._unless_broken(self._keep(self._unkept(ended_only=False)))

    def _stir(self) -> None:
        self._rest.clear()
        self._wake.set()
        if self._worker is None or self._worker.done():
            self.over = False
            self._worker = asyncio.create_task(self._work(), name=f"hdsp-agent shows run {self.run.id}")

    async def _work(self) -> None:
        try:
            await self._unless_broken(self._perform())
        finally:
            # Whoever waits for the run must not wait for ever.
            self._rest.set()

    async def _unless_broken(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception:
            logger.exception("Run %s of %s can no longer be shown", self.run.id, self.run.path)
            self.problem = "The outputs are not in the notebook: the server's log says why."

    async def _perform(self) -> None:
        while True:
            await self._next()
            touched, self._touched = self._touched, set()
            self._mark(self.run.path)
            for cell_id in touched:
                await self._show(self._scenes[cell_id])
            await self._keep(self._due())
            if self._touched:
                continue
            if not self._unkept(ended_only=True):
                self._hurry.clear()
                self._rest.set()
                if self.run.done:
                    self.over = True
                    self._on_over(self)
                    return

    async def _next(self) -> None:
        """Wait for something to do, and for more of it to come together."""
        self._wake.clear()
        if self._hurry.is_set():
            return
        more, seconds = (self._hurry, _FRAME_SECONDS) if self._touched else (self._wake, self._patience())
        wait = asyncio.ensure_future(more.wait())
        try:
            await asyncio.wait({wait}, timeout=seconds)
        finally:
            wait.cancel()

    def _patience(self) -> float | None:
        if self._unkept(ended_only=True):
            return max(0.0, self._saved_at + _SAVE_SECONDS - monotonic())
        if not self._seen and self._unkept(ended_only=False):
            return max(0.0, self._saved_at + _UNSEEN_SAVE_SECONDS - monotonic())
        return None

    async def _show(self, scene: _CellPublisher) -> None:
        cell = scene.cell
        # One that was not run keeps the outputs it had: to be shown begins with their being cleared.
        if cell.cell_id is None or cell.state == "queued" or cell.started_at is None:
            return
        if self._is_run_again(cell):
            return
        if not self._seen and not await self._access.is_watched(self.run.path):
            return
        # On the wire 0 is a cell nothing was shown of; one that has printed nothing yet is a version, too.
        changes = cell.outputs.changes_since(max(0, scene.shown - 1))
        version = cell.outputs.version + 1
        self._seen = await self._access.show(
            ChangeOutputsMessage(
                path=self._access.now_at(self.run.path),
                cell_id=cell.cell_id,
                run_id=self.run.id,
                base=scene.shown,
                version=version,
                changes=changes,
                state=cell.state,
                execution_count=cell.execution_count,
            )
        )
        # A tab that comes later is told everything.
        scene.shown = version if self._seen else 0

    # ---- keeping

    def _due(self) -> list[_CellPublisher]:
        now = monotonic()
        if self._hurry.is_set() or self.run.done or now - self._saved_at >= _SAVE_SECONDS:
            ended = self._unkept(ended_only=True)
            if ended:
                return ended
        if not self._seen and now - self._saved_at >= _UNSEEN_SAVE_SECONDS:
            return self._unkept(ended_only=False)
        return []

    def _unkept(self, *, ended_only: bool) -> list[_CellPublisher]:
        return [
            scene
            for scene in self._scenes.values()
            if scene.cell.started_at is not None
            and (scene.cell.ended or not ended_only)
            and not scene.is_kept
            and not self._is_run_again(scene.cell)
        ]

    def _is_run_again(self, cell: CellRun) -> bool:
        return cell.started_at is not None and cell.cell_id in self._run_again

    async def _keep(self, scenes: Iterable[_CellPublisher]) -> None:
        """Put outputs into the notebook. If this is cancelled nothing counts as kept, and it is done once more."""
        versions = {scene: (scene.cell.outputs.version, scene.cell.ended) for scene in scenes}
        if not versions:
            return
        self._saved_at = monotonic()
        document = self._access.document(self.run.path)
        left = list(versions)
        refused: list[_CellPublisher] = []
        while left:
            try:
                await document.apply([_outputs_of(scene.cell) for scene in left], task_id=self.run.task_id)
                break
            except HdspAgentError as error:
                gone = _missing(error)
                self._tell(error, gone=next(iter(gone), None))
                # Somebody deleted a cell that ran; the others' outputs are kept all the same.
                others = [scene for scene in left if scene.cell.cell_id not in gone]
                if len(others) == len(left):
                    refused = left
                    break
                left = others
        for scene, version in versions.items():
            scene.kept, scene.refused = version, scene in refused

    def _tell(self, error: HdspAgentError, *, gone: str | None) -> None:
        self.problem = (
            f"The outputs of cell {gone} are not in the notebook: while it ran it was deleted, or made no code cell."
            if gone
            else f"The outputs are not in the notebook: {error.message}"
        )
        logger.warning("Run %s of %s: %s", self.run.id, self.run.path, self.problem)


def _missing(error: HdspAgentError) -> set[str]:
    """The cells that are not there, if that is what the error says."""
    if isinstance(error, CellConflict):
        return {miss.cell_id for miss in error.mismatches}
    return {str(error.params["cell"])} if "cell" in error.params else set()


def _outputs_of(cell: CellRun) -> SetOutputs:
    assert cell.cell_id is not None
    return SetOutputs(cell_id=cell.cell_id, outputs=cell.outputs.outputs, execution_count=cell.execution_count)
