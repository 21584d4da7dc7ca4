"""What a small model may do next, by what was done."""

from __future__ import annotations

import pytest

from hdsp_agent.agent.lite._intent import intent_of
from hdsp_agent.agent.lite._next_step import MOST_STEPS, next_step
from hdsp_agent.config import GlobalSettings, ModeConfig, OperatorPolicy
from hdsp_agent.tools import PastCall, SinceAsked, ToolRegistry
from hdsp_agent.tools.compound import CellFact

MODE = ModeConfig(slug="code", name="Code", role_definition="Code.", groups=("read", "edit", "command"))
TOOLS = ToolRegistry().specs(MODE, OperatorPolicy(), GlobalSettings(), tool_set="compound")
ASKING = ToolRegistry().specs(
    ModeConfig(slug="ask", name="Ask", role_definition="Answer.", groups=("read",)),
    OperatorPolicy(), GlobalSettings(), tool_set="compound",
)  # fmt: skip


RAN, FAILED = CellFact("ran"), CellFact("failed")


def ran(code: str = "1 + 1", output: str = "2") -> PastCall:
    return PastCall("add_cell", {"code": code}, f"Cell 2 ran. Output:\n{output}")


def failed(code: str) -> PastCall:
    return PastCall("edit_cell", {"cell": 2, "code": code}, "Cell 2 failed: NameError: name 'x' is not defined")


def refused(code: str) -> PastCall:
    return PastCall("add_cell", {"code": code}, "This is no valid Python", is_error=True)


SENT_BACK = PastCall("answer", {"text": "7"}, "No cell has shown 7.", is_error=True)


def names(*calls: PastCall, words: str = "Compute it now please", strict: bool = False) -> list[str]:
    return [tool.name for tool in next_step(TOOLS, SinceAsked(words, "", calls), {1: RAN}, strict=strict).tools]


def test_nothing_is_withheld_from_a_stronger_model_at_first() -> None:
    assert names() == [tool.name for tool in TOOLS]


def test_a_cell_that_failed_is_the_only_one_that_may_be_edited_four_times() -> None:
    once = next_step(TOOLS, SinceAsked("Compute it", "", (failed("a"),)))
    assert [tool.name for tool in once.tools] == ["edit_cell"]
    properties = once.tools[0].parameters["properties"]
    assert isinstance(properties, dict) and properties["cell"] == {"enum": [2]}
    assert once.temperature is None
    assert next_step(TOOLS, SinceAsked("Compute it", "", (failed("a"), failed("b")))).temperature
    assert names(failed("a"), failed("b"), failed("c")) == ["edit_cell"]
    assert names(failed("a"), failed("b"), failed("c"), failed("d")) == ["answer"]
    # One that worked in between begins the count anew.
    assert names(failed("a"), failed("b"), failed("c"), ran(), failed("d")) == ["edit_cell"]


def test_what_is_not_as_asked_is_tried_again_ever_more_freely() -> None:
    wrong = PastCall(
        "edit_cell", {"cell": 1, "code": "a"}, "Cell 1 ran. Output:\n2\nIt should show 3, and it does not. Change cell 1.",
        is_error=True,
    )  # fmt: skip
    steps = [next_step(TOOLS, SinceAsked("fix it", "", (wrong,) * count), {1: RAN}, strict=True) for count in (1, 2, 3)]
    assert [[tool.name for tool in step.tools] for step in steps] == [["edit_cell"]] * 3
    heat = [step.temperature or 0 for step in steps]
    assert 0 < heat[0] <= heat[1] < heat[2]
    assert names(*(wrong,) * 4, words="fix it", strict=True) == ["answer"]


def test_a_call_that_is_made_again_leaves_only_an_answer() -> None:
    assert names(ran(), ran()) == ["answer"]
    assert "add_cell" in names(ran(), ran("2 + 2"))


def test_calls_that_cannot_be_made_lead_to_an_answer() -> None:
    assert "add_cell" in names(refused("a ("))
    assert "add_cell" in names(*(refused(f"{one} (") for one in "abc"))
    assert names(*(refused(f"{one} (") for one in "abcd")) == ["answer"]


def test_a_cell_stays_in_work_when_its_change_is_refused() -> None:
    step = next_step(
        TOOLS, SinceAsked("Compute it", "", (failed("a"), refused("b ("))), {1: RAN, 2: FAILED}, strict=True
    )
    assert [tool.name for tool in step.tools] == ["edit_cell"]
    assert step.tools[0].parameters["properties"]["cell"] == {"enum": [2]}  # type: ignore[index, call-overload]  # a schema


def test_code_that_belongs_into_another_cell_leads_there() -> None:
    there = PastCall(
        "add_cell", {"code": "1"}, "A plot is labelled where it is drawn. Change cell 1 instead.", is_error=True
    )
    step = next_step(TOOLS, SinceAsked("label it", "", (there,)), {1: RAN})
    assert [tool.name for tool in step.tools] == ["edit_cell"]
    assert step.tools[0].parameters["properties"]["cell"] == {"enum": [1]}  # type: ignore[index, call-overload]  # a schema


def test_an_answer_that_was_sent_back_has_to_look_first() -> None:
    assert "answer" not in names(SENT_BACK)
    assert "answer" in names(SENT_BACK, ran())
    # In a mode that can only read, an answer is all there is in the end.
    assert [tool.name for tool in next_step(ASKING, SinceAsked("How?", "", (SENT_BACK,)), strict=True).tools]


def test_every_chain_of_steps_ends() -> None:
    many = [ran(str(number)) for number in range(MOST_STEPS)]
    assert "add_cell" in names(*many[:-1])
    assert names(*many) == ["answer"]


def test_a_small_model_answers_after_a_step_that_worked() -> None:
    assert names(ran(), strict=True) == ["answer"]
    assert "add_cell" in names(ran(), strict=False)
    # Unless something is missing that was asked for.
    assert "edit_cell" in names(ran(), words="Plot the numbers in a chart.", strict=True)
    picture = ran("plt.plot(a)", "[picture]")
    assert names(picture, words="Plot the numbers in a chart.", strict=True) == ["answer"]


def test_a_picture_where_a_value_was_wanted_leads_to_another_cell() -> None:
    step = next_step(TOOLS, SinceAsked("total units per region pls", "", (ran("x.plot()", "[picture]"),)), strict=True)
    assert [tool.name for tool in step.tools] == ["add_cell"] and step.hint


@pytest.mark.parametrize(
    ("words", "tools", "cells"),
    [
        ("Plot the sales by month", {"add_cell"}, (1, 2)),
        ("How many rows are there?", {"add_cell"}, (1, 2)),
        ("Fix the error in cell 1", {"edit_cell"}, (1,)),
        ("fix this", {"edit_cell"}, (2,)),
        ("이 셀의 오류를 고쳐 줘", {"edit_cell"}, (2,)),
        ("Rename df to sales everywhere", {"rename_variable"}, (1, 2)),
        ("Add a heading at the top", {"add_text"}, (1, 2)),
        ("Delete cell 2", {"delete_cell", "edit_cell"}, (2,)),
        ("Explain cell 1", {"answer"}, (1,)),
        ("Summarize what the notebook does", {"answer"}, (1, 2)),
        ("Summarize the data in sales.csv", {"add_cell"}, (1, 2)),
        ("set n to 100 and run it again", {"edit_cell"}, (1, 2)),
        ("run it again", {"run_cell"}, (1, 2)),
        ("Lösche alles", None, (1, 2)),
    ],
)
def test_words_tell_which_tools_fit(words: str, tools: set[str] | None, cells: tuple[int, ...]) -> None:
    wish = intent_of(words, {1: RAN, 2: FAILED})
    assert wish.tools == (None if tools is None else frozenset(tools))
    assert wish.cells == cells


SUMS = {
    1: CellFact("ran", "values = [1, 2, 2]"),
    2: CellFact("ran", "mean = sum(values) / len(values)\nprint(mean)", "1.6666"),
    3: CellFact("ran", "def share(x):\n    return x / mean"),
    4: CellFact("ran", "plt.plot(values)\nplt.show()", "[picture]"),
}


@pytest.mark.parametrize(
    ("words", "here", "tools", "cells"),
    [
        # What is there is to look otherwise: no new cell.
        ("round the mean to 2 decimals", None, {"edit_cell"}, (2,)),
        ("print mean with two digits only", None, {"edit_cell"}, (2,)),
        ("make the line of the plot green", None, {"edit_cell"}, (4,)),
        ("rename the title of the chart to Sums", None, {"edit_cell"}, (4,)),
        # But a question is one, and a new plot is new.
        ("what is the mean rounded to 2 decimals?", None, {"add_cell"}, (1, 2, 3, 4)),
        ("plot the values with a title", None, {"add_cell"}, (1, 2, 3, 4)),
        ("put the division into a function", 2, {"edit_cell"}, (1, 2, 3, 4)),
        ("turn this into a function", 2, {"edit_cell"}, (2,)),
        ("use 5 instead of 2 here", 1, {"edit_cell"}, (1,)),
        ("share is wrong, fix it", None, {"edit_cell"}, (3,)),
        ("fix the function, it is wrong", None, {"edit_cell"}, (3,)),
        ("change the name of the variable mean to average", None, {"rename_variable"}, (2,)),
        ("drop the rows with missing values", None, {"add_cell"}, (1, 2, 3, 4)),
        ("remove the cell with the missing values", None, {"add_cell", "delete_cell", "edit_cell"}, (1, 2, 3, 4)),
    ],
)
def test_words_tell_which_cell_is_to_change(
    words: str, here: int | None, tools: set[str], cells: tuple[int, ...]
) -> None:
    wish = intent_of(words, SUMS, here)
    assert wish.tools == frozenset(tools)
    assert wish.cells == cells


def test_who_was_told_the_code_adds_it() -> None:
    step = next_step(TOOLS, SinceAsked("Umsatz je Region", ""), {}, strict=True, reminded=True)
    assert [tool.name for tool in step.tools] == ["add_cell"]
    assert len(next_step(TOOLS, SinceAsked("Umsatz je Region", ""), {}, strict=True).tools) > 1
