"""How cells ran, as lines on the terminal."""

from __future__ import annotations

from hdsp_agent.cli._cell_lines import executed_lines, kernel_line
from hdsp_agent.messages import CellExecuted, CellId, KernelChanged

C1 = CellId("c1")


def test_how_a_cell_ran_is_a_line_and_its_value() -> None:
    ran = CellExecuted(
        path="a.ipynb", cell_id=C1, number=2, run_id="r", state="ok", execution_count=4, duration_ms=1500,
        result="\n".join("x" * 50),
    )  # fmt: skip
    lines = list(executed_lines(ran.to_json()))
    assert lines[0] == "cell 2: ok, [4], 1.5 s" and lines[1] == "  x" and lines[-1] == "  (and 10 more lines)"
    assert list(executed_lines("of another version")) == []
    changed = KernelChanged(path="a.ipynb", change="died", kernel="Python 3")
    assert kernel_line(changed.to_json()) == "kernel Python 3 of a.ipynb: died"
