"""Checkpoints as the rest of the product uses them: nothing here blocks the event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Concatenate, Final, Literal, ParamSpec, TypeVar

from ..._timeouts import wait_at_most
from ...errors import HdspAgentError
from ...messages import TaskId
from .checkpoint_store import store_folder_of
from .diff import CheckpointDiff
from .file_checkpoints import Anchor, FileCheckpoints
from .file_limits import FileLimits
from .records import Author, CheckpointId, CheckpointRecord, FileRestorePlan, OperationRecord, StoreStatistics
from .restore_steps import Selection

__all__ = ["AsyncFileCheckpoints"]

P = ParamSpec("P")
R = TypeVar("R")
_logger = logging.getLogger(__name__)
_PAUSE_SECONDS: Final = 2.0
_MOST_PAUSES: Final = 30


def _in_thread(
    method: Callable[[FileCheckpoints], Callable[P, R]],
) -> Callable[Concatenate[AsyncFileCheckpoints, P], Coroutine[object, object, R]]:
    """What that method does, as it is documented there, in a thread."""

    async def run(checkpoints: AsyncFileCheckpoints, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await checkpoints.run(lambda files: method(files)(*args, **kwargs))

    return run


class AsyncFileCheckpoints:
    """The checkpoints of one workspace's files, kept in a folder of their own below ``store_dir``.

    Every method does its work in a thread, one at a time, and as a whole: if whoever waits is cancelled, it goes on to its
    end, and ``close`` waits for that. Errors are ``StorageUnavailable`` (disk, lock, damage), ``NotFound`` (no such
    checkpoint), ``Conflict`` (somebody changed a file at the same moment; a half restore waits for a decision),
    ``NotAllowed`` (a folder may not be written) and ``InvalidInput``; after each of them the workspace is as it was.
    """

    def __init__(self, workspace: Path, store_dir: Path, limits: FileLimits | None = None) -> None:
        self._workspace = workspace
        self._store_dir = store_dir
        self._limits = limits or FileLimits()
        self._files: FileCheckpoints | None = None
        self._lock = threading.Lock()
        self._asked = 0
        self._tidying: asyncio.Task[None] | None = None
        self._hurry: asyncio.Event | None = None
        self._on_collected: list[Callable[[Sequence[OperationRecord]], None]] = []

    @property
    def workspace(self) -> Path:
        """Whose files these are."""
        return self._workspace

    @property
    def folder(self) -> Path:
        """Where this workspace's checkpoints are kept."""
        return store_folder_of(self._store_dir, Path(os.path.realpath(self._workspace)))

    @property
    def limits(self) -> FileLimits:
        """The budgets that hold now."""
        return self._limits

    def on_collected(self, listener: Callable[[Sequence[OperationRecord]], None]) -> None:
        """Call this, in a thread and under the store's lock, with what stays whenever the store was brought within limits."""
        self._on_collected.append(listener)

    def set_limits(self, limits: FileLimits) -> None:
        """Heed these from the next save on."""
        with self._lock:
            if limits == self._limits:
                return
            self._limits = limits
            if self._files is not None:
                self._files.set_limits(limits)

    async def save(
        self,
        reason: str,
        *,
        task_id: TaskId | None = None,
        message_ts: int | None = None,
        changes_by: Author = "person",
        claims: Sequence[str] | None = None,
        touching: Sequence[str] = (),
        kept: Anchor | None = None,
    ) -> CheckpointRecord:
        """Save the workspace. Without a change and without a new anchor this is the newest checkpoint again.

        ``changes_by`` says who made what changed since the checkpoint before: save with ``agent`` after the agent has done
        something, or what it did counts as the person's and a restore keeps it. With ``claims`` only these files are its
        own. ``touching`` are files the agent is about to change, which is all that is kept of a home folder or a huge
        workspace. ``kept`` has what is kept with it besides files.
        """
        anchor = replace(kept or Anchor(), task_id=task_id, message_ts=message_ts)

        def work(files: FileCheckpoints) -> tuple[CheckpointRecord, bool]:
            files.touch(touching)
            return files.save(reason, changes_by, anchor, claims), files.wants_collection()

        record, wants_collection = await self.run(work)
        if wants_collection:
            self.tidy_soon()
        return record

    def tidy_soon(self) -> None:
        """Bring the store within its limits when nothing is asked for a moment."""
        if self._tidying is None or self._tidying.done():
            self._hurry = asyncio.Event()
            self._tidying = asyncio.create_task(self._tidy(self._hurry))

    checkpoint = _in_thread(lambda files: files.views.checkpoint)
    list = _in_thread(lambda files: files.views.checkpoints)
    operations = _in_thread(lambda files: files.views.operations)
    head = _in_thread(lambda files: files.views.head)
    changes = _in_thread(lambda files: files.views.changes)
    changed = _in_thread(lambda files: files.changed)
    content = _in_thread(lambda files: files.views.content)
    export = _in_thread(lambda files: files.views.export)
    statistics = _in_thread(lambda files: files.statistics)
    begin = _in_thread(lambda files: files.restore)
    end = _in_thread(lambda files: files.end)
    interrupted = _in_thread(lambda files: files.interrupted)
    recover = _in_thread(lambda files: files.recover)

    async def plan_restore(
        self,
        checkpoint: CheckpointId,
        *,
        only: Sequence[str] | None = None,
        leave: Sequence[str] = (),
        overwrite: Sequence[str] = (),
        overwrite_conflicts: bool = False,
    ) -> FileRestorePlan:
        """What ``restore`` would do now. Saves the workspace as it is, and changes nothing in it."""
        selection = Selection(only, leave, overwrite, overwrite_conflicts)
        return await self.run(lambda files: files.plan(checkpoint, selection))

    async def restore(
        self,
        checkpoint: CheckpointId,
        *,
        only: Sequence[str] | None = None,
        leave: Sequence[str] = (),
        overwrite: Sequence[str] = (),
        overwrite_conflicts: bool = False,
    ) -> OperationRecord:
        """Go back to a checkpoint (its id, or its commit), after a save of its own.

        Files that the person changed since the last checkpoint stay unless named in ``overwrite`` or ``overwrite_conflicts``.
        ``only`` restores these files and folders and no others; ``leave`` leaves some alone, such as a notebook that is open
        in a tab and is restored there.
        """
        selection = Selection(only, leave, overwrite, overwrite_conflicts)
        return await self.run(lambda files: files.restore(checkpoint, selection))

    async def undo(
        self, operation: CheckpointId | None = None, *, leave: Sequence[str] = (), overwrite_conflicts: bool = False
    ) -> OperationRecord:
        """Take a restore of files back, by default the newest one in force. An undo can be undone by its own id."""
        selection = Selection(leave=leave, overwrite_all=overwrite_conflicts)
        return await self.run(lambda files: files.undo(operation, selection))

    async def diff(
        self,
        old: CheckpointId | Literal["beginning"],
        new: CheckpointId | Literal["now"],
        *,
        only: Sequence[str] | None = None,
        with_content: bool = True,
    ) -> CheckpointDiff:
        """What differs between two checkpoints, or since the oldest one, or up to now (which is saved for that)."""

        def work(files: FileCheckpoints) -> CheckpointDiff:
            after = files.save("look", "person", Anchor()).id if new == "now" else new
            return files.views.diff(old, after, only, with_content)

        return await self.run(work)

    async def gc(self) -> StoreStatistics:
        """Drop the oldest checkpoints beyond the quota and pack the rest anew, which is done by itself after saves, when idle."""

        def work(files: FileCheckpoints) -> StoreStatistics:
            return files.collect(self._on_collected)

        return await self.run(work)

    async def close(self) -> None:
        """Wait for what is under way."""
        if self._tidying is not None and self._hurry is not None:
            self._hurry.set()
            await asyncio.wait({self._tidying})
        files = self._files
        if files is not None:
            await asyncio.to_thread(files.wait)

    async def _tidy(self, hurry: asyncio.Event) -> None:
        """When nothing is asked for a moment, for it keeps the store to itself; but not for ever later."""
        for _ in range(_MOST_PAUSES):
            asked = self._asked
            with suppress(asyncio.TimeoutError):
                await wait_at_most(hurry.wait(), _PAUSE_SECONDS)
            if hurry.is_set() or asked == self._asked:
                break
        try:
            await self.gc()
        except HdspAgentError as error:
            # The save itself is done; the next one tries again.
            _logger.warning("The checkpoints of %s could not be reduced to their limit: %s", self._workspace, error)

    async def run(self, work: Callable[[FileCheckpoints], R]) -> R:
        """Do something with the files, in a thread."""
        self._asked += 1
        return await asyncio.to_thread(lambda: work(self._opened()))

    def _opened(self) -> FileCheckpoints:
        with self._lock:
            if self._files is None:
                self._files = FileCheckpoints(self._workspace, self._store_dir, self._limits)
            return self._files
