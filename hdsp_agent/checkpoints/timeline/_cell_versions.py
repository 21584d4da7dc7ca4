"""The versions of one cell, as far as checkpoints have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..files.records import CheckpointRecord
from ._cell_matching import paired
from ._notebook_states import KeptCell, NotebookState
from ._views import CellVersion

__all__ = ["versions_of"]

_Content = tuple[str, str, str | None]


def versions_of(
    cell_id: str, current: NotebookState | None, checkpoints: Iterable[tuple[CheckpointRecord, NotebookState]]
) -> Sequence[CellVersion]:
    """What a cell was, each once, the one that was so last first; ``checkpoints`` come newest first."""
    now = _with_id(current, cell_id) if current is not None else None
    found: dict[_Content, CellVersion] = {}
    newer, place = current, _place(current, cell_id) if current is not None else None
    for record, state in checkpoints:
        place = _followed(newer, place, state, cell_id)
        newer = state
        if place is None:
            continue
        cell = state.cells[place]
        content = _content(cell)
        known = found.get(content)
        if known is None:
            found[content] = _version(record, cell, now)
        else:
            # It was so already then; who made that moment's changes made it so, as far as is known.
            found[content] = known.model_copy(update={"ts": record.ts, "author": record.author})
    return list(found.values())


def _followed(newer: NotebookState | None, place: int | None, state: NotebookState, cell_id: str) -> int | None:
    """Where the cell is in an older state."""
    if state.has_ids or newer is None or place is None:
        return _place(state, cell_id)
    return next((old for old, new in paired(state, newer).items() if new == place), None)


def _version(record: CheckpointRecord, cell: KeptCell, now: KeptCell | None) -> CellVersion:
    return CellVersion(
        checkpoint=record.id,
        ts=record.ts,
        author=record.author,
        source=cell.source,
        cell_type=cell.cell_type,
        outputs=len(cell.outputs) if cell.left_out is None else 1,
        now=now is not None and _content(now) == _content(cell),
    )


def _content(cell: KeptCell) -> _Content:
    """The same for what looks the same; how often it ran makes no other version of it."""
    return *cell.said, cell.outputs_hash


def _place(state: NotebookState, cell_id: str) -> int | None:
    return next((place for place, cell in enumerate(state.cells) if cell.id == cell_id), None)


def _with_id(state: NotebookState, cell_id: str) -> KeptCell | None:
    place = _place(state, cell_id)
    return state.cells[place] if place is not None else None
