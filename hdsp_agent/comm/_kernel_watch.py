"""Watching one kernel: what the person runs in it, and what it does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Final

from ..errors import HdspAgentError
from ..notebooks import Notebooks, NotebookSnapshot, ObservedRun, PersonRunLog, cell_of, source_hash
from ..notebooks.kernels.iopub import PageListener
from ._kernel_status import KernelStatus, KernelStatusPublisher

if TYPE_CHECKING:
    from ..messages import KernelStatusMessage
    from ..notebooks.kernels.iopub import IopubListener, IopubListeners, KernelFate, Published

__all__ = ["KernelWatch"]

logger = logging.getLogger(__name__)

_SETTLE_SECONDS: Final = 0.2
"""How long it is waited for more runs before the notebook is read to find their cells."""
_BETWEEN_READS_SECONDS: Final = 1.0
_CHARACTERS_PER_SECOND: Final = 200_000
"""Longer notebooks are read less often."""

_AT_WORK: Final[frozenset[KernelStatus]] = frozenset({"idle", "busy"})
_RESTARTED: Final = "The kernel was restarted while this ran."
_SHUT_DOWN: Final = "The kernel was shut down while this ran."
_DIED: Final = "The kernel died while this ran."
_UNHEARD: Final = "The page lost its connection while this ran, so its result is not known."


class KernelWatch:
    """Listens to one kernel. Its runs go to the history of runs, its states to the tabs."""

    def __init__(
        self,
        kernel_id: str,
        iopub_listeners: IopubListeners,
        notebooks: Notebooks,
        publish: Callable[[KernelStatusMessage], None],
    ) -> None:
        self.kernel_id: Final = kernel_id
        self.paths: Sequence[str] = ()
        """The notebooks it runs for."""
        self.person_log: Final = PersonRunLog(self._began, self._ended)
        self._iopub_listeners = iopub_listeners
        self._notebooks = notebooks
        self._publisher = KernelStatusPublisher(kernel_id, publish)
        self._life = notebooks.executor.life(kernel_id)
        self._address = ""
        self._listener: IopubListener | PageListener | None = None
        self._opening: asyncio.Task[None] | None = None
        self._placing: asyncio.Task[None] | None = None
        self._no_more_fate: Callable[[], None] = _nothing
        self._since = monotonic()

    @property
    def age(self) -> float:
        """For how many seconds it is watched."""
        return monotonic() - self._since

    def look(self) -> None:
        """See whether the kernel is still the same process, publishing where it did. Called often."""
        life = self._notebooks.executor.life(self.kernel_id)
        if life and life != self._life:
            self._life = life
            self._over(_DIED)
            if self._publisher.status in _AT_WORK:
                self._publisher.now("restarting")
        address = self._iopub_listeners.address(self.kernel_id)
        if address and address != self._address and (self._opening is None or self._opening.done()):
            self._address = address
            self._opening = asyncio.ensure_future(self._open())

    def runs_for(self, paths: Sequence[str], status: KernelStatus) -> None:
        """It runs for these notebooks now; Jupyter itself believes that it does this."""
        known = self._publisher.status
        # That it is idle may have been published before anybody listened.
        if (known == "unknown" and status != "unknown") or (known == "starting" and status in _AT_WORK):
            self._publisher.now(status)
        if status == "idle" and isinstance(self._listener, PageListener):
            self._listener.missed_end()
        if known == "busy" and status == "idle" and self._listener is not None and not self._listener.hears:
            self.person_log.unheard(_UNHEARD)
            self._publisher.now("idle")
        if paths != self.paths:
            self.paths = paths
            self._publisher.runs_for(paths)

    def tell_again(self) -> None:
        """A tab has come that knows nothing of it."""
        self._publisher.again()

    async def close(self, *, gone: bool) -> None:
        """Hear nothing more; ``gone``: because there is no such kernel any more."""
        if gone:
            self._over(_SHUT_DOWN)
        self._publisher.end("dead" if gone else self._publisher.status)
        tasks = [task for task in (self._opening, self._placing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._no_more_fate()
        if self._listener is not None:
            await self._listener.close()

    # ---- hearing

    async def _open(self) -> None:
        if self._listener is not None:
            listener, self._listener = self._listener, None
            await listener.close()
        self._no_more_fate()
        try:
            self._listener = await self._iopub_listeners.listen(self.kernel_id, self._hear)
            # Who looks after its process is there no sooner.
            self._no_more_fate = self._iopub_listeners.on_end(self.kernel_id, self._fate)
        except HdspAgentError as error:
            # It failed to start, which whoever started it is told.
            logger.info("Could not listen to kernel %s: %s", self.kernel_id, error)

    def _hear(self, message: Published) -> None:
        match message.kind:
            case "status":
                self._status(message)
            case "shutdown_reply":
                restart = bool(message.content.get("restart"))
                self._over(_RESTARTED if restart else _SHUT_DOWN)
                self._publisher.now("restarting" if restart else "terminating")
            case "execute_input" if not message.asked_by_us:
                self.person_log.input(message.parent_id, message.content)
            case "error" if not message.asked_by_us:
                self.person_log.error(message.parent_id, message.content)

    def _status(self, message: Published) -> None:
        state = message.content.get("execution_state")
        runs = message.parent_kind == "execute_request"
        if state == "busy" and runs:
            self._publisher.now("busy")
        elif state == "idle" and (runs or self._publisher.status not in _AT_WORK):
            # Before anything ran, that it answers at all says that it is there.
            self._publisher.now("idle")
        elif state == "starting" and self._publisher.status not in _AT_WORK:
            self._publisher.now("starting")
        elif state in ("restarting", "dead"):
            # Said by a gateway, not by the kernel, and only of one that ended by itself.
            self._fate("restart" if state == "restarting" else "dead")
        if state == "idle" and runs:
            self.person_log.idle(message.parent_id)

    def _fate(self, fate: KernelFate) -> None:
        self._over(_DIED)
        self._publisher.now("autorestarting" if fate == "restart" else "dead")

    def _over(self, why: str) -> None:
        self.person_log.lost(why)

    # ---- finding the cells of runs

    def _began(self, run: ObservedRun) -> None:
        if len(self.paths) == 1:
            run.path = self.paths[0]
            run.order = self._notebooks.executions.turn(run.path, self.kernel_id)
        self._place_soon()

    def _ended(self, run: ObservedRun) -> None:
        if run.cell_id is None:
            self._place_soon()
        else:
            self._note_failure(run)

    def _place_soon(self) -> None:
        if self._placing is None or self._placing.done():
            self._placing = asyncio.ensure_future(self._place())

    async def _place(self) -> None:
        await asyncio.sleep(_SETTLE_SECONDS)
        while runs := self.person_log.unplaced():
            for run in runs:
                run.looked_for()
            snapshots = await self._snapshots()
            for run in runs:
                self._note(run, snapshots)
            length = sum(len(cell.source) for snapshot in snapshots for cell in snapshot.cells)
            await asyncio.sleep(max(_BETWEEN_READS_SECONDS, length / _CHARACTERS_PER_SECOND))

    async def _snapshots(self) -> list[NotebookSnapshot]:
        snapshots = []
        for path in self.paths:
            try:
                snapshots.append(await self._notebooks.access.document(path).snapshot())
            except HdspAgentError as error:
                logger.debug("It is not known which cells of %s ran: %s", path, error)
        return snapshots

    def _note(self, run: ObservedRun, snapshots: Sequence[NotebookSnapshot]) -> None:
        found = cell_of(run, snapshots)
        if found is None:
            return
        path, run.cell_id = found
        order = run.order if path == run.path else None
        run.path = path
        run.order = self._notebooks.executions.began(
            path, self.kernel_id, run.cell_id, source_hash(run.code), order=order
        )
        newest = self._notebooks.executions.memory(path, self.kernel_id).ran.get(run.cell_id)
        if order is not None and newest is not None and newest.order == order:
            self._notebooks.live_outputs.run_by_person(path, run.cell_id)
        if run.ended_at is not None:
            self._note_failure(run)

    def _note_failure(self, run: ObservedRun) -> None:
        if run.error is not None and run.path is not None and run.cell_id is not None and run.order is not None:
            self._notebooks.executions.failed(self._notebooks.access.now_at(run.path), run.cell_id, run.order)


def _nothing() -> None:
    """Nobody looks after the kernel yet."""
