"""What the agent did and nobody has looked at: summed up for each cell, bounded, and following renames."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hdsp_agent.errors import Conflict, HdspAgentError, Unavailable
from hdsp_agent.messages import CellId, DeleteCell, InsertCell, NotebookOperation, ReplaceSource, TaskId
from hdsp_agent.notebooks import NotebookSnapshot, Unreviewed, UnreviewedFiles
from hdsp_agent.notebooks._line_changes import with_change
from hdsp_agent.notebooks._snapshot import snapshot_of

from ._helpers.pages import code, notebook, text

PATH, TASK = "work.ipynb", TaskId("t")
ONE, TWO, NEW = CellId("one"), CellId("two"), CellId("new")
Done = tuple[dict[str, str], NotebookOperation]


def replace(source: str) -> ReplaceSource:
    return ReplaceSource(cell_id=ONE, source=source)


def snapshot(sources: dict[str, str], path: str = PATH) -> NotebookSnapshot:
    cells = [code(cell_id, source) for cell_id, source in sources.items()]
    return snapshot_of(notebook(*cells), path=path, revision="r", source="disk")


def note(unreviewed: Unreviewed, sources: dict[str, str], *operations: NotebookOperation, path: str = PATH) -> None:
    unreviewed.note(path, snapshot(sources, path), operations, TASK)


def left_of(unreviewed: Unreviewed, path: str = PATH) -> list[tuple[str, str | None, str | None]]:
    return [(one.cell_id, one.before, one.after) for one in unreviewed.of(path)]


INSERT, DELETE = InsertCell(cell_id=NEW, cell_type="code", source="n"), DeleteCell(cell_id=ONE)
BACK = InsertCell(cell_id=ONE, cell_type="code", source="a")


@pytest.mark.parametrize(
    ("done", "left"),
    [
        ([({"one": "a"}, replace("b")), ({"one": "b"}, replace("c"))], [("one", "a", "c")]),
        ([({"one": "a"}, replace("b")), ({"one": "b"}, replace("a"))], []),
        ([({"one": "a"}, replace("b")), ({"one": "typed"}, replace("c"))], [("one", "typed", "c")]),
        (
            [({"one": "a\nz"}, replace("b\nz")), ({"one": "b\nz\nmine"}, replace("c\nz\nmine"))],
            [("one", "a\nz\nmine", "c\nz\nmine")],
        ),
        (
            [({}, INSERT), ({"new": "n, and mine"}, ReplaceSource(cell_id=NEW, source="c"))],
            [("new", "n, and mine", "c")],
        ),
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
    assert left_of(unreviewed) == left


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


@pytest.mark.parametrize(
    ("source", "changed", "onto", "both"),
    [
        ("a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC"),
        ("a\nb", "a\nnew\nb", "a\nb\nlast", "a\nnew\nb\nlast"),
        ("a\nb", "a", "a\nb\nlast", "a\nlast"),
        ("a", "b", "a", "b"),
        ("a", "b", "b", "b"),
        ("a", "b", "c", None),
        ("a\nb", "", "a\nB", None),
    ],
)
def test_a_change_is_made_where_nobody_changed_the_same_lines(
    source: str, changed: str, onto: str, both: str | None
) -> None:
    assert with_change(source, changed, onto) == both


def test_of_a_change_kept_in_part_the_rest_is_left() -> None:
    unreviewed = Unreviewed()
    note(unreviewed, {"one": "a\nb"}, replace("A\nB"), INSERT)
    unreviewed.kept_part(PATH, ONE, "A\nb")
    unreviewed.kept_part(PATH, NEW, "whatever")
    unreviewed.kept_part(PATH, CellId("nowhere"), "whatever")
    assert left_of(unreviewed) == [("one", "A\nb", "A\nB"), ("new", None, "n")]


def test_what_was_not_done_after_all_leaves_what_waited_before() -> None:
    unreviewed = Unreviewed()
    note(unreviewed, {"one": "a"}, replace("b"))
    withdraw = unreviewed.note(PATH, snapshot({"one": "b"}), [replace("a"), INSERT], TASK)
    assert left_of(unreviewed) == [("new", None, "n")]
    withdraw()
    assert left_of(unreviewed) == [("one", "a", "b")]
    withdraw = unreviewed.note(PATH, snapshot({"one": "b"}), [replace("c")], TASK)
    note(unreviewed, {"one": "c"}, replace("d"))
    withdraw()
    assert left_of(unreviewed) == [("one", "a", "d")], "what came later stays"


def test_a_notebook_made_in_the_place_of_a_deleted_one_has_nothing_to_look_at() -> None:
    unreviewed = Unreviewed()
    for path in ("folder/a.ipynb", "folder/b.ipynb", "folder.ipynb"):
        note(unreviewed, {"one": "a"}, DELETE, path=path)
    unreviewed.deleted("folder")
    assert not unreviewed.of("folder/a.ipynb") and not unreviewed.of("folder/b.ipynb")
    assert unreviewed.of("folder.ipynb")


@pytest.fixture
def files(tmp_path: Path) -> UnreviewedFiles:
    return UnreviewedFiles(tmp_path / "home", tmp_path / "workspace")


async def restarted(files: UnreviewedFiles) -> Unreviewed:
    """What a server knows that starts again."""
    unreviewed = Unreviewed(files)
    await unreviewed.recall()
    return unreviewed


async def test_a_server_that_starts_again_has_the_same(files: UnreviewedFiles, tmp_path: Path) -> None:
    unreviewed = await restarted(files)
    note(unreviewed, {"one": "a\nb"}, replace("A\nB"), INSERT)
    note(unreviewed, {"two": "\ud83d"}, DeleteCell(cell_id=TWO), path="deep/other.ipynb")
    note(unreviewed, {"one": "a"}, replace("b"), path="decided.ipynb")
    await unreviewed.written()
    unreviewed.settled("decided.ipynb", ONE)
    unreviewed.kept_part(PATH, ONE, "A\nb")
    await unreviewed.written()

    again = await restarted(files)
    assert left_of(again) == [("one", "A\nb", "A\nB"), ("new", None, "n")]
    assert [one.to_wire() for one in again.of("deep/other.ipynb")] == [
        one.to_wire() for one in unreviewed.of("deep/other.ipynb")
    ]
    assert again.of(PATH)[0].task_id == TASK and not again.of("decided.ipynb")
    assert not (await restarted(UnreviewedFiles(tmp_path / "home", tmp_path / "elsewhere"))).of(PATH)
    if os.name == "posix":
        kept = [*(tmp_path / "home" / "unreviewed").glob("*.json")]
        assert len(kept) == 2 and not any(file.stat().st_mode & 0o077 for file in kept)


async def test_names_are_followed_over_a_restart(files: UnreviewedFiles) -> None:
    unreviewed = Unreviewed(files)
    note(unreviewed, {"one": "a"}, replace("b"), path="old/n.ipynb")
    note(unreviewed, {"one": "a"}, replace("b"), path="gone/n.ipynb")
    await unreviewed.written()
    unreviewed.moved("old", "new")
    unreviewed.deleted("gone")
    await unreviewed.written()
    again = await restarted(files)
    assert left_of(again, "new/n.ipynb") == [("one", "a", "b")]
    assert not again.of("old/n.ipynb") and not again.of("gone/n.ipynb")


async def test_what_is_under_way_is_known_to_a_server_that_starts_again(files: UnreviewedFiles) -> None:
    unreviewed = Unreviewed(files)
    async with unreviewed.noting(PATH, snapshot({"one": "a"}), [replace("b")], TASK):
        assert left_of(await restarted(files)) == [("one", "a", "b")]


@pytest.mark.parametrize(
    ("error", "left"), [(Conflict("It changed."), []), (Unavailable("It is silent."), [("one", "a", "b")])]
)
async def test_what_surely_was_not_done_is_forgotten(
    files: UnreviewedFiles, error: HdspAgentError, left: list[tuple[str, str, str]]
) -> None:
    unreviewed = Unreviewed(files)
    with pytest.raises(type(error)):
        async with unreviewed.noting(PATH, snapshot({"one": "a"}), [replace("b")], TASK):
            raise error
    await unreviewed.written()
    assert left_of(unreviewed) == left_of(await restarted(files)) == left


async def test_a_file_that_cannot_be_read_costs_no_other(files: UnreviewedFiles, tmp_path: Path) -> None:
    unreviewed = Unreviewed(files)
    note(unreviewed, {"one": "a"}, replace("b"))
    await unreviewed.written()
    folder = tmp_path / "home" / "unreviewed"
    (folder / "torn.json").write_text('{"workspace": "')
    (folder / "other.json").write_text('["another shape"]')
    assert left_of(await restarted(files)) == [("one", "a", "b")]


async def test_a_folder_that_cannot_be_used_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "home").write_text("a file")
    unreviewed = Unreviewed(UnreviewedFiles(tmp_path / "home", tmp_path))
    note(unreviewed, {"one": "a"}, replace("b"))
    await unreviewed.written()
    assert left_of(unreviewed) == [("one", "a", "b")]
    assert f"The list of changes to review in {PATH} could not be saved" in caplog.text


async def test_what_nobody_came_back_to_for_a_season_is_forgotten(files: UnreviewedFiles, tmp_path: Path) -> None:
    unreviewed = Unreviewed(files)
    note(unreviewed, {"one": "a"}, replace("b"))
    await unreviewed.written()
    (file,) = (tmp_path / "home" / "unreviewed").glob("*.json")
    os.utime(file, (0, 0))
    assert not (await restarted(files)).of(PATH) and not file.exists()
