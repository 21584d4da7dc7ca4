"""Every operation on real notebooks that installed packages ship, and on odd ones."""

from __future__ import annotations

import asyncio
import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import nbformat
import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager
from nbformat.validator import iter_validate

from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import (
    AppendOutput,
    CellId,
    ChangeCellType,
    ClearOutputs,
    DeleteCell,
    InsertCell,
    JsonObject,
    MoveCell,
    ReplaceSource,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
)
from hdsp_agent.notebooks import Operation, apply_operations, outline_of, parse_notebook, snapshot_of
from hdsp_agent.notebooks._saved_form import as_read
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks

from ._helpers.contents_managers import raw_cells, write
from ._helpers.odd_notebooks import ODD_NOTEBOOKS

BESIDE = Path(__file__).parents[2] / ".corpus"
STREAM: JsonObject = {"output_type": "stream", "name": "stdout", "text": "a\nb\n"}


def installed_notebooks() -> list[Path]:
    """All there are beside the packages that can be imported, and those `make test` puts beside the environment."""
    roots = {Path(entry).resolve() for entry in sys.path if entry and Path(entry).name in ("site-packages", "site")}
    roots.add(BESIDE)
    return sorted(file for root in roots for file in root.rglob("*.ipynb") if ".ipynb_checkpoints" not in file.parts)


def corpus() -> Iterator[tuple[str, JsonObject]]:
    """Those of format 4 that are JSON at all."""
    yield from ODD_NOTEBOOKS.items()
    for file in installed_notebooks():
        try:
            yield "/".join(file.parts[-4:]), parse_notebook(file.read_text(encoding="utf-8"), file.name)
        except HdspAgentError:
            continue


CORPUS = dict(corpus())
# The odd ones first, then those of one package not all in a row.
NAMES = sorted(CORPUS, key=lambda name: (name not in ODD_NOTEBOOKS, name.rpartition("/")[2], name))
named = pytest.mark.parametrize("name", NAMES)
not_huge = pytest.mark.parametrize("name", [name for name in NAMES if name != "huge outputs"])


def every_operation(of: JsonObject, *places: float) -> Iterator[Operation]:
    """Each kind once for the cells at these places, from 0 for the first to 1 for the last."""
    there = snapshot_of(of, path="", revision="", source="disk").cells
    yield InsertCell(cell_id=CellId("new"), cell_type="code", source="n\nn")
    yield SetNotebookMetadata(key="hdsp_agent", value={"v": 1})
    for cell in map(there.__getitem__, {int(place * (len(there) - 1)) for place in places} if there else ()):
        yield InsertCell(cell_id=CellId("new"), after=cell.id, cell_type="markdown", source="# n")
        yield ReplaceSource(cell_id=cell.id, expect=cell.hash, source="other\nsource")
        yield DeleteCell(cell_id=cell.id, expect=cell.hash)
        if there[0].id != cell.id:
            yield MoveCell(cell_id=cell.id)
            yield MoveCell(cell_id=there[0].id, after=cell.id)
        for cell_type in ("code", "markdown", "raw"):
            yield ChangeCellType(cell_id=cell.id, cell_type=cell_type)
        yield SetCellMetadata(cell_id=cell.id, key="hdsp_checkpoint", value={"ts": 1})
        if cell.cell_type == "code":
            yield SetOutputs(cell_id=cell.id, outputs=[{**STREAM}], execution_count=5)
            yield AppendOutput(cell_id=cell.id, output={**STREAM})
            yield ClearOutputs(cell_id=cell.id)


def problems(of: JsonObject) -> int:
    """How many nbformat finds."""
    return len(list(iter_validate(copy.deepcopy(of), version=4, version_minor=of["nbformat_minor"])))


def test_there_are_real_notebooks_to_try() -> None:
    assert len(ODD_NOTEBOOKS) > 15
    if not BESIDE.is_dir():
        pytest.skip("There is no .corpus with real notebooks; `make test-python` makes it.")
    assert len(CORPUS) - len(ODD_NOTEBOOKS) > 40


@named
def test_every_operation_leaves_a_valid_notebook_and_other_cells_alone(name: str) -> None:
    before = CORPUS[name]
    frozen = json.dumps(before)
    known = problems(before)
    ids = [cell.id for cell in snapshot_of(before, path="", revision="", source="disk").cells]
    cells = dict(zip(ids, cast("list[JsonObject]", before["cells"]), strict=True))
    for operation in every_operation(before, 0, 0.5, 1):
        changed = apply_operations(before, [operation])
        if known == 0:
            nbformat.validate(copy.deepcopy(changed.notebook))
        assert problems(changed.notebook) <= known, operation
        touched = None if isinstance(operation, SetNotebookMetadata) else operation.cell_id
        after = {json.dumps({**cell, "id": 0}) for cell in cast("list[JsonObject]", changed.notebook["cells"])}
        assert {json.dumps({**cell, "id": 0}) for each, cell in cells.items() if each != touched} <= after, operation
    assert json.dumps(before) == frozen


@pytest.mark.in_short(len(ODD_NOTEBOOKS) + 10)
@not_huge
def test_every_operation_can_be_saved_and_other_cells_are_in_the_file_as_before(
    name: str, folder: Path, manager: FileContentsManager
) -> None:
    asyncio.run(_save_each(CORPUS[name], folder, manager))


async def _save_each(before: JsonObject, folder: Path, manager: FileContentsManager) -> None:
    notebooks = ContentsNotebooks(manager)
    # What nbformat's writer makes of the cells, which is all that a save may do to them.
    written = json.loads(nbformat.v4.writes(as_read(before)))["cells"]
    for operation in every_operation(before, 0.5):
        found = write(folder, "a.ipynb", before)
        document = notebooks.document("a.ipynb")
        ids = [cell.id for cell in (await document.snapshot()).cells]
        await document.apply([operation])
        if (folder / "a.ipynb").read_bytes() == found:
            # Nothing to do: it has that type already, or no outputs.
            assert isinstance(operation, ChangeCellType | ClearOutputs)
            continue
        touched = None if isinstance(operation, SetNotebookMetadata) else operation.cell_id
        after = [{**cell, "id": 0} for cell in raw_cells(folder / "a.ipynb")]
        for cell_id, cell in zip(ids, written, strict=True):
            assert cell_id == touched or {**cell, "id": 0} in after, operation


@named
def test_snapshot_and_outline_take_whatever_there_is(name: str) -> None:
    for detail in ("none", "bounded", "full"):
        snapshot = snapshot_of(CORPUS[name], path=name, revision="1", source="disk", outputs=detail)
        assert len(outline_of(snapshot)) == len(snapshot.cells)
        assert len({cell.id for cell in snapshot.cells}) == len(snapshot.cells)
        if detail == "bounded":
            assert all(len(json.dumps(cell.outputs)) < 40_000 for cell in snapshot.cells)
