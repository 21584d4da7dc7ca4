"""The ways people put a wish: told apart from wishes that sound alike."""

from __future__ import annotations

import pytest

from hdsp_agent.agent.lite._intent import intent_of
from hdsp_agent.tools.compound import CellFact

NOTEBOOK = {
    1: CellFact("ran", "df = load()\nvals = [1, 2]"),
    2: CellFact("ran", "mean = sum(vals) / 3\nprint(mean)", "1.66667"),
    3: CellFact("ran", "def share(x):\n    return x"),
    4: CellFact("ran", "plt.plot(vals)", "[picture]"),
}
FAILING = {**NOTEBOOK, 5: CellFact("failed", "df['a']")}


def tools_for(words: str, cells: dict[int, CellFact] | None = None) -> frozenset[str]:
    return intent_of(words, cells or NOTEBOOK).tools or frozenset()


@pytest.mark.parametrize(
    "words",
    [
        "call df sales instead",
        "df should be called sales",
        "share() ought to be named ratio",
        "change the name of vals to numbers",
        "use sales instead of df everywhere",
        "replace every vals with numbers",
        "vals → numbers",
        "give share a better name: ratio",
        "swap DF for sales throughout",
        "i dont like the name vals, numbers is clearer",
        "renmae vals to numbers",
        "df를 sales로 바꿔 줘",
        "dfをsalesに変えて",
    ],
)
def test_another_name_for_what_is_there_is_a_renaming(words: str) -> None:
    assert tools_for(words) == {"rename_variable"}


@pytest.mark.parametrize(
    "words",
    [
        "call the function share",
        "call share with 3",
        "add a column named total to df",
        "use median instead of mean",
        "replace all values with zeros",
        "load b.csv and call it other",
        "the x axis should be called Time",
        "name the x axis Time",
    ],
)
def test_what_only_sounds_like_a_renaming_is_none(words: str) -> None:
    assert "rename_variable" not in tools_for(words)


@pytest.mark.parametrize(
    "words",
    [
        "get rid of cell 2",
        "drop cell 3",
        "that last one can go",
        "take the last cell out",
        "throw away the empty cell",
        "kill cell 4",
        "i no longer need cell 2",
        "cell 3 is superfluous",
        "셀 2를 지워 줘",
        "セル2を消して",
    ],
)
def test_a_cell_that_is_not_wanted_is_deleted(words: str) -> None:
    tools = tools_for(words)
    assert "delete_cell" in tools and "add_cell" not in tools


@pytest.mark.parametrize(
    "words", ["drop the missing values", "delete the rows where a is 0", "remove punctuation from the text"]
)
def test_data_that_is_not_wanted_takes_code(words: str) -> None:
    assert tools_for(words) == {"add_cell"}


@pytest.mark.parametrize(
    "words",
    [
        "what does this do",
        "walk me through cell 2",
        "huh?",
        "what's going on in cell 3",
        "what is cell 2 for?",
        "purpose of the loop?",
        "i don't get this",
        "explian cell 1",
        "이 셀은 무엇을 하는 거야",
        "このセルは何をしている?",
    ],
)
def test_what_code_is_for_is_answered(words: str) -> None:
    assert tools_for(words) == {"answer"}


@pytest.mark.parametrize("words", ["what does df contain", "what is the mean for each group?", "what is in df?"])
def test_what_data_holds_is_looked_up(words: str) -> None:
    assert tools_for(words) == {"add_cell"}


@pytest.mark.parametrize(
    ("words", "cell"),
    [
        ("label the axes", 4),
        ("put labels on the axes", 4),
        ("name the x axis Time", 4),
        ("give the plot a title", 4),
        ("add a title to the plot there is", 4),
        ("the bars should be red", 4),
        ("only two decimals please", 2),
        ("to 2 places", 2),
        ("cut it to 2 digits", 2),
    ],
)
def test_how_a_result_looks_is_changed_where_it_is_made(words: str, cell: int) -> None:
    wish = intent_of(words, NOTEBOOK)
    assert wish.tools == frozenset({"edit_cell"})
    assert wish.cells == (cell,)


@pytest.mark.parametrize("words", ["i want a bar chart with a title", "another plot with labels"])
def test_a_new_plot_gets_a_cell(words: str) -> None:
    assert "add_cell" in tools_for(words)


@pytest.mark.parametrize(
    "words",
    [
        "help!",
        "can you sort this out",
        "it blows up",
        "getting a KeyError",
        "cell 5 won't run",
        "hmm",
        "this throws",
        "the last cell complains",
        "this isnt working",
        "what's wrong",
        "왜 안 돼",
        "動かない",
    ],
)
def test_a_cell_that_failed_is_mended_when_nothing_new_is_asked_for(words: str) -> None:
    wish = intent_of(words, FAILING)
    assert wish.tools is not None and "edit_cell" in wish.tools and "add_cell" not in wish.tools
    assert wish.cells == (5,)


@pytest.mark.parametrize(
    "words",
    ["plot the values", "compute the mean squared error", "what does df contain", "how many errors are there per day"],
)
def test_something_new_is_added_though_a_cell_failed(words: str) -> None:
    assert tools_for(words, FAILING) == {"add_cell"}
