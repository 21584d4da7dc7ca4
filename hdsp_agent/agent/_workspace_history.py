"""The files of workspaces as they were: saved before the agent changes something, brought back with a conversation."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from weakref import WeakValueDictionary

from ..checkpoints import CheckpointId, CheckpointRecord, Checkpoints, Limits, PlannedChange, RestorePlan
from ..config import GlobalSettings
from ..config._held import STOP_SECONDS, HeldTasks
from ..errors import Conflict, HdspAgentError, StorageUnavailable, Unavailable, Unsupported
from ..messages import FileChange, FilesPreview, TaskId
from ..notebooks import Notebooks
from ..tools import ActionRequest
from ._effects import Acts

__all__ = ["SavedStep", "WorkspaceHistory"]

logger = logging.getLogger(__name__)

_READS_ONLY: Final = frozenset({"read", "read_outside", "mode_switch", "followup", "network", "kernel", "none"})
_WRITES_ONLY: Final = frozenset({"write", "write_outside", "write_protected"})
_Author = Literal["person", "agent"]
_MOST_TOLD: Final = 200
_MOST_OPEN: Final = 8
_FOLDER_ACTIONS: Final = frozenset({"make_folder", "remove_folder", "attributes"})


class WorkspaceHistory:
    """The checkpoints of all workspaces tasks work in; each workspace's are opened when they are first needed."""

    def __init__(self, home: Path, settings: Callable[[], GlobalSettings], notebooks: Notebooks | None) -> None:
        self._home = home
        self._settings = settings
        self._notebooks = notebooks
        self._stores: dict[Path, Checkpoints] = {}
        self._doors: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self._under_way: Counter[Path] = Counter()
        self._held = HeldTasks()

    @property
    def enabled(self) -> bool:
        """Whether the person wants checkpoints."""
        return self._settings().enable_checkpoints

    async def before(self, folder: Path, step: SavedStep) -> None:
        """Save a workspace before the agent does something in it, but hold the agent up no longer than the settings say.

        Raises why it is not saved.
        """
        # What changes while another step is under way here is that step's, or nobody could take it back.
        author: _Author = "agent" if self._under_way[folder] else "person"
        if not step.begun:
            step.begun = True
            self._under_way[folder] += 1
        seconds = self._settings().checkpoint_timeout
        saving = self._held.begin(self._before(folder, step, author))
        await asyncio.wait({saving}, timeout=seconds)
        if not saving.done():
            raise Unavailable(f"Saving takes longer than {seconds} seconds.")
        if step.failure is not None:
            raise step.failure

    def after(self, folder: Path, step: SavedStep, *, acted: bool) -> None:
        """The step has ended: what it changed is the agent's. Nobody waits for it; what comes next in this folder does."""
        self._under_way[folder] -= 1
        if not self._under_way[folder]:
            del self._under_way[folder]
        if acted:
            self._held.begin(self._after(folder, step))

    async def preview(self, folder: Path, task_ids: Sequence[TaskId], since: int, acts: Acts) -> FilesPreview | None:
        """What going back to before what these tasks did from the time ``since`` on would change; None is nothing.

        ``acts`` is what the conversation tells of that: of all of it there should be a state before.
        """
        async with self._turn(folder):
            steps = await self._steps(folder, task_ids, since)
            way = await self._way_to(folder, task_ids, steps[0].id, since=steps[0]) if steps else None
        done_before = acts.any_before([step.message_ts for step in steps if step.message_ts is not None])
        return None if way is None and not done_before else _told(way, incomplete=True if done_before else None)

    async def preview_undo(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> FilesPreview:
        """What ``undo`` would change; nothing, and so told, if what it needs is not kept any more."""
        async with self._turn(folder):
            way = await self._way_again(folder, task_ids, operation)
        return _told(way, incomplete=True if way is None else None)

    async def go_back(self, folder: Path, task_ids: Sequence[TaskId], since: int) -> str | None:
        """Bring the files back to before what these tasks did from then on; the operation's id, None if nothing changed.

        What the person changed stays, and so does what other tasks changed.
        """
        async with self._turn(folder):
            steps = await self._steps(folder, task_ids, since)
            if not steps:
                return None
            way = await self._way_to(folder, task_ids, steps[0].id, since=steps[0])
            if not way.plan.changes:
                return None
            return (await self._store(folder).restore(way.plan.target, leave=way.left)).id

    async def undo(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> str:
        """Take back what ``go_back``, or an undo, did; the id of this operation."""
        async with self._turn(folder):
            way = await self._way_again(folder, task_ids, operation)
            return (await self._store(folder).undo(operation, leave=way.left if way is not None else ())).id

    async def is_interrupted(self, folder: Path) -> bool:
        """Whether a restore was cut short here, and nobody has said yet what becomes of it."""
        return await self._store(folder).interrupted() is not None

    async def recover(self, folder: Path, choice: Literal["roll_back", "keep"]) -> None:
        """Put back what a restore that was cut short had done, or keep the files as they are. Nothing if there is none."""
        async with self._turn(folder):
            await self._claim(folder)
            await self._store(folder).recover(choice)

    def refuse_disabled(self) -> None:
        """Raise Unsupported if the person wants no checkpoints."""
        if not self.enabled:
            raise Unsupported("Checkpoints are switched off in the settings, so files cannot be brought back.")

    async def refuse_interrupted(self, folder: Path) -> None:
        """Raise Conflict if a restore that was cut short waits for a decision: until then nothing else is brought back."""
        if await self.is_interrupted(folder):
            raise Conflict(
                "Files of this folder were being brought back when the server was stopped, and nobody has said yet what "
                "becomes of them. Open the conversation again and answer what it asks, then try again."
            )

    async def close(self) -> None:
        """Wait a moment for what is under way. What takes longer is whole or not there when it is looked at again."""
        if not await self._held.drain(STOP_SECONDS):
            self._held.cancel()
            await self._held.drain()
        closing = [asyncio.create_task(store.close()) for store in self._stores.values()]
        if closing:
            _, slow = await asyncio.wait(closing, timeout=STOP_SECONDS)
            for task in slow:
                task.cancel()
            await asyncio.gather(*closing, return_exceptions=True)
        self._stores.clear()

    # ---- inside

    async def _before(self, folder: Path, step: SavedStep, author: _Author) -> None:
        async with self._door(folder):
            try:
                await step.save_before(self._store(folder), author)
            except HdspAgentError as error:
                step.failure = error
            except Exception as error:
                logger.exception("Workspace %s could not be saved", folder)
                step.failure = StorageUnavailable(f"{type(error).__name__}: {error}")

    async def _after(self, folder: Path, step: SavedStep) -> None:
        async with self._door(folder):
            await step.save_after(self._store(folder))

    def _door(self, folder: Path) -> asyncio.Lock:
        """Who comes first is first: what is saved later must not be taken for what was saved before."""
        door = self._doors.get(folder)
        if door is None:
            door = self._doors[folder] = asyncio.Lock()
        return door

    @asynccontextmanager
    async def _turn(self, folder: Path) -> AsyncIterator[None]:
        """The workspace with everything saved that came before."""
        # A save that was begun just now stands in line from the next round of the loop on.
        await asyncio.sleep(0)
        async with self._door(folder):
            yield

    async def _claim(self, folder: Path) -> None:
        """What steps under way have changed so far is the agent's, before a look takes it for the person's."""
        if self._under_way[folder]:
            await self._store(folder).save("meanwhile", changes_by="agent")

    def _store(self, folder: Path) -> Checkpoints:
        limits = Limits.of(self._settings(), self._home)
        store = self._stores.pop(folder, None)
        if store is None:
            self._put_aside(len(self._stores) - _MOST_OPEN + 1)
            store = Checkpoints(folder, self._home / "checkpoints", limits)
        store.set_limits(limits)
        self._stores[folder] = store
        return store

    def _put_aside(self, count: int) -> None:
        """Forget so many workspaces, those first that nobody has asked for the longest; each remembers all its files."""
        idle = [folder for folder in self._stores if not self._under_way[folder] and folder not in self._doors]
        for folder in idle[: max(0, count)]:
            self._held.begin(self._stores.pop(folder).close())

    async def _steps(self, folder: Path, task_ids: Sequence[TaskId], since: int) -> Sequence[CheckpointRecord]:
        """What was saved before what these tasks did from the time ``since`` on, in the order they did it."""
        self.refuse_disabled()
        records = await self._store(folder).list()
        # A call that was shown early may have been done late, so the times of messages are no order.
        return [
            record
            for record in reversed(records)
            if record.task_id in task_ids and record.message_ts is not None and record.message_ts >= since
        ]

    async def _way_again(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> _WayBack | None:
        done = next((each for each in await self._store(folder).operations() if each.id == operation), None)
        if done is None or done.before is None or done.checkpoint is None:
            return None
        return await self._way_to(folder, task_ids, done.before, since=done.checkpoint)

    async def _way_to(
        self, folder: Path, task_ids: Sequence[TaskId], target: CheckpointId, *, since: CheckpointRecord
    ) -> _WayBack:
        store = self._store(folder)
        await self._claim(folder)
        plan = await store.plan_restore(target)
        changed = [change.path for change in _files_of(plan)]
        others = await _changed_by_others(store, since, task_ids)
        opened = await self._open_notebooks(folder, changed)
        left = sorted({*opened, *others.intersection(changed)})
        kept = (*(change.path for change in plan.conflicts), *(path for path in left if path not in opened))
        if left:
            plan = await store.plan_restore(target, leave=left)
        return _WayBack(plan, opened, kept, left)

    async def _open_notebooks(self, folder: Path, paths: Sequence[str]) -> tuple[str, ...]:
        """Those that are open in a tab: their files are never written behind it."""
        if self._notebooks is None:
            return ()
        desk = self._notebooks.desk
        return tuple(
            [path for path in paths if path.endswith(".ipynb") and await desk.is_watched(desk.api_path(folder / path))]
        )


@dataclass(frozen=True)
class _WayBack:
    """How to go back: ``kept`` is what the person or another task changed, ``left`` all that is left alone."""

    plan: RestorePlan
    open_notebooks: Sequence[str]
    kept: Sequence[str]
    left: Sequence[str]


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
        self._acts = False
        self._only_files = True
        self.begun = False
        """Whether it counts as under way."""
        self.failure: HdspAgentError | None = None
        """Why the files are not saved as they were before."""

    async def approved(self, action: ActionRequest, message_ts: int) -> None:
        """It may do this now. Raises why the files cannot be saved before."""
        if action.risks <= _READS_ONLY or not self._history.enabled:
            return
        self._touching.update(path for path in (action.path, *action.paths) if path and self._is_within(path))
        # Code and commands may change anything.
        self._only_files = self._only_files and bool(action.path) and action.risks <= _WRITES_ONLY
        self._message_ts = message_ts
        try:
            await self._history.before(self._folder, self)
        except HdspAgentError:
            self._acts = True
            raise
        self._acts = True

    def ended(self) -> None:
        """It did what it did, or failed in the middle of it."""
        if self.begun:
            self._history.after(self._folder, self, acted=self._acts)

    def _is_within(self, path: str) -> bool:
        parent = os.path.realpath(os.path.dirname(self._folder / path))
        return Path(parent).is_relative_to(os.path.realpath(self._folder))

    async def save_before(self, store: Checkpoints, author: _Author) -> None:
        """Save the workspace as it is before; what changed since the last time was this author's."""
        await store.save(
            f"before {self._tool}",
            task_id=self._task_id,
            message_ts=self._message_ts,
            changes_by=author,
            touching=sorted(self._touching),
        )

    async def save_after(self, store: Checkpoints) -> None:
        """Save it as the agent left it."""
        # Without a save before, what the person had changed until then cannot be told from what the agent has.
        author: _Author = "agent" if self.failure is None else "person"
        try:
            await store.save(
                f"after {self._tool}",
                task_id=self._task_id,
                changes_by=author,
                claims=sorted(_with_copies(self._touching)) if self._only_files else None,
                touching=sorted(self._touching),
            )
        except HdspAgentError as error:
            # A restore keeps what the agent changed then, as if the person had: safe, and it can be chosen.
            logger.warning("Task %s: what %s changed could not be saved: %s", self._task_id, self._tool, error.message)


def _with_copies(paths: Iterable[str]) -> Iterator[str]:
    """The files, and the copies that Jupyter makes of them when it saves a notebook."""
    for path in paths:
        yield path
        folder, name = os.path.split(path)
        stem, extension = os.path.splitext(name)
        if extension == ".ipynb":
            yield os.path.join(folder, ".ipynb_checkpoints", f"{stem}-checkpoint{extension}")


def _told(way: _WayBack | None, *, incomplete: Literal[True] | None) -> FilesPreview:
    if way is None:
        return FilesPreview(changes=[], more_changes=0, kept=[], open_notebooks=[], incomplete=incomplete)
    changes = _files_of(way.plan)
    return FilesPreview(
        changes=[FileChange(path=change.path, action=change.action) for change in changes[:_MOST_TOLD]],
        more_changes=max(0, len(changes) - _MOST_TOLD),
        kept=list(way.kept[:_MOST_TOLD]),
        open_notebooks=list(way.open_notebooks),
        incomplete=incomplete,
    )


def _files_of(plan: RestorePlan) -> Sequence[PlannedChange]:
    return [change for change in plan.changes if change.action not in _FOLDER_ACTIONS]


async def _changed_by_others(store: Checkpoints, since: CheckpointRecord, task_ids: Sequence[TaskId]) -> set[str]:
    """What tasks of other conversations changed after this: who takes back one conversation keeps the others' work."""
    paths: set[str] = set()
    for record in await store.list():
        if record.id == since.id:
            break
        # What was saved before a step, and named a message, is not what that step changed.
        ended = record.author == "agent" and record.message_ts is None
        if ended and record.task_id is not None and record.task_id not in task_ids:
            found = await store.changes(record.id, with_content=False)
            paths.update(file.path for file in found.files)
    return paths
