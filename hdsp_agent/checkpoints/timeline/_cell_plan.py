"""The way from what a notebook's cells are to what they were: a pure plan, which touches only what differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pydantic import JsonValue

from ..._longest_increasing import longest_increasing
from ...errors import NotFound
from ...messages import (
    CellId,
    ChangeCellType,
    ClearOutputs,
    DeleteCell,
    InsertCell,
    JsonObject,
    MoveCell,
    NotebookOperation,
    ReplaceSource,
    SetAttachments,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
)
from ...notebooks import new_cell_id, source_hash
from ._cell_matching import ChangesSince, PersonsChanges, paired, persons_changes
from ._notebook_states import KeptCell, NotebookState
from ._views import CellChange

__all__ = ["CellPlan", "plan_cell", "plan_cells"]

_LONGEST_LINE: Final = 120
_LONGEST_ID: Final = 64
_Action = Literal["change", "insert", "delete", "move", "outputs", "keep"]


@dataclass(frozen=True)
class CellPlan:
    """What to do with a notebook's cells."""

    operations: Sequence[NotebookOperation]
    changes: Sequence[CellChange]
    after: NotebookState
    """What the notebook is then."""
    seals: frozenset[str] = frozenset()
    """Of outputs that the person trusted then."""


@dataclass(frozen=True)
class _Slot:
    """A cell of the result: where it is now, and which of the target it becomes."""

    now: int | None
    target: int | None


def plan_cells(
    current: NotebookState,
    target: NotebookState,
    since: Sequence[ChangesSince] = (),
    *,
    overwrite: bool = False,
    printed: frozenset[str] = frozenset(),
) -> CellPlan:
    """The whole notebook. What a person changed since the target stays, unless ``overwrite``; ``since`` are the states
    after the target that are known, the oldest first, and ``printed`` the cells that show now what the agent's runs of
    them printed."""
    pairs = paired(target, current)
    persons = PersonsChanges() if overwrite else persons_changes(target, since, current, printed)
    goal = _with_persons(target, current, pairs, persons)
    slots: list[_Slot] = []
    kept: list[CellChange] = []
    for place, cell in enumerate(target.cells):
        now = pairs.get(place)
        if now is None and place in persons.deleted:
            kept.append(_change("keep", cell))
        elif now is not None and now in persons.written and current.cells[now].said != cell.said:
            kept.append(_change("keep", current.cells[now]))
            slots.append(_Slot(now, None))
        else:
            slots.append(_Slot(now, place))
            if now is not None and goal.cells[place] is not cell:
                kept.append(_change("keep", current.cells[now]))
    wanted = set(pairs.values())
    for now, cell in enumerate(current.cells):
        if now not in wanted and now in persons.written:
            kept.append(_change("keep", cell))
            slots.insert(_behind(slots, now), _Slot(now, None))
    metadata = target.metadata if overwrite else _merged(current, target, since)
    return _Planner(current, goal, slots).plan(kept, metadata, _seals(target.cells))


def plan_cell(current: NotebookState, target: NotebookState, cell_id: str, *, may_go: bool = False) -> CellPlan:
    """One cell alone, whoever changed it: it was chosen. With ``may_go`` it is deleted if the target has none such."""
    pairs = paired(target, current)
    now = next((place for place, cell in enumerate(current.cells) if cell.id == cell_id), None)
    then = next((old for old, new in pairs.items() if new == now), None) if now is not None else None
    if now is None:
        then = next((place for place, cell in enumerate(target.cells) if cell.id == cell_id), None)
        now = pairs.get(then) if then is not None else None
    if then is None and not (may_go and now is not None):
        raise NotFound(
            f"The notebook had no cell {cell_id} at that checkpoint. Choose another checkpoint.",
            cell=cell_id,
            why="no_such_cell",
        )
    slots = [_Slot(place, then if place == now else None) for place in range(len(current.cells))]
    if then is None and now is not None:
        del slots[now]
    elif now is None and then is not None:
        before = [pairs[place] for place in range(then) if place in pairs]
        slots.insert(before[-1] + 1 if before else 0, _Slot(None, then))
    seals = _seals(() if then is None else (target.cells[then],))
    return _Planner(current, target, slots).plan((), current.metadata, seals)


class _Planner:
    def __init__(self, current: NotebookState, target: NotebookState, slots: Sequence[_Slot]) -> None:
        self._current, self._target, self._slots = current, target, slots
        self._ids = self._named()
        self._operations: list[NotebookOperation] = []
        self._changes: list[CellChange] = []
        self._moved: set[CellId] = set()

    def plan(self, kept: Sequence[CellChange], metadata: JsonObject, seals: frozenset[str]) -> CellPlan:
        stay = {slot.now for slot in self._slots}
        for now, cell in enumerate(self._current.cells):
            if now not in stay:
                self._operations.append(DeleteCell(cell_id=CellId(cell.id), expect=source_hash(cell.source)))
                self._changes.append(_change("delete", cell))
        self._place()
        cells = tuple(self._cell(slot, cell_id) for slot, cell_id in zip(self._slots, self._ids, strict=True))
        for key, value in _differences(self._current.metadata, metadata):
            self._operations.append(SetNotebookMetadata(key=key, value=value))
        after = NotebookState(cells, metadata, self._current.minor)
        return CellPlan(tuple(self._operations), (*self._changes, *kept), after, seals)

    def _named(self) -> list[CellId]:
        """What each cell of the result is called while it is made."""
        taken = {cell.id for cell in self._current.cells}
        ids: list[CellId] = []
        for slot in self._slots:
            if slot.now is not None:
                ids.append(CellId(self._current.cells[slot.now].id))
                continue
            assert slot.target is not None
            own = self._target.cells[slot.target].id
            made = CellId(own) if own not in taken and _is_valid(own) else new_cell_id(taken)
            taken.add(made)
            ids.append(made)
        return ids

    def _place(self) -> None:
        """Insert and move, so that the fewest cells move."""
        resting = longest_increasing([slot.now for slot in self._slots if slot.now is not None])
        before: CellId | None = None
        for slot, cell_id in zip(self._slots, self._ids, strict=True):
            if slot.now is None:
                assert slot.target is not None
                self._insert(self._target.cells[slot.target], cell_id, before)
            elif slot.now not in resting:
                self._operations.append(MoveCell(cell_id=cell_id, after=before))
                self._moved.add(cell_id)
            before = cell_id

    def _insert(self, cell: KeptCell, cell_id: CellId, after: CellId | None) -> None:
        is_code = cell.cell_type == "code"
        self._operations.append(
            InsertCell(
                cell_id=cell_id, after=after, cell_type=cell.cell_type, source=cell.source,
                metadata=cell.metadata or None, outputs=list(cell.outputs) if is_code and cell.outputs else None,
                execution_count=cell.execution_count if is_code else None,
                attachments=cell.attachments or None,
            )
        )  # fmt: skip
        self._changes.append(_change("insert", cell, cell_id))

    def _cell(self, slot: _Slot, cell_id: CellId) -> KeptCell:
        """What becomes of a cell; what it takes is noted."""
        if slot.now is None:
            assert slot.target is not None
            cell = self._target.cells[slot.target]
            return replace(cell, id=cell_id, left_out=None, attachments=cell.attachments or {})
        now = self._current.cells[slot.now]
        moved = cell_id in self._moved
        if slot.target is None:
            if moved:
                self._changes.append(_change("move", now))
            return now
        want = replace(self._target.cells[slot.target], id=cell_id)
        after = _with_attachments(now, _with_outputs(now, want))
        begun = len(self._operations)
        self._operations += _rewritten(now, after, cell_id)
        if now.said != want.said or now.metadata != want.metadata or now.attachments != after.attachments:
            self._changes.append(_change("change", want, cell_id))
        elif len(self._operations) > begun:
            self._changes.append(_change("outputs", want, cell_id))
        elif moved:
            self._changes.append(_change("move", want, cell_id))
        return after


def _rewritten(now: KeptCell, after: KeptCell, cell_id: CellId) -> Iterator[NotebookOperation]:
    expect = source_hash(now.source)
    if now.cell_type != after.cell_type:
        yield ChangeCellType(cell_id=cell_id, expect=expect, cell_type=after.cell_type)
        now = replace(now, outputs=(), execution_count=None, left_out=None)
        if after.cell_type == "code":
            now = replace(now, attachments={})
    if now.source != after.source:
        yield ReplaceSource(cell_id=cell_id, expect=expect, source=after.source)
    if after.cell_type == "code" and now.shown != after.shown:
        if after.outputs or after.execution_count is not None:
            yield SetOutputs(cell_id=cell_id, outputs=list(after.outputs), execution_count=after.execution_count)
        else:
            yield ClearOutputs(cell_id=cell_id)
    if after.attachments is not None and now.attachments != after.attachments:
        yield SetAttachments(cell_id=cell_id, attachments=after.attachments)
    for key, value in _differences(now.metadata, after.metadata):
        yield SetCellMetadata(cell_id=cell_id, key=key, value=value)


def _with_attachments(now: KeptCell, want: KeptCell) -> KeptCell:
    """Files that were too large to be kept, then or now, stay as they are."""
    if want.cell_type == "code":
        return replace(want, attachments={})
    return want if None not in (now.attachments, want.attachments) else replace(want, attachments=now.attachments)


def _with_outputs(now: KeptCell, want: KeptCell) -> KeptCell:
    """Outputs that were too large to be kept stay if they may be the same ones, and else nothing is shown for them."""
    if want.left_out is None:
        return want
    if now.said == want.said or now.left_out == want.left_out:
        return replace(want, outputs=now.outputs, execution_count=now.execution_count, left_out=now.left_out)
    return replace(want, outputs=(), execution_count=None, left_out=None)


def _differences(now: JsonObject, want: JsonObject) -> Iterator[tuple[str, JsonValue]]:
    for key in sorted({*now, *want}):
        if now.get(key) != want.get(key):
            yield key, want.get(key)


def _with_persons(
    target: NotebookState, current: NotebookState, pairs: Mapping[int, int], persons: PersonsChanges
) -> NotebookState:
    """The target, with outputs and metadata as the person made them since in cells that say the same."""
    cells = list(target.cells)
    for place, now in pairs.items():
        cell, theirs = target.cells[place], current.cells[now]
        if cell.said != theirs.said:
            continue
        ran = (cell.outputs_hash, cell.execution_count) != (theirs.outputs_hash, theirs.execution_count)
        if now in persons.shown and ran:
            cells[place] = replace(
                cells[place], outputs=theirs.outputs, execution_count=theirs.execution_count,
                left_out=theirs.left_out, seal=theirs.seal,
            )  # fmt: skip
        if now in persons.marked and cell.metadata != theirs.metadata:
            cells[place] = replace(cells[place], metadata=theirs.metadata)
    return replace(target, cells=tuple(cells))


def _merged(current: NotebookState, target: NotebookState, since: Sequence[ChangesSince]) -> JsonObject:
    """The notebook's metadata: each key that is since as it was left stays as the person made it."""
    last = (since[-1].state if since else target).metadata
    keys = {*current.metadata, *target.metadata}
    merged = {key: current.metadata.get(key) if current.metadata.get(key) != last.get(key) else target.metadata.get(key)
              for key in sorted(keys)}  # fmt: skip
    return {key: value for key, value in merged.items() if value is not None}


def _seals(cells: Iterable[KeptCell]) -> frozenset[str]:
    return frozenset(cell.seal for cell in cells if cell.seal is not None)


def _behind(slots: Sequence[_Slot], now: int) -> int:
    """Behind the cell that is before it now."""
    nearest = max((slot.now for slot in slots if slot.now is not None and slot.now < now), default=None)
    return next((place + 1 for place, slot in enumerate(slots) if nearest is not None and slot.now == nearest), 0)


def _change(action: _Action, cell: KeptCell, cell_id: str | None = None) -> CellChange:
    line = next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
    return CellChange(cell_id=cell_id or cell.id, action=action, cell_type=cell.cell_type, line=line[:_LONGEST_LINE])


def _is_valid(name: str) -> bool:
    return 0 < len(name) <= _LONGEST_ID and all(
        letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name
    )
