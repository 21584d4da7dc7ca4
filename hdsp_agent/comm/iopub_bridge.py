"""What people do in their kernels, for the agent: it learns what they ran and what failed, and takes no part in it.

Tabs are told what the kernels do. Outputs are nothing of the bridge's: whoever ran a cell shows them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Final

from .._background_tasks import BackgroundTasks
from ..errors import HdspAgentError
from ..notebooks import Notebooks, PersonRun
from ._kernel_watch import KernelWatch

if TYPE_CHECKING:
    from ..messages import KernelStatusMessage
    from ..notebooks.kernels import KernelPort
    from ..notebooks.kernels.iopub import IopubListeners
    from ._bad_input_log import Log

__all__ = ["IopubBridge"]

_LOOK_SECONDS: Final = 0.25
"""How often it is looked for new kernels: less than one needs to start, so that its first run is not missed."""
_SLOWEST_SECONDS: Final = 10.0
"""How often the sessions are read while nothing changes, as JupyterLab does."""
_SESSION_SECONDS: Final = 60.0
"""How long a kernel may take to get its session, which is listed when the kernel has answered, and be waited for."""
_WAITING_SECONDS: Final = 1.0


class IopubBridge:
    """Watches every kernel from its start to its end. It is the ``PersonRuns`` of the notebooks."""

    def __init__(
        self,
        iopub_listeners: IopubListeners,
        sessions: KernelPort,
        notebooks: Notebooks,
        publish: Callable[[KernelStatusMessage], None],
        *,
        log: Log | None = None,
    ) -> None:
        self._iopub_listeners = iopub_listeners
        self._sessions = sessions
        self._notebooks = notebooks
        self._publish = publish
        self._log = log or logging.getLogger(__name__)
        self._watches: dict[str, KernelWatch] = {}
        self._leaving = BackgroundTasks()
        self._looking: asyncio.Task[None] | None = None
        self._refresh_at = 0.0
        self._pace = _LOOK_SECONDS

    def start(self) -> None:
        """Begin to watch."""
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._look_on())

    async def stop(self) -> None:
        """Watch no more, and give everything back."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        await asyncio.gather(*(watch.close(gone=False) for watch in self._watches.values()))
        self._watches.clear()
        await self._leaving.drain()
        await self._iopub_listeners.close()

    def tell_again(self) -> None:
        """A tab has come: it is told what the kernels do."""
        for watch in self._watches.values():
            watch.tell_again()

    def __call__(self, path: str) -> Sequence[PersonRun]:
        """The person's last runs in the kernel of this notebook, newest last."""
        now_at = self._notebooks.access.now_at
        path = now_at(path)
        runs = [
            run
            for watch in self._watches.values()
            if path in map(now_at, watch.paths)
            for run in watch.person_log.ended_runs
            # Two notebooks can share a kernel.
            if run.path is None or now_at(run.path) == path
        ]
        return sorted((run.told() for run in runs), key=lambda told: told.ended_at)

    # ---- inside

    async def _look_on(self) -> None:
        while True:
            try:
                await self._look()
            except HdspAgentError as error:
                self._log.warning("The kernels could not be watched: %s", error.message)
                self._refresh_at = monotonic() + _SLOWEST_SECONDS
            except Exception:  # noqa: BLE001 -- a manager of Jupyter may raise anything; kernels are watched on
                self._log.exception("The kernels could not be watched")
                self._refresh_at = monotonic() + _SLOWEST_SECONDS
            await asyncio.sleep(_LOOK_SECONDS)

    async def _look(self) -> None:
        there = self._iopub_listeners.kernel_ids()
        for gone in self._watches.keys() - set(there):
            self._leaving.begin(self._watches.pop(gone).close(gone=True))
        for kernel_id in there:
            # Without an address it begins just now, or nothing can be heard of it.
            if kernel_id not in self._watches and self._iopub_listeners.address(kernel_id):
                self._watches[kernel_id] = KernelWatch(kernel_id, self._iopub_listeners, self._notebooks, self._publish)
                # Its session follows in a moment.
                self._refresh_at, self._pace = 0.0, _LOOK_SECONDS
        for watch in self._watches.values():
            watch.look()
        if self._watches and monotonic() >= self._refresh_at:
            await self._refresh()

    async def _refresh(self) -> None:
        self._refresh_at = monotonic() + self._pace
        waited_for = any(not watch.paths and watch.age < _SESSION_SECONDS for watch in self._watches.values())
        self._pace = min(self._pace * 2, _WAITING_SECONDS if waited_for else _SLOWEST_SECONDS)
        paths: dict[str, list[str]] = {}
        sessions = await self._sessions.sessions()
        for session in sessions:
            if session.path.endswith(".ipynb"):
                paths.setdefault(session.kernel_id, []).append(session.path)
        states = {session.kernel_id: session.state for session in sessions}
        for kernel_id, watch in self._watches.items():
            # A notebook and its console are two sessions of one path.
            own = list(dict.fromkeys(paths.get(kernel_id, ())))
            watch.runs_for(own, states.get(kernel_id, "unknown"))
