"""What was asked for by name has to be in the code, and what belongs elsewhere goes there."""

from __future__ import annotations

import pytest

from hdsp_agent.tools import PastCall, SinceAsked
from hdsp_agent.tools.compound._request_check import as_heading, asks_to_mend, forgotten, labelled, only_labels

FILES = "Files:\nsales.csv: columns region text, unit price float, a int\nThe notebook is empty."


@pytest.mark.parametrize(
    ("words", "code", "left_out"),
    [
        ("total per region in sales.csv", "sales['price'].sum()", "region"),
        ("total per region in sales.csv", "sales.groupby('region').sum()", None),
        ("Which regions are there?", "print(sales)", "region"),
        ("make a list", "[1]", None),
        ("what is the mean of column a", "sales.mean()", "a"),
        ("write to_celsius(f) and use it", "def celsius(f): pass", "to_celsius"),
        ("write `area`", "def size(): pass", "area"),
        ("call load_rows() again", "rows = 1", None),
    ],
)
def test_what_was_named_has_to_be_in_the_code(words: str, code: str, left_out: str | None) -> None:
    told = forgotten(code, SinceAsked(words, FILES), ["def load_rows(): pass"])
    assert told == (left_out and f"The person speaks of {left_out}: the code has to use it. Nothing was done.")


def test_code_is_not_sent_back_for_ever() -> None:
    told = forgotten("1", SinceAsked("per region", FILES), [])
    back = PastCall("add_cell", {"code": "1"}, str(told), is_error=True)
    assert forgotten("1", SinceAsked("per region", FILES, (back,)), []) is not None
    assert forgotten("1", SinceAsked("per region", FILES, (back, back)), []) is None


def test_a_data_frame_that_is_asked_for_has_to_be_made() -> None:
    frame = SinceAsked("make a dataframe of random numbers", "")
    assert "pd.DataFrame" in str(forgotten("np.random.rand(5, 2)", frame, []))
    assert forgotten("pd.DataFrame(np.random.rand(5, 2))", frame, []) is None
    assert forgotten("[1, 2]", SinceAsked("make a list", ""), []) is None


@pytest.mark.parametrize(
    ("words", "code", "others", "sent_back"),
    [
        ("put it into a function area(w, h) and use it", "def area(w, h):\n    return w * h", [], True),
        ("put it into a function area(w, h) and use it", "def area(w, h):\n    return w * h\narea(2, 3)", [], False),
        ("put it into a function area(w, h) and use it", "def area(w, h):\n    return w * h", ["area(2, 3)"], False),
        ("write a function area(w, h)", "def area(w, h):\n    return w * h", [], False),
    ],
)
def test_a_function_that_is_to_be_used_has_to_be_called(
    words: str, code: str, others: list[str], sent_back: bool
) -> None:
    told = forgotten(code, SinceAsked(words, ""), others)
    assert (told is not None) is sent_back
    assert told is None or "call it below its definition" in told


@pytest.mark.parametrize(
    ("words", "mends"),
    [
        ("fix this", True),
        ("it returns 3 and that is wrong", True),
        ("this doesnt work", True),
        ("이 셀의 오류를 고쳐 줘", True),
        ("修正をお願いします", True),
        ("plot a sine", False),
    ],
)
def test_words_tell_that_something_is_wrong(words: str, mends: bool) -> None:
    assert asks_to_mend(words) is mends


def test_all_columns_that_were_named_are_told_together() -> None:
    told = forgotten(
        "x['region']", SinceAsked("the region with the most units", "units.csv: columns region text, units int"), []
    )
    assert told == "The person speaks of region and units: the code has to use them. Nothing was done."


@pytest.mark.parametrize(
    ("code", "only"),
    [
        ("plt.xlabel('t')\nplt.show()", True),
        ("ax = plt.gca()\nax.set_title('t')", True),
        ("plt.plot(x)\nplt.xlabel('t')", False),
        ("plt.show()", False),
        ("title = 'x'", False),
        ("plt.xlabel(", False),
    ],
)
def test_code_that_only_labels_a_plot_is_known(code: str, only: bool) -> None:
    assert only_labels(code) is only


def test_labels_go_before_the_plot_is_shown() -> None:
    plot = "plt.plot(x)\nplt.title('A')\nplt.show()\n"
    assert labelled(plot, "plt.title('A')\nplt.xlabel('t')\nplt.show()") == (
        "plt.plot(x)\nplt.title('A')\nplt.xlabel('t')\nplt.show()"
    )
    assert labelled("plt.plot(x)", "plt.xlabel('t')") == "plt.plot(x)\nplt.xlabel('t')"


def test_a_heading_is_one() -> None:
    assert as_heading("Sales", "Put a heading on top") == "# Sales"
    assert as_heading("## Sales", "Put a heading on top") == "## Sales"
    assert as_heading("Two\nlines", "Put a heading on top") == "Two\nlines"
    assert as_heading("Remember this", "Add a note") == "Remember this"
