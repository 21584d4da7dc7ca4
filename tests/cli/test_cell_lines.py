"""Questions about cells, and how cells ran, as lines on the terminal."""

from __future__ import annotations

from hdsp_agent.cli._cell_lines import cell_lines, executed_lines, kernel_line
from hdsp_agent.cli._live_output import question_lines
from hdsp_agent.messages import CellCode, CellEdit, CellExecuted, CellId, ClineMessage, ClineSayTool, KernelChanged

C1 = CellId("c1")


def test_a_person_sees_every_line_that_changes() -> None:
    diff = "--- a/cell 1 c1\n+++ b/cell 1 c1\n@@ -1 +1 @@\n-x = 1\n+x = 2"
    edits = [
        CellEdit(op="edit", cell_id=C1, number=1, diff=diff),
        CellEdit(op="insert", cell_type="markdown", after=0, diff="--- a\n+++ b\n@@ -0,0 +1 @@\n+# T"),
        CellEdit(op="move", cell_id=C1, number=1, after=3),
        CellEdit(op="changeType", cell_id=C1, number=1, cell_type="raw"),
        CellEdit(op="clearOutputs", cell_id=C1, number=1),
    ]
    text = ClineSayTool(tool="editCells", path="a.ipynb", cell_edits=edits).to_json()
    question = ClineMessage(ts=1, type="ask", ask="tool", text=text)
    assert list(question_lines(question)) == [
        "editCells a.ipynb",
        "edit cell 1:", "  @@ -1 +1 @@", "  -x = 1", "  +x = 2",
        "new markdown cell at the top:", "  @@ -0,0 +1 @@", "  +# T",
        "move cell 1 behind cell 3",
        "cell 1 becomes raw",
        "clear the outputs of cell 1",
    ]  # fmt: skip


def test_a_person_sees_all_code_that_is_run() -> None:
    cells = [CellCode(cell_id=C1, number=3, code="a\nb"), CellCode(code="c")]
    text = ClineSayTool(tool="runCells", path="a.ipynb", cells=cells).to_json()
    assert list(cell_lines(text)) == ["cell 3:", "  a", "  b", "code:", "  c"]


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
