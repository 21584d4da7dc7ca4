"""Operations on a notebook's JSON."""

from __future__ import annotations

import copy
import json
from typing import cast

import nbformat
import pytest

from hdsp_agent.errors import InvalidInput, NotAllowed
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
    SetAttachments,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
)
from hdsp_agent.notebooks import (
    CellConflict,
    ChangedNotebook,
    EditSource,
    Operation,
    apply_operations,
    new_cell_id,
    resolve_edits,
    snapshot_of,
    source_hash,
)

from .._helpers.timing import processor_time
from ._helpers.odd_notebooks import ODD_NOTEBOOKS, code, notebook, text_cell

A, B, C, NEW = CellId("cell-0"), CellId("cell-1"), CellId("cell-2"), CellId("new")
PICTURE: JsonObject = {"a.png": {"image/png": "aGk="}}
STREAM: JsonObject = {"output_type": "stream", "name": "stdout", "text": "a\nb\n"}


def three() -> JsonObject:
    return notebook(code("a = 1"), text_cell(["# b\n", "text"]), code("c", [{**STREAM}], 3))


def cells(changed: ChangedNotebook | JsonObject) -> list[JsonObject]:
    whole = changed.notebook if isinstance(changed, ChangedNotebook) else changed
    return cast("list[JsonObject]", whole["cells"])


def sources(changed: ChangedNotebook) -> list[str]:
    return ["".join(cast("list[str]", cell["source"])) for cell in cells(changed)]


def done(*operations: Operation, on: JsonObject | None = None) -> ChangedNotebook:
    before = three() if on is None else on
    frozen = json.dumps(before)
    changed = apply_operations(before, operations, path="a.ipynb")
    assert json.dumps(before) == frozen, "the notebook given was changed"
    nbformat.validate(copy.deepcopy(changed.notebook))
    return changed


def refused(*operations: Operation, on: JsonObject | None = None) -> CellConflict:
    before = three() if on is None else on
    frozen = json.dumps(before)
    with pytest.raises(CellConflict) as refusal:
        apply_operations(before, operations, path="a.ipynb")
    assert json.dumps(before) == frozen
    return refusal.value


# ---- each operation


def test_a_cell_is_inserted_behind_another_or_first() -> None:
    changed = done(
        InsertCell(cell_id=NEW, after=A, cell_type="code", source="new"),
        InsertCell(cell_id=CellId("top"), cell_type="markdown", source="top"),
    )
    assert sources(changed) == ["top", "a = 1", "new", "# b\ntext", "c"]
    assert changed.changed == (NEW, "top")
    assert cells(changed)[2]["outputs"] == [] and cells(changed)[2]["execution_count"] is None


def test_new_cells_are_written_in_the_style_of_the_file() -> None:
    as_lines = notebook(code(["a\n", "b"]))
    as_strings = notebook(code("a\nb"))
    insert = InsertCell(cell_id=NEW, after=A, cell_type="code", source="x\ny", outputs=[{**STREAM}], execution_count=2)
    assert cells(done(insert, on=as_lines))[1] == {
        "cell_type": "code", "execution_count": 2, "id": "new", "metadata": {}, "source": ["x\n", "y"],
        "outputs": [{**STREAM, "text": ["a\n", "b\n"]}],
    }  # fmt: skip
    assert cells(done(insert, on=as_strings))[1]["source"] == "x\ny"
    assert cells(done(insert, on=as_strings))[1]["outputs"] == [STREAM]


def test_a_replaced_source_keeps_the_cells_own_style() -> None:
    changed = done(
        ReplaceSource(cell_id=A, source="1\n2", expect=source_hash("a = 1")), ReplaceSource(cell_id=B, source="1\n2")
    )
    assert cells(changed)[0]["source"] == "1\n2"
    assert cells(changed)[1]["source"] == ["1\n", "2"]


def test_an_edit_replaces_what_is_there_exactly_once() -> None:
    changed = done(EditSource(B, "text", "words"), EditSource(B, "words", "more"), EditSource(A, "1", "2"))
    assert sources(changed) == ["a = 2", "# b\nmore", "c"]


def test_a_cell_is_deleted_and_comes_back_as_it_was() -> None:
    gone = done(DeleteCell(cell_id=C, expect=source_hash("c")))
    assert [cell["id"] for cell in cells(gone)] == [A, B] and gone.changed == ()
    back = InsertCell(cell_id=C, after=B, cell_type="code", source="c", outputs=[{**STREAM}], execution_count=3)
    assert done(back, on=gone.notebook).notebook == three()


def test_a_cell_is_moved() -> None:
    assert sources(done(MoveCell(cell_id=C))) == ["c", "a = 1", "# b\ntext"]
    assert sources(done(MoveCell(cell_id=A, after=B))) == ["# b\ntext", "a = 1", "c"]


def test_a_change_of_type_drops_and_adds_what_nbformat_demands() -> None:
    to_text = cells(done(ChangeCellType(cell_id=C, cell_type="markdown")))[2]
    assert to_text == {"cell_type": "markdown", "id": C, "metadata": {}, "source": "c"}
    with_attachment = notebook(text_cell("![](attachment:a)", attachments={"a": {"text/plain": "x"}}))
    to_code = cells(done(ChangeCellType(cell_id=A, cell_type="code"), on=with_attachment))[0]
    assert to_code["outputs"] == [] and to_code["execution_count"] is None and "attachments" not in to_code
    raw = cells(done(ChangeCellType(cell_id=A, cell_type="raw"), on=with_attachment))[0]
    assert raw["attachments"] == {"a": {"text/plain": "x"}}


def test_outputs_are_set_appended_and_cleared() -> None:
    changed = done(
        SetOutputs(cell_id=A, outputs=[{**STREAM}], execution_count=4), AppendOutput(cell_id=A, output={**STREAM}),
        ClearOutputs(cell_id=C),
    )  # fmt: skip
    assert cells(changed)[0]["outputs"] == [STREAM, STREAM] and cells(changed)[0]["execution_count"] == 4
    assert cells(changed)[2]["outputs"] == [] and cells(changed)[2]["execution_count"] is None
    assert changed.new_outputs == {0}


def test_attachments_come_with_a_cell_and_are_set() -> None:
    text = InsertCell(cell_id=NEW, cell_type="markdown", source="![](attachment:a.png)", attachments=PICTURE)
    other: JsonObject = {"b.svg": {"image/svg+xml": "<svg/>"}}
    assert cells(done(text))[0]["attachments"] == PICTURE
    assert cells(done(text, SetAttachments(cell_id=NEW, attachments=other)))[0]["attachments"] == other
    assert "attachments" not in cells(done(text, SetAttachments(cell_id=NEW, attachments={})))[0]


def test_metadata_are_set_and_taken_away_by_key() -> None:
    marked = notebook(code("a", metadata={"tags": ["x"], "nbgrader": {"grade": True}}), metadata={"toc": {"a": 1}})
    changed = done(
        SetCellMetadata(cell_id=A, key="tags"), SetCellMetadata(cell_id=A, key="mine", value={"n": 1}),
        SetNotebookMetadata(key="hdsp_agent", value={"v": 1}), on=marked,
    )  # fmt: skip
    assert cells(changed)[0]["metadata"] == {"nbgrader": {"grade": True}, "mine": {"n": 1}}
    assert changed.notebook["metadata"] == {"toc": {"a": 1}, "hdsp_agent": {"v": 1}}


# ---- what is refused


def test_an_unknown_cell_is_named() -> None:
    error = refused(ReplaceSource(cell_id=CellId("nowhere"), source=""))
    assert [(each.index, each.cell_id, each.source) for each in error.mismatches] == [(0, "nowhere", None)]
    assert "there is no cell nowhere" in error.message


def test_a_stale_hash_is_answered_with_the_present_source_and_nothing_is_done() -> None:
    error = refused(
        ReplaceSource(cell_id=A, source="other"),
        ReplaceSource(cell_id=B, source="other", expect=source_hash("old")),
        DeleteCell(cell_id=C, expect=source_hash("old")),
    )
    assert [(each.index, each.source) for each in error.mismatches] == [(1, "# b\ntext"), (2, "c")]


def test_a_hash_may_be_of_the_source_before_the_batch_or_by_now() -> None:
    before, by_now = source_hash("a = 1"), source_hash("second")
    done(
        ReplaceSource(cell_id=A, source="second", expect=before),
        ReplaceSource(cell_id=A, source="third", expect=before),
    )
    done(ReplaceSource(cell_id=A, source="second"), ReplaceSource(cell_id=A, source="third", expect=by_now))
    refused(ReplaceSource(cell_id=A, source="second"), ReplaceSource(cell_id=A, source="x", expect=source_hash("no")))
    new = InsertCell(cell_id=NEW, cell_type="code", source="n")
    refused(new, ReplaceSource(cell_id=NEW, source="x", expect=source_hash("")))


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("aa", "is in cell cell-0 2 times"),
        ("b  b", "it differs in white space"),
        ("value = 2", "the nearest line is 3: value = 1"),
        ("quite another thing", "is not in cell cell-0."),
    ],
)
def test_an_edit_that_fits_nowhere_or_twice_says_so(old: str, said: str) -> None:
    error = refused(EditSource(A, old, "x"), on=notebook(code("aaa\nb b\nvalue = 1")))
    assert said in error.message
    assert error.mismatches[0].source == "aaa\nb b\nvalue = 1"


def test_a_place_that_is_not_there_and_an_id_that_is_taken_are_refused() -> None:
    assert refused(MoveCell(cell_id=A, after=CellId("gone"))).mismatches[0].cell_id == "gone"
    assert (
        refused(InsertCell(cell_id=NEW, after=CellId("gone"), cell_type="raw", source="")).mismatches[0].source is None
    )
    assert refused(InsertCell(cell_id=A, cell_type="raw", source="")).mismatches[0].source == "a = 1"
    refused(DeleteCell(cell_id=A), MoveCell(cell_id=B, after=A))


@pytest.mark.parametrize(
    "operation",
    [
        SetOutputs(cell_id=B, outputs=[]),
        AppendOutput(cell_id=B, output=STREAM),
        ClearOutputs(cell_id=B),
        InsertCell(cell_id=NEW, cell_type="markdown", source="", outputs=[STREAM]),
        InsertCell(cell_id=NEW, cell_type="code", source="", attachments=PICTURE),
        SetAttachments(cell_id=A, attachments=PICTURE),
        MoveCell(cell_id=A, after=A),
        EditSource(A, "", "x"),
        EditSource(A, "1", "\ud800"),
    ],
)
def test_what_cannot_be_done_to_such_a_cell_is_refused(operation: Operation) -> None:
    with pytest.raises(InvalidInput):
        apply_operations(three(), [ReplaceSource(cell_id=C, source="other"), operation])


def test_nobody_but_the_person_makes_outputs_trusted() -> None:
    with pytest.raises(NotAllowed):
        apply_operations(three(), [SetCellMetadata(cell_id=A, key="trusted", value=True)])
    insert = InsertCell(cell_id=NEW, cell_type="code", source="", metadata={"trusted": True, "tags": []})
    assert cells(done(insert))[0]["metadata"] == {"tags": []}


# ---- ids


@pytest.mark.parametrize("minor", range(5))
def test_no_cell_gets_an_id_below_format_4_5(minor: int) -> None:
    old = notebook(code("a"), code("b"), minor=minor)
    first, second = (cell.id for cell in snapshot_of(old, path="", revision="", source="disk").cells)
    changed = done(
        InsertCell(cell_id=NEW, after=first, cell_type="code", source="n"),
        ReplaceSource(cell_id=second, source="c"),
        on=old,
    )
    assert all("id" not in cell for cell in cells(changed))
    after = {cell.id: cell.source for cell in snapshot_of(changed.notebook, path="", revision="", source="disk").cells}
    assert after[first] == "a"
    assert after[changed.renamed[NEW]] == "n" and after[changed.renamed[second]] == "c"
    assert changed.changed == (changed.renamed[NEW], changed.renamed[second])


def test_ids_of_cells_without_hold_wherever_the_cell_goes() -> None:
    old = notebook(code("a"), code("b"), code("a"), minor=4)
    before = snapshot_of(old, path="", revision="", source="disk").cells
    assert len({cell.id for cell in before}) == 3
    moved = done(MoveCell(cell_id=before[1].id), on=old)
    after = snapshot_of(moved.notebook, path="", revision="", source="disk").cells
    assert [cell.id for cell in after] == [before[1].id, before[0].id, before[2].id]


def test_missing_and_duplicate_ids_are_filled_in_as_the_snapshot_told_them() -> None:
    for name in ("missing ids", "some ids missing", "duplicate ids"):
        odd = ODD_NOTEBOOKS[name]
        told = [cell.id for cell in snapshot_of(odd, path="", revision="", source="disk").cells]
        changed = done(SetNotebookMetadata(key="k", value=1), on=odd)
        assert [cell["id"] for cell in cells(changed)] == told and len(set(told)) == len(told)
        assert changed.renamed == {}
    first = cells(done(ReplaceSource(cell_id=CellId("same"), source="x"), on=ODD_NOTEBOOKS["duplicate ids"]))
    assert [cell["source"] for cell in first] == ["x", "b", "c"]


def test_new_ids_are_made_as_nbformat_makes_them() -> None:
    made = {new_cell_id() for _ in range(200)}
    assert len(made) == 200 and all(len(each) == 8 and int(each, 16) >= 0 for each in made)


# ---- edits for the wire


def test_edits_become_replaced_sources_that_expect_what_they_were_found_in() -> None:
    snapshot = snapshot_of(three(), path="a.ipynb", revision="1", source="tab")
    before = source_hash("a = 1")
    exact = resolve_edits(
        snapshot,
        [
            EditSource(A, "1", "2"),
            EditSource(A, "2", "3"),
            DeleteCell(cell_id=A, expect=before),
            ClearOutputs(cell_id=C),
        ],
    )
    assert exact == [
        ReplaceSource(cell_id=A, source="a = 2", expect=before), ReplaceSource(cell_id=A, source="a = 3"),
        DeleteCell(cell_id=A), ClearOutputs(cell_id=C),
    ]  # fmt: skip
    assert resolve_edits(snapshot, exact) == exact
    with pytest.raises(CellConflict):
        resolve_edits(snapshot, [EditSource(A, "nowhere", "2")])


def test_looking_for_where_a_text_nearly_is_takes_no_time_worth_mentioning() -> None:
    source = "\n".join("ab a  bba ab"[number % 7 :] * 9 + str(number) for number in range(2_000))
    edits = [EditSource(A, "ba ab ba  a" * 9 + "!", "x") for _ in range(200)]
    with processor_time(5), pytest.raises(CellConflict):
        apply_operations(notebook(code(source) | {"id": A}), edits)
