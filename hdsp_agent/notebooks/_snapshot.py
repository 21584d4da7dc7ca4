"""A notebook's JSON as a snapshot, and a snapshot as JSON."""

from __future__ import annotations

from typing import assert_never

from pydantic import JsonValue

from ..messages import CellId, JsonObject, OutputDetail
from ._cells import cell_ids, cell_source, cells_of, outputs_of, type_of
from ._document import Cell, NotebookSnapshot, NotebookSource, OutputSummary
from ._format import version_of
from ._hashes import source_hash
from ._output_texts import bounded_outputs, full_attachments, full_output, summary_of

__all__ = ["notebook_of", "snapshot_of"]

_NO_OUTPUTS = OutputSummary()


def snapshot_of(
    notebook: JsonObject,
    *,
    path: str,
    revision: str,
    source: NotebookSource,
    outputs: OutputDetail = "none",
    dirty: bool = False,
) -> NotebookSnapshot:
    """What this JSON, as ``as_notebook`` lets it pass, says. It is read, never copied or changed."""
    cells = cells_of(notebook)
    metadata = _object(notebook.get("metadata"))
    kernelspec, language_info = _object(metadata.get("kernelspec")), _object(metadata.get("language_info"))
    major, minor = version_of(notebook)
    return NotebookSnapshot(
        path=path,
        cells=tuple(_cell(cell_id, cell, outputs) for cell_id, cell in zip(cell_ids(cells), cells, strict=True)),
        metadata=metadata,
        nbformat=major,
        nbformat_minor=minor,
        revision=revision,
        source=source,
        dirty=dirty,
        kernel_name=_text(kernelspec.get("name")),
        language=_text(language_info.get("name")) or _text(kernelspec.get("language")),
    )


def notebook_of(snapshot: NotebookSnapshot) -> JsonObject:
    """The notebook whose snapshot with full outputs this is, of a format whose cells have ids, as all have in a tab or a room."""
    cells: list[JsonValue] = []
    for cell in snapshot.cells:
        written: JsonObject = {
            "cell_type": cell.cell_type, "id": cell.id, "metadata": cell.metadata, "source": cell.source
        }  # fmt: skip
        if cell.cell_type == "code":
            written |= {"execution_count": cell.execution_count, "outputs": list(cell.outputs)}
        elif cell.attachments:
            written["attachments"] = cell.attachments
        cells.append(written)
    return {
        "cells": cells,
        "metadata": snapshot.metadata,
        "nbformat": snapshot.nbformat,
        "nbformat_minor": snapshot.nbformat_minor,
    }


def _cell(cell_id: CellId, cell: JsonObject, detail: OutputDetail) -> Cell:
    source = cell_source(cell)
    is_code = type_of(cell) == "code"
    outputs = outputs_of(cell) if is_code else []
    count = cell.get("execution_count") if is_code else None
    return Cell(
        id=cell_id,
        cell_type=type_of(cell),
        source=source,
        hash=source_hash(source),
        execution_count=count if isinstance(count, int) else None,
        outputs=_detailed(outputs, detail),
        metadata=_object(cell.get("metadata")),
        attachments=full_attachments(_object(cell.get("attachments"))) if detail == "full" and not is_code else {},
        has_outputs=bool(outputs),
        output_summary=summary_of(outputs) if outputs else _NO_OUTPUTS,
    )


def _detailed(outputs: list[JsonObject], detail: OutputDetail) -> tuple[JsonObject, ...]:
    match detail:
        case "none":
            return ()
        case "bounded":
            return bounded_outputs(outputs)
        case "full":
            return tuple(full_output(output) for output in outputs)
        case _:
            assert_never(detail)


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
