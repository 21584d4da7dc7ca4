"""Python as small models write it: mended where it is plain what is meant."""

from __future__ import annotations

import pytest

from hdsp_agent.tools.compound._code import (
    last_names,
    made_names,
    mended,
    renamed,
    spliced,
    syntax_problem,
    wanted_names,
    with_imports,
)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("x = 1", "x = 1"),
        ("```python\nx = 1\n```", "x = 1"),
        ("```\nx = 1\n```\nThis sets x.", "x = 1"),
        ("x = 1\\nprint(x)", "x = 1\nprint(x)"),
        ('print(\\"a\\")', 'print("a")'),
        # Two characters that belong into the text stay.
        ("print('a\\nb')", "print('a\\nb')"),
        ("print(i)}", "print(i)"),
        ('print("a")"}', 'print("a")'),
        ("this is no code", "this is no code"),
    ],
)
def test_what_is_plainly_meant_is_mended(given: str, meant: str) -> None:
    assert mended(given) == meant


def test_what_is_no_python_is_told_with_its_line() -> None:
    assert syntax_problem("x = 1\ny = (") == "line 2: '(' was never closed: y = ("
    for fine in ("%matplotlib inline\n!ls\nx = 1", "%%bash\nls -l (", "await something()", ""):
        assert syntax_problem(fine) is None
    assert syntax_problem("x = '\0'") is not None


def test_names_that_code_uses_and_makes_are_known() -> None:
    code = "import math\nfor i in rows:\n    total = sum(x for x in i) + math.pi + np.e\ndef f(a):\n    inner = a + other\n"
    assert wanted_names(code) == ["rows", "np", "other"]
    assert made_names(code) == {"math", "i", "total", "f"}
    assert last_names("a = 1\nb, c = 2, 3") == ["b", "c"]
    assert last_names("a = 1\nprint(a)") == []
    assert wanted_names("no code (") == []


def test_usual_imports_are_added_and_unknown_names_are_left() -> None:
    assert with_imports("np.sin(x)", ["np", "x"]) == "import numpy as np\n\nnp.sin(x)"
    assert with_imports("import os\nmath.pi", ["math"]) == "import math\nimport os\nmath.pi"
    assert with_imports("%%bash\nnp", ["np"]) == "%%bash\nnp"
    assert with_imports("x", ["x"]) == "x"


def test_some_changed_lines_of_a_cell_are_put_where_they_belong() -> None:
    old = "import matplotlib.pyplot as plt\nxs = [1, 2]\nplt.plot(xs, xs)\nplt.show()"
    assert spliced(old, "plt.plot(xs, xs, color='red')") == old.replace("xs, xs)", "xs, xs, color='red')")
    # Lines that only go are to go.
    assert spliced(old, "plt.show()") == "plt.show()"
    assert spliced(old, "print('something else altogether')") == "print('something else altogether')"
    # What computes something else keeps the name that the cell gave it.
    assert (
        spliced("value = df['a'].mean()\nprint(value)", "df['a'].median()") == "value = df['a'].median()\nprint(value)"
    )
    assert spliced("value = df['a'].mean()", "df['a'].median()") == "value = df['a'].median()"
    assert spliced("value = df['a'].mean()", "print(value)") == "print(value)"
    assert spliced("a", "a\nb") == "a\nb"
    assert spliced("if a:\n    total = sum(number)\n    print(total)", "total = sum(numbers)").split("\n")[1] == (
        "    total = sum(numbers)"
    )


def test_a_variable_is_renamed_and_nothing_else_of_its_name() -> None:
    code = "x1 = 5\nf(x1=x1)\na.x1 = 'x1'\nprint(f'{x1:>3} x1', x1)  # x1\nx1 += 1"
    assert renamed(code, "x1", "width") == (
        "width = 5\nf(x1=width)\na.x1 = 'x1'\nprint(f'{width:>3} x1', width)  # x1\nwidth += 1"
    )
    assert renamed("broken (", "broken", "x") == "broken ("
