"""Checkpoints of the running server: which workspace a person means, what of it is theirs alone, and who hears of a restore."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .._background_tasks import STOP_SECONDS, BackgroundTasks
from .._timeouts import wait_at_most
from ..checkpoints import CheckpointId
from ..checkpoints.timeline import (
    FOR_VERIFICATION,
    CheckpointView,
    OperationView,
    RestartedRun,
    RestorePreview,
    RestoreResult,
    StoreView,
    TimelineView,
    VerificationReport,
    VerifiedView,
    kind_of,
)
from ..errors import HdspAgentError, Unavailable
from ..messages import Parts, TaskId
from ._owner import Owner
from .checkpoint_steps import CheckpointSteps
from .history import History
from .open_panels import OpenPanels
from .running_agent import RunningAgent

if TYPE_CHECKING:
    from ..agent import CheckpointService, RestartTarget

__all__ = ["CheckpointAccess", "CheckpointPlace"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CheckpointPlace:
    """Who asks about which workspace: that of a task, or of a notebook; else the server's own folder."""

    owner: Owner
    task_id: str | None = None
    path: str | None = None
    """A notebook's, in the contents API."""


class CheckpointAccess:
    """Lets people at the checkpoints of workspaces. Whose task a checkpoint belongs to is whose conversation goes back."""

    def __init__(self, agent: RunningAgent, history: History, panels: OpenPanels, workspace: Path) -> None:
        self._agent = agent
        self._history = history
        self._panels = panels
        self._workspace = workspace
        self._steps = CheckpointSteps(history)
        self._held = BackgroundTasks()
        panels.on_shown = self._tell_head

    async def at(self, place: CheckpointPlace) -> tuple[Path, CheckpointService]:
        """Which folder is meant, and who knows its checkpoints. A task of somebody else is as unknown as one that is not there."""
        manager = await self._agent.manager()
        folder = self._workspace
        if place.task_id is not None:
            own = (await self._history.task(place.owner, place.task_id)).metadata.workspace
            folder = Path(own) if own else folder
        return folder, manager.checkpoints

    async def view(
        self, place: CheckpointPlace, *, before: str | None = None, limit: int = 100, only_task: bool = False
    ) -> TimelineView:
        """What was done to a workspace, newest first."""
        folder, checkpoints = await self.at(place)
        task_id = TaskId(place.task_id) if only_task and place.task_id else None
        line = await checkpoints.timeline(folder)
        view = await line.view(before=before, limit=limit, task_id=task_id)
        hidden = await self._notes_of_others(place, folder, checkpoints)
        operations = await self._steps.told(place.owner, view.operations)
        try:
            operations = _with_verified(operations, await line.verified(place.owner))
        except HdspAgentError as error:
            _log.warning("What was verified in %s cannot be told: %s", folder, error.message)
        return view.model_copy(
            update={
                "here": None if view.here is None else _without_note(view.here, hidden),
                "operations": tuple(_without_notes(done, hidden) for done in operations),
                "interrupted": None if view.interrupted is None else _without_notes(view.interrupted, hidden),
            }
        )

    async def save(self, place: CheckpointPlace, note: str | None) -> CheckpointView:
        """Save a workspace as it is now, and of the notebook that is named its cells and variables."""
        folder, checkpoints = await self.at(place)
        checkpoint = await self._held.finish(checkpoints.save(folder, note, owner=place.owner, notebook=place.path))
        self._history.stands_at(place.owner, checkpoint.commit, place.task_id)
        return _without_note(checkpoint, await self._notes_of_others(place, folder, checkpoints))

    async def save_for_verification(self, owner: Owner, notebook: str, file: Path) -> CheckpointId | None:
        """Save the server's own folder, with the cells of a notebook that is about to be verified: the newest checkpoint again if
        that has them and nothing changed. None where the person wants no checkpoints, or the notebook is elsewhere. Nobody waits
        longer than the agent would: then it raises Unavailable."""
        folder, checkpoints = await self.at(CheckpointPlace(owner))
        if not checkpoints.enabled or not await asyncio.to_thread(_is_within, file, folder):
            return None

        async def work() -> CheckpointView:
            notebooks = checkpoints.notebooks_of(folder, notebook, ())
            async with checkpoints.at(folder) as line:
                return await line.told(await line.save(FOR_VERIFICATION, owner=owner, notebooks=notebooks))

        seconds = checkpoints.timeout
        try:
            # What is being saved is saved to its end; what waits for its turn is not.
            checkpoint = await wait_at_most(work(), seconds)
        except TimeoutError:
            raise Unavailable(f"Saving takes longer than {seconds} seconds.") from None
        self._history.stands_at(owner, checkpoint.commit, None)
        return checkpoint.id

    async def keep_report(self, owner: Owner, report: VerificationReport) -> None:
        """Keep what came of a verification with its checkpoint."""
        folder, checkpoints = await self.at(CheckpointPlace(owner))
        await self._held.finish((await checkpoints.timeline(folder)).keep_report(report))
        commit = await checkpoints.head(folder)
        if commit is not None:
            self._history.stands_at(owner, commit, None)

    async def report(self, place: CheckpointPlace, verification: str) -> VerificationReport | None:
        """What came of a verification, if that is kept. Of somebody else's none is known."""
        folder, checkpoints = await self.at(place)
        found = await (await checkpoints.timeline(folder)).report(verification)
        return found if found is not None and found.owner == place.owner else None

    async def look_after(self, place: CheckpointPlace, action: Literal["tidy", "roll_back", "keep"]) -> StoreView:
        """Bring a store within its limits, or settle a restore that was cut short, even if whoever asked goes away meanwhile."""
        folder, checkpoints = await self.at(place)
        return await self._held.finish(checkpoints.look_after(folder, action))

    async def preview(self, place: CheckpointPlace, checkpoint: str, parts: Parts) -> RestorePreview:
        """What going back to a checkpoint would do."""
        folder, checkpoints = await self.at(place)
        if parts.conversation:
            await self._refuse_others(place.owner, await checkpoints.task_of(folder, checkpoint))
        preview = await checkpoints.preview(folder, checkpoint, parts)
        return await self._preview_without_note(place, folder, checkpoints, preview)

    async def restore(self, place: CheckpointPlace, checkpoint: str, parts: Parts) -> RestoreResult:
        """Go back to a checkpoint, whole or not at all, even if whoever asked goes away in between."""
        folder, checkpoints = await self.at(place)
        task_id = await checkpoints.task_of(folder, checkpoint) if parts.conversation else None
        await self._refuse_others(place.owner, task_id)
        result = await self._held.finish(checkpoints.restore(folder, checkpoint, parts))
        return await self._told(place, folder, checkpoints, result, task_id)

    async def preview_undo(self, place: CheckpointPlace, operation: str, *, overwrite: bool) -> RestorePreview:
        """What taking a restore back would do."""
        folder, checkpoints = await self.at(place)
        await self._refuse_others(place.owner, await checkpoints.task_gone_back(folder, operation))
        preview = await checkpoints.preview_undo(folder, operation, overwrite=overwrite)
        return await self._preview_without_note(place, folder, checkpoints, preview)

    async def undo(self, place: CheckpointPlace, operation: str, *, overwrite: bool) -> RestoreResult:
        """Take a restore back, or an undo, with everything that it brought back."""
        folder, checkpoints = await self.at(place)
        task_id = await checkpoints.task_gone_back(folder, operation)
        await self._refuse_others(place.owner, task_id)
        result = await self._held.finish(checkpoints.undo(folder, operation, overwrite=overwrite))
        return await self._told(place, folder, checkpoints, result, task_id)

    async def restart(self, place: CheckpointPlace, up_to: RestartTarget, seen: str) -> RestartedRun:
        """Restart the kernel and begin to run its cells, even if whoever asked goes away in between."""
        folder, checkpoints = await self.at(place)
        restarts = (await self._agent.manager()).restarts
        run = await self._held.finish(restarts.start(folder, up_to, seen, owner=place.owner))
        commit = await checkpoints.head(folder)
        if commit is not None:
            self._history.stands_at(place.owner, commit, place.task_id)
        return run

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
            folder, checkpoints = await self.at(place)
            commit = await checkpoints.head(folder)
        except HdspAgentError as error:
            _log.info("The workspace of task %s is unknown: %s", task_id, error.message)
            return
        if commit is not None and commit != self._history.checkpoint_of(task_id):
            self._history.stands_at(place.owner, commit, task_id)

    async def _told(
        self,
        place: CheckpointPlace,
        folder: Path,
        checkpoints: CheckpointService,
        result: RestoreResult,
        went: TaskId | None,
    ) -> RestoreResult:
        """Pages hear of it, and whoever's conversation on screen went back is asked whether to go on from there."""
        commit, of = await checkpoints.stands_at(folder, result.operation.id)
        self._history.stands_at(place.owner, commit, place.task_id or of)
        if went is not None and self._history.shows(place.owner, went):
            await self._panels.take_up(place.owner, went)
        hidden = await self._notes_of_others(place, folder, checkpoints)
        return result.model_copy(update={"operation": _without_notes(result.operation, hidden)})

    async def _refuse_others(self, owner: Owner, task_id: TaskId | None) -> None:
        if task_id is not None:
            await self._history.task(owner, task_id)

    async def _preview_without_note(
        self, place: CheckpointPlace, folder: Path, checkpoints: CheckpointService, preview: RestorePreview
    ) -> RestorePreview:
        hidden = await self._notes_of_others(place, folder, checkpoints)
        return preview.model_copy(update={"target": _without_note(preview.target, hidden)})

    async def _notes_of_others(
        self, place: CheckpointPlace, folder: Path, checkpoints: CheckpointService
    ) -> frozenset[CheckpointId]:
        """The checkpoints that have a note which is not this person's; what nobody's name is on is the server's person's."""
        records = await (await checkpoints.timeline(folder)).files.list()
        return frozenset(
            record.id
            for record in records
            if kind_of(record) == "note" and (record.owner or self._history.person) != place.owner
        )


def _without_note(checkpoint: CheckpointView, hidden: Collection[CheckpointId]) -> CheckpointView:
    """That somebody asked for a checkpoint is no secret; what they wrote on it is for themselves alone."""
    if checkpoint.id not in hidden:
        return checkpoint
    return checkpoint.model_copy(update={"reason": "asked for", "kind": "asked_for"})


def _without_notes(done: OperationView, hidden: Collection[CheckpointId]) -> OperationView:
    if done.checkpoint is None:
        return done
    return done.model_copy(update={"checkpoint": _without_note(done.checkpoint, hidden)})


def _with_verified(
    operations: Sequence[OperationView], verified: Mapping[CheckpointId, tuple[VerifiedView, ...]]
) -> Sequence[OperationView]:
    return [
        done.model_copy(update={"verified": verified.get(done.checkpoint.id, ())}) if done.checkpoint else done
        for done in operations
    ]


def _is_within(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())
