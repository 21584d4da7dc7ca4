"""The time lines of the running server, for those who may look at them and go back."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from .._background_tasks import STOP_SECONDS, BackgroundTasks
from .._portable_names import portable_path
from ..checkpoints import CheckpointDiff
from ..checkpoints.timeline import (
    CellVersions,
    CheckpointView,
    RestartedRun,
    RestartPreview,
    RestorePreview,
    RestoreResult,
    StoreView,
    TimelineView,
)
from ..errors import HdspAgentError
from ..messages import Parts, TaskId
from ._owner import Owner
from ._private_notes import PrivateNotes
from .history import History
from .open_panels import OpenPanels
from .running_agent import RunningAgent

if TYPE_CHECKING:
    from ..agent import CheckpointOperations, RestartTarget

__all__ = ["CheckpointPlace", "CheckpointService"]

_log = logging.getLogger(__name__)

_CHUNK: Final = 256 * 1024


@dataclass(frozen=True)
class CheckpointPlace:
    """Who asks about which workspace: that of a task, or of a notebook; else the server's own folder."""

    owner: Owner
    task_id: str | None = None
    path: str | None = None
    """A notebook's, in the contents API."""


class CheckpointService:
    """What people may do with the checkpoints of workspaces. Whose task a checkpoint belongs to is whose conversation goes back."""

    def __init__(self, agent: RunningAgent, history: History, panels: OpenPanels, workspace: Path) -> None:
        self._agent = agent
        self._history = history
        self._panels = panels
        self._workspace = workspace
        self._held = BackgroundTasks()
        panels.on_shown = self._tell_head

    async def view(
        self, place: CheckpointPlace, *, before: str | None = None, limit: int = 100, only_task: bool = False
    ) -> TimelineView:
        """What was done to a workspace, newest first."""
        folder, checkpoints = await self._at(place)
        task_id = TaskId(place.task_id) if only_task and place.task_id else None
        view = await checkpoints.view(folder, before=before, limit=limit, task_id=task_id)
        return (await self._others(place, folder, checkpoints)).without_notes(view)

    async def save(self, place: CheckpointPlace, note: str | None) -> CheckpointView:
        """Save a workspace as it is now, and of the notebook that is named its cells and variables."""
        folder, checkpoints = await self._at(place)
        checkpoint = await self._held.finish(checkpoints.save(folder, note, owner=place.owner, notebook=place.path))
        self._history.stands_at(place.owner, checkpoint.commit, place.task_id)
        return (await self._others(place, folder, checkpoints)).without_note(checkpoint)

    async def cell_versions(self, place: CheckpointPlace, cell_id: str) -> CellVersions:
        """What a cell of the notebook that is named was before."""
        folder, checkpoints = await self._at(place)
        assert place.path is not None
        return await checkpoints.cell_versions(folder, place.path, cell_id)

    async def store(self, place: CheckpointPlace) -> StoreView:
        """What a workspace's checkpoints take."""
        folder, checkpoints = await self._at(place)
        return await checkpoints.store(folder)

    async def look_after(self, place: CheckpointPlace, action: Literal["tidy", "roll_back", "keep"]) -> StoreView:
        """Bring a store within its limits, or settle a restore that was cut short."""
        folder, checkpoints = await self._at(place)
        return await self._held.finish(checkpoints.look_after(folder, action))

    async def diff(
        self,
        place: CheckpointPlace,
        checkpoint: str,
        against: str,
        *,
        only: str | None = None,
        with_content: bool = True,
    ) -> CheckpointDiff:
        """What differs between a checkpoint and ``previous``, ``beginning``, ``now``, or an older checkpoint."""
        folder, checkpoints = await self._at(place)
        return await checkpoints.diff(folder, checkpoint, against, only=only, with_content=with_content)

    async def step_before(self, place: CheckpointPlace, checkpoint: str) -> CheckpointDiff:
        """What differs between a checkpoint and the one before the same task's step before."""
        folder, checkpoints = await self._at(place)
        return await checkpoints.step_before(folder, checkpoint)

    async def since_beginning(self, place: CheckpointPlace) -> CheckpointDiff:
        """What differs between the oldest checkpoint and now."""
        folder, checkpoints = await self._at(place)
        return await checkpoints.since_beginning(folder)

    async def told_at(self, owner: Owner, task_id: TaskId, commit: str, ts: int) -> str:
        """The id of the moment in this state that a task told of at the time ``ts``: several may have the same commit."""
        folder, checkpoints = await self._at(CheckpointPlace(owner, task_id))
        return await checkpoints.told_at(folder, commit, task_id, ts)

    async def content(self, place: CheckpointPlace, checkpoint: str, file: str) -> bytes:
        """A file as it was."""
        folder, checkpoints = await self._at(place)
        return await checkpoints.content(folder, checkpoint, file)

    async def export(
        self, place: CheckpointPlace, checkpoint: str, kind: Literal["zip", "git"]
    ) -> AsyncIterator[bytes]:
        """A checkpoint's files as a zip, or it and those before it as a bare git repository in a zip."""
        folder, checkpoints = await self._at(place)
        async with _temporary_folder() as temporary:
            target = temporary / "checkpoint.zip"
            if kind == "zip":
                await checkpoints.export(folder, checkpoint, target, kind)
            else:
                name = portable_path(os.fsencode(folder.name)) or "workspace"
                repository = temporary / "repository" / f"{name}.git"
                await asyncio.to_thread(repository.parent.mkdir)
                await checkpoints.export(folder, checkpoint, repository, kind)
                await asyncio.to_thread(
                    shutil.make_archive, os.fspath(target.with_suffix("")), "zip", repository.parent, repository.name
                )
            file = await asyncio.to_thread(target.open, "rb")
            try:
                while chunk := await asyncio.to_thread(file.read, _CHUNK):
                    yield chunk
            finally:
                await asyncio.to_thread(file.close)

    async def preview(self, place: CheckpointPlace, checkpoint: str, parts: Parts) -> RestorePreview:
        """What going back to a checkpoint would do."""
        folder, checkpoints = await self._at(place)
        await self._refuse_others_conversation(place.owner, await checkpoints.task_of(folder, checkpoint), parts)
        preview = await checkpoints.preview(folder, checkpoint, parts)
        return (await self._others(place, folder, checkpoints)).in_preview(preview)

    async def restore(self, place: CheckpointPlace, checkpoint: str, parts: Parts) -> RestoreResult:
        """Go back to a checkpoint, whole or not at all, even if whoever asked goes away in between."""
        folder, checkpoints = await self._at(place)
        task_id = await checkpoints.task_of(folder, checkpoint)
        await self._refuse_others_conversation(place.owner, task_id, parts)
        result = await self._held.finish(checkpoints.restore(folder, checkpoint, parts))
        await self._gone_back(place, folder, checkpoints, result, task_id if parts.conversation else None)
        return (await self._others(place, folder, checkpoints)).in_result(result)

    async def preview_undo(self, place: CheckpointPlace, operation: str, *, overwrite: bool) -> RestorePreview:
        """What taking a restore back would do."""
        folder, checkpoints = await self._at(place)
        await self._refuse_others(place.owner, await checkpoints.task_gone_back(folder, operation))
        preview = await checkpoints.preview_undo(folder, operation, overwrite=overwrite)
        return (await self._others(place, folder, checkpoints)).in_preview(preview)

    async def undo(self, place: CheckpointPlace, operation: str, *, overwrite: bool) -> RestoreResult:
        """Take a restore back, or an undo, with everything that it brought back."""
        folder, checkpoints = await self._at(place)
        task_id = await checkpoints.task_gone_back(folder, operation)
        await self._refuse_others(place.owner, task_id)
        result = await self._held.finish(checkpoints.undo(folder, operation, overwrite=overwrite))
        await self._gone_back(place, folder, checkpoints, result, task_id)
        return (await self._others(place, folder, checkpoints)).in_result(result)

    # ---- restarting a kernel and running cells again

    async def preview_restart(self, place: CheckpointPlace, up_to: RestartTarget) -> RestartPreview:
        """Which cells would run again."""
        folder, _ = await self._at(place)
        return await (await self._agent.manager()).restarts.preview(folder, up_to)

    async def restart(self, place: CheckpointPlace, up_to: RestartTarget, seen: str) -> RestartedRun:
        """Restart the kernel and begin to run them, even if whoever asked goes away in between."""
        folder, checkpoints = await self._at(place)
        restarts = (await self._agent.manager()).restarts
        run = await self._held.finish(restarts.start(folder, up_to, seen, owner=place.owner))
        commit = await checkpoints.head(folder)
        if commit is not None:
            self._history.stands_at(place.owner, commit, place.task_id)
        return run

    async def look_at_restart(self, owner: Owner, run_id: str) -> RestartedRun:
        """How far such a run is."""
        return (await self._agent.manager()).restarts.look(run_id, owner=owner)

    async def stop_restart(self, owner: Owner, run_id: str) -> RestartedRun:
        """Stop such a run."""
        return await (await self._agent.manager()).restarts.stop(run_id, owner=owner)

    async def stop(self) -> None:
        """Wait a little for what is under way; what is cut short is asked about when the server is back."""
        if not await self._held.drain(STOP_SECONDS):
            self._held.cancel()
            await self._held.drain()

    # ---- inside

    def _tell_head(self, owner: Owner, task_id: str) -> None:
        """Whoever has a conversation before them is told where its workspace is, whatever was told of it before."""
        self._held.begin(self._find_head(CheckpointPlace(owner, task_id), task_id))

    async def _find_head(self, place: CheckpointPlace, task_id: str) -> None:
        try:
            folder, checkpoints = await self._at(place)
            commit = await checkpoints.head(folder)
        except HdspAgentError as error:
            _log.info("Where the workspace of task %s is cannot be told: %s", task_id, error.message)
            return
        if commit is not None and commit != self._history.checkpoint_of(task_id):
            self._history.stands_at(place.owner, commit, task_id)

    async def _at(self, place: CheckpointPlace) -> tuple[Path, CheckpointOperations]:
        """Which folder is meant, and who knows its checkpoints. A task of somebody else is as unknown as one that is not there."""
        manager = await self._agent.manager()
        folder = self._workspace
        if place.task_id is not None:
            own = (await self._history.task(place.owner, place.task_id)).metadata.workspace
            folder = Path(own) if own else folder
        return folder, manager.checkpoints

    async def _others(self, place: CheckpointPlace, folder: Path, checkpoints: CheckpointOperations) -> PrivateNotes:
        return PrivateNotes(await checkpoints.notes_of_others(folder, place.owner, unnamed=self._history.person))

    async def _gone_back(
        self,
        place: CheckpointPlace,
        folder: Path,
        checkpoints: CheckpointOperations,
        result: RestoreResult,
        went: TaskId | None,
    ) -> None:
        """Whoever's conversation on screen went back is asked whether to go on from there."""
        commit, of = await checkpoints.stands_at(folder, result.operation.id)
        self._history.stands_at(place.owner, commit, place.task_id or of)
        if went is not None and self._history.shows(place.owner, went):
            await self._panels.take_up(place.owner, went)

    async def _refuse_others_conversation(self, owner: Owner, task_id: TaskId | None, parts: Parts) -> None:
        if parts.conversation:
            await self._refuse_others(owner, task_id)

    async def _refuse_others(self, owner: Owner, task_id: TaskId | None) -> None:
        if task_id is not None:
            await self._history.task(owner, task_id)


@asynccontextmanager
async def _temporary_folder() -> AsyncIterator[Path]:
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="hdsp-agent-"))
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
