"""What is shown of what a model wrote."""

from __future__ import annotations

import pytest

from hdsp_agent.agent.ghost_text import Place
from hdsp_agent.agent.ghost_text._suggestion import suggestion


def shown(before: str, written: str, after: str = "", *, is_cut: bool = False) -> str:
    return suggestion(written, Place(before, after), is_cut=is_cut)


@pytest.mark.parametrize(
    ("before", "written", "after", "expected"),
    [
        # One line, where a line was begun.
        ("df = pd.read_", "csv('a.csv')\nprint(df)", "", "csv('a.csv')"),
        ("x = ", "1   ", "", "1"),
        # What a model says of its own is no code.
        ("x = ", "1<|endoftext|>x = 2", "", "1"),
        ("x = ", "<|fim_pad|>", "", ""),
        ("x = ", "   ", "", ""),
        # What is there already, behind the cursor.
        ("print(", "x)", ")", "x"),
        ("f(a, ", "b=1)", ")", "b=1"),
        ("d['", "price']", "']", "price"),
        ("total", " = sum(x)", " = sum(x)", ""),
        ("print(", "len(x)", ")", "len(x)"),
        ("foo(", "bar(1), baz(2)", ")", "bar(1), baz(2)"),
        ("df[", "df['a'] > d['b']", "]", "df['a'] > d['b']"),
        ("plt.subplots(", "figsize=(8, 4))", ")", "figsize=(8, 4)"),
        ("if ", "x == floor", " or y:", "x == floor"),
        ("f(", "x, y", ", y)", "x"),
        # A closing letter is none.
        ("x = a", "b", "b", "b"),
        # The line before, again.
        ("x = 1\n", "x = 1", "", ""),
        ("x = 1\nx = ", "1", "", ""),
        ("x = 1\n", "y = x + 1", "", "y = x + 1"),
        ("import os\n", "import os\nimport sys", "", "import sys"),
        ("f(x) {\n  }\n", "}", "", "}"),
        ("for i in 1:2\n  end\n", "end", "", "end"),
    ],
)
def test_a_line(before: str, written: str, after: str, expected: str) -> None:
    assert shown(before, written, after) == expected


@pytest.mark.parametrize(
    ("before", "written", "after", "expected"),
    [
        ("def area(w, h):", "\n    return w * h\n\n\nprint(area(1, 2))", "", "\n    return w * h"),
        ("def area(w, h):\n    ", "a = w * h\n    return a", "", "a = w * h\n    return a"),
        ("def f():\n    ", "return y", "\n    return y", ""),
        # Up to the line that follows.
        ("if x:\n", "    y = 1\nprint(y)\nprint(x)", "\nprint(y)", "    y = 1"),
        # What a model writes on of its own, past what is there.
        ("a = 1\n", "b = 2\nreturn a + b", "\nc = 3\nreturn a + b + c", "b = 2"),
        ("  if x:\n", "    y = 1\n    z = 2\n  else:\n    y = 3", "\n  print(y)", "    y = 1\n    z = 2"),
        ("if x:", "\n    y = 1\nz = 2", "\nprint(y)", "\n    y = 1"),
        ("plot(\n", "    x,\n    y,\n)\nshow()", "\nprint(y)", "    x,\n    y,\n)"),
        ("plot(\n", "    x,\n    y,\n)\nshow()", "\n)", "    x,\n    y,"),
        ("x = 1\n", "y = 2\n```\nThis sets y.", "", "y = 2"),
    ],
)
def test_a_block(before: str, written: str, after: str, expected: str) -> None:
    assert shown(before, written, after) == expected


def test_a_line_that_was_cut_off_is_not_shown() -> None:
    assert shown("def f():\n", "    a = 1\n    b = [1, 2, 3", is_cut=True) == "    a = 1"
    assert shown("def f():\n", "    a = [1, 2", is_cut=True) == "    a = [1, 2"


def test_no_more_than_ten_lines() -> None:
    text = "\n".join(f"    a{at} = {at}" for at in range(30))
    assert len(shown("def f():\n", text).split("\n")) == 10
