"""Checkpoints of one workspace as the rest of the product uses them: nothing here blocks the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Final, Literal

from ..._background_tasks import BackgroundTasks
from ...errors import Conflict, HdspAgentError, NotFound
from ...events import CheckpointEvent
from ...messages import ConversationPreview, NotebookPointer, TaskId
from ...notebooks import Notebooks
from ..files.async_file_checkpoints import AsyncFileCheckpoints
from ..files.diff import CheckpointDiff
from ..files.file_checkpoints import Anchor, FileCheckpoints
from ..files.records import Changed, CheckpointId, CheckpointRecord, OperationRecord
from ..files.undo import restore_to_undo, restores_in_force
from ..variables import VariableCheckpoints, changes_since
from ._cell_versions import versions_of
from ._change_counts import ChangeCounts
from ._diff import CheckpointDiffs
from ._garbage_collection import StateCollector
from ._notebook_pointers import pointers_to
from ._notebook_states import NotebookState, NotebookStates, StateId
from ._paths import Paths
from ._reasons import is_of_restore
from ._restore import CheckpointRestore, ConversationPart
from ._restore_lock import RestoreLock
from ._restore_plan import RestorePlanner, RestoreSelection
from ._state_capture import Code, StateCapture
from ._timeline_limits import TimelineLimits
from ._verification_reports import VerificationReport, VerificationReports
from ._view_builders import checkpoint_view, operation_view, preview_of, result_of, verified_views
from ._views import (
    CellVersions,
    CheckpointView,
    OperationView,
    Parts,
    RestorePreview,
    RestoreResult,
    StoreView,
    TimelineView,
    VariablesSince,
    VerifiedView,
)

__all__ = ["Timeline"]

_log = logging.getLogger(__name__)

_STATES: Final = "notebooks"
_REPORTS: Final = "verifications.jsonl"
_BEFORE: Final = "before restore"
_POINTERS: Final = "pointers"
_MOST_VERSIONS_LOOKED_AT: Final = 500
_CAPTURES_BETWEEN_LOOKS: Final = 20
"""So often it is measured what is kept besides files."""


class Timeline:
    """One workspace's files, notebooks, variables and conversations through time. ``folder`` is where its checkpoints are
    kept, ``root`` the workspace; notebooks go by their paths in the contents API.

    Errors are those of ``AsyncFileCheckpoints``, ``VariableCheckpoints`` and the notebooks' access. After each of them all parts are as
    they were, unless it says that not everything could be put back: then ``interrupted`` knows.
    """

    def __init__(
        self,
        files: AsyncFileCheckpoints,
        folder: Path,
        *,
        notebooks: Notebooks | None,
        variables: VariableCheckpoints | None,
        root: Path,
        limits: TimelineLimits | None = None,
        enabled: Callable[[], bool] = lambda: True,
        on_event: Callable[[CheckpointEvent], None] = lambda event: None,
    ) -> None:
        self.files: Final = files
        """What is kept of files, in the same checkpoints."""
        self.notebooks: Final = notebooks
        self.variables: Final = variables
        self.limits: Final = limits or TimelineLimits()
        self._root = root
        self._enabled = enabled
        self._on_event = on_event
        self._states = NotebookStates(folder / _STATES)
        self._reports = VerificationReports(folder / _REPORTS)
        self._paths = Paths(root, notebooks)
        store = variables.store if variables is not None else None
        self._counting = ChangeCounts(files, self._states, store, self._paths)
        self._capturing = StateCapture(self._states, notebooks, variables, self.limits, self._counting)
        self._planner = RestorePlanner(files, self._capturing, self._paths)
        self._restoring = CheckpointRestore(files, self._capturing, self._planner, self._paths)
        self._differing = CheckpointDiffs(files, self._states, self._paths, self.limits)
        self._collecting = StateCollector(self._states, store, self._reports, self.limits)
        files.on_collected(self._collecting)
        self._turn = RestoreLock(folder)
        self._lock = asyncio.Lock()
        self._held = BackgroundTasks()
        self._captures = 0

    # ---- saving

    async def save(
        self,
        reason: str,
        *,
        owner: str | None = None,
        task_id: TaskId | None = None,
        message_ts: int | None = None,
        changes_by: Literal["person", "agent"] = "person",
        claims: Sequence[str] | None = None,
        touching: Sequence[str] = (),
        notebooks: Sequence[str] = (),
        code: Code = "none",
        always: bool = False,
        under_way: Sequence[TaskId] = (),
        overtaken: Callable[[], str | None] = lambda: None,
    ) -> CheckpointRecord:
        """Save the workspace, as ``AsyncFileCheckpoints.save`` does, and with it the cells of these notebooks, and unless ``code`` is
        ``none`` the variables of those whose kernels run. What cannot be kept is noted in the record. With ``always`` it is a
        checkpoint of its own even if nothing changed. ``owner`` is the person who asked for it, and ``under_way`` are the tasks that may have made changes since the checkpoint
        before, and ``overtaken`` is asked last: a reason if what this was to come before has begun.

        Name the notebooks that the agent works on before and after each of its steps: what it did to a notebook that no
        checkpoint kept counts as the person's.
        """

        async def work() -> CheckpointRecord:
            async with self._lock:
                begun = monotonic()
                names = notebooks
                if changes_by == "agent" and claims is None and not names:
                    # It may have changed any: of those that were kept last it is told what it did to them.
                    head = await self.files.head()
                    names = [kept.path for kept in head.notebooks] if head is not None else ()
                captured = await self._capturing.capture(names, code)
                if changes_by == "agent" and claims is None:
                    captured = captured.made_by_agent()
                # What another server's restore has done so far is nobody's work.
                restoring = await asyncio.to_thread(self._turn.is_taken)
                files = await self._files_under_restore(claims) if restoring else claims
                record = await self.files.save(
                    reason, task_id=task_id, message_ts=message_ts,
                    changes_by="restore" if restoring else changes_by, claims=files, touching=touching,
                    kept=replace(
                        captured.anchor, owner=owner, always=always, under_way=tuple(under_way), overtaken=overtaken
                    ),
                )  # fmt: skip
            if captured.notebooks or captured.variables:
                await self._watch_size()
            self._on_event(CheckpointEvent("checkpoint", _since(begun), task_id, record.commit))
            return record

        return await self._held.finish(work())

    async def pointers(
        self,
        record: CheckpointRecord,
        *,
        cells: Sequence[tuple[str, str]] = (),
        waiting: Mapping[str, Sequence[NotebookPointer]] | None = None,
    ) -> dict[str, Sequence[NotebookPointer]]:
        """By notebook, what to write into it so that it names its newest checkpoint, and into ``cells`` (path and id), which
        were run just before, so that they say which variables there were then. What is ``waiting`` to be written, as this
        told of it before, is told again as far as it is not there."""
        found: dict[str, Sequence[NotebookPointer]] = {}
        for path in dict.fromkeys([*(kept.path for kept in record.notebooks), *(path for path, _ in cells)]):
            if self.notebooks is None:
                continue
            kept = next((one for one in record.variables if one.path == path), None)
            manifest = None
            if kept is not None and self.variables is not None:
                manifest = await asyncio.to_thread(self.variables.store.load, kept.manifest)
            snapshot = await self.notebooks.access.document(path).snapshot()
            ran = [cell for where, cell in cells if where == path]
            operations = pointers_to(
                record, snapshot, ran, manifest, self.limits.pointers_bytes, (waiting or {}).get(path, ())
            )
            if operations:
                found[path] = operations
        return found

    async def pointed(self, record: CheckpointRecord, files: Sequence[str]) -> None:
        """These files say now what ``pointers`` told of this checkpoint. That is the agent's work, and no row of its own."""

        async def work() -> None:
            async with self._lock:
                # Cells and variables are what they were.
                kept = Anchor(notebooks=record.notebooks, variables=record.variables)
                await self.files.save(_POINTERS, changes_by="agent", claims=files, kept=kept)

        await self._held.finish(work())

    async def keep_report(self, report: VerificationReport) -> None:
        """Keep what came of verifying a notebook as a checkpoint has it. Raises NotFound if that checkpoint is gone."""

        def work(files: FileCheckpoints) -> None:
            with files.store.changing():
                files.store.log.checkpoint(report.checkpoint)
                self._reports.add(report)

        await self._held.finish(self.files.run(work))

    async def ran_before(self, record: CheckpointRecord, path: str) -> Sequence[str]:
        """The notebook's cells that had run by this checkpoint, the last first; as far as that is known."""
        kept = next((one for one in record.variables if self._paths.now_at(one.path) == path), None)
        if kept is not None and self.variables is not None:
            runs = await self.variables.ran(kept.manifest)
            if found := [run.cell for run in reversed(runs) if run.cell is not None]:
                return list(dict.fromkeys(found))
        cells = next((one for one in record.notebooks if self._paths.now_at(one.path) == path), None)
        state = await asyncio.to_thread(self._states.find, cells.state) if cells is not None else None
        counted = [cell for cell in state.cells if cell.execution_count is not None] if state is not None else []
        return [cell.id for cell in sorted(counted, key=lambda cell: cell.execution_count or 0, reverse=True)]

    # ---- restoring

    async def preview(
        self,
        target: str,
        parts: Parts,
        *,
        conversation: ConversationPreview | None = None,
        leave: Sequence[str] = (),
    ) -> RestorePreview:
        """What ``restore`` would do now. Changes nothing."""

        async def work() -> RestorePreview:
            async with self._lock:
                record = await self.files.checkpoint(target)
                return await self._previewed(await self._planner.to_checkpoint(record, parts, leave), conversation)

        return await self._held.finish(work())

    async def restore(
        self,
        target: str,
        parts: Parts,
        *,
        conversation: ConversationPart | None = None,
        leave: Sequence[str] = (),
    ) -> RestoreResult:
        """Bring these parts of a checkpoint (its id, or its commit) back: all of them or none. ``leave`` are files of the
        workspace, notebooks among them, that stay as they are."""

        async def work() -> RestoreResult:
            async with self._restore_turn():
                begun = monotonic()
                record = await self.files.checkpoint(target)
                done = await self._go(await self._planner.to_checkpoint(record, parts, leave), conversation)
                return self._timed(done, begun)

        return await self._held.finish(work())

    async def preview_undo(
        self,
        operation: CheckpointId | None = None,
        *,
        overwrite: bool = False,
        conversation: ConversationPreview | None = None,
        leave: Sequence[str] = (),
    ) -> RestorePreview:
        """What ``undo`` would do now. Changes nothing."""

        async def work() -> RestorePreview:
            async with self._lock:
                done = await self._to_undo(operation)
                wanted = await self._planner.to_undo(done, leave, overwrite=overwrite)
                return await self._previewed(wanted, conversation)

        return await self._held.finish(work())

    async def undo(
        self,
        operation: CheckpointId | None = None,
        *,
        overwrite: bool = False,
        conversation: ConversationPart | None = None,
        leave: Sequence[str] = (),
    ) -> RestoreResult:
        """Take a restore back, by default the newest one in force, in all its parts. An undo can be undone by its own id."""

        async def work() -> RestoreResult:
            async with self._restore_turn():
                begun = monotonic()
                wanted = await self._planner.to_undo(await self._to_undo(operation), leave, overwrite=overwrite)
                return self._timed(await self._go(wanted, conversation), begun)

        return await self._held.finish(work())

    async def interrupted(self) -> OperationRecord | None:
        """A restore that a crash cut short: ask the person, then ``recover``. Until then nothing can be restored."""
        half = await self.files.interrupted()
        if half is None or half.parts is None or not await asyncio.to_thread(self._turn.is_taken):
            return half
        # Its other parts are being restored, here or by another server.
        return None

    async def recover(
        self, choice: Literal["roll_back", "keep"], *, conversation: ConversationPart | None = None
    ) -> OperationRecord | None:
        """Take back what a restore that was cut short did, in all its parts, or keep everything as it is now. None if there
        is none. ``conversation`` is the one that was to go back with the rest, unless it was deleted."""

        async def work() -> OperationRecord | None:
            async with self._lock, self._turn.taken():
                half = await self.files.interrupted()
                if half is None or choice == "keep":
                    return await self.files.recover(choice)
                return await self._restoring.recover(half, conversation)

        return await self._held.finish(work())

    # ---- looking

    async def view(
        self, *, before: CheckpointId | None = None, limit: int = 100, task_id: TaskId | None = None
    ) -> TimelineView:
        """What was done, newest first; of one conversation with ``task_id``."""
        operations = await self.files.operations()
        checkpoints = self._checkpoint_views(operations)
        results = {done.checkpoint.id for done in operations if done.kind != "save" and done.checkpoint is not None}
        undoable = restores_in_force(operations[::-1])
        rows = [
            operation_view(done, checkpoints, undoable)
            for done in operations
            # What others saved beside a restore makes its result a line of its own.
            if not (done.kind == "save" and done.checkpoint is not None and done.checkpoint.id in results)
            and not (done.checkpoint is not None and _is_pointers(done.checkpoint))
        ]
        if task_id is not None:
            rows = [row for row in rows if _is_of(row, checkpoints, task_id)]
        if before is not None:
            at = next((place for place, row in enumerate(rows) if row.id == before), None)
            if at is None:
                raise NotFound(
                    f"There is no operation {before}. Reload the timeline.", id=before, why="unknown_operation"
                )
            rows = rows[at + 1 :]
        half = await self.interrupted()
        return TimelineView(
            workspace=str(self._root),
            here=next((checkpoint for checkpoint in checkpoints.values() if checkpoint.here), None),
            operations=tuple(rows[:limit]),
            more=len(rows) > limit,
            interrupted=operation_view(half, checkpoints, ()) if half is not None else None,
            store=await self.store(),
        )

    async def report(self, verification: str) -> VerificationReport | None:
        """What came of a verification, if that is kept."""
        return await asyncio.to_thread(self._reports.find, verification)

    async def verified(self, owner: str) -> Mapping[CheckpointId, tuple[VerifiedView, ...]]:
        """What a person verified, by checkpoint."""
        return verified_views(await asyncio.to_thread(self._reports.summaries), owner)

    async def told(self, record: CheckpointRecord) -> CheckpointView:
        """A checkpoint as people see it."""
        return _told(await self.files.list(), record)

    async def store(self) -> StoreView:
        """What the checkpoints take, and what they may."""
        found = await self.files.statistics()
        states = await asyncio.to_thread(self._states.size)
        variables = await asyncio.to_thread(self._collecting.size_of_variables)
        return StoreView(
            checkpoints=found.checkpoints,
            bytes=found.bytes + states,
            quota_bytes=found.quota_bytes,
            quota_checkpoints=self.files.limits.checkpoints,
            variables_bytes=variables,
            oldest_ts=found.oldest_ts,
            scope=found.scope,
            scope_reason=found.scope_reason,
            enabled=self._enabled(),
        )

    async def operation(self, operation: CheckpointId) -> OperationRecord | None:
        """Something that was done, if it is known."""
        return next((done for done in await self.files.operations() if done.id == operation), None)

    async def changed_between(self, earlier: CheckpointId, checkpoint: CheckpointRecord) -> Changed | None:
        """How much changed from one checkpoint to another; None if the earlier one is not kept any more."""
        return await self._held.finish(self._counting.between(earlier, checkpoint))

    async def newest(self) -> OperationRecord | None:
        """What led to the state the workspace was last known to be in; None where nothing was saved. Makes no store."""
        if not await self._has_store():
            return None
        operations = await self.files.operations()
        return next((one for one in operations if one.checkpoint and not _is_pointers(one.checkpoint)), None)

    async def variables_since(self, path: str) -> VariablesSince:
        """How a notebook's variables differ from the newest checkpoint that was made of them, as far as that is known at once."""
        path = self._paths.now_at(path)
        if self.variables is None or not await self._has_store():
            return VariablesSince(unknown="no_checkpoint")
        for record in await self.files.list():
            kept = next((one for one in record.variables if self._paths.now_at(one.path) == path), None)
            # A restore of one variable is no beginning from which the others are looked at.
            if kept is None or _is_pointers(record) or is_of_restore(record):
                continue
            busy, _ = await self._capturing.patience(path)
            if busy:
                return VariablesSince(unknown="busy")
            now = await self.variables.last(await self._capturing.link(path))
            then = await asyncio.to_thread(self.variables.store.load, kept.manifest)
            if now == "pending":
                return VariablesSince(unknown="pending")
            if now == "unknown" or then.runs_only:
                break
            changes = changes_since(then, now)
            return VariablesSince(checkpoint=record.id, ts=record.ts, changes=tuple(changes))
        return VariablesSince(unknown="no_checkpoint")

    async def cell_versions(self, path: str, cell_id: str) -> CellVersions:
        """What one cell was, as far as it is kept, newest first."""
        path = self._paths.now_at(path)
        current: NotebookState | None = None
        if self.notebooks is not None:
            try:
                current = (await self._capturing.look(path)).state
            except HdspAgentError as error:
                _log.info("The cells of %s cannot be read now: %s", path, error)
        records = await self.files.list()

        def checkpoints() -> Iterator[tuple[CheckpointRecord, NotebookState]]:
            # A state may be as large as its notebook: there are never more than two of them.
            name: StateId | None = None
            state: NotebookState | None = None
            for record in records:
                kept = next((one for one in record.notebooks if self._paths.now_at(one.path) == path), None)
                if kept is None:
                    continue
                if kept.state != name:
                    name, state = kept.state, self._states.find(kept.state)
                if state is not None:
                    yield record, state

        found = await asyncio.to_thread(
            lambda: versions_of(cell_id, current, islice(checkpoints(), _MOST_VERSIONS_LOOKED_AT))
        )
        return CellVersions(path=path, cell_id=cell_id, versions=tuple(found))

    async def diff(
        self,
        old: CheckpointId | Literal["beginning"],
        new: CheckpointId | Literal["now"],
        *,
        only: Sequence[str] | None = None,
        with_content: bool = True,
    ) -> CheckpointDiff:
        """What differs between two checkpoints; of notebooks whose cells they kept, those cells."""
        if new == "now":
            before = await self.files.checkpoint(old) if old != "beginning" else None
            names = [kept.path for kept in before.notebooks] if before is not None else []
            new = (await self.save("look", notebooks=names)).id
        found = await self.files.diff(old, new, only=only, with_content=with_content)
        return await self._differing.with_cells(found, only, with_content=with_content)

    async def changes(self, checkpoint: CheckpointId, *, with_content: bool = True) -> CheckpointDiff:
        """What differs between a checkpoint and the one before it."""
        found = await self.files.changes(checkpoint, with_content=with_content)
        return await self._differing.with_cells(found, None, with_content=with_content)

    async def gc(self) -> StoreView:
        """Drop the oldest checkpoints beyond the quota, and what only they needed."""
        await self.files.gc()
        return await self.store()

    async def close(self) -> None:
        """Wait for what is under way."""
        await self._held.drain()
        await self.files.close()

    # ---- inside

    async def _has_store(self) -> bool:
        """Whether anything was saved; where nothing was, looking makes no store."""

        def has_store() -> bool:
            return self.files.folder.is_dir()

        return await asyncio.to_thread(has_store)

    @asynccontextmanager
    async def _restore_turn(self) -> AsyncIterator[None]:
        async with self._lock, self._turn.taken():
            half = await self.files.interrupted()
            if half is not None:
                raise Conflict(
                    "An earlier restore was interrupted. Roll it back, or keep everything as it is now, then try again.",
                    operation=half.id,
                    why="cut_short",
                )
            yield

    async def _previewed(self, wanted: RestoreSelection, conversation: ConversationPreview | None) -> RestorePreview:
        way = await self._planner.find(wanted, strict=False)
        return preview_of(way, await self.told(wanted.target), conversation if wanted.parts.conversation else None)

    async def _go(self, wanted: RestoreSelection, conversation: ConversationPart | None) -> RestoreResult:
        """A checkpoint of its own first, to which the undo goes; then all parts."""
        captured = await self._capturing.capture(
            [*wanted.notebooks, *wanted.variables], "thorough" if wanted.variables else "none"
        )
        await self.files.save(_BEFORE, kept=captured.anchor)
        way = await self._planner.find(wanted, strict=True)
        done = await self._restoring.go(way, conversation)
        assert done.operation.checkpoint is not None
        checkpoints = self._checkpoint_views(await self.files.operations())
        return result_of(done, operation_view(done.operation, checkpoints, (done.operation.id,)))

    def _timed(self, done: RestoreResult, begun: float) -> RestoreResult:
        checkpoint = done.operation.checkpoint
        took = _since(begun)
        self._on_event(CheckpointEvent("restore", took, commit=None if checkpoint is None else checkpoint.commit))
        return done.model_copy(update={"duration_ms": took})

    async def _to_undo(self, operation: CheckpointId | None) -> OperationRecord:
        operations = await self.files.operations()
        return restore_to_undo(operations[::-1], operation)

    def _checkpoint_views(self, operations: Sequence[OperationRecord]) -> dict[CheckpointId, CheckpointView]:
        """All checkpoints by id, the newest first. Where pointers were written it is the checkpoint that they followed."""
        found: dict[CheckpointId, CheckpointView] = {}
        pointers: list[CheckpointId] = []
        records = list(
            {done.checkpoint.id: done.checkpoint for done in operations if done.checkpoint is not None}.values()
        )
        head = _head(records)
        for place, record in enumerate(records):
            if _is_pointers(record):
                pointers.append(record.id)
                continue
            before = records[place + 1] if place + 1 < len(records) else None
            found[record.id] = checkpoint_view(record, head=head, before=before)
            found.update(dict.fromkeys(pointers, found[record.id]))
            pointers.clear()
        return found

    async def _files_under_restore(self, claims: Sequence[str] | None) -> Sequence[str]:
        """The notebooks' files that another server is restoring, and those that the agent says it changed."""
        half = await self.files.interrupted()
        parts = half.parts if half is not None else None
        paths = [one.path for one in parts.notebooks] if parts is not None else []
        files = await asyncio.to_thread(self._paths.all_in_workspace, paths)
        return [*files.values(), *(claims or ())]

    async def _watch_size(self) -> None:
        self._captures += 1
        if self._captures % _CAPTURES_BETWEEN_LOOKS:
            return
        if await asyncio.to_thread(self._collecting.is_over):
            self.files.tidy_soon()


def _since(begun: float) -> int:
    return round((monotonic() - begun) * 1000)


def _told(records: Sequence[CheckpointRecord], record: CheckpointRecord) -> CheckpointView:
    at = next((place for place, one in enumerate(records) if one.id == record.id), len(records))
    while _is_pointers(record) and at + 1 < len(records):
        at += 1
        record = records[at]
    before = records[at + 1] if at + 1 < len(records) else None
    return checkpoint_view(record, head=_head(records), before=before)


def _head(records: Sequence[CheckpointRecord]) -> CheckpointId | None:
    """The newest checkpoint that is a row."""
    return next((record.id for record in records if not _is_pointers(record)), None)


def _is_pointers(record: CheckpointRecord) -> bool:
    return record.reason == _POINTERS and record.author == "agent"


def _is_of(row: OperationView, checkpoints: dict[CheckpointId, CheckpointView], task_id: TaskId) -> bool:
    """Whether it belongs to a conversation: what was saved for it, and what went back to such a checkpoint."""
    if row.checkpoint is not None and row.checkpoint.task_id == task_id:
        return True
    target = checkpoints.get(row.target) if row.target is not None else None
    return target is not None and target.task_id == task_id
