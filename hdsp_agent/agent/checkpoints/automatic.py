"""Workspaces as they were: saved before the agent changes something, brought back with a conversation."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from weakref import WeakValueDictionary

from ..._background_tasks import STOP_SECONDS, BackgroundTasks
from ...checkpoints import (
    AsyncFileCheckpoints,
    Changed,
    CheckpointId,
    CheckpointRecord,
    OperationRecord,
    RestoredConversation,
)
from ...checkpoints.timeline import ConversationPart, Parts, RestorePreview, Timeline
from ...config import GlobalSettings
from ...errors import Conflict, HdspAgentError, StorageUnavailable, Unavailable, Unsupported
from ...messages import FileChange, FilesPreview, JsonObject, TaskId
from ...notebooks import Notebooks
from ...tools import ActionRequest
from ..conversation.side_effects import SideEffects
from .notebook_metadata import NotebookMetadata, with_copies
from .workspace_registry import OpenWorkspace, WorkspaceRegistry

__all__ = ["AutomaticCheckpoints", "SavedStep"]

logger = logging.getLogger(__name__)

_READS_ONLY: Final = frozenset({"read", "read_outside", "mode_switch", "followup", "network", "none"})
_WRITES_ONLY: Final = frozenset({"write", "write_outside", "write_protected"})
_RUNS_CODE: Final = frozenset({"run_code", "install"})
_ENDS_VARIABLES: Final = "kernel"
"""A restart takes all variables along, and a cell that is interrupted may take its kernel along."""
_Author = Literal["person", "agent"]
_MOST_TOLD: Final = 200
_COUNT_SECONDS: Final = 1.0
"""The agent waits for this, and a row can do without."""
_BACK: Final = Parts(files=True, notebooks=True)
"""What goes back with a conversation: what the agent wrote. Variables go back only where somebody asks for them."""


class AutomaticCheckpoints:
    """The time lines of all workspaces tasks work in."""

    def __init__(self, home: Path, settings: Callable[[], GlobalSettings], notebooks: Notebooks | None) -> None:
        self._settings = settings
        self._notebooks = notebooks
        self._pointers = NotebookMetadata(notebooks) if notebooks is not None else None
        self._doors: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self._under_way: dict[Path, list[SavedStep]] = {}
        self._held = BackgroundTasks()
        self.lines: Final = WorkspaceRegistry(home, settings, notebooks)
        self.on_saved: Callable[[TaskId, CheckpointRecord], None] = lambda task_id, record: None
        """Told of a task's newest checkpoint."""
        self.settling: Callable[
            [RestoredConversation, TaskId | None], AbstractAsyncContextManager[ConversationPart | None]
        ] = lambda went, asked_in: nullcontext()
        """Whoever has the conversations gives one that went back with a restore that was cut short."""

    @property
    def enabled(self) -> bool:
        """Whether the person wants checkpoints."""
        return self._settings().enable_checkpoints

    @property
    def keeps_variables(self) -> bool:
        """Whether the person wants variables with them."""
        return self._settings().checkpoint_variables

    async def before(self, folder: Path, step: SavedStep) -> CheckpointRecord:
        """Save a workspace before the agent does something in it, but hold the agent up no longer than the settings say.

        Raises why it is not saved.
        """
        # What changes while another step is under way here is that step's, or nobody could take it back.
        saved_first = _Before(self._working(folder))
        if not step.begun:
            step.begun = True
            self._under_way.setdefault(folder, []).append(step)
        seconds = self._settings().checkpoint_timeout
        saving = self._held.begin(self._before(folder, step, saved_first))
        await asyncio.wait({saving}, timeout=seconds)
        if not saving.done():
            saved_first.overtaken.set()
            step.failure = Unavailable(f"Saving takes longer than {seconds} seconds.")
        if step.failure is not None:
            raise step.failure
        assert step.record is not None
        return step.record

    def after(self, folder: Path, step: SavedStep, *, acted: bool) -> None:
        """The step has ended: what it changed is the agent's. Nobody waits for it; what comes next in this folder does."""
        working = self._working(folder)
        others = [each for each in self._under_way.pop(folder) if each is not step]
        if others:
            self._under_way[folder] = others
        if acted:
            self._held.begin(self._after(folder, step, working))

    def embed(self, folder: Path, notebook: str, conversation: JsonObject) -> None:
        """Let a notebook carry a conversation. Nobody waits for it."""
        if self._pointers is not None:
            self._held.begin(self._embed(self._pointers, folder, notebook, conversation))

    @asynccontextmanager
    async def at(self, folder: Path) -> AsyncIterator[Timeline]:
        """A workspace's time line, with everything saved that came before, and what steps under way did as the agent's."""
        async with self._turn(folder):
            await self._claim(folder)
            yield (await self._line(folder)).line

    async def to_look_at(self, folder: Path) -> Timeline:
        """A workspace's time line, as far as it is."""
        return (await self._line(folder)).line

    async def operation(self, folder: Path, operation: str) -> OperationRecord | None:
        """Something that was done, if it is known."""
        files = (await self._line(folder)).files
        return next((each for each in await files.operations() if each.id == operation), None)

    async def checkpoint(self, folder: Path, checkpoint: str) -> CheckpointRecord:
        """A checkpoint by its id, or the beginning of its commit. Raises NotFound."""
        return await (await self._line(folder)).files.checkpoint(checkpoint)

    async def checkpoint_told_at(self, folder: Path, commit: str, task_id: TaskId, ts: int) -> CheckpointRecord:
        """The task's checkpoint in this state that it told of at the time ``ts``: several may have one commit."""
        records = await (await self._line(folder)).files.list(task_id=task_id)
        found = [one for one in records if one.commit.startswith(commit.lower()) and (one.message_ts or ts + 1) <= ts]
        return found[0] if found else await self.checkpoint(folder, commit)

    async def preview(
        self, folder: Path, task_ids: Sequence[TaskId], since: int, acts: SideEffects
    ) -> FilesPreview | None:
        """What going back to before what these tasks did from the time ``since`` on would change; None is nothing.

        ``acts`` is what the conversation tells of that: of all of it there should be a state before.
        """
        async with self._turn(folder):
            steps = await self._steps(folder, task_ids, since)
            told = None
            if steps:
                way = await self._way(folder, task_ids, steps[0].id, since=steps[0])
                told = way.told(folder, await way.line.preview(way.target, _BACK, leave=way.left))
        done_before = acts.any_before([step.message_ts for step in steps if step.message_ts is not None])
        if done_before:
            return _incomplete() if told is None else told.model_copy(update={"incomplete": True})
        return told

    async def preview_undo(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> FilesPreview:
        """What ``undo`` would change; nothing, and so told, if what it needs is not kept any more."""
        async with self._turn(folder):
            way = await self._way_again(folder, task_ids, operation)
            if way is None:
                return _incomplete()
            return way.told(folder, await way.line.preview_undo(operation, leave=way.left))

    async def go_back(self, folder: Path, task_ids: Sequence[TaskId], since: int) -> str | None:
        """Bring files and notebooks back to before what these tasks did from then on; the operation's id, None if nothing
        changed.

        What the person changed stays, and so does what other tasks changed.
        """
        async with self._turn(folder):
            steps = await self._steps(folder, task_ids, since)
            if not steps:
                return None
            way = await self._way(folder, task_ids, steps[0].id, since=steps[0])
            if (await way.line.preview(way.target, _BACK, leave=way.left)).nothing:
                return None
            return (await way.line.restore(way.target, _BACK, leave=way.left)).operation.id

    async def undo(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> str:
        """Take back what ``go_back``, or an undo, did; the id of this operation."""
        async with self._turn(folder):
            way = await self._way_again(folder, task_ids, operation)
            left = way.left if way is not None else ()
            return (await (await self._line(folder)).line.undo(operation, leave=left)).operation.id

    async def interrupted(self, folder: Path) -> OperationRecord | None:
        """A restore that was cut short here, if nobody has said yet what becomes of it."""
        return await (await self._line(folder)).line.interrupted()

    async def recover(
        self, folder: Path, choice: Literal["roll_back", "keep"], *, asked_in: TaskId | None = None
    ) -> None:
        """Put back what a restore that was cut short had done, or keep all as it is. Nothing if there is none.

        ``asked_in`` is the task that asked, if one did: it waits for this, and goes on from its conversation as it is then.
        """
        # As a whole, even if whoever asked goes away in between.
        await self._held.finish(self._recover(folder, choice, asked_in))

    def refuse_disabled(self) -> None:
        """Raise Unsupported if the person wants no checkpoints."""
        if not self.enabled:
            raise Unsupported(
                "Checkpoints are switched off in the settings, so files cannot be brought back.", why="turned_off"
            )

    async def refuse_interrupted(self, folder: Path) -> None:
        """Raise Conflict if a restore that was cut short waits for a decision: until then nothing else is brought back."""
        if await self.interrupted(folder) is not None:
            raise Conflict(
                "This folder was being restored to an earlier checkpoint when the server was stopped, and nobody has said yet "
                "what becomes of that. Decide it in the time line, or in a conversation here when it asks, then try again.",
                why="cut_short",
            )

    async def close(self) -> None:
        """Wait a little for what is under way. What takes longer is whole or not there when it is looked at again."""
        if not await self._held.drain(STOP_SECONDS):
            self._held.cancel()
            await self._held.drain()
        await self.lines.close()

    # ---- for a step

    def notebooks_of(self, folder: Path, bound: str | None, paths: Iterable[str]) -> Sequence[str]:
        """The notebooks a step is about, as the contents API calls them: the task's, and those among these files."""
        if self._notebooks is None:
            return ()
        access = self._notebooks.access
        found = [] if bound is None else [access.now_at(bound)]
        for path in paths:
            if path.endswith(".ipynb"):
                try:
                    found.append(access.api_path(folder / path))
                except HdspAgentError:
                    # Outside of what Jupyter serves it is a file like any other.
                    continue
        return list(dict.fromkeys(found))

    def saved(self, task_id: TaskId, record: CheckpointRecord) -> None:
        """Tell of a task's newest checkpoint."""
        self.on_saved(task_id, record)

    # ---- inside

    async def _recover(self, folder: Path, choice: Literal["roll_back", "keep"], asked_in: TaskId | None) -> None:
        half = await self.interrupted(folder)
        went = half.parts.conversation if half is not None and half.parts is not None else None
        if went is None or choice == "keep":
            async with self.at(folder) as line:
                await line.recover(choice)
            return
        async with self.settling(went, asked_in) as conversation, self.at(folder) as line:
            await line.recover(choice, conversation=conversation)

    async def _before(self, folder: Path, step: SavedStep, saved_first: _Before) -> None:
        async with self._door(folder):
            try:
                await step.save_before((await self._line(folder)).line, saved_first)
            except HdspAgentError as error:
                step.failure = error
            except Exception as error:
                logger.exception("Workspace %s could not be saved", folder)
                step.failure = StorageUnavailable(f"{type(error).__name__}: {error}")

    async def _after(self, folder: Path, step: SavedStep, working: Sequence[TaskId]) -> None:
        async with self._door(folder):
            try:
                # Those that were begun since wait for this, unless they lost patience.
                since = [each.task_id for each in self._under_way.get(folder, ()) if each.acts]
                under_way = list(dict.fromkeys((*working, *since)))
                record = await step.save_after((await self._line(folder)).line, under_way)
            except HdspAgentError as error:
                # A restore keeps what the agent changed then, as if the person had: safe, and it can be chosen.
                logger.warning("In %s, what the agent changed could not be saved: %s", folder, error.message)
                return
            if step.ran_code and self._pointers is not None and self.enabled:
                await self._pointers.write(await self._line(folder), record)

    async def _embed(self, pointers: NotebookMetadata, folder: Path, notebook: str, conversation: JsonObject) -> None:
        try:
            async with self._turn(folder):
                await pointers.embed(await self._line(folder) if self.enabled else None, notebook, conversation)
        except HdspAgentError as error:
            logger.warning("%s does not carry its conversation: %s", notebook, error.message)

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
        steps = self._under_way.get(folder, ())
        if steps:
            notebooks = list(dict.fromkeys(path for step in steps for path in step.notebooks))
            await (await self._line(folder)).line.save(
                "meanwhile", changes_by="agent", notebooks=notebooks, under_way=self._working(folder)
            )

    def _working(self, folder: Path) -> Sequence[TaskId]:
        """The tasks with a step under way."""
        return list(dict.fromkeys(step.task_id for step in self._under_way.get(folder, ())))

    async def _line(self, folder: Path) -> OpenWorkspace:
        return await self.lines.at(folder, is_used=lambda other: other in self._under_way or other in self._doors)

    async def _steps(self, folder: Path, task_ids: Sequence[TaskId], since: int) -> Sequence[CheckpointRecord]:
        """What was saved before what these tasks did from the time ``since`` on, in the order they did it."""
        self.refuse_disabled()
        records = await (await self._line(folder)).files.list()
        # A call that was shown early may have been done late, so the times of messages are no order.
        return [
            record
            for record in reversed(records)
            if record.task_id in task_ids and record.message_ts is not None and record.message_ts >= since
        ]

    async def _way_again(self, folder: Path, task_ids: Sequence[TaskId], operation: str) -> _WayBack | None:
        done = await self.operation(folder, operation)
        if done is None or done.before is None or done.checkpoint is None:
            return None
        return await self._way(folder, task_ids, done.before, since=done.checkpoint)

    async def _way(
        self, folder: Path, task_ids: Sequence[TaskId], target: CheckpointId, *, since: CheckpointRecord
    ) -> _WayBack:
        await self._claim(folder)
        opened = await self._line(folder)
        others = await _changed_by_others(opened.files, since, task_ids)
        changes = (await opened.files.plan_restore(target)).changes if others else ()
        left = sorted(others.intersection(change.path for change in changes))
        return _WayBack(opened.line, target, left, self._notebooks)


@dataclass(frozen=True)
class _Before:
    """A save before a step: which tasks were at work, and whether the step goes on without waiting for it any longer."""

    working: Sequence[TaskId]
    overtaken: threading.Event = field(default_factory=threading.Event)

    @property
    def author(self) -> _Author:
        """Whose the changes since the last save are."""
        return "agent" if self.working else "person"


@dataclass(frozen=True)
class _WayBack:
    """How to go back: ``left`` is what other tasks changed since, which stays."""

    line: Timeline
    target: CheckpointId
    left: Sequence[str]
    notebooks: Notebooks | None

    def told(self, folder: Path, preview: RestorePreview) -> FilesPreview:
        """The files and notebooks that would change, and those that would not although they differ."""
        files = preview.files or FilesPreview(changes=[], more_changes=0, kept=[], open_notebooks=[])
        stuck, kept, cells = [], [*files.kept, *self.left], []
        for notebook in preview.notebooks:
            path = self._file(folder, notebook.path)
            if notebook.why_not is not None:
                stuck.append(path)
            elif any(cell.action != "keep" for cell in notebook.cells):
                cells.append(FileChange(path=path, action="overwrite"))
            elif notebook.cells and path not in kept:
                kept.append(path)
        changes = [*files.changes, *cells]
        return FilesPreview(
            changes=changes[:_MOST_TOLD],
            more_changes=files.more_changes + max(0, len(changes) - _MOST_TOLD),
            kept=kept[:_MOST_TOLD],
            open_notebooks=[*files.open_notebooks, *stuck],
            incomplete=files.incomplete,
        )

    def _file(self, folder: Path, path: str) -> str:
        """A notebook as a file of the workspace."""
        root = None if self.notebooks is None else self.notebooks.access.root
        if root is None:
            return path
        return os.path.relpath(root / path, folder).replace(os.sep, "/")


@dataclass
class SavedStep:
    """One call of a tool: saved before what it does first, and after its end. ``notebook`` is the one its task is about."""

    history: AutomaticCheckpoints
    folder: Path
    task_id: TaskId
    tool: str
    notebook: str | None = None
    begun: bool = False
    """Whether it counts as under way."""
    record: CheckpointRecord | None = None
    failure: HdspAgentError | None = None
    """Why the workspace is not saved as it was before."""
    ran_code: bool = False
    acts: bool = False
    """Whether it has begun to do what it was allowed."""
    _ends_variables: bool = False
    _touching: set[str] = field(default_factory=set)
    _message_ts: int | None = None
    _only_files: bool = True

    async def approved(self, action: ActionRequest, message_ts: int) -> CheckpointRecord | None:
        """It may do this now; the moment before, None where nothing is saved. Raises why that cannot be."""
        if action.risks <= _READS_ONLY or not self.history.enabled:
            return None
        self._touching.update(path for path in (action.path, *action.paths) if path and self._is_within(path))
        # Code and commands may change anything.
        only_files = bool(action.path) and action.risks <= _WRITES_ONLY
        self._only_files = self._only_files and (only_files or action.risks == {_ENDS_VARIABLES})
        self.ran_code = self.ran_code or not action.risks.isdisjoint(_RUNS_CODE)
        self._ends_variables = self._ends_variables or _ENDS_VARIABLES in action.risks
        self._message_ts = message_ts
        try:
            record = await self.history.before(self.folder, self)
        except HdspAgentError:
            self.acts = True
            raise
        self.acts = True
        return record

    def ended(self) -> None:
        """It did what it did, or failed in the middle of it."""
        if self.begun:
            self.history.after(self.folder, self, acted=self.acts)

    async def changed_since(self, earlier: CheckpointId, checkpoint: CheckpointRecord) -> Changed | None:
        """How much changed from one checkpoint to another, if that can be told soon."""
        try:
            line = await self.history.to_look_at(self.folder)
            return await asyncio.wait_for(line.changed_between(earlier, checkpoint), _COUNT_SECONDS)
        except (TimeoutError, HdspAgentError) as error:
            logger.info("What changed since %s is not told: %r", earlier, error)
            return None

    async def save_before(self, line: Timeline, saved_first: _Before) -> None:
        """Save the workspace as it is before."""
        late = saved_first.overtaken
        self.record = await line.save(
            f"before {self.tool}",
            task_id=self.task_id,
            message_ts=self._message_ts,
            changes_by=saved_first.author,
            touching=sorted(self._touching),
            notebooks=self.notebooks,
            code="thorough" if self._keeps_variables else "none",
            under_way=saved_first.working,
            overtaken=lambda: f"while {self.tool}" if late.is_set() else None,
        )
        if late.is_set() and self.record.message_ts is not None:
            # It was kept in time; only its end took longer.
            self.failure = None
        self.history.saved(self.task_id, self.record)

    async def save_after(self, line: Timeline, under_way: Sequence[TaskId]) -> CheckpointRecord:
        """Save it as the agent left it, and others who were under way."""
        # Without a save before, what the person had changed until then cannot be told from what the agent has.
        author: _Author = "agent" if self.failure is None else "person"
        record = await line.save(
            f"after {self.tool}",
            task_id=self.task_id,
            changes_by=author,
            claims=self._claims,
            touching=sorted(self._touching),
            notebooks=self.notebooks,
            # A kernel that was just restarted has none.
            code="after" if self.ran_code and self._keeps_variables else "none",
            under_way=under_way,
        )
        self.history.saved(self.task_id, record)
        return record

    @property
    def notebooks(self) -> Sequence[str]:
        """The notebooks it is about."""
        return self.history.notebooks_of(self.folder, self.notebook, sorted(self._touching))

    @property
    def _claims(self) -> Sequence[str] | None:
        """The files it says it wrote; None where it may have written any. The kernel alone writes none."""
        if not self._only_files:
            return None
        return [] if self._ends_variables else sorted(with_copies(self._touching))

    @property
    def _keeps_variables(self) -> bool:
        return (self.ran_code or self._ends_variables) and self.history.keeps_variables

    def _is_within(self, path: str) -> bool:
        parent = os.path.realpath(os.path.dirname(self.folder / path))
        return Path(parent).is_relative_to(os.path.realpath(self.folder))


def _incomplete() -> FilesPreview:
    return FilesPreview(changes=[], more_changes=0, kept=[], open_notebooks=[], incomplete=True)


async def _changed_by_others(
    store: AsyncFileCheckpoints, since: CheckpointRecord, task_ids: Sequence[TaskId]
) -> set[str]:
    """What tasks of other conversations changed after this: who takes back one conversation keeps the others' work."""
    paths: set[str] = set()
    for record in await store.list():
        if record.id == since.id:
            break
        if _made_by(record) - set(task_ids):
            found = await store.changes(record.id, with_content=False)
            # What a step says it wrote is its own, whoever else was at work.
            ours = {file.path for file in record.claims or ()} if record.task_id in task_ids else ()
            paths.update(file.path for file in found.files if file.path not in ours)
    return paths


def _made_by(record: CheckpointRecord) -> set[TaskId]:
    """The tasks that may have made what changed up to this."""
    if record.under_way:
        return set(record.under_way)
    # An older log names only who was saved for. What was saved before a step, and named a message, is not its work.
    is_end = record.author == "agent" and record.message_ts is None and record.task_id is not None
    return {record.task_id} if is_end and record.task_id is not None else set()
