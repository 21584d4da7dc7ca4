"""The outline of a notebook, and whether its cells show what they would show now."""

from __future__ import annotations

import pytest

from hdsp_agent.messages import CellId, JsonObject
from hdsp_agent.notebooks import (
    Cell,
    CellFreshness,
    OutlineLine,
    RanCell,
    RunMemory,
    freshness_of,
    outline_of,
    snapshot_of,
    source_hash,
)

from .._helpers.timing import processor_time
from ._helpers.odd_notebooks import code, notebook, text_cell

A, B, C = CellId("cell-0"), CellId("cell-1"), CellId("cell-2")
STREAM: JsonObject = {"output_type": "stream", "name": "stdout", "text": "a"}


def outline(*cells: JsonObject, memory: RunMemory | None = None) -> tuple[OutlineLine, ...]:
    snapshot = snapshot_of(notebook(*cells), path="", revision="", source="disk")
    return outline_of(snapshot) if memory is None else outline_of(snapshot, memory)


def cells(*made: JsonObject) -> tuple[Cell, ...]:
    return snapshot_of(notebook(*made), path="", revision="", source="disk").cells


def ran(source: str, order: int, failed: bool = False) -> RanCell:
    return RanCell(source_hash(source), order, failed)


def test_a_line_says_what_where_and_how_long() -> None:
    first, second, empty = outline(
        code("\n\nimport pandas as pd\nx = 1", [{**STREAM}], 3), text_cell("# Results\ntext"), code("")
    )
    assert (first.number, first.cell_id, first.cell_type, first.title) == (1, A, "code", "import pandas as pd")
    assert (first.lines, first.characters, first.execution_count, first.outputs.count) == (4, 27, 3, 1)
    assert first.freshness == CellFreshness("unknown")
    assert (second.number, second.title, second.level, second.freshness) == (2, "Results", 1, None)
    assert (empty.title, empty.lines, empty.freshness) == ("", 0, CellFreshness("empty"))


@pytest.mark.parametrize(
    ("source", "title", "level"),
    [
        ("### Deep ###", "Deep", 3),
        ("text first\n\n## Then a heading\nmore", "Then a heading", 2),
        ("Title\n=====\ntext", "Title", 1),
        ("Second\n---", "Second", 2),
        ("```python\n# a comment\n```\n# Real", "Real", 1),
        ("```\n# never closed", "```", None),
        ("#no heading", "#no heading", None),
        ("plain\ntext", "plain", None),
        ("# C#", "C#", 1),
        ("  \n", "", None),
        ("# " + "가" * 200, "가" * 79 + "…", 1),
    ],
)
def test_a_markdown_cell_is_called_by_its_first_heading(source: str, title: str, level: int | None) -> None:
    (line,) = outline(text_cell(source))
    assert (line.title, line.level) == (title, level)


def test_a_comment_in_code_is_no_heading() -> None:
    (line,) = outline(code("# load\nx"))
    assert (line.title, line.level) == ("# load", None)


def test_hostile_markdown_does_not_take_long() -> None:
    with processor_time(2):
        for source in (
            "# " + "# " * 200_000 + "x",
            " " * 300_000,
            "```\n" * 50_000,
            "# a " + "#" * 300_000,
            "-\n" * 100_000,
        ):
            outline(text_cell(source))


# ---- freshness, rule by rule


def test_a_cell_that_ran_as_it_is_is_fresh_until_its_source_changes() -> None:
    memory = RunMemory({A: ran("a", 1), B: ran("old", 2), C: ran("c", 3, failed=True)})
    assert freshness_of(cells(code("a", count=1), code("new", count=2), code("c", count=3)), memory) == {
        A: CellFreshness("fresh"), B: CellFreshness("stale", "source_changed"), C: CellFreshness("failed"),
    }  # fmt: skip


def test_a_cell_is_stale_when_one_above_it_ran_later() -> None:
    memory = RunMemory({A: ran("a", 5), B: ran("b", 2), C: ran("c", 7)})
    states = freshness_of(cells(code("a"), code("b"), code("c")), memory)
    assert states == {
        A: CellFreshness("fresh"), B: CellFreshness("stale", "ran_before_cell_above", A), C: CellFreshness("fresh"),
    }  # fmt: skip
    later_below = RunMemory({A: ran("a", 2), B: ran("b", 5)})
    assert freshness_of(cells(code("a"), code("b")), later_below)[A] == CellFreshness("fresh")


def test_the_cell_above_that_ran_last_is_the_one_named() -> None:
    memory = RunMemory({A: ran("a", 8), B: ran("b", 9), C: ran("c", 1)})
    states = freshness_of(cells(code("a"), code("b"), code("c")), memory)
    assert states[C] == CellFreshness("stale", "ran_before_cell_above", B)


def test_what_never_ran_is_told_from_what_ran_in_another_kernel() -> None:
    made = cells(code("a"), code("b", count=4), code("c", [{**STREAM}]))
    assert freshness_of(made) == {
        A: CellFreshness("never_ran"), B: CellFreshness("unknown"), C: CellFreshness("unknown"),
    }  # fmt: skip
    gone = CellFreshness("stale", "not_in_this_kernel")
    assert freshness_of(made, RunMemory({}, complete=True)) == {A: CellFreshness("never_ran"), B: gone, C: gone}


def test_by_the_file_alone_a_higher_count_above_makes_stale() -> None:
    states = freshness_of(cells(code("a", count=9), code("b", count=3), code("c", count=10)))
    assert states == {
        A: CellFreshness("unknown"), B: CellFreshness("stale", "ran_before_cell_above", A), C: CellFreshness("unknown"),
    }  # fmt: skip


def test_text_has_no_state_and_empty_code_says_so() -> None:
    memory = RunMemory({CellId("deleted"): ran("x", 99), B: ran("", 1)})
    assert freshness_of(cells(text_cell("t"), code(" \n"), code("c", count=1)), memory) == {
        B: CellFreshness("empty"), C: CellFreshness("unknown"),
    }  # fmt: skip
