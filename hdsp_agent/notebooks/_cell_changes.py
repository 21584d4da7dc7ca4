"""What each operation makes of one cell: always another cell, never the same one changed."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from ..messages import InsertCell, JsonObject
from ._cells import outputs_of, split_output, text_in_style
from ._document import CellType

__all__ = ["new_cell", "with_attachments", "with_metadata", "with_output", "with_outputs", "with_source", "with_type"]

_ONLY_CODE: Final = ("execution_count", "outputs")
_NOT_CODE: Final = "attachments"


def new_cell(operation: InsertCell, *, split: bool) -> JsonObject:
    """The cell to insert, in the file's style and without an id."""
    cell: JsonObject = {
        "cell_type": operation.cell_type,
        "metadata": operation.metadata or {},
        "source": text_in_style(operation.source, split=split),
    }
    if operation.cell_type == "code":
        cell["execution_count"] = operation.execution_count
        cell["outputs"] = [split_output(output, split=split) for output in operation.outputs or []]
    return with_attachments(cell, operation.attachments or {})


def with_source(cell: JsonObject, source: str) -> JsonObject:
    """The cell with this source, as a string or as lines as it was."""
    return {**cell, "source": text_in_style(source, split=isinstance(cell.get("source"), list))}


def with_type(cell: JsonObject, cell_type: CellType) -> JsonObject:
    """The cell as one of this type: what nbformat does not allow in such a cell goes, what it demands comes."""
    dropped = (_NOT_CODE,) if cell_type == "code" else _ONLY_CODE
    changed = {key: value for key, value in cell.items() if key not in dropped}
    changed["cell_type"] = cell_type
    if cell_type == "code":
        changed.setdefault("execution_count", None)
        changed.setdefault("outputs", [])
    return changed


def with_outputs(cell: JsonObject, outputs: list[JsonObject], count: int | None, *, split: bool) -> JsonObject:
    """The code cell with exactly these outputs."""
    return {**cell, "execution_count": count, "outputs": [split_output(output, split=split) for output in outputs]}


def with_output(cell: JsonObject, output: JsonObject, *, split: bool) -> JsonObject:
    """The code cell with one output more."""
    return {**cell, "outputs": [*outputs_of(cell), split_output(output, split=split)]}


def with_attachments(cell: JsonObject, attachments: JsonObject) -> JsonObject:
    """The cell with exactly these files."""
    others = {key: value for key, value in cell.items() if key != _NOT_CODE}
    return {**others, _NOT_CODE: attachments} if attachments else others


def with_metadata(owner: JsonObject, key: str, value: JsonValue) -> JsonObject:
    """A cell or notebook with one key of its metadata set, or without it for None."""
    present = owner.get("metadata")
    metadata = dict(present) if isinstance(present, dict) else {}
    if value is None:
        metadata.pop(key, None)
    else:
        metadata[key] = value
    return {**owner, "metadata": metadata}
