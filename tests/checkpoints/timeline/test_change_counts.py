"""How many files, cells and variables a checkpoint finds changed: known when it is made, and cheap to show."""

from __future__ import annotations

import json
from pathlib import Path

from hdsp_agent.checkpoints import Changed
from hdsp_agent.checkpoints.timeline import TimelineLimits
from hdsp_agent.checkpoints.timeline._notebook_states import KeptCell, NotebookState, NotebookStates
from hdsp_agent.messages import CellId, DeleteCell, InsertCell, JsonObject, SetOutputs

from ...notebooks._helpers.pages import code
from ._helpers.timeline_fixtures import EVERYTHING, PATH, TimelineSetup, timeline_setup

SMALL: JsonObject = {"output_type": "stream", "name": "stdout", "text": "small"}


async def counts(here: TimelineSetup) -> list[tuple[int, int, int] | None]:
    """Of each row of the time line, newest first: files, cells, variables."""
    checkpoints = [row.checkpoint for row in (await here.line.view()).operations]
    found = [checkpoint.changed if checkpoint is not None else None for checkpoint in checkpoints]
    return [None if one is None else (one.files, one.cells, one.variables) for one in found]


async def test_each_row_says_how_many_files_cells_and_variables_changed(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("one, two = 1, [2]")
        first = await here.save(code="thorough")
        assert first.changed is None, "there is nothing before it"
        (here.root / "data.csv").write_text("x\n2\n")
        (here.root / "new.csv").write_text("x\n")
        await here.edit("one", "a = 1", "a = 10")
        await here.run("import os; two.append(3); three = 3; del one")
        record = await here.save("after run_cell", by="agent", code="after")
        # The notebook's file is told by its cell, and a module is no variable of the person's.
        assert record.changed == Changed(files=2, cells=1, variables=3)
        again = here.another_line()
        await here.edit("two", "b = 2", "b = 20")
        assert (await again.save("from the disk", notebooks=[PATH])).changed == Changed(cells=1)
        await again.close()
        await here.line.restore(first.id, EVERYTHING)
        # The other cell is a person's work since, which a restore keeps.
        assert await counts(here) == [(2, 1, 3), (0, 0, 0), (0, 1, 0), (2, 1, 3), None]
        await here.line.undo()
        assert (await counts(here))[0] == (2, 1, 3)


async def test_a_notebook_that_was_never_kept_is_a_file_like_any_other(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.save(notebooks=())
        await here.edit("one", "a = 1", "a = 10")
        assert (await here.save("later")).changed == Changed(files=1)
        (here.root / "data.csv").unlink()
        (here.root / "folder").mkdir()
        assert (await here.save("last", notebooks=())).changed == Changed(files=1)


async def test_cells_that_came_went_or_show_something_else_count_and_a_run_without_a_trace_does_not(
    tmp_path: Path,
) -> None:
    shown: JsonObject = {**code("one", "a = 1"), "outputs": [SMALL], "execution_count": 1}
    async with timeline_setup(tmp_path, shown, code("two", "b"), code("three", "c")) as here:
        await here.save()
        document = here.notebooks.access.document(PATH)
        await document.apply([SetOutputs(cell_id=CellId("one"), outputs=[SMALL], execution_count=2)])
        assert (await here.save("after run_cell", by="agent")).changed == Changed()
        await document.apply(
            [
                SetOutputs(cell_id=CellId("one"), outputs=[{**SMALL, "text": "other"}], execution_count=3),
                DeleteCell(cell_id=CellId("two"), expect=None),
                InsertCell(cell_id=CellId("four"), after=None, cell_type="code", source="d"),
            ]
        )
        assert (await here.save("after edit_cells", by="agent")).changed == Changed(cells=3)


async def test_without_ids_a_cell_that_was_changed_is_one(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        old = json.loads(here.file.read_text("utf-8")) | {"nbformat_minor": 4}
        for cell in old["cells"]:
            del cell["id"]
        here.file.write_text(json.dumps(old))
        await here.save()
        old["cells"][0]["source"] = "a = 100"
        here.file.write_text(json.dumps(old))
        assert (await here.save("later")).changed == Changed(cells=1)


async def test_between_two_moments_nothing_is_counted_twice(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        first = await here.save()
        for number in range(3):
            (here.root / "data.csv").write_text(f"{number}\n")
            await here.edit("one", f"a = {number + 1}", f"a = {number + 2}")
            last = await here.save(f"step {number}", by="agent")
        assert await here.line.changed_between(first.id, last) == Changed(files=1, cells=1)
        assert await here.line.changed_between("0" * 16, last) is None


async def test_counting_asks_nothing_of_the_disk_when_a_long_time_line_is_shown(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.save()
        for number in range(20):
            (here.root / "data.csv").write_text(f"{number}\n")
            await here.save(f"step {number}", by="agent")
        for state in (here.files.folder / "notebooks").iterdir():
            state.unlink()
        rows = (await here.line.view(limit=20)).operations
        assert len(rows) == 20 and all(row.checkpoint and row.checkpoint.changed == Changed(files=1) for row in rows)


async def test_what_counts_as_changed_is_shown_as_changed_even_before_a_tab_says_that_it_is_not_saved(
    tmp_path: Path,
) -> None:
    async with timeline_setup(tmp_path) as here:
        page = here.open()
        await here.save()
        new: JsonObject = {
            "id": "new",
            "cell_type": "code",
            "source": "",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        page.content["cells"].append(new)  # type: ignore[union-attr]
        page.revision += 1
        record = await here.save("later")
        assert record.changed == Changed(cells=1) and not record.notebooks[0].dirty
        (file,) = (await here.line.changes(record.id)).files
        assert file.path == PATH and file.notebook is not None
        assert [(cell.change, cell.cell_id) for cell in file.notebook.cells] == [("added", "new")]


def test_a_state_has_the_name_it_always_had(tmp_path: Path) -> None:
    cell = KeptCell("a", "code", "x = 'ü'", 3, (SMALL,), {"z": 1, "a": [None]}, None, {"p.png": {"t": "b"}}, "s")
    for state in (NotebookState((cell, KeptCell("b", "markdown", "")), {"k": {"b": 1, "a": 2}}), NotebookState(())):
        data = state.to_bytes()
        plain = json.dumps(json.loads(data), sort_keys=True, separators=(",", ":")).encode("ascii")
        assert data == plain and NotebookState.of_bytes(data) == state
    states = NotebookStates(tmp_path / "notebooks")
    digests = states.digests(states.keep(NotebookState((cell,))))
    assert NotebookStates(tmp_path / "notebooks").digests(states.keep(NotebookState((cell,)))) == digests


async def test_limits_do_not_hide_that_an_output_changed(tmp_path: Path) -> None:
    big: JsonObject = {"output_type": "stream", "name": "stdout", "text": "x" * 5000}
    async with timeline_setup(tmp_path, {**code("one", "a = 1"), "outputs": [big]}) as here:
        here.line = here.line_on(here.files, TimelineLimits(cell_output_bytes=1000))
        await here.save()
        document = here.notebooks.access.document(PATH)
        await document.apply([SetOutputs(cell_id=CellId("one"), outputs=[{**big, "text": "y" * 5000}])])
        assert (await here.save("after run_cell", by="agent")).changed == Changed(cells=1)
