"""Looks after the tasks of processes that died."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from ...errors import HdspAgentError
from ...messages import TaskId
from .._abandoned_tasks import TaskRecovery
from .._records import Place
from .._trace import task_logger
from ._task_end import recover_task
from ._task_folders import TaskFolders
from ._task_locks import LockWatch, read_lock

__all__ = ["InterruptedTasks"]

logger = logging.getLogger(__name__)

_ABANDONED_SECONDS: Final = 3600.0


class InterruptedTasks:
    """Finishes interrupted moves and marks dead tasks as failed. Everything here blocks."""

    def __init__(self, folders: TaskFolders) -> None:
        self._folders = folders
        self._watch = LockWatch(patient=True)

    def recover(self, ours: Collection[TaskId]) -> Sequence[TaskRecovery]:
        """One round; ``ours`` are the tasks this process works on."""
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
