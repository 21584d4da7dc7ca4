"""What the agent did and nobody has looked at: summed up for each cell, bounded, and following renames."""

from __future__ import annotations

import pytest

from hdsp_agent.messages import CellId, DeleteCell, InsertCell, NotebookOperation, ReplaceSource, TaskId
from hdsp_agent.notebooks import Unreviewed
from hdsp_agent.notebooks._snapshot import snapshot_of

from ._helpers.pages import code, notebook, text

PATH, TASK = "work.ipynb", TaskId("t")
ONE, TWO, NEW = CellId("one"), CellId("two"), CellId("new")
Done = tuple[dict[str, str], NotebookOperation]


def replace(source: str) -> ReplaceSource:
    return ReplaceSource(cell_id=ONE, source=source)


def note(unreviewed: Unreviewed, sources: dict[str, str], *operations: NotebookOperation, path: str = PATH) -> None:
    cells = [code(cell_id, source) for cell_id, source in sources.items()]
    before = snapshot_of(notebook(*cells), path=path, revision="r", source="disk")
    unreviewed.note(path, before, operations, TASK)


INSERT, DELETE = InsertCell(cell_id=NEW, cell_type="code", source="n"), DeleteCell(cell_id=ONE)
BACK = InsertCell(cell_id=ONE, cell_type="code", source="a")


@pytest.mark.parametrize(
    ("done", "left"),
    [
        ([({"one": "a"}, replace("b")), ({"one": "b"}, replace("c"))], [("one", "a", "c")]),
        ([({"one": "a"}, replace("b")), ({"one": "b"}, replace("a"))], []),
        ([({"one": "a"}, replace("b")), ({"one": "typed"}, replace("c"))], [("one", "typed", "c")]),
        ([({}, INSERT)], [("new", None, "n")]),
        ([({}, INSERT), ({"new": "n"}, DeleteCell(cell_id=NEW))], []),
        ([({"one": "a"}, replace("b")), ({"one": "b"}, DELETE)], [("one", "a", None)]),
        ([({"one": "a"}, DELETE), ({}, BACK)], []),
    ],
)
def test_several_changes_of_a_cell_are_one(done: list[Done], left: list[tuple[str, str | None, str | None]]) -> None:
    unreviewed = Unreviewed()
    for sources, operation in done:
        note(unreviewed, sources, operation)
    assert [(one.cell_id, one.before, one.after) for one in unreviewed.of(PATH)] == left


def test_of_a_deleted_cell_is_known_what_it_was_and_where() -> None:
    unreviewed = Unreviewed()
    cells = notebook(code("one", "a"), text("two", "words"))
    before = snapshot_of(cells, path=PATH, revision="r", source="disk")
    unreviewed.note(PATH, before, [DeleteCell(cell_id=TWO), DELETE], TASK)
    two, one = (change.to_wire()["removed"] for change in unreviewed.of(PATH))
    assert two == {"cell": text("two", "words"), "behind": "one", "place": 1}
    assert one == {"cell": {**code("one", "a"), "execution_count": None}, "place": 0}


def test_what_was_decided_is_over_and_a_renamed_folder_takes_the_rest_along() -> None:
    unreviewed = Unreviewed()
    note(unreviewed, {"one": "a"}, replace("b"), INSERT, path="old/n.ipynb")
    unreviewed.moved("old", "new")
    unreviewed.settled("new/n.ipynb", ONE)
    unreviewed.settled("nowhere.ipynb", ONE)
    assert [one.cell_id for one in unreviewed.of("new/n.ipynb")] == [NEW] and not unreviewed.of("old/n.ipynb")


def test_a_notebook_that_took_the_name_of_another_keeps_its_own_changes() -> None:
    unreviewed = Unreviewed()
    note(unreviewed, {"one": "a"}, replace("b"), path="mine.ipynb")
    note(unreviewed, {"one": "a"}, INSERT, path="taken.ipynb")
    unreviewed.moved("mine.ipynb", "taken.ipynb")
    assert [one.cell_id for one in unreviewed.of("taken.ipynb")] == [ONE]


def test_it_does_not_grow_for_ever() -> None:
    unreviewed = Unreviewed()
    for number in range(300):
        note(unreviewed, {}, InsertCell(cell_id=CellId(f"c{number}"), cell_type="code", source="x" * 10_000))
        note(unreviewed, {"one": "a"}, replace("b"), path=f"{number}.ipynb")
    assert [one.cell_id for one in unreviewed.of("299.ipynb")] == [ONE] and not unreviewed.of("100.ipynb")
    note(
        unreviewed,
        {"one": "a"},
        *(InsertCell(cell_id=CellId(f"c{n}"), cell_type="code", source="x" * 10_000) for n in range(100)),
    )
    assert [one.cell_id for one in unreviewed.of(PATH)] == [f"c{number}" for number in range(60, 100)]
