"""Notebooks of each format that Jupyter still writes go back and forth, closed and open, and stay of their format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from hdsp_agent.messages import CellId, DeleteCell, InsertCell, MoveCell, SetOutputs
from hdsp_agent.notebooks import EditSource

from ._helpers.timeline_fixtures import CELLS, PATH, TimelineSetup, timeline_setup

OUTPUT = {"output_type": "stream", "name": "stdout", "text": "then\n"}
LATER = {"output_type": "stream", "name": "stdout", "text": "later\n"}


def as_format(here: TimelineSetup, minor: int) -> None:
    """Write the notebook anew in this format; below 4.5 without ids, and two cells say the same."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Title"},
        {"cell_type": "code", "metadata": {}, "source": "a = 1", "outputs": [OUTPUT], "execution_count": 1},
        {"cell_type": "code", "metadata": {}, "source": "same", "outputs": [], "execution_count": None},
        {"cell_type": "code", "metadata": {}, "source": "same", "outputs": [], "execution_count": None},
    ]
    if minor >= 5:
        cells = [{"id": f"c{place}", **cell} for place, cell in enumerate(cells)]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
    here.file.write_text(json.dumps(content), "utf-8")


def open_it(here: TimelineSetup) -> None:
    """As Lab does it, which gives ids to cells that have none, and saves them."""
    page = here.open()
    for place, cell in enumerate(page.cells):
        cell.setdefault("id", f"lab{place}")
    page.content["nbformat_minor"] = 5


def there(here: TimelineSetup) -> list[tuple[str, str, list[object], int | None]]:
    cells = json.loads(here.file.read_text("utf-8"))["cells"]
    return [
        (
            cell["cell_type"], "".join(cell["source"]),
            ["".join(output["text"]) for output in cell.get("outputs", [])], cell.get("execution_count"),
        )
        for cell in cells
    ]  # fmt: skip


async def break_it(here: TimelineSetup) -> None:
    """What an agent may do, in two steps: ids below 4.5 hold only until a cell says something else."""
    document = here.notebooks.access.document(PATH)
    ids = [cell.id for cell in (await document.snapshot()).cells]
    await document.apply(
        [
            DeleteCell(cell_id=ids[0]),
            SetOutputs(cell_id=ids[1], outputs=[LATER], execution_count=7),
            MoveCell(cell_id=ids[3], after=None),
            InsertCell(cell_id=CellId("new"), after=ids[2], cell_type="code", source="new", outputs=[LATER]),
        ]
    )
    ids = [cell.id for cell in (await document.snapshot()).cells]
    await document.apply([EditSource(ids[1], "a = 1", "a = broken")])


@pytest.mark.parametrize("opened", ["closed", "open", "opened later", "closed later"])
@pytest.mark.parametrize("minor", range(6))
async def test_all_that_changed_comes_back_and_again_with_the_undo(tmp_path: Path, minor: int, opened: str) -> None:
    async with timeline_setup(tmp_path) as here:
        as_format(here, minor)
        if opened in ("open", "closed later"):
            open_it(here)
        before = there(here)
        target = await here.save()
        if opened == "closed later":
            here.tabs.pages[0].save()
            here.tabs.pages.clear()
        if opened == "opened later":
            open_it(here)
        await break_it(here)
        broken = there(here)
        assert broken != before
        await here.save("after edit_cells", by="agent")
        done = await here.line.restore(target.id, CELLS)
        assert there(here) == before
        written = nbformat.reads(here.file.read_text("utf-8"), as_version=nbformat.NO_CONVERT)
        nbformat.validate(written)
        # Nobody but Lab makes it one of another format.
        assert written["nbformat_minor"] == (minor if opened == "closed" else 5)
        assert all(("id" in cell) == (written["nbformat_minor"] >= 5) for cell in written["cells"])
        await here.line.undo(done.operation.id)
        assert there(here) == broken


@pytest.mark.parametrize("opened", [False, True], ids=["closed", "open"])
@pytest.mark.parametrize("minor", range(6))
async def test_a_cell_the_person_added_stays(tmp_path: Path, minor: int, opened: bool) -> None:
    async with timeline_setup(tmp_path) as here:
        as_format(here, minor)
        if opened:
            open_it(here)
        before = there(here)
        target = await here.save()
        await break_it(here)
        await here.save("after edit_cells", by="agent")
        document = here.notebooks.access.document(PATH)
        await document.apply([InsertCell(cell_id=CellId("mine"), cell_type="markdown", source="the person's")])
        await here.line.restore(target.id, CELLS)
        assert [one for one in there(here) if one[1] != "the person's"] == before and len(there(here)) == 5
