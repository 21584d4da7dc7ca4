"""The pure plan from what cells are to what they were."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.checkpoints.timeline._cell_matching import ChangesSince
from hdsp_agent.checkpoints.timeline._cell_plan import CellPlan, plan_cell, plan_cells
from hdsp_agent.checkpoints.timeline._notebook_states import KeptCell, NotebookState, state_of
from hdsp_agent.checkpoints.timeline._timeline_limits import TimelineLimits
from hdsp_agent.errors import NotFound
from hdsp_agent.messages import JsonObject
from hdsp_agent.notebooks import apply_operations, snapshot_of

MANY = settings(max_examples=300, deadline=None)
PICTURE: JsonObject = {"a.png": {"image/png": "aGk="}}
STREAM: JsonObject = {"output_type": "stream", "name": "stdout", "text": "a\nb"}


def code(cell_id: str, source: str, *, count: int | None = None, outputs: tuple[JsonObject, ...] = ()) -> KeptCell:
    return KeptCell(cell_id, "code", source, count, outputs)


def text(cell_id: str, source: str, *, attachments: JsonObject | None = None) -> KeptCell:
    return KeptCell(cell_id, "markdown", source, attachments=attachments or {})


def notebook(*cells: KeptCell, minor: int = 5) -> NotebookState:
    return NotebookState(cells, {}, minor)


def as_json(state: NotebookState) -> JsonObject:
    cells: list[JsonObject] = []
    for cell in state.cells:
        one: JsonObject = {"cell_type": cell.cell_type, "source": cell.source, "metadata": dict(cell.metadata)}
        if state.has_ids:
            one["id"] = cell.id
        if cell.cell_type == "code":
            one |= {"outputs": list(cell.outputs), "execution_count": cell.execution_count}
        if cell.attachments:
            one["attachments"] = cell.attachments
        cells.append(one)
    return {"cells": [*cells], "metadata": dict(state.metadata), "nbformat": 4, "nbformat_minor": state.minor}


def read(of: JsonObject, limits: TimelineLimits | None = None) -> NotebookState:
    snapshot = snapshot_of(of, path="a.ipynb", revision="", source="disk", outputs="full")
    return state_of(snapshot, limits or TimelineLimits())


def applied(current: NotebookState, plan: CellPlan) -> NotebookState:
    return read(apply_operations(as_json(current), plan.operations).notebook)


def told(plan: CellPlan) -> list[tuple[str, str]]:
    return [(change.action, change.cell_id) for change in plan.changes]


def without_ids(state: NotebookState) -> NotebookState:
    return replace(state, cells=tuple(replace(cell, id="") for cell in state.cells))


# ---- exact


def test_only_what_differs_is_touched() -> None:
    then = notebook(code("a", "a = 1", count=1, outputs=(STREAM,)), text("b", "words"), code("c", "c"))
    now = notebook(code("a", "a = 2", count=2), text("b", "words"), code("c", "c"))
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    assert [operation.op for operation in plan.operations] == ["replaceSource", "setOutputs"]
    assert told(plan) == [("change", "a")] and plan.changes[0].line == "a = 1"
    assert applied(now, plan) == then == plan.after


def test_outputs_and_counts_alone_come_back_as_such() -> None:
    then = notebook(code("a", "a", count=1, outputs=(STREAM,)), code("b", "b"))
    now = notebook(code("a", "a"), code("b", "b", count=7, outputs=(STREAM,)))
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    assert told(plan) == [("outputs", "a"), ("outputs", "b")]
    assert [operation.op for operation in plan.operations] == ["setOutputs", "clearOutputs"]
    assert applied(now, plan) == then


def test_deleted_inserted_moved_and_retyped_cells_come_back() -> None:
    then = notebook(text("t", "# title"), code("a", "a", count=3, outputs=(STREAM,)), code("b", "b"), code("c", "c"))
    now = notebook(code("c", "c"), text("b", "b"), text("t", "# title"), code("new", "rm"))
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    assert told(plan) == [("delete", "new"), ("insert", "a"), ("move", "t"), ("change", "b")]
    assert applied(now, plan) == then


def test_one_moved_cell_is_one_move() -> None:
    then = notebook(*(code(name, name) for name in "abcdef"))
    now = notebook(*(code(name, name) for name in "bcdefa"))
    plan = plan_cells(now, then)
    assert told(plan) == [("move", "a")] and len(plan.operations) == 1
    assert applied(now, plan) == then


def test_metadata_come_back_key_by_key() -> None:
    then = NotebookState((replace(code("a", "a"), metadata={"tags": ["x"]}),), {"title": "then"})
    now = NotebookState((replace(code("a", "a"), metadata={"other": 1}),), {"title": "now"})
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    assert applied(now, plan) == then


def test_attachments_come_back() -> None:
    then = notebook(text("a", "a", attachments=PICTURE), text("b", "b", attachments=PICTURE), text("c", "c"))
    now = notebook(text("b", "b"), text("c", "c", attachments=PICTURE))
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    assert told(plan) == [("insert", "a"), ("change", "b"), ("change", "c")]
    assert applied(now, plan) == then == plan.after


def test_attachments_that_were_not_kept_stay() -> None:
    with_one = as_json(notebook(text("a", "a", attachments=PICTURE)))
    for then in (read(with_one, TimelineLimits(cell_output_bytes=10)), before_there_were_attachments("a")):
        assert then.cells[0].attachments is None
        now = notebook(text("a", "changed", attachments=PICTURE))
        plan = plan_cells(now, then, [ChangesSince(now, "agent")])
        assert [operation.op for operation in plan.operations] == ["replaceSource"]
        assert plan.after == notebook(text("a", "a", attachments=PICTURE))


def before_there_were_attachments(source: str) -> NotebookState:
    """As an earlier version wrote it."""
    content = json.loads(notebook(text("a", source)).to_bytes())
    for cell in content["cells"]:
        del cell["attachments"], cell["seal"]
    return NotebookState.of_bytes(json.dumps(content).encode())


def test_only_outputs_that_go_back_are_trusted_again() -> None:
    sealed = replace(code("a", "a", outputs=(STREAM,)), seal="sealed")
    then = notebook(sealed, replace(sealed, id="b", seal="other"), code("c", "c"))
    now = notebook(code("c", "c"))
    assert plan_cells(now, then).seals == {"sealed", "other"}
    assert plan_cell(now, then, "a").seals == {"sealed"} and not plan_cell(now, then, "c").seals
    assert NotebookState.of_bytes(then.to_bytes()) == then


def test_what_the_person_changed_since_stays() -> None:
    then = notebook(code("a", "a"), code("b", "b"), code("c", "c"))
    agents = notebook(code("a", "a!"), code("b", "b!"), code("c", "c"), code("d", "agent's"))
    now = notebook(code("a", "a!"), code("b", "mine"), code("mine", "new"), code("d", "agent's"))
    plan = plan_cells(now, then, [ChangesSince(agents, "agent")])
    assert told(plan) == [("delete", "d"), ("change", "a"), ("keep", "b"), ("keep", "c"), ("keep", "mine")]
    assert applied(now, plan) == notebook(code("a", "a"), code("b", "mine"), code("mine", "new"))


def test_what_the_person_changed_goes_too_if_they_choose_so() -> None:
    then = notebook(code("a", "a"), code("c", "c"))
    now = notebook(code("a", "mine"), code("mine", "new"))
    plan = plan_cells(now, then, overwrite=True)
    assert applied(now, plan) == then and all(change.action != "keep" for change in plan.changes)


def test_what_the_agent_changed_after_the_person_is_the_agents() -> None:
    then, mine, now = (notebook(code("a", source)) for source in ("a", "mine", "agent's"))
    plan = plan_cells(now, then, [ChangesSince(mine, "person"), ChangesSince(now, "agent")])
    assert applied(now, plan) == then


def test_a_cell_the_person_ran_again_is_not_taken_for_written() -> None:
    then = notebook(code("a", "a", count=1))
    agents = notebook(code("a", "b", count=2))
    now = notebook(code("a", "b", count=9, outputs=(STREAM,)))
    assert applied(now, plan_cells(now, then, [ChangesSince(agents, "agent")])) == then


def test_what_the_person_ran_or_marked_since_stays() -> None:
    then = notebook(code("a", "a", count=1), code("b", "b", count=2), text("c", "c"), code("d", "d", count=3))
    agents = notebook(code("a", "a!"), code("b", "b", count=7, outputs=(STREAM,)), text("c", "c"), code("d", "d"))
    mine = (code("b", "b", count=8), replace(text("c", "c"), metadata={"tags": ["mine"]}))
    now = notebook(code("a", "a!", count=9), *mine, code("d", "d"))
    plan = plan_cells(now, then, [ChangesSince(agents, "agent")])
    assert told(plan) == [("change", "a"), ("outputs", "d"), ("keep", "b"), ("keep", "c")]
    assert applied(now, plan) == notebook(then.cells[0], *mine, then.cells[3])
    assert applied(now, plan_cells(now, then, overwrite=True)) == then


def test_what_the_agent_ran_after_the_person_is_the_agents() -> None:
    then, mine, now = (notebook(code("a", "a", count=count)) for count in (1, 2, 3))
    plan = plan_cells(now, then, [ChangesSince(mine, "person"), ChangesSince(now, "agent")])
    assert applied(now, plan) == then


def test_outputs_too_large_to_be_kept_are_not_taken_for_others() -> None:
    big = as_json(notebook(code("a", "a", count=1, outputs=(STREAM,))))
    small = TimelineLimits(cell_output_bytes=10)
    for then, now in ((read(big, small), read(big)), (read(big), read(big, small))):
        assert all(change.action != "keep" for change in plan_cells(now, then).changes)


def test_one_cell_alone_is_restored_whoever_changed_it() -> None:
    then = notebook(code("a", "a"), code("b", "b"), code("c", "c"))
    now = notebook(code("a", "x"), code("b", "mine"))
    assert applied(now, plan_cell(now, then, "b")) == notebook(code("a", "x"), code("b", "b"))
    assert applied(now, plan_cell(now, then, "c")) == notebook(code("a", "x"), code("b", "mine"), code("c", "c"))
    with pytest.raises(NotFound, match="another checkpoint"):
        plan_cell(then, now, "c")
    assert applied(then, plan_cell(then, now, "c", may_go=True)) == notebook(*then.cells[:2])


def test_without_ids_cells_are_known_by_what_they_say_and_their_order() -> None:
    then = read(as_json(notebook(code("", "a"), code("", "b"), text("", "same"), text("", "same"), minor=4)))
    now = read(as_json(notebook(code("", "a"), code("", "broken"), text("", "same"), text("", "same"), minor=4)))
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    assert [operation.op for operation in plan.operations] == ["replaceSource"]
    assert applied(now, plan) == then


def test_a_notebook_that_got_ids_when_it_was_opened_is_known_again() -> None:
    then = notebook(code("x1", "a"), code("x2", "b"))
    now = notebook(code("y1", "a"), code("y2", "b"), code("y3", "new"))
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    assert told(plan) == [("delete", "y3")]


def test_outputs_too_large_to_be_kept_stay_where_they_may_be_the_same() -> None:
    small = TimelineLimits(cell_output_bytes=10)
    big = notebook(code("a", "a", count=1, outputs=(STREAM,)), code("b", "b", count=2, outputs=(STREAM,)))
    then = read(as_json(big), small)
    assert [cell.left_out is not None and not cell.outputs for cell in then.cells] == [True, True]
    now = read(as_json(notebook(big.cells[0], code("b", "other", count=3))), small)
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    assert [operation.op for operation in plan.operations] == ["replaceSource", "clearOutputs"]
    assert not plan_cells(then, then).operations


def test_nothing_is_planned_where_nothing_differs() -> None:
    state = notebook(code("a", "a", count=1, outputs=(STREAM,)), text("b", "b"))
    plan = plan_cells(state, state)
    assert not plan.operations and not plan.changes and plan.after == state


# ---- whatever the notebooks


names = st.sampled_from(["a", "b", "c", "d", "e", "f"])
sources = st.sampled_from(["", "x = 1", "y", "# 한글 🧪", "x = 1\ny"])
cells = st.one_of(
    st.builds(
        code, names, sources, count=st.one_of(st.none(), st.integers(0, 3)),
        outputs=st.sampled_from([(), (STREAM,), (STREAM, STREAM)]),
    ),
    st.builds(text, names, sources, attachments=st.sampled_from([{}, PICTURE])),
)  # fmt: skip
with_ids = st.lists(cells, max_size=6, unique_by=lambda cell: cell.id).map(lambda found: notebook(*found))
old_format = st.lists(cells, max_size=6).map(lambda found: read(as_json(notebook(*found, minor=4))))


@MANY
@given(now=with_ids, then=with_ids)
def test_the_plan_leads_to_the_target_and_its_undo_back(now: NotebookState, then: NotebookState) -> None:
    plan = plan_cells(now, then, [ChangesSince(now, "agent")])
    after = applied(now, plan)
    assert after == plan.after
    assert without_ids(after) == without_ids(then)
    back = plan_cells(after, now, [ChangesSince(after, "restore")])
    assert without_ids(applied(after, back)) == without_ids(now)


@MANY
@given(now=old_format, then=old_format)
def test_so_it_does_without_ids(now: NotebookState, then: NotebookState) -> None:
    after = applied(now, plan_cells(now, then, [ChangesSince(now, "agent")]))
    assert without_ids(after) == without_ids(then)
    back = plan_cells(after, now, [ChangesSince(after, "restore")])
    assert without_ids(applied(after, back)) == without_ids(now)


@MANY
@given(now=with_ids, agents=with_ids, then=with_ids)
def test_nothing_a_person_wrote_is_lost(now: NotebookState, agents: NotebookState, then: NotebookState) -> None:
    plan = plan_cells(now, then, [ChangesSince(agents, "agent")])
    after = applied(now, plan)
    assert after == plan.after
    known = {cell.said for state in (agents, then) for cell in state.cells}
    written = [cell.said for cell in now.cells if cell.said not in known]
    assert set(written) <= {cell.said for cell in after.cells}


@MANY
@given(now=with_ids, then=with_ids, data=st.data())
def test_one_cell_changes_no_other(now: NotebookState, then: NotebookState, data: st.DataObject) -> None:
    if not then.cells:
        return
    chosen = data.draw(st.sampled_from([cell.id for cell in then.cells]))
    after = applied(now, plan_cell(now, then, chosen))
    assert [cell for cell in after.cells if cell.id != chosen] == [cell for cell in now.cells if cell.id != chosen] or (
        chosen not in {cell.id for cell in after.cells}
    )
    assert next(cell.said for cell in then.cells if cell.id == chosen) in {cell.said for cell in after.cells}


@MANY
@given(state=with_ids)
def test_a_state_is_read_as_it_was_written(state: NotebookState) -> None:
    assert NotebookState.of_bytes(state.to_bytes()) == state
