"""Bringing the parts of a checkpoint back: files, notebooks, variables, conversation, all of them or none.

The line that says a restore began is on the disk before the first change, with all that is needed for the way back. When a
part fails, or a crash left the line without an end, the way back is taken in the opposite order.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from ...errors import Conflict, HdspAgentError, InvalidInput, NotFound
from ...messages import TaskId
from ...notebooks import CellConflict
from ..failure_codes import Why, why_of
from ..files.async_file_checkpoints import AsyncFileCheckpoints
from ..files.file_checkpoints import INTERRUPTED
from ..files.records import (
    OperationRecord,
    Part,
    RestoredConversation,
    RestoredNotebook,
    RestoredParts,
    RestoredVariables,
)
from ..files.stable_read import seconds_until_settled
from ..variables import ManifestId
from ._cell_matching import ChangesSince
from ._cell_plan import CellPlan, plan_cell, plan_cells
from ._notebook_states import KeptCell, NotebookState, StateId
from ._paths import Paths
from ._restore_plan import NotebookPlan, RestorePlan, RestorePlanner, VariablesRestorePlan
from ._state_capture import NotebookSeen, StateCapture
from ._views import Parts

__all__ = ["CheckpointRestore", "ConversationPart", "Restored", "selected_parts"]

_log = logging.getLogger(__name__)

_MOST_TRIES: Final = 3
"""A person types while their notebook is restored; what they type is not lost."""


class ConversationPart(Protocol):
    """One conversation, at the message a checkpoint belongs to. It is the last to change, and the first to be put back."""

    @property
    def task_id(self) -> TaskId:
        """Whose it is."""

    async def go_back(self, mark_id: str) -> None:
        """Go back to the message; the mark that says so gets this id, which the restore's log knew before."""

    async def undo(self, mark_id: str, as_mark: str) -> None:
        """Take that, or an earlier undo, back; the new mark gets the id ``as_mark``."""

    async def put_back(self, mark_id: str) -> None:
        """The restore failed, or was cut short: undo this mark if it was made and still counts. A conversation that went on
        since stays as it is."""


@dataclass
class _Progress:
    """What was done so far, for the way back."""

    notebooks: list[RestoredNotebook] = field(default_factory=list)
    variables: list[RestoredVariables] = field(default_factory=list)
    conversation: RestoredConversation | None = None


@dataclass(frozen=True)
class Restored:
    """What a restore did."""

    operation: OperationRecord
    notebooks: Sequence[NotebookPlan]
    variables: Sequence[VariablesRestorePlan]


def selected_parts(way: RestorePlan, conversation: ConversationPart | None) -> tuple[Part, ...]:
    """The parts that are asked for."""
    parts = way.wanted.parts
    chosen: list[tuple[Part, bool]] = [
        ("files", parts.files), ("notebooks", parts.notebooks), ("variables", parts.variables),
        ("conversation", conversation is not None and parts.conversation),
    ]  # fmt: skip
    return tuple(part for part, wanted in chosen if wanted)


class CheckpointRestore:
    """Restores, rolls back, and recovers what a crash cut short. One at a time."""

    def __init__(
        self,
        checkpoints: AsyncFileCheckpoints,
        capturing: StateCapture,
        planner: RestorePlanner,
        paths: Paths,
    ) -> None:
        self._checkpoints = checkpoints
        self._capturing = capturing
        self._states = capturing.states
        self._notebooks = capturing.notebooks
        self._variables = capturing.variables
        self._planner = planner
        self._paths = paths

    async def go(self, way: RestorePlan, conversation: ConversationPart | None) -> Restored:
        """Carry a plan out."""
        wanted = way.wanted
        planned = RestoredParts(
            selected=selected_parts(way, conversation),
            path=wanted.parts.path,
            cell_id=wanted.parts.cell_id,
            overwrite=wanted.parts.overwrite,
            leave_variables=wanted.parts.leave_variables or (),
            only_variables=wanted.parts.only_variables,
            notebooks=tuple([await self._note(one, wanted.parts.cell_id) for one in way.notebooks if _changes(one)]),
            variables=tuple(
                RestoredVariables(path=one.path, before=one.plan.before, after=one.target)
                for one in way.variables
                if one.plan is not None and one.changes
            ),
            conversation=_to_go_back(way, conversation),
        )
        undone = wanted.undo_of.id if wanted.undo_of is not None else None
        begun = await self._checkpoints.begin(wanted.target.id, way.selection, undo_of=undone, parts=planned)
        progress = _Progress()
        try:
            await self._tell_desk(way)
            notebooks = [await self._cells(one, way, progress) for one in way.notebooks]
            for one in way.variables:
                await self._values(one, progress, wanted.parts)
            if conversation is not None and planned.conversation is not None:
                await self._converse(way, conversation, planned.conversation)
                progress.conversation = planned.conversation
            done = await self._end(begun, planned, progress)
        except BaseException as error:
            try:
                await self._take_back(begun, progress, conversation, error)
            finally:
                await self._tell_desk(way)
            raise
        return Restored(done, notebooks, way.variables)

    async def recover(self, half: OperationRecord, conversation: ConversationPart | None) -> OperationRecord | None:
        """Take back what a crash left of a restore, the conversation's part if there is one that is still kept."""
        parts = half.parts or RestoredParts(selected=("files",))
        if conversation is not None and parts.conversation is not None:
            await conversation.put_back(parts.conversation.mark_id)
        for values in reversed(parts.variables):
            await self._put_values_back(values)
        return await self._put_files_back(parts.notebooks, parts.notebooks, "interrupted", INTERRUPTED)

    # ---- forth

    async def _note(self, way: NotebookPlan, cell_id: str | None) -> RestoredNotebook:
        assert way.seen is not None and way.plan is not None
        before = await asyncio.to_thread(self._keep_before, way.seen, way.plan.after)
        after = await asyncio.to_thread(self._states.keep, way.plan.after)
        return RestoredNotebook(path=way.path, before=before, after=after, cell_id=cell_id)

    def _keep_before(self, seen: NotebookSeen, after: NotebookState) -> StateId:
        """With all that the restore takes away, so that it can be undone."""
        left = {cell.id: _made(cell) for cell in after.cells}
        taken = [cell.id for cell in seen.state.cells if left.get(cell.id) != _made(cell)]
        return self._states.keep(self._capturing.whole(seen, taken))

    async def _tell_desk(self, way: RestorePlan) -> None:
        """Which notebooks are there now, of those that come and go as files."""
        if self._notebooks is None or way.files is None:
            return
        files = [change.path for change in way.files.changes if change.action in ("create", "delete")]
        for path, is_there in (await asyncio.to_thread(self._paths.found, files)).items():
            if is_there:
                self._notebooks.access.appeared(path)
            else:
                self._notebooks.access.deleted(path)

    async def _cells(self, way: NotebookPlan, planned: RestorePlan, progress: _Progress) -> NotebookPlan:
        if not _changes(way):
            return way
        cell_id = planned.wanted.parts.cell_id
        for attempt in range(_MOST_TRIES):
            # From here on it may be changed, whatever is told of it.
            progress.notebooks = [one for one in progress.notebooks if one.path != way.path]
            progress.notebooks.append(await self._note(way, cell_id))
            assert way.plan is not None
            try:
                await self._apply(way.path, way.plan)
                return way
            except CellConflict:
                if attempt == _MOST_TRIES - 1:
                    raise
                way = await self._planner.again(way, planned.wanted)
                if not _changes(way):
                    return way
        raise AssertionError

    async def _apply(self, path: str, plan: CellPlan) -> None:
        assert self._notebooks is not None
        if plan.operations:
            await self._notebooks.access.document(path).apply(plan.operations, save=True, signatures=plan.seals)

    async def _values(self, way: VariablesRestorePlan, progress: _Progress, parts: Parts) -> None:
        if self._variables is None or way.plan is None or not way.changes:
            return
        _, seconds = await self._capturing.patience(way.path)
        link = await self._capturing.link(way.path, to_set=True)
        done = progress.variables

        def begins(before: ManifestId) -> None:
            done.append(RestoredVariables(path=way.path, before=before, after=way.target))

        known = len(done)
        try:
            report = await self._variables.restore(
                way.target,
                link,
                leave=parts.leave_variables or (),
                only=parts.only_variables,
                overwrite=parts.overwrite,
                expected=way.plan,
                within=seconds,
                begins=begins,
            )
        except Conflict:
            # Nothing was changed, and what runs there now keeps what it makes.
            del done[known:]
            raise
        done[known:] = [RestoredVariables(path=way.path, before=report.before, after=way.target, lost=report.lost)]

    async def _converse(self, way: RestorePlan, conversation: ConversationPart, planned: RestoredConversation) -> None:
        undone = _went_back(way)
        if undone is None:
            await conversation.go_back(planned.mark_id)
        else:
            await conversation.undo(undone.mark_id, planned.mark_id)

    async def _end(self, begun: OperationRecord, planned: RestoredParts, progress: _Progress) -> OperationRecord:
        paths = [one.path for one in progress.notebooks] + [one.path for one in progress.variables]
        captured = await self._capturing.capture(paths, "after" if progress.variables else "none")
        states = {one.path: one.state for one in captured.notebooks}
        parts = planned.model_copy(
            update={
                "notebooks": tuple(
                    one.model_copy(update={"after": states.get(one.path, one.after)}) for one in progress.notebooks
                ),
                "variables": tuple(progress.variables),
                "conversation": progress.conversation,
            }
        )
        return await self._checkpoints.end(begun, parts, captured.anchor, await self._files_of(progress.notebooks))

    # ---- back

    async def _take_back(
        self,
        begun: OperationRecord,
        progress: _Progress,
        conversation: ConversationPart | None,
        error: BaseException,
    ) -> None:
        reason = error.message if isinstance(error, HdspAgentError) else type(error).__name__
        why = why_of(error) if isinstance(error, HdspAgentError) else None
        try:
            if conversation is not None and begun.parts is not None and begun.parts.conversation is not None:
                await conversation.put_back(begun.parts.conversation.mark_id)
            for values in reversed(progress.variables):
                await self._put_values_back(values)
            planned = begun.parts.notebooks if begun.parts is not None else ()
            await self._put_files_back(planned, progress.notebooks, reason, why)
        except HdspAgentError as failure:
            _log.exception("Restore %s failed and could not be rolled back", begun.id)
            raise HdspAgentError(
                f"A restore failed ({reason}) and could not be rolled back completely: {failure.message} Fix that, then roll back "
                "the restore.",
                operation=begun.id,
                details=failure.message,
                why="not_put_back",
            ) from error

    async def _put_files_back(
        self,
        planned: Sequence[RestoredNotebook],
        changed: Sequence[RestoredNotebook],
        reason: str,
        why: Why | None,
    ) -> OperationRecord | None:
        torn = [one for one in reversed(changed) if not await self._put_cells_back(one)]
        if torn and self._notebooks is not None and (root := self._notebooks.access.root) is not None:
            # Half a notebook may be one that somebody is writing; what a crash left stays as it is.
            await asyncio.sleep(max(seconds_until_settled(root / one.path) for one in torn))
        leave, mend = await self._files_of(planned), await self._files_of(torn)
        return await self._checkpoints.recover("roll_back", leave=leave, mend=mend, error=reason, why=why)

    async def _put_cells_back(self, cells: RestoredNotebook) -> bool:
        """What the restore did to a notebook, if it did; what a person wrote since stays. False if its file is torn."""
        if cells.before is None or self._notebooks is None:
            return True
        before = await asyncio.to_thread(self._states.load, cells.before)
        since = await asyncio.to_thread(self._states.find, cells.after)
        for attempt in range(_MOST_TRIES):
            try:
                seen = await self._capturing.look(cells.path)
            except (NotFound, InvalidInput):
                # Jupyter does not save in one step: a crash may have left no notebook there.
                return await self._notebooks.access.is_watched(cells.path)
            try:
                await self._apply(cells.path, await asyncio.to_thread(_way_back, seen, before, since, cells))
                return True
            except CellConflict:
                if attempt == _MOST_TRIES - 1:
                    raise
        raise AssertionError

    async def _put_values_back(self, values: RestoredVariables) -> None:
        """Unless cells ran since, or no kernel runs any more."""
        if self._variables is None or self._notebooks is None:
            return
        variables = self._variables
        try:
            before = await asyncio.to_thread(variables.store.load, values.before)
            plan = await self._capturing.asked(values.path, lambda link: variables.plan(values.before, link))
            link = await self._capturing.link(values.path, to_set=True)
            _, seconds = await self._capturing.patience(values.path)
        except NotFound:
            return
        if (plan.life, plan.run) == (before.life, before.run):
            await variables.restore(values.before, link, expected=plan, within=seconds)

    async def _files_of(self, notebooks: Sequence[RestoredNotebook]) -> list[str]:
        paths = [one.path for one in notebooks if one.before is not None]
        return list((await asyncio.to_thread(self._paths.all_in_workspace, paths)).values())


def _went_back(way: RestorePlan) -> RestoredConversation | None:
    """The conversation that went back with the restore that is taken back."""
    done = way.wanted.undo_of
    return done.parts.conversation if done is not None and done.parts is not None else None


def _to_go_back(way: RestorePlan, conversation: ConversationPart | None) -> RestoredConversation | None:
    """The conversation that goes along, and what its mark will be called: by that a crash right after it is known."""
    if conversation is None or not way.wanted.parts.conversation:
        return None
    if way.wanted.undo_of is not None and _went_back(way) is None:
        return None
    return RestoredConversation(task_id=conversation.task_id, mark_id=str(uuid.uuid4()))


def _way_back(
    now: NotebookSeen, before: NotebookState, after: NotebookState | None, cells: RestoredNotebook
) -> CellPlan:
    if cells.cell_id is not None:
        return plan_cell(now.state, before, cells.cell_id, may_go=True)
    return plan_cells(
        now.state, before, [ChangesSince(after, "restore")] if after is not None else [], printed=now.printed
    )


def _made(cell: KeptCell) -> tuple[object, ...]:
    """All of a cell that may be large."""
    return cell.cell_type, cell.shown, cell.attachments


def _changes(way: NotebookPlan) -> bool:
    return way.plan is not None and bool(way.plan.operations)
