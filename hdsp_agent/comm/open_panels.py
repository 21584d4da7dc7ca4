"""Putting stored conversations on an owner's screen, and all that were open back there after the server was started again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from .._background_tasks import STOP_SECONDS, BackgroundTasks
from ..errors import Conflict, HdspAgentError, StorageUnavailable
from ..messages import HistoryItem, TaskId
from ._owner import Owner
from .history import History
from .open_tasks import OpenTaskStatus
from .panel_state_store import PanelState, PanelStateStore
from .running_agent import RunningAgent

__all__ = ["OpenPanels"]

logger = logging.getLogger(__name__)

_TAKEN_UP_WHEN_SHOWN: Final = frozenset({"active", "delegated"})
_PATIENCE_SECONDS: Final = 2.0


class OpenPanels:
    """Shows conversations, and remembers what is shown."""

    def __init__(self, agent: RunningAgent, history: History, memory: PanelStateStore) -> None:
        self._agent = agent
        self._history = history
        self._memory = memory
        self._restoring: dict[Owner, asyncio.Task[None]] = {}
        self._chosen: set[Owner] = set()
        self._held = BackgroundTasks()
        self.on_shown: Callable[[Owner, str], None] = lambda owner, task_id: None
        """Told which conversation is on an owner's tabs from now on."""
        history.on_screen = self._shown
        history.open_tasks.on_change = self._remember

    async def show(self, owner: Owner, task_id: str) -> None:
        """Show it on all of the owner's tabs. One that was interrupted asks whether to go on, or what it had asked."""
        await self.take_up(owner, task_id)
        await self._history.show(owner, task_id)

    async def arrived(self, owner: Owner) -> None:
        """Somebody connects: the first time, put what was on their screen there again, before they are told the state.

        A storage that takes its time keeps nobody waiting; the screen follows then.
        """
        if owner not in self._restoring:
            self._restoring[owner] = self._held.begin(self._restore(owner))
        await asyncio.wait({self._restoring[owner]}, timeout=_PATIENCE_SECONDS)

    async def stop(self) -> None:
        """Finish what is under way, and what is written about it."""
        if not await self._held.drain(STOP_SECONDS):
            self._held.cancel()
            await self._held.drain()
        await self._memory.stop()

    async def _restore(self, owner: Owner) -> None:
        screen = await self._memory.recall(owner)
        await self._open_again(owner, screen.open)
        task_id = screen.shown
        if task_id is None or owner in self._chosen:
            return
        try:
            await self.take_up(owner, task_id)
            # Whoever chose something else meanwhile sees that.
            if owner not in self._chosen:
                await self._history.show(owner, task_id)
        except HdspAgentError as error:
            # Deleted meanwhile, or the storage cannot be used, which is told elsewhere.
            logger.info("Task %s was open but could not be shown again: %s", task_id, error)

    async def take_up(self, owner: Owner, task_id: str) -> None:
        """Work on it again if it was interrupted. Where that cannot be just now, it is read."""
        item = await self._history.item(owner, task_id)
        if item.status in _TAKEN_UP_WHEN_SHOWN and self._history.details(task_id) is None:
            # Another process works on it, or a subtask of it is worked on, or nothing can be written: then it is read.
            with suppress(Conflict, StorageUnavailable):
                await (await self._agent.manager()).resume(TaskId(task_id))

    async def _open_again(self, owner: Owner, task_ids: Sequence[str]) -> None:
        """Those that rest are taken up when they are shown, not before."""
        items: list[HistoryItem] = []
        plights: dict[str, OpenTaskStatus] = {}
        for task_id in task_ids:
            # One that was deleted meanwhile is not missed; a storage that cannot be used is told elsewhere.
            with suppress(HdspAgentError):
                items.append(await self._history.item(owner, task_id))
                plights[task_id] = await self._history.plight_in_log(owner, task_id)
        if items:
            self._history.open_tasks.restore(owner, items, plights)

    def _shown(self, owner: Owner, task_id: str | None) -> None:
        self._chosen.add(owner)
        self._remember(owner)
        if task_id is not None:
            self.on_shown(owner, task_id)

    def _remember(self, owner: Owner) -> None:
        screen = PanelState(shown=self._history.shown_id(owner), open=self._history.open_tasks.ids(owner))
        self._memory.remember(owner, screen)
