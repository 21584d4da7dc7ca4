"""Changing cells: all of a call's operations or none, and exactly what was shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from pydantic import Field

from ..._threads import in_thread
from ...config import ToolGroup
from ...errors import HdspAgentError
from ...messages import (
    CellEdit,
    CellId,
    ClearOutputs,
    ClineSayTool,
    DeleteCell,
    DiffStats,
    InsertCell,
    JsonObject,
    MoveCell,
    NotebookOperation,
    ReplaceSource,
    SourceHash,
    TaskId,
)
from ...notebooks import (
    Applied,
    Cell,
    CellConflict,
    EditSource,
    NotebookSnapshot,
    RunMemory,
    for_cells,
    outline_of,
    resolve_edits,
    source_hash,
)
from .._action import ActionRequest
from .._edit_check import known_only
from .._output_buffer import middle_left_out
from .._tool import Proposal, SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from .._tool_failed import PresentCell, ToolFailed
from ._cell_edits import cell_edits, previewed_edit
from ._cell_selection import numbers_of
from ._cell_states import outline_text
from ._notebook_location import NotebookLocation, NotebookPath, cell_asked_at, once_saved, place_of, still_allowed
from ._operations import CellOperation, Planned, planned
from ._outputs import CellsChanged, InsertedCell
from ._remote_risks import RemoteRisks, remote_risks, united

__all__ = ["EditCells", "EditCellsArguments", "new_id"]

_MOST_SOURCE: Final = 20_000
_MOST_LINES: Final = 40
_MOST_TOLD: Final = 8
_ID_LENGTH: Final = 8


class EditCellsArguments(ToolArguments):
    """The arguments of ``edit_cells``."""

    operations: Annotated[list[CellOperation], Field(min_length=1, max_length=200)]
    """What to do, in order. Numbers of cells are those before the first operation."""
    path: NotebookPath | None = None
    """The notebook, relative to the workspace; absent for the one the task is about."""


class EditCells(SimpleTool[EditCellsArguments]):
    """Changes cells."""

    name: ClassVar[str] = "edit_cells"
    group: ClassVar[ToolGroup | None] = "edit"
    description: ClassVar[str] = (
        "Insert, change, delete and move cells of a notebook; either all operations are done or none. The person sees the "
        "changes in the notebook they have open, and can undo them. Read the cells before you change them. Nothing is run: "
        "use run_cells afterwards. Outputs of changed cells stay until they are run again."
    )
    Output = CellsChanged

    async def _run(self, arguments: EditCellsArguments, context: ToolContext) -> ToolResult:
        place = await place_of(arguments.path, context)
        snapshot = await place.document.snapshot()
        plan = await for_cells(len(snapshot.cells), lambda: _plan(arguments.operations, snapshot, place, context))
        if not plan.edits:
            raise ToolFailed(f"{place.shown} already is like that: nothing would change.")
        texts = _editable(plan)

        async def judged(edited: Sequence[str]) -> tuple[ActionRequest, str]:
            changed = _edited(plan, edited, snapshot, context)
            return await self._action(changed, snapshot, place, context), _shown(changed, place, context)

        approval = await context.approve(
            await self._action(plan, snapshot, place, context),
            "tool",
            _shown(plan, place, context),
            proposal=Proposal([(name, context.mask(one.source)) for name, one in texts], judged) if texts else None,
        )
        if not approval.approved:
            return denied(approval)
        if approval.edited is not None:
            plan = _edited(plan, approval.edited, snapshot, context)
        operations = plan.by_person if approval.by_person else plan.known
        # What a person has approved they have seen: it needs no second look, unless the cell needs one anyway.
        applied = await _apply(operations, snapshot, place, context, review=not approval.by_person)
        written = _written(operations, applied)
        context.state.cells.saw(place.document.path, written)
        said, count = await _said(plan, applied, place, context)
        lines = [said]
        if approval.run:
            context.state.allowed_runs.allow(place.document.path, written)
            lines.append("The person allowed you to run the changed cells, too, as they are now.")
        if plan.puts_back_masked and not approval.by_person:
            lines.append("Masked values were left as placeholders, because no person approved giving them back.")
        text = "\n".join(lines)
        return answered(
            approval, ToolResult(text, structured=lambda: _changed(operations, applied, count, place, text))
        )

    async def _action(
        self, plan: _Plan, snapshot: NotebookSnapshot, place: NotebookLocation, context: ToolContext
    ) -> ActionRequest:
        remote = await _remote(plan, snapshot)
        sources, asked_at = _changed_sources(plan), cell_asked_at(place, context)
        return ActionRequest(
            risks=place.checked.write_risks | remote.risks,
            tool=self.name,
            path=place.shown,
            puts_back_masked=plan.puts_back_masked,
            flags=remote.flags,
            allowed_before=sources is not None and all(cell == asked_at for cell in sources),
        )

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        path = partial.get("path")
        if not isinstance(path, str) or not path:
            path = context.notebook.path if context.notebook is not None else None
        operations = partial.get("operations")
        if path is None or not isinstance(operations, list):
            return None
        edits = [edit for one in operations if isinstance(one, dict) and (edit := previewed_edit(one)) is not None]
        return ClineSayTool(tool="editCells", path=path, cell_edits=edits).to_json() if edits else None


@dataclass(frozen=True)
class _Plan:
    known: Sequence[NotebookOperation]
    """What is done when no person approves: masked values only where the notebook has them already."""
    by_person: Sequence[NotebookOperation]
    wanted: Sequence[Planned]
    edits: list[CellEdit]
    stats: DiffStats

    @property
    def puts_back_masked(self) -> bool:
        return self.known != self.by_person


def _shown(plan: _Plan, place: NotebookLocation, context: ToolContext) -> str:
    return ClineSayTool(
        tool="editCells",
        path=place.shown,
        cell_edits=plan.edits,
        can_run=_can_run(plan, context) or None,
        diff_stats=plan.stats,
        is_outside_workspace=place.checked.is_outside or None,
        is_protected=place.checked.is_protected or None,
    ).to_json()


def _can_run(plan: _Plan, context: ToolContext) -> bool:
    """Whether code is written that this mode has a tool to run."""
    groups = {entry if isinstance(entry, str) else entry[0] for entry in context.mode.groups}
    return "command" in groups and any(_writes_code(one) for one in plan.wanted)


def _changed_sources(plan: _Plan) -> list[CellId] | None:
    """The cells whose source is changed; None if anything else is done, too."""
    changed: list[CellId] = []
    for one in plan.wanted:
        if not isinstance(one.operation, ReplaceSource | EditSource):
            return None
        changed.append(one.operation.cell_id)
    return changed


def _writes_code(one: Planned) -> bool:
    match one.operation:
        case InsertCell(cell_type=kind):
            return kind == "code"
        case ReplaceSource() | EditSource():
            return one.before is not None and one.before.cell_type == "code"
        case _:
            return False


def _written(operations: Sequence[NotebookOperation], applied: Applied) -> list[tuple[CellId, SourceHash]]:
    """The cells that have another source now, and which."""
    return [
        (applied.renamed.get(one.cell_id, one.cell_id), source_hash(one.source))
        for one in operations
        if isinstance(one, (InsertCell, ReplaceSource))
    ]


def _changed(
    operations: Sequence[NotebookOperation], applied: Applied, count: int | None, place: NotebookLocation, text: str
) -> JsonObject:
    inserted = [
        InsertedCell(id=applied.renamed.get(one.cell_id, one.cell_id))
        for one in operations
        if isinstance(one, InsertCell)
    ]
    changed = CellsChanged(
        path=place.shown,
        saved=applied.saved,
        inserted=inserted,
        changed=list(applied.changed),
        cell_count=count,
        summary=text,
    )
    return changed.model_dump(exclude_none=True)


def _editable(plan: _Plan) -> list[tuple[str, InsertCell | ReplaceSource]]:
    """What is written last into each cell, and the cell's name."""
    last: dict[CellId, InsertCell | ReplaceSource] = {}
    for one in plan.by_person:
        if isinstance(one, (InsertCell, ReplaceSource)):
            last[one.cell_id] = one
    numbers = {edit.cell_id: edit.number for edit in plan.edits}
    return [
        (f"cell {numbers[id]}" if numbers.get(id) is not None else f"new cell {id}", one) for id, one in last.items()
    ]


def _edited(plan: _Plan, texts: Sequence[str], snapshot: NotebookSnapshot, context: ToolContext) -> _Plan:
    """The changes with the sources that the person made of those proposed."""
    new = {id(one): text for (_, one), text in zip(_editable(plan), texts, strict=True)}
    by_person: list[NotebookOperation] = [
        one.model_copy(update={"source": context.vault.unmask(new[id(one)])}) if id(one) in new else one
        for one in plan.by_person
    ]
    return _made(by_person, by_person, plan.wanted, snapshot, context)


async def _remote(plan: _Plan, snapshot: NotebookSnapshot) -> RemoteRisks:
    """What the cells fetch, whether a person approves or not: a masked value can hide what stands around it."""
    ways = (plan.known, plan.by_person) if plan.puts_back_masked else (plan.known,)
    return await in_thread(lambda _stop: united(remote_risks(snapshot.cells, operations) for operations in ways))


def _plan(
    wanted: Sequence[CellOperation], snapshot: NotebookSnapshot, place: NotebookLocation, context: ToolContext
) -> _Plan:
    vault = context.vault
    known = known_only(vault, "\n".join(cell.source for cell in snapshot.cells))
    new_ids = _new_ids(wanted, snapshot, context.task_id)
    in_mind = planned(wanted, snapshot, place.shown, known, vault.unmask, new_ids)
    by_person = planned(wanted, snapshot, place.shown, vault.unmask, vault.unmask, new_ids)
    _refuse_unseen(in_mind, snapshot, place, context)
    exact = _resolved(snapshot, in_mind, context)
    exact_by_person = _resolved(snapshot, by_person, context)
    return _made(exact, exact_by_person, by_person, snapshot, context)


def _made(
    known: Sequence[NotebookOperation],
    by_person: Sequence[NotebookOperation],
    wanted: Sequence[Planned],
    snapshot: NotebookSnapshot,
    context: ToolContext,
) -> _Plan:
    edits = cell_edits(wanted, by_person, numbers_of(snapshot), context.mask)
    stats = DiffStats(
        added=sum(edit.added or 0 for edit in edits),
        removed=sum(edit.removed or 0 for edit in edits),
    )
    return _Plan(known, by_person, wanted, edits, stats)


def _new_ids(wanted: Sequence[CellOperation], snapshot: NotebookSnapshot, task_id: TaskId) -> list[CellId]:
    """Ids for new cells. The same call on the same notebook gets the same: a question that is put again after the server
    was restarted is then the same question, which may have an answer already.
    """
    taken = {cell.id for cell in snapshot.cells}
    made: list[CellId] = []
    for number, one in enumerate(wanted):
        if one.op != "insert":
            continue
        source = one.source or ""
        while (new := new_id(task_id, snapshot.path, number, source)) in taken:
            source += "\0"
        taken.add(new)
        made.append(new)
    return made


def new_id(task_id: TaskId, path: str, number: int, source: str) -> CellId:
    """The id of the cell that the operation of this number inserts, if no other cell has it."""
    return CellId(source_hash(f"{task_id}\0{path}\0{number}\0{source}")[:_ID_LENGTH])


def _refuse_unseen(
    in_mind: Sequence[Planned], snapshot: NotebookSnapshot, place: NotebookLocation, context: ToolContext
) -> None:
    """What the model wants may not be right: somebody changed a cell since it read it, or it never read what it takes away."""
    cells = context.state.cells
    changed: dict[CellId, Cell] = {}
    unread: dict[CellId, Cell] = {}
    for one in in_mind:
        cell = one.before
        if cell is None or isinstance(one.operation, (MoveCell, ClearOutputs)):
            continue
        if cells.has_changed(snapshot.path, cell.id, cell.hash):
            changed[cell.id] = cell
        elif (
            isinstance(one.operation, (ReplaceSource, DeleteCell))
            and cell.source.strip()
            and not cells.knows(snapshot.path, cell.id)
        ):
            unread[cell.id] = cell
    if not changed and not unread:
        return
    shown = [*changed.values(), *unread.values()]
    cells.saw(snapshot.path, [(cell.id, cell.hash) for cell in shown])
    why = []
    if changed:
        which = "A cell was" if len(changed) == 1 else f"{len(changed)} cells were"
        why.append(f"{which} changed by somebody else since you read {place.shown}.")
    if unread:
        which = "a cell" if len(unread) == 1 else f"{len(unread)} cells"
        why.append(f"The call takes away the source of {which} of {place.shown} that you have not read.")
    raise ToolFailed(
        f"{' '.join(why)} Nothing was changed. Repeat the call if it is still right, now that you know the present "
        f"source.\n{_sources(shown, snapshot, context)}",
        code="cells_changed" if changed else "cells_unread",
        cells=_present(shown, snapshot, context),
    )


def _resolved(snapshot: NotebookSnapshot, plan: Sequence[Planned], context: ToolContext) -> list[NotebookOperation]:
    try:
        return resolve_edits(snapshot, [one.operation for one in plan])
    except CellConflict as conflict:
        raise _conflict(conflict, snapshot, context) from conflict
    except HdspAgentError as error:
        raise ToolFailed(error.message) from error


async def _apply(
    operations: Sequence[NotebookOperation],
    snapshot: NotebookSnapshot,
    place: NotebookLocation,
    context: ToolContext,
    *,
    review: bool,
) -> Applied:
    path, unreviewed = place.document.path, context.notebooks.unreviewed

    async def work() -> Applied:
        await still_allowed(place, context)
        async with unreviewed.noting(path, snapshot, operations, context.task_id, known_only=not review):
            return await place.document.apply(operations, task_id=context.task_id, review=review)

    try:
        return await once_saved(work, place, context)
    except CellConflict as conflict:
        now = await place.document.snapshot()
        raise _conflict(conflict, now, context) from conflict


def _conflict(conflict: CellConflict, snapshot: NotebookSnapshot, context: ToolContext) -> ToolFailed:
    missed = {mismatch.cell_id for mismatch in conflict.mismatches}
    cells = [cell for cell in snapshot.cells if cell.id in missed]
    context.state.cells.saw(snapshot.path, [(cell.id, cell.hash) for cell in cells])
    told = f"\nThis is how they are now:\n{_sources(cells, snapshot, context)}" if cells else ""
    words = context.mask(conflict.message) + told
    return ToolFailed(words, code="cells_changed", cells=_present(cells, snapshot, context))


def _sources(cells: Iterable[Cell], snapshot: NotebookSnapshot, context: ToolContext) -> str:
    return "\n".join(
        f'<cell number={cell.number} id="{cell.id}" type={cell.cell_type}>\n{cell.source}\n</cell>'
        for cell in _present(cells, snapshot, context)
    )


def _present(cells: Iterable[Cell], snapshot: NotebookSnapshot, context: ToolContext) -> list[PresentCell]:
    """The first of these cells as they are now."""
    numbers = numbers_of(snapshot)
    present: list[PresentCell] = []
    for cell in list(cells)[:_MOST_TOLD]:
        source = context.mask(cell.source)
        if len(source) > _MOST_SOURCE:
            source = middle_left_out(source, _MOST_SOURCE, "[… the middle is left out: read_notebook shows it …]")
        present.append(PresentCell(cell.id, numbers[cell.id], cell.cell_type, source))
    return present


async def _said(
    plan: _Plan,
    applied: Applied,
    place: NotebookLocation,
    context: ToolContext,
) -> tuple[str, int | None]:
    """What was done, and how the notebook is around it now; and how many cells it has, where that is known."""
    path = place.document.path
    done = f"Changed {place.shown}: {len(plan.edits)} change{'s' if len(plan.edits) > 1 else ''} of cells."
    if not applied.saved:
        done += " The notebook is open in the browser and not saved yet."
    if applied.renamed:
        done += " This notebook's format gives cells no ids, so changed ones are called by others now."
    try:
        now = await place.document.snapshot()
    except HdspAgentError as error:
        return f"{done} {error.message}", None
    memory = context.notebooks.memory(path, await context.notebooks.kernel(path))
    around = await for_cells(len(now.cells), lambda: _around(set(applied.changed), now, memory, context))
    return f"{done} {around}", len(now.cells)


def _around(changed: AbstractSet[CellId], now: NotebookSnapshot, memory: RunMemory, context: ToolContext) -> str:
    lines = outline_of(now, memory)
    near = [
        line
        for at, line in enumerate(lines)
        if any(lines[other].cell_id in changed for other in range(max(0, at - 1), min(len(lines), at + 2)))
    ]
    if not near:
        return f"It has {len(lines)} cells now."
    left_out = f"\n[… {len(near) - _MOST_LINES} more lines …]" if len(near) > _MOST_LINES else ""
    around = outline_text(near[:_MOST_LINES], numbers_of(now))
    return f"Of its {len(lines)} cells now, those changed and their neighbours:\n{context.mask(around)}{left_out}"
