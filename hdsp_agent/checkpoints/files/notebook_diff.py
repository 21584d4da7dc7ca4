"""Differences of two notebooks, cell by cell: by id where cells have ids, else by what they say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from ..._longest_increasing import longest_increasing
from ...wire import WireModel
from .text_diff import Hunk, operations, text_hunks

__all__ = ["CellDiff", "NotebookDiff", "notebook_diff"]

_ALIKE: Final = 0.5
"""Cells without ids whose sources are at least so similar are taken for one that was edited."""
_LONGEST_COMPARED: Final = 20_000
_MOST_TRIED: Final = 5
"""Cells without ids that are tried for one that was edited: to try all takes minutes where a notebook is another one."""
_MOST_LETTERS: Final = 200
_NOT_COMPARED: Final = frozenset(("id", "source", "outputs", "execution_count", "metadata", "cell_type", "seal"))
_UNSEEN: Final = frozenset(
    (
        "ExecuteTime", "collapsed", "execution", "hdsp_checkpoint", "heading_collapsed", "jp-MarkdownHeadingCollapsed",
        "jupyter", "scrolled", "trusted",
    )
)  # fmt: skip
"""Of a cell's metadata: when it ran, and how a tab shows it. Nobody wrote it, so it is no change."""
_UNSEEN_OF_NOTEBOOKS: Final = frozenset(("hdsp_agent", "hdsp_conversation", "language_info", "signature"))
"""Of a notebook's metadata: what Jupyter and this package keep there by themselves."""


class CellDiff(WireModel):
    """A cell that came, went, moved or changed. Indexes count from 0 in the old and the new notebook."""

    change: Literal["added", "removed", "modified", "moved"]
    cell_id: str | None = None
    cell_type: str
    old_index: int | None = None
    new_index: int | None = None
    source: tuple[Hunk, ...] = ()
    outputs_changed: bool = False
    metadata_changed: bool = False
    type_changed: bool = False


class NotebookDiff(WireModel):
    """What differs between two notebooks."""

    cells: tuple[CellDiff, ...]
    metadata_changed: bool = False


@dataclass(frozen=True)
class _Cell:
    index: int
    id: str | None
    type: str
    source: str
    outputs: JsonValue
    metadata: JsonValue
    rest: dict[str, JsonValue]


def notebook_diff(old: bytes, new: bytes) -> NotebookDiff | None:
    """The difference; None if one of the two is no notebook."""
    before, after = _parse(old), _parse(new)
    if before is None or after is None:
        return None
    pairs = _pairs(before[0], after[0])
    # The fewest that must have moved.
    stayed = longest_increasing(b.index for _, b in sorted(pairs, key=lambda pair: pair[0].index))
    paired_old, paired_new = {a.index for a, _ in pairs}, {b.index for _, b in pairs}
    found = [diff for a, b in pairs if (diff := _compare(a, b, moved=b.index not in stayed)) is not None]
    found += [_one(cell, "removed") for cell in before[0] if cell.index not in paired_old]
    found += [_one(cell, "added") for cell in after[0] if cell.index not in paired_new]
    found.sort(key=lambda diff: (_place(diff), diff.change != "removed"))
    return NotebookDiff(cells=tuple(found), metadata_changed=before[1] != after[1])


def _parse(data: bytes) -> tuple[list[_Cell], JsonValue] | None:
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        return None
    cells: list[_Cell] = []
    for index, cell in enumerate(notebook["cells"]):
        if not isinstance(cell, dict):
            return None
        source = cell.get("source", "")
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        name = cell.get("id")
        rest = {key: value for key, value in cell.items() if key not in _NOT_COMPARED and value not in (None, {})}
        cells.append(
            _Cell(
                index, name if isinstance(name, str) else None, str(cell.get("cell_type", "")), text,
                [cell.get("outputs"), cell.get("execution_count")], _written(cell.get("metadata"), _UNSEEN), rest,
            )
        )  # fmt: skip
    about = {key: value for key, value in notebook.items() if key != "cells"}
    return cells, {**about, "metadata": _written(notebook.get("metadata"), _UNSEEN_OF_NOTEBOOKS)}


def _written(metadata: JsonValue, unseen: frozenset[str]) -> JsonValue:
    """What somebody wrote into the metadata, in difference to what programs keep there."""
    if not isinstance(metadata, dict):
        return metadata or {}
    return {key: value for key, value in metadata.items() if key not in unseen}


def _pairs(old: Sequence[_Cell], new: Sequence[_Cell]) -> list[tuple[_Cell, _Cell]]:
    by_id = {cell.id: cell for cell in new if cell.id is not None}
    pairs = [(cell, by_id[cell.id]) for cell in old if cell.id is not None and cell.id in by_id]
    used_old, used_new = {a.index for a, _ in pairs}, {b.index for _, b in pairs}
    rest_old = [cell for cell in old if cell.index not in used_old]
    rest_new = [cell for cell in new if cell.index not in used_new]
    return pairs + _pairs_by_content(rest_old, rest_new)


def _pairs_by_content(old: Sequence[_Cell], new: Sequence[_Cell]) -> list[tuple[_Cell, _Cell]]:
    """Cells that say the same, and between those, in order, cells that say nearly the same."""
    pairs: list[tuple[_Cell, _Cell]] = []
    for tag, a, b, c, d in operations([_said(cell) for cell in old], [_said(cell) for cell in new]):
        if tag == "equal":
            pairs += list(zip(old[a:b], new[c:d], strict=True))
            continue
        left = list(new[c:d])
        for cell in old[a:b]:
            match = next((other for other in left[:_MOST_TRIED] if _are_alike(cell, other)), None)
            if match is not None:
                pairs.append((cell, match))
                del left[: left.index(match) + 1]
    return pairs


def _said(cell: _Cell) -> tuple[str, str]:
    return (cell.type, cell.source)


def _are_alike(one: _Cell, other: _Cell) -> bool:
    if one.type != other.type or max(len(one.source), len(other.source)) > _LONGEST_COMPARED:
        return False
    from rapidfuzz.distance import Indel

    if Indel.normalized_similarity(one.source.splitlines(), other.source.splitlines()) >= _ALIKE:
        return True
    return Indel.normalized_similarity(one.source[:_MOST_LETTERS], other.source[:_MOST_LETTERS]) >= _ALIKE


def _compare(old: _Cell, new: _Cell, *, moved: bool) -> CellDiff | None:
    differs = _said(old) != _said(new) or old.outputs != new.outputs
    metadata = old.metadata != new.metadata or old.rest != new.rest
    if not (differs or metadata or moved):
        return None
    return CellDiff(
        change="modified" if differs or metadata else "moved", cell_id=new.id, cell_type=new.type,
        old_index=old.index, new_index=new.index, source=text_hunks(old.source, new.source),
        outputs_changed=old.outputs != new.outputs, metadata_changed=metadata, type_changed=old.type != new.type,
    )  # fmt: skip


def _one(cell: _Cell, change: Literal["added", "removed"]) -> CellDiff:
    source = text_hunks("", cell.source) if change == "added" else text_hunks(cell.source, "")
    index = {"new_index": cell.index} if change == "added" else {"old_index": cell.index}
    return CellDiff(change=change, cell_id=cell.id, cell_type=cell.type, source=source, **index)


def _place(diff: CellDiff) -> int:
    index = diff.new_index if diff.new_index is not None else diff.old_index
    return index if index is not None else 0
