"""Checkpoints as the rest of the product uses them: nothing here blocks the event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, TypeVar

from ...errors import HdspAgentError
from ...messages import TaskId
from ..failure_codes import Why
from .checkpoint_store import store_folder_of
from .diff import CheckpointDiff
from .file_checkpoints import INTERRUPTED, Anchor, Counted, FileCheckpoints, Selection
from .file_limits import FileLimits
from .records import (
    Author,
    Changed,
    CheckpointId,
    CheckpointRecord,
    FileRestorePlan,
    OperationRecord,
    RestoredParts,
    StoreStatistics,
)

__all__ = ["AsyncFileCheckpoints"]

R = TypeVar("R")
_logger = logging.getLogger(__name__)
_PAUSE_SECONDS: Final = 2.0
_MOST_PAUSES: Final = 30


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
        ui_offset: int | None = None,
        api_offset: int | None = None,
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
        anchor = replace(
            kept or Anchor(), task_id=task_id, message_ts=message_ts, ui_offset=ui_offset, api_offset=api_offset
        )

        def work(files: FileCheckpoints) -> tuple[CheckpointRecord, bool]:
            files.touch(touching)
            return files.save(reason, changes_by, anchor, claims), files.wants_collection()

        record, wants_collection = await self._run(work)
        if wants_collection:
            self.tidy_soon()
        return record

    def tidy_soon(self) -> None:
        """Bring the store within its limits when nothing is asked for a moment."""
        if self._tidying is None or self._tidying.done():
            self._hurry = asyncio.Event()
            self._tidying = asyncio.create_task(self._tidy(self._hurry))

    async def checkpoint(self, wanted: str) -> CheckpointRecord:
        """The checkpoint with this id, or the newest with this commit."""
        return await self._run(lambda files: files.views.checkpoint(wanted))

    async def list(self, *, task_id: TaskId | None = None, limit: int | None = None) -> list[CheckpointRecord]:
        """The checkpoints, newest first."""
        return await self._run(lambda files: files.views.checkpoints(task_id, limit))

    async def operations(self, limit: int | None = None) -> Sequence[OperationRecord]:
        """Everything that was done, newest first."""
        return await self._run(lambda files: files.views.operations(limit))

    async def head(self) -> CheckpointRecord | None:
        """The state the workspace was last known to be in."""
        return await self._run(lambda files: files.views.head())

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
        return await self._run(lambda files: files.plan(checkpoint, selection))

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
        return await self._run(lambda files: files.restore(checkpoint, selection))

    async def undo(
        self, operation: CheckpointId | None = None, *, leave: Sequence[str] = (), overwrite_conflicts: bool = False
    ) -> OperationRecord:
        """Take a restore of files back, by default the newest one in force. An undo can be undone by its own id."""
        selection = Selection(leave=leave, overwrite_all=overwrite_conflicts)
        return await self._run(lambda files: files.undo(operation, selection))

    async def begin(
        self,
        checkpoint: CheckpointId,
        parts: RestoredParts,
        selection: Selection,
        *,
        undo_of: CheckpointId | None = None,
    ) -> OperationRecord:
        """Restore the files of a restore of several parts. Until ``end``, or ``recover``, it counts as cut short."""
        kind: Literal["restore", "undo"] = "undo" if undo_of is not None else "restore"
        return await self._run(lambda files: files.restore(checkpoint, selection, kind, undo_of, parts))

    async def end(
        self, begun: OperationRecord, parts: RestoredParts, kept: Anchor, notebooks: Sequence[str] = ()
    ) -> OperationRecord:
        """All parts are restored; what the workspace is now is its result. ``notebooks`` are the files of those whose cells
        were: what else is not as in the checkpoint somebody changed meanwhile."""
        return await self._run(lambda files: files.end(begun, parts, kept, notebooks))

    async def interrupted(self) -> OperationRecord | None:
        """A restore that a crash cut short: ask the person, then ``recover``. Until then nothing can be restored."""
        return await self._run(lambda files: files.interrupted())

    async def recover(
        self,
        choice: Literal["roll_back", "keep"],
        *,
        leave: Sequence[str] = (),
        mend: Sequence[str] = (),
        error: str = "interrupted",
        why: Why | None = INTERRUPTED,
    ) -> OperationRecord | None:
        """Roll a half restore back, or keep the workspace as it is now. None if there is none.

        ``leave`` are files that are rolled back in another way, ``mend`` such as could not be; ``error`` and ``why`` say why.
        """
        return await self._run(lambda files: files.recover(choice, leave, mend, error, why))

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

        return await self._run(work)

    async def changes(self, checkpoint: CheckpointId, *, with_content: bool = True) -> CheckpointDiff:
        """What differs between a checkpoint and the one before it."""
        return await self._run(lambda files: files.views.changes(checkpoint, with_content))

    async def changed(self, old: CheckpointId, new: CheckpointId, counted: Counted) -> Changed:
        """How many files differ between two checkpoints, with what was counted besides."""
        return await self._run(lambda files: files.changed(old, new, counted))

    async def content(self, checkpoint: CheckpointId, path: str) -> bytes:
        """A file as a checkpoint has it: one side of an image, say."""
        return await self._run(lambda files: files.views.content(checkpoint, path))

    async def export(self, checkpoint: CheckpointId, target: Path, kind: Literal["zip", "git"] = "zip") -> None:
        """Write a checkpoint's files into a zip, or the checkpoint and those before it into a bare git repository."""
        await self._run(lambda files: files.views.export(checkpoint, target, kind))

    async def statistics(self) -> StoreStatistics:
        """What the checkpoints take, and whether they want ``gc``."""
        return await self._run(lambda files: files.statistics())

    async def gc(self) -> StoreStatistics:
        """Drop the oldest checkpoints beyond the quota and pack the rest anew, which is done by itself after saves, when idle."""

        def work(files: FileCheckpoints) -> StoreStatistics:
            return files.collect(self._on_collected)

        return await self._run(work)

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
                await asyncio.wait_for(hurry.wait(), _PAUSE_SECONDS)
            if hurry.is_set() or asked == self._asked:
                break
        try:
            await self.gc()
        except HdspAgentError as error:
            # The save itself is done; the next one tries again.
            _logger.warning("The checkpoints of %s stay larger than they should: %s", self._workspace, error)

    async def _run(self, work: Callable[[FileCheckpoints], R]) -> R:
        self._asked += 1
        return await asyncio.to_thread(lambda: work(self._opened()))

    def _opened(self) -> FileCheckpoints:
        with self._lock:
            if self._files is None:
                self._files = FileCheckpoints(self._workspace, self._store_dir, self._limits)
            return self._files
