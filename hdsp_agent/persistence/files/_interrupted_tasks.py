"""Looks after the tasks of processes that died: at the start and every five minutes."""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final

from ...errors import HdspAgentError
from ...messages import TaskId
from .._protocol import Place, TaskRecovery
from .._trace import task_logger
from ._task_end import recover_task
from ._task_folders import TaskFolders
from ._task_locks import LockWatch, read_lock

__all__ = ["MONITOR_SECONDS", "InterruptedTaskMonitor"]

logger = logging.getLogger(__name__)

MONITOR_SECONDS: Final = 300.0
_ABANDONED_SECONDS: Final = 3600.0


class InterruptedTaskMonitor:
    """Finishes interrupted moves and marks dead tasks as failed. ``ours`` are the tasks this process works on."""

    def __init__(
        self, folders: TaskFolders, ours: Callable[[], Collection[TaskId]], *, interval: float = MONITOR_SECONDS
    ) -> None:
        self._folders = folders
        self._ours = ours
        self._interval = interval
        self._watch = LockWatch(patient=True)
        self._looking = asyncio.Lock()
        self._rounds: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin the rounds."""
        self._rounds = asyncio.create_task(self._go_round(), name="hdsp-agent task monitor")

    async def stop(self) -> None:
        """End the rounds."""
        rounds, self._rounds = self._rounds, None
        if rounds is not None:
            rounds.cancel()
            await asyncio.gather(rounds, return_exceptions=True)

    async def recover(self) -> Sequence[TaskRecovery]:
        """One round now."""
        async with self._looking:
            ours = frozenset(self._ours())
            return await asyncio.to_thread(self._recover, ours)

    async def _go_round(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            try:
                await self.recover()
            except HdspAgentError as error:
                logger.warning("The tasks of other processes could not be looked after: %s", error)

    def _recover(self, ours: frozenset[TaskId]) -> Sequence[TaskRecovery]:
        recoveries: list[TaskRecovery] = []
        places: tuple[Place, ...] = ("running", "completed")
        for place in places:
            for task_id in list(self._folders.ids(place)):
                if task_id in ours:
                    continue
                try:
                    recovery = recover_task(self._folders, place, task_id, self._watch)
                except HdspAgentError as error:
                    task_logger(logger, task_id).warning("The task could not be recovered: %s", error)
                    continue
                if recovery is not None:
                    task_logger(logger, task_id).warning("The task is %s now: %s", recovery.status, recovery.reason)
                    recoveries.append(recovery)
        self._forget_old_locks()
        self._remove_abandoned()
        return recoveries

    def _forget_old_locks(self) -> None:
        locks = (read_lock(self._folders.at("running", task_id)) for task_id in self._folders.ids("running"))
        self._watch.forget_all_but([lock for lock in locks if lock is not None])

    def _remove_abandoned(self) -> None:
        for folder in self._folders.unfinished():
            with suppress(OSError):
                if time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
