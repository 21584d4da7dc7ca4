"""What a notebook itself says of its checkpoints: pointers only, so that one that is shared tells nothing."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from ...messages import CellId, JsonObject, NotebookPointer, SetCellMetadata, SetNotebookMetadata
from ...notebooks import NotebookSnapshot
from ..files.records import CheckpointRecord
from ..variables import VariableManifest

__all__ = ["pointers_to"]

_VERSION: Final = 1
_CELLS: Final = "hdsp_checkpoint"
_NOTEBOOKS: Final = "hdsp_agent"
_MOST_NAMES: Final = 100
_DEPTH: Final = 4
_KEY: Final = 24


def pointers_to(
    record: CheckpointRecord,
    snapshot: NotebookSnapshot,
    cells: Collection[str],
    manifest: VariableManifest | None,
    most_bytes: int,
    waiting: Sequence[NotebookPointer] = (),
) -> list[NotebookPointer]:
    """What to write into the notebook and the cells that just ran, and with it what still ``waiting`` to be written says. The
    oldest pointers go where all would be too large."""
    head: JsonObject = {"version": _VERSION, "head": record.id}
    if record.task_id is not None:
        head["task_id"] = record.task_id
    known: dict[CellId, JsonObject] = {
        cell.id: found for cell in snapshot.cells if isinstance(found := cell.metadata.get(_CELLS), dict)
    }
    made = {CellId(cell): _pointer(record, manifest) for cell in cells if manifest is not None}
    there = {cell.id for cell in snapshot.cells}
    told = {**known, **_told(waiting), **made}
    wanted = {cell: pointer for cell, pointer in told.items() if cell in there and pointer is not None}
    left = most_bytes - _size(head)
    operations: list[NotebookPointer] = [
        SetCellMetadata(cell_id=cell, key=_CELLS) for cell in known if cell not in wanted
    ]
    for cell in sorted(wanted, key=lambda one: (one in made, _ts(wanted[one])), reverse=True):
        left -= _size(wanted[cell])
        if left < 0:
            if cell in known:
                operations.append(SetCellMetadata(cell_id=cell, key=_CELLS))
        elif wanted[cell] != known.get(cell):
            operations.append(SetCellMetadata(cell_id=cell, key=_CELLS, value=wanted[cell]))
    if snapshot.metadata.get(_NOTEBOOKS) != head:
        operations.append(SetNotebookMetadata(key=_NOTEBOOKS, value=head))
    return operations


def _told(waiting: Sequence[NotebookPointer]) -> dict[CellId, JsonObject | None]:
    """What is to be written of cells; None is nothing any more."""
    return {
        one.cell_id: one.value if isinstance(one.value, dict) else None
        for one in waiting
        if isinstance(one, SetCellMetadata)
    }


def _pointer(record: CheckpointRecord, manifest: VariableManifest | None) -> JsonObject:
    assert manifest is not None
    return {"ts": record.ts, "state_hash": manifest.state_hash, "variables": list(manifest.names[:_MOST_NAMES])}


def _size(value: Mapping[str, object]) -> int:
    text = json.dumps(value, indent=1)
    # With its key, and each line as deep as it stands in a file.
    return len(text) + _DEPTH * (text.count("\n") + 1) + _KEY


def _ts(pointer: JsonObject) -> float:
    ts = pointer.get("ts")
    return float(ts) if isinstance(ts, (int, float)) else 0.0
