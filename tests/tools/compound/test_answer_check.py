"""What an answer says is held against what was seen."""

from __future__ import annotations

import pytest

from hdsp_agent.tools import PastCall, SinceAsked
from hdsp_agent.tools.compound._answer_check import doubt_about, failed_at_last, lacks_value, parroted

RAN = PastCall("add_cell", {"code": "df.b.mean()"}, "Cell 2 ran. Output:\n6.4213")
FAILED = PastCall("add_cell", {"code": "x"}, "Cell 2 failed: NameError: name 'x' is not defined")
PLOTTED = PastCall("add_cell", {"code": "plt.plot(a)"}, "Cell 2 ran. Output:\n[picture]")
CELL = "Cell 1 (ran):\nprint([n ** 2 for n in range(5)])\nOutput: [0, 1, 4, 9, 16]"


@pytest.mark.parametrize(
    ("words", "answer", "calls", "reason"),
    [
        ("What is the mean of b?", "The mean is 6.42.", (RAN,), None),
        ("What is the mean of b?", "The mean is 7.", (RAN,), "No cell has shown 7"),
        ("What is the mean of b?", "The mean is 6.4213 in cell 2.", (RAN,), None),
        ("What is the mean of b?", "It is 6.4.", (), "Find it out with a cell first"),
        ("What does cell 1 do?", "It prints the squares of the numbers 0 to 4: 0, 1, 4, 9 and 16.", (), None),
        ("What does cell 1 do?", "It prints the squares of the numbers from 0 to 99, so 9801 comes last.", (), "shown 99"),
        ("Load the file and show it.", "Here is how you do it.", (), "Nothing was done"),
        ("Why is it empty?", "I have added a cell that shows it.", (), "Nothing was added"),
        ("Plot the column a.", "Done.", (RAN,), "No picture"),
        ("Plot the column a.", "Cell 2 shows it.", (PLOTTED,), None),
        ("What share is it?", "It is 642%.", (RAN,), None),
        ("합계를 구하는 셀을 추가해 줘", "셀을 추가했습니다.", (), "Nothing was done"),
    ],
)  # fmt: skip
def test_an_answer_is_doubted_where_nobody_saw_what_it_says(
    words: str, answer: str, calls: tuple[PastCall, ...], reason: str | None
) -> None:
    doubt = doubt_about(answer, SinceAsked(words, CELL, calls))
    if reason is None:
        assert doubt is None
    else:
        assert doubt is not None and reason in doubt.for_model


def test_a_picture_is_no_value() -> None:
    assert lacks_value(SinceAsked("total units per region pls", "", (PLOTTED,)))
    assert not lacks_value(SinceAsked("total units per region pls", "", (PLOTTED, RAN)))
    for words in ("plot the total units per region", "show the trend of the total", "load the file"):
        assert not lacks_value(SinceAsked(words, "", (PLOTTED,)))


def test_what_was_in_vain_in_the_end_is_known() -> None:
    assert failed_at_last(SinceAsked("Compute x", "", (RAN, FAILED))) == FAILED
    assert failed_at_last(SinceAsked("Compute x", "", (FAILED, RAN))) is None
    assert failed_at_last(SinceAsked("What is x?", "")) is None


@pytest.mark.parametrize(
    ("answer", "is_parroted"),
    [
        ("Cell 2 shows the curve of x squared.", True),
        ("The largest value in scores is 6.4213.", True),
        ("what is the mean of b?", True),
        ("The mean of b.", True),
        ("b", False),
        ("Output: [0, 1, 4, 9, 16]", True),
        ("The mean of b is 6.42.", False),
    ],
)
def test_an_answer_about_the_examples_is_none(answer: str, is_parroted: bool) -> None:
    assert parroted(answer, SinceAsked("What is the mean of b?", CELL, (RAN,))) is is_parroted


def test_an_answer_about_scores_is_one_where_there_are_scores() -> None:
    assert not parroted("The largest of scores is 97.", SinceAsked("the largest of scores", "", (RAN,)))
