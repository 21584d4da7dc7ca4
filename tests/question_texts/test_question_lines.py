"""Questions about cells as lines: every change, and all code that is run."""

from __future__ import annotations

from hdsp_agent.messages import CellCode, CellEdit, CellId, ClineMessage, ClineSayTool
from hdsp_agent.question_texts import cell_lines, question_lines

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
