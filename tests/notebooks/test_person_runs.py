"""What is remembered of the person's runs, whatever a kernel publishes of them."""

from __future__ import annotations

import nbformat

from hdsp_agent.messages import CellId
from hdsp_agent.notebooks import (
    ExecutionHistory,
    NotebookSnapshot,
    ObservedRun,
    PersonRunLog,
    as_notebook,
    cell_of,
    snapshot_of,
    source_hash,
)


class Seen(PersonRunLog):
    """A log of a person's runs, with what it reported."""

    def __init__(self) -> None:
        self.told: list[str] = []
        super().__init__(
            lambda run: self.told.append(f"began {run.code}"), lambda run: self.told.append(f"ended {run.code}")
        )

    def run(self, code: str, error: str | None = None, traceback: object = None) -> ObservedRun:
        self.input(code, {"code": code, "execution_count": 1})
        if error is not None:
            self.error(code, {"ename": error, "evalue": "so", "traceback": traceback})  # type: ignore[dict-item]
        self.idle(code)
        return self.ended_runs[-1]


def notebook(*cells: tuple[str, int | None], path: str = "a.ipynb") -> NotebookSnapshot:
    made = [
        nbformat.v4.new_code_cell(source, id=f"c{number}", execution_count=count)
        for number, (source, count) in enumerate(cells)
    ]
    return snapshot_of(
        as_notebook(nbformat.v4.new_notebook(cells=made), path), path=path, revision="1", source="disk", outputs="none"
    )


def test_an_error_is_kept_without_colours_and_a_long_traceback_by_its_last_frames() -> None:
    frames = [f"\x1b[0;32mframe {number}\x1b[0m" for number in range(2000)]
    told = Seen().run("x", "KeyError", frames).told()
    assert (told.ok, told.error) == (False, "KeyError: so")
    assert told.traceback is not None and len(told.traceback) <= 3001
    assert told.traceback.startswith("…frame ") and told.traceback.endswith("frame 1999")


def test_an_error_of_another_form_is_an_error_still() -> None:
    for traceback in (None, "a text", [1, None], {"a": 1}):
        assert Seen().run("x", "Oops", traceback).told().error == "Oops: so"
    seen = Seen()
    seen.input("r", {"execution_count": "7"})
    seen.error("r", {})
    seen.idle("r")
    told = seen.ended_runs[0].told()
    assert (told.source, told.execution_count, told.error) == ("", None, "Error")


def test_what_was_not_seen_to_begin_is_nothing() -> None:
    seen = Seen()
    seen.error("unknown", {"ename": "KeyError"})
    seen.idle("unknown")
    assert (seen.ended_runs, seen.told) == ([], [])


def test_a_run_whose_end_was_lost_is_over_when_others_have_begun() -> None:
    seen = Seen()
    for number in range(9):
        seen.input(str(number), {"code": str(number)})
    assert seen.told[-1] == "ended 0"
    assert [run.code for run in seen.ended_runs] == ["0"]


def test_runs_in_cells_are_not_pushed_out_by_others_and_the_oldest_go_first() -> None:
    seen = Seen()
    for number in range(25):
        seen.run(f"cell {number}").cell_id = CellId(f"c{number}")
    for number in range(30):
        seen.run(f"console {number}")
    kept = [run.code for run in seen.ended_runs]
    assert kept == [f"cell {n}" for n in range(10, 25)] + [f"console {n}" for n in range(25, 30)]


def test_the_end_of_a_kernels_life_ends_what_ran_and_leaves_only_failures() -> None:
    seen = Seen()
    seen.run("good")
    seen.run("bad", "KeyError")
    seen.input("r", {"code": "deadly"})
    seen.lost("The kernel died.")
    assert [(run.code, run.error) for run in seen.ended_runs] == [
        ("bad", "KeyError: so"),
        ("deadly", "The kernel died."),
    ]
    assert seen.unplaced() == []


def test_cells_are_looked_for_at_the_begin_and_once_more_at_the_end() -> None:
    seen = Seen()
    seen.input("slow", {"code": "slow"})
    (run,) = seen.unplaced()
    run.looked_for()
    assert seen.unplaced() == []
    seen.idle("slow")
    assert seen.unplaced() == [run]
    run.looked_for()
    assert seen.unplaced() == []
    quick = seen.run("quick")
    seen.unplaced()[0].looked_for()
    assert not quick.is_sought


def test_a_cell_is_found_by_its_source_and_equal_ones_by_their_counts() -> None:
    snapshot = notebook(("x = 1", 3), ("show()", 4), ("show()", 5), ("show()", None))
    assert cell_of(ObservedRun("x = 1", 9), [snapshot]) == ("a.ipynb", "c0")
    assert cell_of(ObservedRun("show()", 5), [snapshot]) == ("a.ipynb", "c2")
    assert cell_of(ObservedRun("show()", 6), [snapshot]) is None
    assert cell_of(ObservedRun("show()", None), [snapshot]) is None
    assert cell_of(ObservedRun("x = 1 ", 3), [snapshot]) is None
    other = notebook(("y = 1", 3), path="b.ipynb")
    assert cell_of(ObservedRun("y = 1", 1), [snapshot, other]) == ("b.ipynb", "c0")


def test_a_run_counts_from_when_it_began_though_its_cell_is_known_later() -> None:
    executions = ExecutionHistory(lambda kernel: "life")
    a, b = CellId("a"), CellId("b")
    turn = executions.turn("n.ipynb", "k")
    later = executions.began("n.ipynb", "k", b, source_hash("b"))
    assert executions.began("n.ipynb", "k", a, source_hash("a"), order=turn) == turn < later
    again = executions.began("n.ipynb", "k", a, source_hash("newer"))
    executions.began("n.ipynb", "k", a, source_hash("older"), order=turn)
    assert executions.memory("n.ipynb", "k").ran[a].order == again
    assert executions.memory("n.ipynb", "k").ran[a].source_hash == source_hash("newer")
