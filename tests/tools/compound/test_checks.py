"""Every general check of a change, with right and wrong ones made by hand."""

from __future__ import annotations

import pytest

from hdsp_agent.tools._changed_cells import FailedRun
from hdsp_agent.tools.compound._checks import (
    calls_in,
    does_nothing,
    fix_problem,
    has_all_of,
    is_other_code,
    lost_names,
    made_below,
    orphaned_name,
    same_meaning,
    still_has,
)

WRONG = "import pandas as pd\nflats = pd.read_csv('flats.csv')\nmean = flats['rnet'].mean()\nprint(mean)"
KEY = FailedRun(ename="KeyError", evalue="'rnet'", line=3)


def test_a_name_that_only_a_cell_below_makes_is_found() -> None:
    assert made_below("print(a)", "print(b)", ["a = 1"], ["b = 2"]) == "b"
    assert made_below("print(a)", "b = 3\nprint(b)", ["a = 1"], ["b = 2"]) is None
    assert made_below("print(a)", "print(b)", ["a = 1", "b = 1"], ["b = 2"]) is None
    # It was so before: nobody made it worse.
    assert made_below("print(b)", "print(b, b)", [], ["b = 2"]) is None


def test_what_others_use_may_not_go() -> None:
    assert lost_names("a = 1\nb = 2", "b = 2", ["print(a)"]) == ["a"]
    assert lost_names("a = 1\nb = 2", "a = 5", ["print(a)"]) == []
    assert lost_names("a = 1", "pass", ["a = 2", "print(a)"]) == []


def test_a_name_that_the_cell_made_and_uses_still_may_not_go() -> None:
    old = "value = df['rent'].mean()\nprint(value)"
    assert orphaned_name(old, "df['rent'].median()\nprint(value)", []) == "value"
    assert orphaned_name(old, "value = df['rent'].median()\nprint(value)", []) is None
    assert orphaned_name(old, "print(df['rent'].median())", []) is None
    assert orphaned_name("df = df.dropna()", "df.dropna()", ["df = read()"]) is None


def test_a_cell_that_holds_all_of_another_one_is_found() -> None:
    plot = "plt.plot(df['rent'])\nplt.show()"
    assert has_all_of("plt.plot(df['rent'])\nplt.title('Rents')\nplt.show()", plot)
    assert not has_all_of("plt.plot(df['size'])\nplt.show()", plot)
    assert has_all_of("def spread(values):\n    'Widest.'\n    return 1", "def spread(them):\n    return max(them)")
    assert not has_all_of("spread([1, 2])", "def spread(them):\n    return max(them)")
    # Of a cell that is next to nothing, all is soon there.
    assert not has_all_of("print(a + 1)", "a")


@pytest.mark.parametrize(
    "right",
    [
        WRONG.replace("rnet", "rent"),
        "import pandas as pd\nflats = pd.read_csv('flats.csv')\nmean = flats.rent.mean()\nprint(mean)",
    ],
)
def test_a_fix_keeps_the_calls_of_what_failed(right: str) -> None:
    assert fix_problem(WRONG, right, KEY) is None


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (WRONG.replace("flats['rnet'].mean()", "0"), "call mean"),
        (WRONG.replace("flats['rnet'].mean()", "flats['rent'].sum()"), "call mean"),
        ("mean = flats['rent'].mean()\nprint(mean)", "make flats"),
        ("try:\n    " + WRONG.replace("\n", "\n    ") + "\nexcept KeyError:\n    mean = 0", "Do not hide"),
    ],
)
def test_a_fix_that_leaves_something_out_is_none(wrong: str, why: str) -> None:
    assert why in (fix_problem(WRONG, wrong, KEY) or "")


def test_the_call_that_was_wrong_itself_may_go() -> None:
    error = FailedRun(ename="AttributeError", evalue="'Series' object has no attribute 'avg'", line=1)
    assert fix_problem("x = flats['rent'].avg()", "x = flats['rent'].mean()", error) is None
    assert calls_in("a = f(g(1))\nb = h(2).k()", 2) == ["k", "h"] and calls_in("a = f(g(1))") == ["f", "g"]


def test_a_change_is_told_from_other_code() -> None:
    read = "flats = pd.read_csv('flats.csv')"
    assert is_other_code(read, "plt.plot([1, 2])\nplt.show()")
    assert is_other_code(read, "flats.plot()")
    assert not is_other_code(read, "flats = pd.read_csv('flats.csv').dropna()")
    assert not is_other_code("x = 3 * 4\nprint(x)", "def area(w, h):\n    return w * h\n\nx = area(3, 4)\nprint(x)")


def test_the_same_code_and_code_that_does_nothing_are_found() -> None:
    assert same_meaning("a=1 # one", "a = 1") and not same_meaning("a = 1", "a = 2")
    assert not same_meaning("%time a", "%time b") and same_meaning("%time a", "%time a ")
    for nothing in ("# Plot it", "'Plot it'", "", "..."):
        assert does_nothing(nothing)
    for something in ("%matplotlib inline", "1 + 1", "df", "await x", "pass\n5", "df?"):
        assert not does_nothing(something)


def test_a_name_that_is_left_is_found() -> None:
    assert still_has("print(old)", "old") and still_has("def old(): pass", "old") and still_has("df['old']", "old")
    assert not still_has("print(older, 'old one', x.old)", "old")
