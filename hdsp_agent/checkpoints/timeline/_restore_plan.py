"""What a restore, or an undo, would do now, part by part. Nothing is changed by looking."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...errors import HdspAgentError, NotFound, Unsupported
from ..files.async_file_checkpoints import AsyncFileCheckpoints
from ..files.file_checkpoints import Selection
from ..files.records import CheckpointId, CheckpointRecord, FileRestorePlan, OperationRecord, PlannedChange
from ..variables import VariablePlan
from ._cell_matching import ChangesSince
from ._cell_plan import CellPlan, plan_cell, plan_cells
from ._notebook_states import NotebookState, StateId, state_in_file
from ._paths import Paths, is_notebook
from ._state_capture import NotebookSeen, StateCapture
from ._views import Parts

__all__ = ["NotebookPlan", "RestorePlan", "RestorePlanner", "RestoreSelection", "VariablesRestorePlan"]

_CHANGES_NOTHING: Final = frozenset(("keep", "keep_live", "keep_unsaved", "leave"))


_FOR_GOOD: Final = (NotFound, Unsupported)
"""Why variables stay as they are, and everything else is brought back."""


@dataclass(frozen=True)
class RestoreSelection:
    """What a person chose: of which checkpoint, and which parts."""

    target: CheckpointRecord
    parts: Parts
    notebooks: Mapping[str, StateId | NotebookState] = field(default_factory=dict)
    """What cells are to become, by notebook."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The same for variables, by manifest."""
    only: Sequence[str] | None = None
    """Of files; None is all of them."""
    leave: Sequence[str] = ()
    undo_of: OperationRecord | None = None
    without: tuple[tuple[str, HdspAgentError], ...] = ()
    """Notebooks that were asked for and are not in this checkpoint, and why."""


@dataclass(frozen=True)
class NotebookPlan:
    """One notebook's cells."""

    path: str
    target: StateId | NotebookState | None = None
    seen: NotebookSeen | None = None
    plan: CellPlan | None = None
    why_not: HdspAgentError | None = None


@dataclass(frozen=True)
class VariablesRestorePlan:
    """One kernel's variables."""

    path: str
    target: str
    plan: VariablePlan | None = None
    why_not: HdspAgentError | None = None

    @property
    def refuses(self) -> bool:
        """Whether a restore with them does nothing at all: they could be had another time."""
        return self.why_not is not None and not isinstance(self.why_not, _FOR_GOOD)

    @property
    def changes(self) -> bool:
        """Whether any variable would be another."""
        return self.plan is not None and any(one.action not in _CHANGES_NOTHING for one in self.plan.variables)


@dataclass(frozen=True)
class RestorePlan:
    """All parts but the conversation."""

    wanted: RestoreSelection
    selection: Selection
    files: FileRestorePlan | None
    open_notebooks: tuple[str, ...]
    """Files that are left because they are open in a tab."""
    notebooks: tuple[NotebookPlan, ...]
    variables: tuple[VariablesRestorePlan, ...]


class RestorePlanner:
    """Makes plans."""

    def __init__(
        self,
        checkpoints: AsyncFileCheckpoints,
        capturing: StateCapture,
        paths: Paths,
    ) -> None:
        self._checkpoints = checkpoints
        self._capturing = capturing
        self._states = capturing.states
        self._notebooks = capturing.notebooks
        self._variables = capturing.variables
        self._paths = paths

    async def to_checkpoint(self, target: CheckpointRecord, parts: Parts, leave: Sequence[str]) -> RestoreSelection:
        """What of a checkpoint these parts are."""
        chosen = parts.path if parts.path is not None and is_notebook(parts.path) else None
        notebooks: dict[str, StateId | NotebookState] = {}
        places = await self._places(kept.path for kept in target.notebooks)
        alone = set(leave)
        without: list[tuple[str, HdspAgentError]] = []
        only: list[str] | None = []
        if self._notebooks is not None and parts.notebooks:
            notebooks = {
                self._paths.now_at(kept.path): kept.state
                for kept in target.notebooks
                if (parts.path is None or self._paths.now_at(kept.path) == self._paths.now_at(parts.path))
                and places.get(kept.path) not in alone
            }
            if chosen is not None and not notebooks:
                try:
                    notebooks[self._paths.now_at(chosen)] = await self._in_tree(target.id, chosen)
                except HdspAgentError as error:
                    without.append((chosen, error))
        if parts.files and parts.path is None:
            only = None
        elif (parts.files and not (chosen and parts.notebooks)) or (self._notebooks is None and parts.notebooks):
            kept_paths = [parts.path] if parts.path is not None else [kept.path for kept in target.notebooks]
            only = await asyncio.to_thread(lambda: [self._paths.file(path) for path in kept_paths])
        variables = {
            self._paths.now_at(kept.path): kept.manifest
            for kept in target.variables
            if parts.variables
            and (parts.path is None or self._paths.now_at(kept.path) == self._paths.now_at(parts.path))
        }
        if not parts.notebooks and parts.path is None:
            # Cells that were kept are no files, so nobody asked for them.
            leave = [*leave, *places.values()]
        return RestoreSelection(target, parts, notebooks, variables, only, leave, without=tuple(without))

    async def to_undo(self, done: OperationRecord, leave: Sequence[str], *, overwrite: bool) -> RestoreSelection:
        """What taking a restore back is."""
        assert done.before is not None
        before = await self._checkpoints.checkpoint(done.before)
        said = done.parts
        selected = set(said.selected) if said is not None else {"files"}
        parts = Parts(
            files="files" in selected, notebooks="notebooks" in selected, variables="variables" in selected,
            conversation="conversation" in selected, path=said.path if said else None,
            cell_id=said.cell_id if said else None, overwrite=overwrite,
            leave_variables=said.leave_variables if said else (),
            only_variables=said.only_variables if said else None,
        )  # fmt: skip
        notebooks = said.notebooks if said is not None and self._notebooks is not None else ()
        places = await self._places(one.path for one in notebooks)
        return RestoreSelection(
            target=before,
            parts=parts,
            notebooks={
                self._paths.now_at(one.path): one.before
                for one in notebooks
                if one.before is not None and places.get(one.path) not in leave
            },
            variables={self._paths.now_at(one.path): one.before for one in said.variables} if said is not None else {},
            only=None if done.only is None else [os.fsdecode(file.name()) for file in done.only],
            leave=[*(os.fsdecode(file.name()) for file in done.leave), *leave],
            undo_of=done,
        )

    async def find(self, wanted: RestoreSelection, *, strict: bool) -> RestorePlan:
        """The plan. ``strict`` raises where a part cannot be looked at; else the plan says why it stays as it is."""
        ways: dict[str, NotebookPlan] = {}
        gone: list[str] = []
        if strict and wanted.without and not wanted.notebooks and not wanted.variables:
            raise wanted.without[0][1]
        since = await self._checkpoints.list()
        for path, target in wanted.notebooks.items():
            way = await self._notebook(path, target, wanted, since, strict=strict)
            if way is None:
                gone.append(path)
            else:
                ways[path] = way
        handled = (await self._places(ways)).values()
        missing = (await self._places(gone)).values()
        only = None if wanted.only is None else [*wanted.only, *missing]
        leave = [*(file for file in wanted.leave if file not in missing), *handled]
        files, opened = await self._files(wanted, only, leave)
        for file, path in opened.items():
            way = await self._open_notebook(file, path, wanted, since, files, strict=strict)
            if way is not None:
                ways[path] = way
        if opened:
            leave = [*leave, *opened]
            files = await self._plan(wanted, only, leave)
        variables = [
            await self._kernel(path, one, wanted.parts, strict=strict) for path, one in wanted.variables.items()
        ]
        return RestorePlan(
            wanted=wanted,
            selection=Selection(only, leave, overwrite_all=wanted.parts.overwrite),
            files=files,
            open_notebooks=tuple(file for file, path in opened.items() if path not in ways),
            notebooks=(*ways.values(), *(NotebookPlan(path, why_not=why) for path, why in wanted.without)),
            variables=tuple(variables),
        )

    async def again(self, way: NotebookPlan, wanted: RestoreSelection) -> NotebookPlan:
        """The plan for a notebook that changed while it was made."""
        assert way.target is not None
        found = await self._notebook(way.path, way.target, wanted, await self._checkpoints.list(), strict=True)
        if found is None:
            raise NotFound(f"{way.path} was deleted in the meantime.", path=way.path, why="notebook_deleted")
        return found

    # ---- files

    async def _files(
        self, wanted: RestoreSelection, only: Sequence[str] | None, leave: Sequence[str]
    ) -> tuple[FileRestorePlan | None, dict[str, str]]:
        """The plan, and the notebooks in it that are open in a tab: their files are never written behind it."""
        plan = await self._plan(wanted, only, leave)
        if plan is None or self._notebooks is None:
            return plan, {}
        files = [change.path for change in (*plan.changes, *plan.conflicts)]
        found = await asyncio.to_thread(self._paths.notebooks, files)
        access = self._notebooks.access
        return plan, {file: path for file, path in found.items() if await access.is_watched(path)}

    async def _plan(
        self, wanted: RestoreSelection, only: Sequence[str] | None, leave: Sequence[str]
    ) -> FileRestorePlan | None:
        if only is not None and not only:
            return None
        return await self._checkpoints.plan_restore(
            wanted.target.id, only=only, leave=leave, overwrite_conflicts=wanted.parts.overwrite
        )

    # ---- notebooks

    async def _open_notebook(
        self,
        file: str,
        path: str,
        wanted: RestoreSelection,
        since: Sequence[CheckpointRecord],
        files: FileRestorePlan | None,
        *,
        strict: bool,
    ) -> NotebookPlan | None:
        """One whose cells were not kept with the checkpoint, but whose file was."""
        changes: Sequence[PlannedChange] = (*files.changes, *files.conflicts) if files is not None else ()
        if (
            file in wanted.leave
            or not wanted.parts.notebooks
            or not any(change.path == file and change.action == "overwrite" for change in changes)
        ):
            return None
        return await self._notebook(path, await self._in_tree(wanted.target.id, path), wanted, since, strict=strict)

    async def _in_tree(self, checkpoint: CheckpointId, path: str) -> NotebookState:
        file = await asyncio.to_thread(self._paths.file, path)
        data = await self._checkpoints.content(checkpoint, file)
        return await asyncio.to_thread(state_in_file, data, path, self._capturing.limits)

    async def _notebook(
        self,
        path: str,
        target: StateId | NotebookState,
        wanted: RestoreSelection,
        records: Sequence[CheckpointRecord],
        *,
        strict: bool,
    ) -> NotebookPlan | None:
        """None if there is no such notebook now: then its file is brought back."""
        try:
            seen = await self._capturing.look(path)
            plan = await asyncio.to_thread(self._cells, seen, target, wanted, records)
        except NotFound as error:
            if await self._is_there(path):
                return _why_not(path, error, strict=strict)
            return None
        except HdspAgentError as error:
            return _why_not(path, error, strict=strict)
        return NotebookPlan(path, target, seen, plan)

    def _cells(
        self,
        seen: NotebookSeen,
        target: StateId | NotebookState,
        wanted: RestoreSelection,
        records: Sequence[CheckpointRecord],
    ) -> CellPlan:
        want = self._states.load(target) if isinstance(target, str) else target
        cell_id = wanted.parts.cell_id
        if cell_id is not None:
            return plan_cell(seen.state, want, cell_id, may_go=wanted.undo_of is not None)
        since = [] if wanted.parts.overwrite else self._since(seen.path, wanted.target, records)
        return plan_cells(seen.state, want, since, overwrite=wanted.parts.overwrite, printed=seen.printed)

    def _since(self, path: str, target: CheckpointRecord, records: Sequence[CheckpointRecord]) -> list[ChangesSince]:
        """What is known of the notebook since, the oldest first; ``records`` come newest first."""
        file = self._paths.in_workspace(path)
        later: list[ChangesSince] = []
        last: StateId | None = None
        unknown = self._is_left_out(path, target)
        at = next((place for place, record in enumerate(records) if record.id == target.id), 0)
        for record in reversed(records[:at]):
            kept = next((one for one in record.notebooks if self._paths.now_at(one.path) == path), None)
            if kept is None:
                unknown = unknown or self._is_left_out(path, record)
                continue
            if kept.state == last:
                unknown = False
                continue
            last = kept.state
            state = self._states.find(kept.state)
            if state is None:
                unknown = True
                continue
            # What a person did until then cannot be told from what the agent did.
            persons = unknown or not _claims(record, file)
            author = "person" if persons else record.author
            later.append(ChangesSince(state.without_outputs(), author, frozenset(kept.printed)))
            unknown = False
        return later

    def _is_left_out(self, path: str, record: CheckpointRecord) -> bool:
        return any(one.part == "notebooks" and self._paths.now_at(one.path) == path for one in record.left_out)

    async def _is_there(self, path: str) -> bool:
        assert self._notebooks is not None
        try:
            await self._notebooks.access.document(path).snapshot()
        except NotFound:
            return False
        except HdspAgentError:
            return True
        return True

    # ---- variables

    async def _kernel(self, path: str, target: str, parts: Parts, *, strict: bool) -> VariablesRestorePlan:
        if self._variables is None or self._notebooks is None:
            return VariablesRestorePlan(
                path, target, why_not=Unsupported("Variables are not saved here.", why="values_not_kept")
            )
        values = self._variables
        try:
            plan = await self._capturing.asked(
                path,
                lambda link: values.plan(
                    target,
                    link,
                    leave=parts.leave_variables or (),
                    only=parts.only_variables,
                    overwrite=parts.overwrite,
                    cells=lambda: self._capturing.cells_that_ran(path),
                ),
            )
            return VariablesRestorePlan(path, target, plan)
        except _FOR_GOOD as error:
            return VariablesRestorePlan(path, target, why_not=error)
        except HdspAgentError as error:
            if strict:
                raise
            return VariablesRestorePlan(path, target, why_not=error)

    async def _places(self, paths: Iterable[str]) -> dict[str, str]:
        return await asyncio.to_thread(self._paths.all_in_workspace, list(paths))


def _claims(record: CheckpointRecord, file: str | None) -> bool:
    """Whether its author made what changed in a notebook."""
    if record.claims is None or (file is None and record.author == "restore"):
        return True
    return any(claim.path == file for claim in record.claims)


def _why_not(path: str, error: HdspAgentError, *, strict: bool) -> NotebookPlan:
    if strict:
        raise error
    return NotebookPlan(path, why_not=error)
