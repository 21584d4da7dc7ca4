"""What a small model may do next: several things always; a tool is closed only where it can do nothing."""

from __future__ import annotations

from hdsp_agent.agent.lite._next_step import next_step, step_at_cell
from hdsp_agent.providers import ToolSpec
from hdsp_agent.tools import PastCall, SinceAsked

NAMES = ("add_cell", "edit_cell", "run_cell", "rename_variable", "add_text", "delete_cell", "answer")
TOOLS = [
    ToolSpec(name, name, {"type": "object", "properties": {"cell": {"type": "integer"}} if "cell" in name else {}})
    for name in NAMES
]
CELLS = "Cell 1 (ran):\na = 1"


def offered(since: SinceAsked) -> set[str]:
    return {tool.name for tool in next_step(TOOLS, since).tools}


def call(name: str, result: str, *, is_error: bool = False) -> PastCall:
    return PastCall(name, {}, result, is_error=is_error)


def test_all_is_open_whatever_the_words_say() -> None:
    for words in ("Fix cell 1.", "What is a?", "셀을 지워 줘", "名前を変えて", ""):
        assert offered(SinceAsked(words, CELLS)) == set(NAMES)
    assert offered(SinceAsked("", CELLS, (call("add_cell", "Cell 2 ran. Output:\n1"),))) == set(NAMES)


def test_what_works_on_cells_is_closed_where_there_are_none() -> None:
    assert offered(SinceAsked("", "The notebook is empty.")) == {"add_cell", "add_text", "answer"}
    assert "edit_cell" in offered(SinceAsked("", "Cells 1 to 20 are not listed."))
    failed = call("add_cell", "Cell 1 failed: NameError: no a", is_error=True)
    assert "edit_cell" in offered(SinceAsked("", "The notebook is empty.", (failed,)))


DATA = "Cell 1 (text):\n# flats\nCell 2 (ran):\ndf = read()\nCell 3 (ran):\nlimit = 2\nVariables:\ndf: DataFrame of 2 rows, columns: rent int64"


def test_what_the_data_of_the_request_holds_is_computed_and_not_told() -> None:
    for words in ("mean of rent", "rent의 평균", "dfのrentの平均", "What is in df?"):
        assert offered(SinceAsked(words, DATA)) == set(NAMES) - {"answer", "edit_cell"}
    answer = [tool for tool in TOOLS if tool.name == "answer"]
    assert next_step(answer, SinceAsked("mean of rent", DATA)).tools == answer
    ran = call("add_cell", "Cell 4 ran. Output:\n1")
    assert offered(SinceAsked("mean of rent", DATA, (ran,))) == set(NAMES)


def test_only_a_cell_that_may_be_meant_is_offered_for_a_change() -> None:
    def cells(words: str, told: str = DATA) -> object:
        found = [tool for tool in next_step(TOOLS, SinceAsked(words, told)).tools if tool.name == "edit_cell"]
        return found[0].parameters["properties"] if found else None

    assert cells("Set limit to 3.") == cells("limit를 3으로") == {"cell": {"enum": [3]}}
    assert cells("In cell 2 read df anew.") == {"cell": {"enum": [2]}}
    assert cells("Make it nicer.") == {"cell": {"enum": [2, 3]}}
    assert cells("mean of rent") is None
    failed = DATA.replace("Cell 3 (ran)", "Cell 3 (failed)")
    assert cells("고쳐 줘", failed) == {"cell": {"enum": [3]}}


def test_after_a_failure_the_cell_and_another_one_are_open_and_the_answer_after_two() -> None:
    failed = call("add_cell", "Cell 2 failed: NameError: no a", is_error=True)
    step = next_step(TOOLS, SinceAsked("", CELLS, (failed,)))
    assert {tool.name for tool in step.tools} == {"add_cell", "edit_cell"}
    assert offered(SinceAsked("", CELLS, (failed, failed))) == {"add_cell", "edit_cell", "answer"}
    [edit] = [tool for tool in step.tools if tool.name == "edit_cell"]
    assert edit.parameters["properties"] == {"cell": {"enum": [2]}}
    meant = call("edit_cell", "The person means cell 5.", is_error=True)
    [edit] = [tool for tool in next_step(TOOLS, SinceAsked("", CELLS, (meant,))).tools if tool.name == "edit_cell"]
    assert edit.parameters["properties"] == {"cell": {"enum": [5]}}
    # What was sent back twice as it was is not offered a third time.
    back = call("rename_variable", "The request does not name b. Use the names that it gives.", is_error=True)
    assert "rename_variable" in offered(SinceAsked("", CELLS, (back,)))
    assert offered(SinceAsked("", CELLS, (back, back))) == set(NAMES) - {"rename_variable"}
    refused = call("edit_cell", "The request names no cell to change. Add a new cell instead.", is_error=True)
    assert offered(SinceAsked("", CELLS, (refused,))) == {"add_cell"}
    deleted = call("delete_cell", "The person means cell 5.", is_error=True)
    assert "delete_cell" in offered(SinceAsked("", CELLS, (deleted,)))


def test_a_number_that_nobody_saw_has_to_be_looked_for() -> None:
    back = call("answer", "No cell has shown 7. Run code that shows it.", is_error=True)
    assert offered(SinceAsked("", CELLS, (back,))) == {"add_cell", "edit_cell"}
    ran = call("add_cell", "Cell 2 ran. Output:\n8")
    assert offered(SinceAsked("", CELLS, (ran, back))) == set(NAMES)
    assert offered(SinceAsked("", CELLS, (call("answer", "That is no answer.", is_error=True),))) == set(NAMES)


def test_what_was_tried_in_vain_becomes_less_likely() -> None:
    failed = call("add_cell", "Cell 2 failed: NameError: no a", is_error=True)
    heat = [next_step(TOOLS, SinceAsked("", CELLS, (failed,) * tries)).temperature for tries in range(1, 4)]
    assert heat == [None, 0.7, 1.0]
    worked = call("add_cell", "Cell 2 ran without output.")
    assert next_step(TOOLS, SinceAsked("", CELLS, (failed, failed, worked))).temperature is None


def test_what_was_asked_for_at_a_cell_changes_that_one_alone_and_each_try_is_livelier() -> None:
    back = call("edit_cell", "This is what cell 2 has already. Change cell 2.", is_error=True)
    steps = [step_at_cell(TOOLS, SinceAsked("", CELLS, (back,) * tries), 2) for tries in range(3)]
    assert [step.temperature for step in steps] == [None, 0.7, 1.0]
    for step in steps:
        [edit] = step.tools
        assert (edit.name, edit.parameters["properties"]) == ("edit_cell", {"cell": {"enum": [2]}})
    assert step_at_cell(TOOLS, SinceAsked("", CELLS), None).tools == [TOOLS[1]]
    others = [tool for tool in TOOLS if tool.name != "edit_cell"]
    assert [tool.name for tool in step_at_cell(others, SinceAsked("", CELLS), 2).tools] == ["answer"]
