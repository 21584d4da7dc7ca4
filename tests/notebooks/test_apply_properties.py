"""What holds for every batch of operations on every notebook."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import cast

import nbformat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    SetAttachments,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
)
from hdsp_agent.notebooks import (
    EditSource,
    NotebookSnapshot,
    Operation,
    apply_operations,
    resolve_edits,
    snapshot_of,
    source_hash,
)

from .._helpers.long_tests import rounds
from ._helpers.odd_notebooks import ODD_NOTEBOOKS, code, notebook, text_cell

PICTURE: JsonObject = {"a.png": {"image/png": "aGk="}}
STREAM: JsonObject = {"output_type": "stream", "name": "stdout", "text": "a\nb"}
MANY = settings(max_examples=rounds(50, 150), deadline=None, suppress_health_check=[HealthCheck.too_slow])

texts = st.text(st.sampled_from("ab한\u0301🧪 \n\r\u2028#"), max_size=12)
sources = st.one_of(texts, texts.map(lambda text: text.splitlines(keepends=True)))
made_cells = st.one_of(
    st.builds(code, sources, st.lists(st.just({**STREAM}), max_size=2), st.one_of(st.none(), st.integers(0, 9))),
    st.builds(text_cell, sources, st.sampled_from(["markdown", "raw"])),
)
made_notebooks = st.builds(
    lambda cells, minor, ids: notebook(*cells, minor=minor, ids=ids and minor >= 5),
    st.lists(made_cells, max_size=6), st.integers(0, 5), st.booleans(),
)  # fmt: skip
odd_notebooks = st.sampled_from([odd for name, odd in ODD_NOTEBOOKS.items() if name != "huge outputs"])
notebooks = st.one_of(made_notebooks, odd_notebooks)


def seen(of: JsonObject) -> NotebookSnapshot:
    return snapshot_of(of, path="a.ipynb", revision="", source="disk", outputs="full")


def each(model: Callable[..., Operation], **fields: st.SearchStrategy[object]) -> st.SearchStrategy[Operation]:
    """Operations of one kind. Hypothesis would also make up the fields that are not named."""
    return st.fixed_dictionaries(fields).map(lambda values: model(**values))


@st.composite
def batches(draw: st.DrawFn, of: JsonObject) -> list[Operation]:
    """Operations of which many can be done, and some cannot."""
    there = [(cell.id, cell.hash) for cell in seen(of).cells]
    new = [CellId("new-1"), CellId("new-2")]
    ids = st.sampled_from([*(cell_id for cell_id, _ in there), *new, CellId("nowhere")])
    places = st.one_of(st.none(), ids)
    hashes = st.sampled_from([None, None, None, *(each for _, each in there), source_hash("")])
    types = st.sampled_from(["code", "markdown", "raw"])
    metadata = st.one_of(st.none(), st.dictionaries(st.sampled_from(["k", "tags2"]), st.integers()))
    one = st.one_of(
        each(InsertCell, cell_id=st.sampled_from(new), after=places, cell_type=types, source=texts),
        each(ReplaceSource, cell_id=ids, expect=hashes, source=texts),
        st.builds(EditSource, ids, st.text("ab\n", min_size=1, max_size=2), texts, hashes),
        each(DeleteCell, cell_id=ids, expect=hashes),
        each(MoveCell, cell_id=ids, after=places),
        each(ChangeCellType, cell_id=ids, expect=hashes, cell_type=types),
        each(SetOutputs, cell_id=ids, outputs=st.just([{**STREAM}]), execution_count=st.one_of(st.none(), st.just(3))),
        each(AppendOutput, cell_id=ids, output=st.just({**STREAM})),
        each(ClearOutputs, cell_id=ids),
        each(SetAttachments, cell_id=ids, attachments=st.sampled_from([{}, PICTURE])),
        each(SetCellMetadata, cell_id=ids, key=st.sampled_from(["k", "tags2"]), value=metadata),
        each(SetNotebookMetadata, key=st.just("k"), value=metadata),
    )
    return draw(st.lists(one, max_size=5))


@MANY
@given(notebooks.flatmap(lambda of: st.tuples(st.just(of), batches(of))))
def test_a_batch_is_all_or_nothing_and_leaves_the_rest_alone(case: tuple[JsonObject, list[Operation]]) -> None:
    before, operations = case
    frozen = json.dumps(before)
    try:
        changed = apply_operations(before, operations)
    except HdspAgentError:
        changed = None
    assert json.dumps(before) == frozen, "the notebook given was changed"
    if changed is None:
        return
    nbformat.validate(copy.deepcopy(changed.notebook))
    old, new = cast("list[JsonObject]", before["cells"]), cast("list[JsonObject]", changed.notebook["cells"])
    ids = dict(zip((cell.id for cell in seen(before).cells), old, strict=True))
    named = {each.cell_id for each in operations if not isinstance(each, SetNotebookMetadata)}
    untouched = [cell for cell_id, cell in ids.items() if cell_id not in named]
    kept = {id(cell) for cell in new}
    for cell in untouched:
        # The very same object, but where the file lacked an id it must have.
        assert id(cell) in kept or {**cell, "id": None} in [{**each, "id": None} for each in new]
    order = [cell_id for cell_id in ids if cell_id not in named]
    after = [cell.id for cell in seen(changed.notebook).cells]
    back = {new_id: old_id for old_id, new_id in changed.renamed.items()}
    assert [back.get(each, each) for each in after if back.get(each, each) in order] == order
    assert set(changed.changed) <= set(after)
    if not any(isinstance(each, SetNotebookMetadata) for each in operations):
        assert {k: v for k, v in changed.notebook.items() if k != "cells"} == {
            k: v for k, v in before.items() if k != "cells"
        }


@MANY
@given(notebooks.flatmap(lambda of: st.tuples(st.just(of), batches(of))))
def test_what_is_resolved_does_the_same_as_what_was_asked(case: tuple[JsonObject, list[Operation]]) -> None:
    before, operations = case
    try:
        exact = resolve_edits(seen(before), operations)
    except HdspAgentError as refusal:
        try:
            apply_operations(before, operations, path="a.ipynb")
        except HdspAgentError as same:
            assert (type(same), same.message) == (type(refusal), refusal.message)
            return
        raise AssertionError("one refuses what the other does") from refusal
    assert not any(isinstance(each, EditSource) for each in exact)
    assert apply_operations(before, exact).notebook == apply_operations(before, operations).notebook


def undoing(before: JsonObject, operation: Operation) -> list[Operation]:
    """What takes one operation back, made from a snapshot of before."""
    snapshot = seen(before)
    if isinstance(operation, SetNotebookMetadata):
        return [SetNotebookMetadata(key=operation.key, value=snapshot.metadata.get(operation.key))]
    if isinstance(operation, InsertCell):
        return [DeleteCell(cell_id=operation.cell_id)]
    cell = snapshot.cell(operation.cell_id)
    place = snapshot.index(cell.id)
    behind = snapshot.cells[place - 1].id if place else None
    outputs = SetOutputs(cell_id=cell.id, outputs=list(cell.outputs), execution_count=cell.execution_count)
    attachments = SetAttachments(cell_id=cell.id, attachments=cell.attachments)
    match operation:
        case ReplaceSource() | EditSource():
            return [ReplaceSource(cell_id=cell.id, source=cell.source)]
        case DeleteCell():
            return [
                InsertCell(
                    cell_id=cell.id, after=behind, cell_type=cell.cell_type, source=cell.source, metadata=cell.metadata,
                    outputs=list(cell.outputs) or None, execution_count=cell.execution_count,
                    attachments=cell.attachments or None,
                )
            ]  # fmt: skip
        case MoveCell():
            return [MoveCell(cell_id=cell.id, after=behind)]
        case ChangeCellType():
            back: list[Operation] = [ChangeCellType(cell_id=cell.id, cell_type=cell.cell_type)]
            return [*back, outputs if cell.cell_type == "code" else attachments]
        case SetAttachments():
            return [attachments]
        case SetCellMetadata():
            return [SetCellMetadata(cell_id=cell.id, key=operation.key, value=cell.metadata.get(operation.key))]
        case SetOutputs() | AppendOutput() | ClearOutputs():
            return [outputs]


def joined(of: JsonObject) -> JsonObject:
    return cast(JsonObject, json.loads(nbformat.writes(nbformat.v4.to_notebook(of))))


@MANY
@given(
    st.lists(made_cells, max_size=5).flatmap(
        lambda cells: st.tuples(st.just(notebook(*cells)), batches(notebook(*cells)), st.just(None))
    )
)
def test_operations_can_be_taken_back_one_by_one(case: tuple[JsonObject, list[Operation], None]) -> None:
    before, operations, _ = case
    now, undo = before, []
    for operation in operations:
        try:
            changed = apply_operations(now, [operation])
        except HdspAgentError:
            continue
        undo.append(undoing(now, operation))
        now = changed.notebook
    for steps in reversed(undo):
        now = apply_operations(now, steps).notebook
    assert joined(now) == joined(before)
