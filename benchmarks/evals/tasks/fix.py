"""Mending what fails or comes out wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .._eval_task import EndState, EvalTask, Outcome

__all__ = ["EVAL_TASKS"]

_VALUES: Final = "values = [4, 8, 15, 16, 23, 42]"
_SHOP: Final = "import pandas as pd\n\ndf = pd.DataFrame({'item': ['pen', 'cup', 'bag'], 'price': [2.0, 8.0, 50.0]})"
_CALL: Final = "average([1, 2, 3, 4, 5])"
_AVERAGE: Final = "def average(xs):\n    return sum(xs) / {length}"


def _mended(number: int, shows: str) -> Callable[[Outcome], None]:
    """The cell of this number is another now, all runs, and some cell shows the text."""

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps(number)
        broken = outcome.before[number - 1].source
        outcome.must(all(cell.source != broken for cell in outcome.after), "the broken cell is still there")
        seen = "\n".join(cell.text for cell in outcome.after)
        outcome.must(shows in " ".join(seen.split()), f"no cell shows {shows!r}")

    return judge


def _import(outcome: Outcome) -> None:
    outcome.runs()
    outcome.equals("list(data)", [3, 1, 2])
    seen = "\n".join(cell.text for cell in outcome.after)
    outcome.must("[1, 2, 3]" in seen or "[1 2 3]" in seen, "no cell shows the sorted numbers")


def _average(outcome: Outcome) -> None:
    outcome.runs()
    outcome.equals("average([1, 2, 3, 4, 5])", 3)
    outcome.equals("average([10, 20])", 15)
    outcome.must(outcome.code.count("def average") == 1, "the wrong function is still there")


EVAL_TASKS: Final = (
    EvalTask(
        "fix-name",
        "fix",
        "fix the error in this cell",
        _mended(2, "total is 108"),
        cells=[_VALUES, "total = sum(values)\nprint('total is', totl)"],
        at=2,
        right=EndState([_VALUES, "total = sum(values)\nprint('total is', total)"]),
        also_right=[EndState([_VALUES, "totl = sum(values)\nprint('total is', totl)"])],
        wrong=[
            EndState([_VALUES, "total = sum(values)\nprint('total is', totl)", "print('total is', total)"]),
            EndState([_VALUES, "total = sum(values)\nprint('total is', total)"], "Fixed.", ran=False),
        ],
    ),
    EvalTask(
        "fix-column",
        "fix",
        "why doesnt this work? fix it",
        _mended(2, "20.0"),
        cells=[_SHOP, "df['Price'].mean()"],
        at=2,
        right=EndState([_SHOP, "df['price'].mean()"], "The column is called price."),
        wrong=[EndState(answer="The column is called price, not Price."), EndState([_SHOP, "df['price']"])],
    ),
    EvalTask(
        "fix-import",
        "fix",
        "np is not defined?? fix pls",
        _import,
        cells=["data = [3, 1, 2]", "np.sort(data)"],
        probes=["list(data)"],
        right=EndState(["import numpy as np", "data = [3, 1, 2]", "np.sort(data)"]),
        also_right=[EndState(["data = [3, 1, 2]", "import numpy as np\nnp.sort(data)"])],
        # Whoever opens it tomorrow gets the same error.
        wrong=[EndState(["data = [3, 1, 2]", "np.sort(data)", "import numpy as np\nnp.sort(data)"])],
    ),
    EvalTask(
        "fix-average",
        "fix",
        "the average comes out wrong, it should be 3.0. fix the function",
        _average,
        cells=[_AVERAGE.format(length="(len(xs) + 1)"), _CALL],
        probes=["average([1, 2, 3, 4, 5])", "average([10, 20])"],
        right=EndState([_AVERAGE.format(length="len(xs)"), _CALL]),
        wrong=[EndState(["def average(xs):\n    return 3.0", _CALL])],
    ),
    EvalTask(
        "fix-index-japanese",
        "fix",
        "このセルのエラーを直してください",
        _mended(1, "last: cy"),
        cells=["names = ['ada', 'bob', 'cy']\nprint('last:', names[3])"],
        at=1,
        right=EndState(["names = ['ada', 'bob', 'cy']\nprint('last:', names[-1])"]),
        wrong=[EndState(["names = ['ada', 'bob', 'cy']\nprint('last:', names[1])"], "直しました。")],
    ),
)
