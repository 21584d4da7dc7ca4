"""Adding code to a notebook and running it."""

from __future__ import annotations

import re
from typing import Final

from .._eval_task import EndState, EvalTask, Outcome
from .._rerun import FRAMES

__all__ = ["EVAL_TASKS"]

_PRICES: Final = "prices = [19.5, 5.25, 7.25, 3.0]"
_FIB: Final = "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a"


def _squares(outcome: Outcome) -> None:
    outcome.added()
    found = [int(number) for number in re.findall(r"\b\d+\b", outcome.shown)]
    missing = [number**2 for number in range(1, 11) if number**2 not in found]
    outcome.must(not missing, f"these squares are not shown: {missing}")


def _fibonacci(outcome: Outcome) -> None:
    outcome.added()
    # Some count from 0, some from 1, and some leave out the first.
    outcome.equals("fib(10)", 34, 55, 89)
    outcome.shows(str(outcome.value("fib(10)")))


def _total(outcome: Outcome) -> None:
    outcome.added()
    outcome.tells(35.0)


def _frame(outcome: Outcome) -> None:
    outcome.added()
    frames = outcome.value(FRAMES)
    outcome.must(isinstance(frames, list) and [5, 2] in frames, f"the data frames have these shapes: {frames}")
    outcome.must(re.search(r"\ba\s+b\b", outcome.shown), "it is not shown")


def _sum(outcome: Outcome) -> None:
    outcome.added()
    outcome.must("5050" in outcome.shown, "no new cell shows 5050")


EVAL_TASKS: Final = (
    EvalTask(
        "add-squares",
        "add",
        "add a cell that prints the squares of 1 to 10",
        _squares,
        right=EndState(["for i in range(1, 11):\n    print(i**2)"]),
        also_right=[EndState(["print([i * i for i in range(1, 11)])"])],
        wrong=[
            EndState(["for i in range(1, 10):\n    print(i**2)"], "The squares of 1 to 10 are 1, 4, 9, ..., 100."),
            EndState(["for i in range(1, 11):\n    print(i**2)"], ran=False),
            EndState(["for i in range(1, 11):\n    print(i**2)"] * 2),
        ],
    ),
    EvalTask(
        "add-fibonacci",
        "add",
        "write a function fib(n) that returns the nth Fibonacci number, then show fib(10)",
        _fibonacci,
        probes=["fib(10)"],
        right=EndState([_FIB, "fib(10)"]),
        also_right=[EndState([f"{_FIB}\n\nprint(fib(10))"])],
        wrong=[EndState([_FIB], "fib(10) is 55."), EndState(["fib(10)"], "fib(10) is 55.")],
    ),
    EvalTask(
        "add-total",
        "add",
        "now add up the prices and show me the total",
        _total,
        cells=[_PRICES],
        right=EndState([_PRICES, "total = sum(prices)\ntotal"], "The total is 35.0."),
        also_right=[EndState([_PRICES, "print(f'Total: {sum(prices):.2f}')"], "I added cell 2, which shows it.")],
        wrong=[
            EndState(answer="The total is 35.0."),
            EndState([_PRICES, "total = sum(prices)\ntotal"], "The total is 34.5."),
            EndState([_PRICES, "totl"], "The total is 35.0."),
        ],
    ),
    EvalTask(
        "add-frame",
        "add",
        "make a dataframe with 5 rows of random numbers and columns a and b and show it",
        _frame,
        probes=[FRAMES],
        right=EndState(
            [
                "import numpy as np\nimport pandas as pd\n\ndf = pd.DataFrame(np.random.rand(5, 2), columns=['a', 'b'])\ndf"
            ]
        ),
        wrong=[EndState(["import pandas as pd\n\ndf = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})\ndf"])],
    ),
    EvalTask(
        "add-sum-korean",
        "add",
        "1부터 100까지의 합을 구하는 셀을 추가하고 실행해 줘",
        _sum,
        right=EndState(["sum(range(1, 101))"], "합은 5050입니다."),
        wrong=[EndState([], "합은 5050입니다."), EndState(["sum(range(1, 100))"], "합은 5050입니다.")],
    ),
)
