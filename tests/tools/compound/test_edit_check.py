"""What an edit must not lose, and what stands for what."""

from __future__ import annotations

import pytest

from hdsp_agent.tools.compound._edit_check import lost_names, lost_texts, same_meaning, used_before_made, with_lost
from hdsp_agent.tools.compound._extract_function import with_calls
from hdsp_agent.tools.compound._masked_code import has_gaps, with_blanks

PLOT = "import matplotlib.pyplot as plt\n\nplt.plot([1, 2])"


def test_code_that_is_only_laid_out_otherwise_means_the_same() -> None:
    assert same_meaning("x = (1 + 2)  # three", "x = 1+2")
    assert not same_meaning("x = 1 + 2", "x = 1 + 3")
    assert not same_meaning("x = (", "x = (")


@pytest.mark.parametrize(
    ("old", "new", "others", "whole"),
    [
        (PLOT, "plt.plot([1])", [], "import matplotlib.pyplot as plt\n\nplt.plot([1])"),
        # Who else needs it counts as well, and who else makes it.
        (PLOT, "x = 1", ["plt.show()"], "import matplotlib.pyplot as plt\n\nx = 1"),
        (PLOT, "plt.plot([1])", ["import matplotlib.pyplot as plt"], "plt.plot([1])"),
        (PLOT, "x = 1", [], "x = 1"),
        ("age = 30\nprint(age)", "age = str(age)\nprint(age)", [], "age = 30\nage = str(age)\nprint(age)"),
        ("n = 10\nprint(n)", "n = 100\nprint(n)", [], "n = 100\nprint(n)"),
    ],
)
def test_what_the_new_code_stands_on_is_kept(old: str, new: str, others: list[str], whole: str) -> None:
    assert with_lost(old, new, others) == whole


def test_names_are_needed_that_are_made_too_late() -> None:
    assert used_before_made("rows = rows + 1\ntotal = rows\ntotal += left") == {"rows", "left"}
    assert used_before_made("def f(x):\n    return x\nf(1)") == set()
    assert used_before_made("count += 1") == {"count"}


def test_names_that_others_use_are_lost() -> None:
    assert lost_names("total = 1\nrest = 2", "rest = 2", ["print(total)"]) == ["total"]
    assert lost_names("total = 1", "sum_ = 1", ["print(1)"]) == []
    assert lost_names("total = 1", "sum_ = 1", ["total = 2", "print(total)"]) == []


def test_texts_are_lost_unless_there_is_one_like_them() -> None:
    assert lost_texts("print('last:', x)", "print(x)") == ["last:"]
    assert lost_texts("df['Price'].mean()", "df['price'].mean()") == []
    assert lost_texts("print('total is', x)", "print(f'total is {x}')") == []
    assert lost_texts("print('a', x)", "print(x)") == []


def test_what_is_computed_is_left_out() -> None:
    assert with_blanks("def mean(xs):\n    'Of numbers.'\n    return sum(xs) / 2\n\nmean([1])") == (
        "def mean(xs):\n    'Of numbers.'\n    ...\n\nmean([1])"
    )
    assert with_blanks("xs = [1, 2]\nmean = sum(xs) / 3\nprint(mean)") == "xs = [1, 2]\nmean = ...\nprint(mean)"
    assert with_blanks("xs = [1, 2]\nprint(xs)") is None and with_blanks("x = (") is None


def test_gaps_are_no_code() -> None:
    assert has_gaps("mean = ...") and has_gaps("def f():\n    ...")
    assert not has_gaps("x[..., 0]") and not has_gaps("x = (")


AREA = "def area(w, h):\n    return w * h"


@pytest.mark.parametrize(
    ("old", "new", "whole"),
    [
        ("x = 3 * 4\ny = (5 * k)\nprint(x + y)", AREA, f"{AREA}\n\nx = area(3, 4)\ny = area(5, k)\nprint(x + y)"),
        # What the model wrote below the definition is no matter.
        ("x = 3 * 4", f"{AREA}\n\nx = area(30, 40)", f"{AREA}\n\nx = area(3, 4)"),
        ("import math\nx = math.pi * 4", AREA, f"import math\n\n{AREA}\n\nx = area(math.pi, 4)"),
        ("x = 3 + 4", AREA, None),
        ("x = 3 * 4", "def area(w, h):\n    print(w)\n    return w * h", None),
        ("def area(w, h):\n    return 0\nx = 3 * 4", AREA, None),
        ("x = 3 * 4", "y = 3", None),
        ("x = 3 * 4", "def area(w, h:", None),
    ],
)
def test_calls_stand_for_what_the_new_function_computes(old: str, new: str, whole: str | None) -> None:
    assert with_calls(old, new) == whole


def test_the_same_name_stands_for_the_same_thing() -> None:
    square = "def square(x):\n    return x * x"
    assert with_calls("a = 3 * 3\nb = 3 * 4", square) == f"{square}\n\na = square(3)\nb = 3 * 4"
