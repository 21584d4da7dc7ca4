"""The checkpoints of all workspaces: saved around what the agent does, looked at by people, and restored with all that
belongs to them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal, Protocol
from weakref import WeakValueDictionary

from ..._background_tasks import STOP_SECONDS, BackgroundTasks
from ..._timeouts import wait_at_most
from ...checkpoints import (
    AsyncFileCheckpoints,
    Changed,
    CheckpointDiff,
    CheckpointId,
    CheckpointRecord,
    FileLimits,
    OperationRecord,
    RestoredConversation,
)
from ...checkpoints.timeline import (
    CheckpointView,
    ConversationPart,
    Parts,
    RestorePreview,
    RestoreResult,
    StoreView,
    Timeline,
    TimelineLimits,
    is_of_restore,
)
from ...checkpoints.variables import VariableCheckpoints, VariableLimits, VariableStore, user_key
from ...config import GlobalSettings
from ...errors import Conflict, HdspAgentError, NotFound, StorageUnavailable, Unavailable, Unsupported
from ...events import CheckpointEvent
from ...messages import ConversationChange, ConversationPreview, GoBack, JsonObject, TaskId, UndoOrRedo
from ...notebooks import Notebooks
from ...tools import ActionRequest
from .notebook_metadata import NotebookMetadata, with_copies

if TYPE_CHECKING:
    from ...persistence import Newer

__all__ = ["CheckpointService", "SavedStep"]

logger = logging.getLogger(__name__)

_READS_ONLY: Final = frozenset({"read", "read_outside", "mode_switch", "followup", "network", "none"})
_WRITES_ONLY: Final = frozenset({"write", "write_outside", "write_protected"})
_RUNS_CODE: Final = frozenset({"run_code", "install"})
_ENDS_VARIABLES: Final = "kernel"
"""A restart takes all variables along, and a cell that is interrupted may take its kernel along."""
_Author = Literal["person", "agent"]
_COUNT_SECONDS: Final = 1.0
"""The agent waits for this, and a row can do without."""
_MOST_OPEN: Final = 8
_KEY: Final = "variables.key"
_Going = tuple[TaskId, ConversationChange]
"""A conversation that goes back with the rest, and how."""


class Conversations(Protocol):
    """What restores need of conversations, which themselves take files back through this module's service."""

    async def is_kept(self, task_id: TaskId) -> bool:
        """Whether a task was not deleted."""

    async def ends_before(self, task_id: TaskId, ts: int) -> bool:
        """Whether the message ``ts``, and all that followed, was taken back and nothing was said since."""

    async def foreseen(self, task_id: TaskId, change: ConversationChange) -> ConversationPreview | None:
        """What a change would do; None is nothing. Raises why it cannot be."""

    def going_back(
        self, task_id: TaskId, change: ConversationChange, *, newer: Newer
    ) -> AbstractAsyncContextManager[ConversationPart]:
        """A conversation as a part of a restore, at rest until that is done."""

    def settling(
        self, went: RestoredConversation, asked_in: TaskId | None
    ) -> AbstractAsyncContextManager[ConversationPart | None]:
        """A conversation that went back with a restore that was cut short; None if nothing of it is to be put back."""


class CheckpointService:
    """Opens the workspaces that tasks work in, saves them, and restores them. A workspace is named by its folder, a checkpoint by
    its id or by the beginning of its commit.
    """

    def __init__(self, home: Path, settings: Callable[[], GlobalSettings], notebooks: Notebooks | None) -> None:
        self._home = home
        self._settings = settings
        self._notebooks = notebooks
        self._pointers = NotebookMetadata(notebooks) if notebooks is not None else None
        self._open: dict[Path, Timeline] = {}
        self._opening = asyncio.Lock()
        self._key: bytes | None = None
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self._under_way: dict[Path, list[SavedStep]] = {}
        self._held = BackgroundTasks()
        self.conversations: Conversations | None = None
        """None where files go back without what was said."""
        self.on_saved: Callable[[TaskId, CheckpointRecord], None] = lambda task_id, record: None
        """Told of a task's newest checkpoint."""
        self.on_event: Callable[[CheckpointEvent], None] = lambda event: None
        """Told of what happens to workspaces' checkpoints."""

    @property
    def enabled(self) -> bool:
        """Whether the person wants checkpoints."""
        return self._settings().enable_checkpoints

    @property
    def timeout(self) -> int:
        """For how many seconds the person lets others wait for a checkpoint."""
        return self._settings().checkpoint_timeout

    @property
    def keeps_variables(self) -> bool:
        """Whether the person wants variables with them."""
        return self._settings().checkpoint_variables

    @property
    def opened(self) -> Mapping[Path, Timeline]:
        """The workspaces that are remembered."""
        return self._open

    def refuse_disabled(self) -> None:
        """Raise Unsupported if the person wants no checkpoints."""
        if not self.enabled:
            raise Unsupported(
                "Checkpoints are turned off in the settings, so files cannot be restored.", why="turned_off"
            )

    async def refuse_interrupted(self, folder: Path) -> None:
        """Raise Conflict if a restore that was cut short waits for a decision: until then nothing else is brought back."""
        if await (await self.timeline(folder)).interrupted() is not None:
            raise Conflict(
                "A restore of this folder was interrupted when the server stopped. Decide in the timeline, or in a conversation "
                "here, whether to roll it back, then try again.",
                why="cut_short",
            )

    async def close(self) -> None:
        """Wait a little for what is under way. What takes longer is whole or not there when it is looked at again."""
        if not await self._held.drain(STOP_SECONDS):
            self._held.cancel()
            await self._held.drain()
        closing = [asyncio.create_task(line.close()) for line in self._open.values()]
        if closing:
            _, slow = await asyncio.wait(closing, timeout=STOP_SECONDS)
            for task in slow:
                task.cancel()
            await asyncio.gather(*closing, return_exceptions=True)
        self._open.clear()

    # ---- opening

    async def timeline(self, folder: Path) -> Timeline:
        """A workspace's time line as far as it is, to look at. Only so many others are remembered, and all that are used."""
        settings = self._settings()
        async with self._opening:
            line = self._open.pop(folder, None)
            if line is None:
                self._put_aside(len(self._open) - _MOST_OPEN + 1)
                begun = monotonic()
                line = await self._opened(folder, await self._variables(folder))
                self.on_event(CheckpointEvent("initialize", round((monotonic() - begun) * 1000)))
            elif line.limits != _limits(settings):
                # What is under way comes to its end with the limits it began with.
                self._held.begin(line.close())
                line = await self._opened(folder, line.variables)
            self._open[folder] = line
        line.files.set_limits(FileLimits.of(settings, self._home))
        if line.variables is not None:
            line.variables.set_limits(VariableLimits.of(settings))
        return line

    @asynccontextmanager
    async def at(self, folder: Path) -> AsyncIterator[Timeline]:
        """The same with everything saved that came before, and what steps under way did as the agent's."""
        async with self.locked(folder):
            await self.claim(folder)
            yield await self.timeline(folder)

    @asynccontextmanager
    async def locked(self, folder: Path) -> AsyncIterator[None]:
        """Hold the lock of a workspace, with everything saved that came before."""
        # A save that was begun just now stands in line from the next round of the loop on.
        await asyncio.sleep(0)
        async with self._lock(folder):
            yield

    async def claim(self, folder: Path) -> None:
        """What steps under way have changed so far is the agent's, before a look takes it for the person's."""
        steps = self._under_way.get(folder, ())
        if steps:
            notebooks = list(dict.fromkeys(path for step in steps for path in step.notebooks))
            await (await self.timeline(folder)).save(
                "meanwhile", changes_by="agent", notebooks=notebooks, under_way=self._working(folder)
            )

    def _lock(self, folder: Path) -> asyncio.Lock:
        """Who comes first is first: what is saved later must not be taken for what was saved before."""
        return self._locks.setdefault(folder, asyncio.Lock())

    async def _opened(self, folder: Path, variables: VariableCheckpoints | None) -> Timeline:
        files = self._files(folder)
        return Timeline(
            files,
            await asyncio.to_thread(lambda: files.folder),
            notebooks=self._notebooks,
            variables=variables,
            root=folder,
            limits=_limits(self._settings()),
            enabled=lambda: self.enabled,
            on_event=self.on_event,
        )

    def _files(self, folder: Path) -> AsyncFileCheckpoints:
        return AsyncFileCheckpoints(folder, self._home / "checkpoints", FileLimits.of(self._settings(), self._home))

    async def _variables(self, folder: Path) -> VariableCheckpoints | None:
        """What is kept of kernels; nothing without a key."""
        if self._notebooks is None:
            return None
        try:
            if self._key is None:
                self._key = await asyncio.to_thread(user_key, self._home / _KEY)
        except HdspAgentError as error:
            logger.warning("Variables are not saved with checkpoints: %s", error.message)
            return None
        kept_in = await asyncio.to_thread(lambda: self._files(folder).folder)
        return VariableCheckpoints(VariableStore(kept_in / "variables", self._key), VariableLimits.of(self._settings()))

    def _put_aside(self, count: int) -> None:
        """Forget so many workspaces, those first that nobody has asked for the longest; each remembers all its files."""
        idle = [folder for folder in self._open if folder not in self._under_way and folder not in self._locks]
        for folder in idle[: max(0, count)]:
            self._held.begin(self._open.pop(folder).close())

    # ---- around what the agent does

    async def before(self, folder: Path, step: SavedStep) -> CheckpointRecord:
        """Save a workspace before the agent does something in it, but hold the agent up no longer than the settings say.

        Raises why it is not saved.
        """
        # What changes while another step is under way here is that step's, or nobody could take it back.
        saved_first = _Before(self._working(folder))
        if not step.begun:
            step.begun = True
            self._under_way.setdefault(folder, []).append(step)
        seconds = self.timeout
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

    async def _before(self, folder: Path, step: SavedStep, saved_first: _Before) -> None:
        async with self._lock(folder):
            try:
                await step.save_before(await self.timeline(folder), saved_first)
            except HdspAgentError as error:
                step.failure = error
            except Exception as error:
                logger.exception("Workspace %s could not be saved", folder)
                step.failure = StorageUnavailable(f"{type(error).__name__}: {error}")

    async def _after(self, folder: Path, step: SavedStep, working: Sequence[TaskId]) -> None:
        async with self._lock(folder):
            try:
                # Those that were begun since wait for this, unless they lost patience.
                since = [each.task_id for each in self._under_way.get(folder, ()) if each.acts]
                under_way = list(dict.fromkeys((*working, *since)))
                record = await step.save_after(await self.timeline(folder), under_way)
            except HdspAgentError as error:
                # A restore keeps what the agent changed then, as if the person had: safe, and it can be chosen.
                logger.warning("In %s, what the agent changed could not be saved: %s", folder, error.message)
                return
            if step.ran_code and self._pointers is not None and self.enabled:
                await self._pointers.write(await self.timeline(folder), record)

    async def _embed(self, pointers: NotebookMetadata, folder: Path, notebook: str, conversation: JsonObject) -> None:
        try:
            async with self.locked(folder):
                await pointers.embed(await self.timeline(folder) if self.enabled else None, notebook, conversation)
        except HdspAgentError as error:
            logger.warning("The conversation was not saved in %s: %s", notebook, error.message)

    def _working(self, folder: Path) -> Sequence[TaskId]:
        """The tasks with a step under way."""
        return list(dict.fromkeys(step.task_id for step in self._under_way.get(folder, ())))

    # ---- for people

    async def save(self, folder: Path, note: str | None, *, owner: str, notebook: str | None = None) -> CheckpointView:
        """Save a workspace as it is now, and of this notebook the cells and the kernel's variables.

        With a note it is a checkpoint of its own; without one, and with nothing changed, it is the newest again.
        """
        notebooks = self.notebooks_of(folder, notebook, ())
        async with self.at(folder) as line:
            newest = await line.files.list(limit=1)
            record = await line.save(
                note or "asked for",
                owner=owner,
                notebooks=notebooks,
                code="thorough" if self.keeps_variables else "none",
                # Nobody asked for what a restore made: from here on it is asked what changed.
                always=bool(note) or any(is_of_restore(one) and one.variables for one in newest),
            )
            already = record.id in [one.id for one in newest]
            return (await line.told(record)).model_copy(update={"already": already})

    async def diff(
        self, folder: Path, checkpoint: str, against: str, *, only: str | None = None, with_content: bool = True
    ) -> CheckpointDiff:
        """What differs between a checkpoint and ``previous``, ``beginning``, ``now``, or an older checkpoint."""
        line = await self.timeline(folder)
        new = await line.files.checkpoint(checkpoint)
        chosen = None if only is None else [only]
        if against == "now":
            async with self.at(folder) as line:
                return await line.diff(new.id, "now", only=chosen, with_content=with_content)
        if against == "beginning":
            return await line.diff("beginning", new.id, only=chosen, with_content=with_content)
        if against != "previous":
            old = await line.files.checkpoint(against)
            return await line.diff(old.id, new.id, only=chosen, with_content=with_content)
        changes = await line.changes(new.id, with_content=with_content)
        if only is None:
            return changes
        return changes.model_copy(update={"files": tuple(file for file in changes.files if file.path == only)})

    async def step_before(self, folder: Path, checkpoint: str) -> CheckpointDiff:
        """What differs between a checkpoint and the one before the same task's step before, which is in another state."""
        line = await self.timeline(folder)
        new = await line.files.checkpoint(checkpoint)
        records = await line.files.list(task_id=new.task_id) if new.task_id is not None else []
        older = records[next((at for at, one in enumerate(records) if one.id == new.id), len(records)) + 1 :]
        old = next((one for one in older if one.message_ts is not None and one.commit != new.commit), None)
        return await (line.changes(new.id) if old is None else line.diff(old.id, new.id))

    async def told_at(self, folder: Path, commit: str, task_id: TaskId, ts: int) -> CheckpointId:
        """The task's checkpoint in this state that it told of at the time ``ts``: several may have one commit."""
        files = (await self.timeline(folder)).files
        records = await files.list(task_id=task_id)
        found = [one for one in records if one.commit.startswith(commit.lower()) and (one.message_ts or ts + 1) <= ts]
        return (found[0] if found else await files.checkpoint(commit)).id

    async def head(self, folder: Path) -> str | None:
        """In which state the workspace was last known to be, by a checkpoint's commit; None where nothing was saved yet."""
        newest = await (await self.timeline(folder)).newest()
        if newest is None or newest.checkpoint is None:
            return None
        went_back = newest.kind in ("restore", "undo")
        return (await self.stands_at(folder, newest.id))[0] if went_back else newest.checkpoint.commit

    async def stands_at(self, folder: Path, operation: str) -> tuple[str, TaskId | None]:
        """In which state a restore left the workspace: by the commit of the checkpoint it went to if that is there as a whole;
        and whose that checkpoint is.
        """
        done = await self._operation(folder, operation)
        assert done.checkpoint is not None
        target = await (await self.timeline(folder)).files.checkpoint(done.target or done.checkpoint.id)
        is_there = target.tree == done.checkpoint.tree or _brought_all(done)
        return (target if is_there else done.checkpoint).commit, target.task_id

    async def look_after(self, folder: Path, action: Literal["tidy", "roll_back", "keep"]) -> StoreView:
        """Bring the store within its limits, or settle a restore that was cut short."""
        if action != "tidy":
            await self.recover(folder, action)
        async with self.at(folder) as line:
            return await (line.gc() if action == "tidy" else line.store())

    # ---- restoring, with the conversation

    async def task_of(self, folder: Path, checkpoint: str) -> TaskId | None:
        """The task whose conversation goes back to this checkpoint, if it belongs to one that was not deleted."""
        return await self._if_kept((await (await self.timeline(folder)).files.checkpoint(checkpoint)).task_id)

    async def task_gone_back(self, folder: Path, operation: str) -> TaskId | None:
        """The task whose conversation went back with this restore, unless it was deleted."""
        done = await self._operation(folder, operation)
        conversation = None if done.parts is None else done.parts.conversation
        return None if conversation is None else await self._if_kept(conversation.task_id)

    async def preview(self, folder: Path, checkpoint: str, parts: Parts) -> RestorePreview:
        """What going back would do."""
        record = await (await self.timeline(folder)).files.checkpoint(checkpoint)
        going, gone = await self._going_back(record, parts)
        conversation = await self._foreseen(going)
        async with self.at(folder) as line:
            preview = await line.preview(record.id, parts, conversation=conversation)
        return preview.model_copy(update={"conversation_gone": gone})

    async def restore(self, folder: Path, checkpoint: str, parts: Parts) -> RestoreResult:
        """Go back, whole or not at all. A task whose conversation goes back is stopped first; one that was deleted is left out."""
        record = await (await self.timeline(folder)).files.checkpoint(checkpoint)
        going, gone = await self._going_back(record, parts)
        if gone and not (parts.files or parts.notebooks or parts.variables):
            raise NotFound(
                "The conversation of this checkpoint was deleted, so it cannot be restored.",
                task=record.task_id,
                why="conversation_deleted",
            )
        await self.refuse_interrupted(folder)
        async with self._at_rest(going) as conversation, self.at(folder) as line:
            return await line.restore(record.id, parts, conversation=conversation)

    async def preview_undo(self, folder: Path, operation: str, *, overwrite: bool = False) -> RestorePreview:
        """What taking a restore back would do."""
        going = await self._going_again(await self._operation(folder, operation))
        conversation = await self._foreseen(going)
        async with self.at(folder) as line:
            return await line.preview_undo(operation, overwrite=overwrite, conversation=conversation)

    async def undo(self, folder: Path, operation: str, *, overwrite: bool = False) -> RestoreResult:
        """Take a restore back, or an undo."""
        going = await self._going_again(await self._operation(folder, operation))
        await self.refuse_interrupted(folder)
        async with self._at_rest(going, overwrite=overwrite) as conversation, self.at(folder) as line:
            return await line.undo(operation, overwrite=overwrite, conversation=conversation)

    async def recover(
        self, folder: Path, choice: Literal["roll_back", "keep"], *, asked_in: TaskId | None = None
    ) -> None:
        """Put back what a restore that was cut short had done, or keep all as it is. Nothing if there is none.

        ``asked_in`` is the task that asked, if one did: it waits for this, and goes on from its conversation as it is then.
        """

        async def work() -> None:
            half = await (await self.timeline(folder)).interrupted()
            went = half.parts.conversation if half is not None and half.parts is not None else None
            at_rest: AbstractAsyncContextManager[ConversationPart | None] = nullcontext()
            if went is not None and choice == "roll_back" and self.conversations is not None:
                at_rest = self.conversations.settling(went, asked_in)
            async with at_rest as conversation, self.at(folder) as line:
                await line.recover(choice, conversation=conversation)

        # As a whole, even if whoever asked goes away in between.
        await self._held.finish(work())

    async def _operation(self, folder: Path, operation: str) -> OperationRecord:
        done = await (await self.timeline(folder)).operation(operation)
        if done is None:
            raise NotFound(
                f"This folder has no operation {operation}.",
                operation=operation,
                why="unknown_operation",
            )
        return done

    async def _if_kept(self, task_id: TaskId | None) -> TaskId | None:
        """The task, unless it was deleted."""
        if task_id is None or self.conversations is None or not await self.conversations.is_kept(task_id):
            return None
        return task_id

    async def _going_back(self, record: CheckpointRecord, parts: Parts) -> tuple[_Going | None, bool]:
        """The conversation that is to go back with the rest, and whether it was deleted."""
        if not parts.conversation or record.task_id is None or record.message_ts is None or self.conversations is None:
            return None, False
        if not await self.conversations.is_kept(record.task_id):
            return None, True
        if await self.conversations.ends_before(record.task_id, record.message_ts):
            # It went back by itself; the rest can follow.
            return None, False
        return (record.task_id, GoBack(operation="rewind", message_ts=record.message_ts, keep=False)), False

    async def _going_again(self, done: OperationRecord) -> _Going | None:
        """The conversation that went back with a restore, unless it was brought back by itself, or deleted, meanwhile."""
        conversation = None if done.parts is None else done.parts.conversation
        if conversation is None or self.conversations is None:
            return None
        change = UndoOrRedo(operation="undo", mark_id=conversation.mark_id)
        try:
            await self.conversations.foreseen(conversation.task_id, change)
        except HdspAgentError:
            return None
        return conversation.task_id, change

    async def _foreseen(self, going: _Going | None) -> ConversationPreview | None:
        return None if going is None or self.conversations is None else await self.conversations.foreseen(*going)

    def _at_rest(
        self, going: _Going | None, *, overwrite: bool = False
    ) -> AbstractAsyncContextManager[ConversationPart | None]:
        if going is None or self.conversations is None:
            return nullcontext()
        return self.conversations.going_back(*going, newer="set_aside" if overwrite else "refuse")


@dataclass(frozen=True)
class _Before:
    """A save before a step: which tasks were at work, and whether the step goes on without waiting for it any longer."""

    working: Sequence[TaskId]
    overtaken: threading.Event = field(default_factory=threading.Event)

    @property
    def author(self) -> _Author:
        """Whose the changes since the last save are."""
        return "agent" if self.working else "person"


@dataclass
class SavedStep:
    """One call of a tool: saved before what it does first, and after its end. ``notebook`` is the one its task is about."""

    service: CheckpointService
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
        if action.risks <= _READS_ONLY or not self.service.enabled:
            return None
        self._touching.update(path for path in (action.path, *action.paths) if path and self._is_within(path))
        # Code and commands may change anything.
        only_files = bool(action.path) and action.risks <= _WRITES_ONLY
        self._only_files = self._only_files and (only_files or action.risks == {_ENDS_VARIABLES})
        self.ran_code = self.ran_code or not action.risks.isdisjoint(_RUNS_CODE)
        self._ends_variables = self._ends_variables or _ENDS_VARIABLES in action.risks
        self._message_ts = message_ts
        try:
            record = await self.service.before(self.folder, self)
        except HdspAgentError:
            self.acts = True
            raise
        self.acts = True
        return record

    def ended(self) -> None:
        """It did what it did, or failed in the middle of it."""
        if self.begun:
            self.service.after(self.folder, self, acted=self.acts)

    async def changed_since(self, earlier: CheckpointId, checkpoint: CheckpointRecord) -> Changed | None:
        """How much changed from one checkpoint to another, if that can be told soon."""
        try:
            line = await self.service.timeline(self.folder)
            return await wait_at_most(line.changed_between(earlier, checkpoint), _COUNT_SECONDS)
        except (TimeoutError, HdspAgentError) as error:
            logger.info("What changed since %s is unknown: %r", earlier, error)
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
        self.service.on_saved(self.task_id, self.record)

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
        self.service.on_saved(self.task_id, record)
        return record

    @property
    def notebooks(self) -> Sequence[str]:
        """The notebooks it is about."""
        return self.service.notebooks_of(self.folder, self.notebook, sorted(self._touching))

    @property
    def _claims(self) -> Sequence[str] | None:
        """The files it says it wrote; None where it may have written any. The kernel alone writes none."""
        if not self._only_files:
            return None
        return [] if self._ends_variables else sorted(with_copies(self._touching))

    @property
    def _keeps_variables(self) -> bool:
        return (self.ran_code or self._ends_variables) and self.service.keeps_variables

    def _is_within(self, path: str) -> bool:
        parent = os.path.realpath(os.path.dirname(self.folder / path))
        return Path(parent).is_relative_to(os.path.realpath(self.folder))


def _brought_all(done: OperationRecord) -> bool:
    """Whether everything that is kept of files is as it was: of notebooks that is their cells, not every byte."""
    parts = done.parts
    chosen = parts is not None and parts.path is None and {"files", "notebooks"} <= set(parts.selected)
    return chosen and done.kept == 0


def _limits(settings: GlobalSettings) -> TimelineLimits:
    # What is slow is left out of the checkpoint in time, so that the files are saved before the agent's patience ends.
    seconds = settings.checkpoint_timeout
    usual = TimelineLimits()
    return TimelineLimits(
        notebook_seconds=min(usual.notebook_seconds, seconds / 4),
        variables_seconds=min(usual.variables_seconds, seconds / 2),
        variables_bytes=settings.checkpoint_variables_quota_megabytes * 1_000_000,
    )
