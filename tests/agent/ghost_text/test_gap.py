"""What a model is shown of the place where somebody writes."""

from __future__ import annotations

import pytest

from hdsp_agent.agent.ghost_text import CellAbove, Place
from hdsp_agent.agent.ghost_text._place import gap_at
from hdsp_agent.notebooks.kernels import Variable

FRAME = Variable(name="df", type="pandas.core.frame.DataFrame", columns=(("price", "int64"), ("말", "object")))


def test_the_cells_above_and_what_the_kernel_has_come_first() -> None:
    cells = [CellAbove("markdown", "# Prices\nof flats"), CellAbove("code", "x = 1\n"), CellAbove("code", " \n")]
    gap = gap_at(Place("df.gro", "()", cells=cells), [FRAME, Variable(name="n", type="int")])
    assert gap.before == (
        "# df: DataFrame with columns 'price', '말'\n# n: int\n\n# # Prices\n# of flats\n\nx = 1\n\ndf.gro"
    )
    assert gap.after == "()"


def test_another_language_is_told_of_no_variables() -> None:
    assert gap_at(Place("x <- ", "", language="r"), [FRAME]).before == "x <- "


def test_in_text_the_code_above_is_fenced() -> None:
    cells = [CellAbove("markdown", "Some words."), CellAbove("code", "x = 1")]
    gap = gap_at(Place("So we ", "", kind="markdown", cells=cells), [FRAME])
    assert gap.before == "Some words.\n\n```python\nx = 1\n```\n\nSo we "
    assert gap.stop == ("\n",)


def test_cells_that_are_too_far_away_are_left_out_whole() -> None:
    cells = [CellAbove("code", f"far_{at} = {at}\n" * 60) for at in range(10)]
    one = gap_at(Place("a", "", cells=cells)).before
    other = gap_at(Place("abc", "", cells=cells)).before
    assert one.startswith("far_") and one.endswith("a") and len(one) < 4_000
    # What was read once is read again as it was.
    assert other == f"{one}bc"


def test_a_long_cell_is_seen_from_its_end() -> None:
    gap = gap_at(Place("x" * 10_000 + "end", "y" * 10_000))
    assert gap.before.endswith("xend") and len(gap.before) < 3_500 and len(gap.after) < 1_000


@pytest.mark.parametrize(
    ("before", "takes_lines"),
    [("def f(x):", True), ("df = ", False), ("x = 1\n", True), ("", True), ("plot(\n    ", True), ("f(", True)],
)
def test_several_lines_come_where_something_begins(before: str, takes_lines: bool) -> None:
    assert (gap_at(Place(before, "")).stop == ("\n\n",)) is takes_lines


@pytest.mark.parametrize(
    ("before", "after", "takes_lines"),
    [
        # Code follows, or not.
        ("x = 1\n", "\ny = 2", False),
        ("x = 1\n", "\n\ny = 2", True),
        ("x = 1\n", "\n  \ny = 2", True),
        # What was opened is empty, or not.
        ("for x in y:\n", "\nprint(y)", True),
        ("for x in y:", "\nprint(y)", True),
        ("for x in y:\n", "\n    print(x)", False),
        ("plot(\n    ", "\n)", True),
        ("plot(\n    x,\n    ", "\n)", False),
        # The line goes on.
        ("f(", ")", False),
        ("f(", "  ", True),
    ],
)
def test_one_line_comes_into_the_middle_of_code(before: str, after: str, takes_lines: bool) -> None:
    assert (gap_at(Place(before, after)).stop == ("\n\n",)) is takes_lines
