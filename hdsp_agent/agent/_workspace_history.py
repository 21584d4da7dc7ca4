"""The files of workspaces as they were: saved before the agent changes something, brought back with a conversation."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ..checkpoints import CheckpointRecord, Checkpoints, Limits, OperationRecord, RestorePlan
from ..config import GlobalSettings
from ..config._held import STOP_SECONDS, HeldTasks
from ..errors import HdspAgentError, Unsupported
from ..messages import FileChange, FilesPreview, TaskId
from ..notebooks import Notebooks
from ..tools import ActionRequest

__all__ = ["SavedStep", "WorkspaceHistory"]

logger = logging.getLogger(__name__)

_READS_ONLY: Final = frozenset({"read", "read_outside", "mode_switch", "followup", "network", "kernel", "none"})
_MOST_TOLD: Final = 200
_MEGABYTE: Final = 1_000_000
_FOLDER_ACTIONS: Final = frozenset({"make_folder", "remove_folder", "attributes"})


class WorkspaceHistory:
    """The checkpoints of all workspaces tasks work in; each workspace's are opened when they are first needed."""

    def __init__(self, home: Path, settings: Callable[[], GlobalSettings], notebooks: Notebooks | None) -> None:
        self._home = home
        self._settings = settings
        self._notebooks = notebooks
        self._stores: dict[Path, Checkpoints] = {}
        self._held = HeldTasks()

    @property
    def enabled(self) -> bool:
        """Whether the person wants checkpoints."""
        return self._settings().enable_checkpoints

    async def before(self, folder: Path, step: SavedStep) -> None:
        """Save a workspace before the agent does something in it, but hold the agent up no longer than the settings say.

        Raises why it cannot be saved.
        """
        saving = self._held.begin(step.save_before(self._store(folder)))
        await asyncio.wait({saving}, timeout=self._settings().checkpoint_timeout)
        if saving.done():
            saving.result()

    def after(self, folder: Path, step: SavedStep) -> None:
        """The step was done: what has changed is the agent's. Nobody waits for it; what comes next in this folder does."""
        self._held.begin(step.save_after(self._store(folder)))

    async def preview(self, folder: Path, task_ids: Sequence[TaskId], since: int) -> FilesPreview | None:
        """What going back to before what these tasks did from the time ``since`` on would change; None is nothing."""
        found = await self._found(folder, task_ids, since)
        if found is None:
            return None
        plan, left = found
        changes = [change for change in plan.changes if change.action not in _FOLDER_ACTIONS]
        return FilesPreview(
            changes=[FileChange(path=change.path, action=change.action) for change in changes[:_MOST_TOLD]],
            more_changes=max(0, len(changes) - _MOST_TOLD),
            kept=[change.path for change in plan.conflicts[:_MOST_TOLD]],
            open_notebooks=list(left),
        )

    async def go_back(self, folder: Path, task_ids: Sequence[TaskId], since: int) -> str | None:
        """Bring the files back to before what these tasks did from then on; the operation's id, None if nothing changed."""
        found = await self._found(folder, task_ids, since)
        if found is None:
            return None
        plan, left = found
        if not plan.changes:
            return None
        done = await self._store(folder).restore(plan.target, leave=left)
        return done.id

    async def undo(self, folder: Path, operation: str) -> str:
        """Take back what ``go_back``, or an undo, did; the id of this operation."""
        store = self._store(folder)
        left = await self._open_notebooks(folder, await _touched_by(store, operation))
        return (await store.undo(operation, leave=left)).id

    async def close(self) -> None:
        """Wait for what is under way."""
        await self._held.drain(STOP_SECONDS)
        await asyncio.gather(*(store.close() for store in self._stores.values()))

    # ---- inside

    def _store(self, folder: Path) -> Checkpoints:
        store = self._stores.get(folder)
        if store is None:
            quota = self._settings().checkpoint_quota_megabytes * _MEGABYTE
            store = Checkpoints(folder, self._home / "checkpoints", Limits(quota_bytes=quota, excluded=(self._home,)))
            self._stores[folder] = store
        return store

    async def _found(
        self, folder: Path, task_ids: Sequence[TaskId], since: int
    ) -> tuple[RestorePlan, tuple[str, ...]] | None:
        if not self.enabled:
            raise Unsupported("Checkpoints are switched off in the settings, so files cannot be brought back.")
        await self._held.drain()
        store = self._store(folder)
        records = [
            record
            for task_id in task_ids
            for record in await store.list(task_id=task_id)
            if record.message_ts is not None and record.message_ts >= since
        ]
        if not records:
            return None
        target = min(records, key=_when)
        plan = await store.plan_restore(target.id)
        left = await self._open_notebooks(folder, [change.path for change in plan.changes])
        if left:
            plan = await store.plan_restore(target.id, leave=left)
        return plan, left

    async def _open_notebooks(self, folder: Path, paths: Sequence[str]) -> tuple[str, ...]:
        """Those that are open in a tab: their files are never written behind it."""
        if self._notebooks is None:
            return ()
        desk = self._notebooks.desk
        return tuple(
            [path for path in paths if path.endswith(".ipynb") and await desk.is_watched(desk.api_path(folder / path))]
        )


class SavedStep:
    """One call of a tool: saved before what it does first, and after its end."""

    def __init__(
        self,
        history: WorkspaceHistory,
        folder: Path,
        task_id: TaskId,
        tool: str,
    ) -> None:
        self._history = history
        self._folder = folder
        self._task_id = task_id
        self._tool = tool
        self._touching: set[str] = set()
        self._message_ts: int | None = None

    async def approved(self, action: ActionRequest, message_ts: int) -> None:
        """It may do this now. Raises why the files cannot be saved before."""
        if action.risks <= _READS_ONLY or not self._history.enabled:
            return
        self._touching.update(path for path in (action.path, *action.paths) if path and self._is_within(path))
        self._message_ts = message_ts
        await self._history.before(self._folder, self)

    def ended(self) -> None:
        """It did what it did, or failed in the middle of it."""
        if self._message_ts is not None:
            self._history.after(self._folder, self)

    def _is_within(self, path: str) -> bool:
        parent = os.path.realpath(os.path.dirname(self._folder / path))
        return Path(parent).is_relative_to(os.path.realpath(self._folder))

    async def save_before(self, store: Checkpoints) -> None:
        """Save the workspace as the person left it."""
        await store.save(
            f"before {self._tool}",
            task_id=self._task_id,
            message_ts=self._message_ts,
            touching=sorted(self._touching),
        )

    async def save_after(self, store: Checkpoints) -> None:
        """Save it as the agent left it."""
        try:
            await store.save(
                f"after {self._tool}", task_id=self._task_id, changes_by="agent", touching=sorted(self._touching)
            )
        except HdspAgentError as error:
            # A restore keeps what the agent changed then, as if the person had: safe, and it can be chosen.
            logger.warning("Task %s: what %s changed could not be saved: %s", self._task_id, self._tool, error.message)


def _when(record: CheckpointRecord) -> tuple[int, int]:
    return record.message_ts or 0, record.ts


async def _touched_by(store: Checkpoints, operation: str) -> list[str]:
    done: OperationRecord | None = next((each for each in await store.operations() if each.id == operation), None)
    if done is None or done.before is None:
        return []
    plan = await store.plan_restore(done.before)
    return [change.path for change in (*plan.changes, *plan.conflicts)]
