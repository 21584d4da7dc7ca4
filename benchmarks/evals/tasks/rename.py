"""Renaming and refactoring: all uses change, and nothing else does."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from .._eval_task import EndState, EvalTask, Outcome

__all__ = ["EVAL_TASKS"]

_NUMBERS: Final = ("d = [3, 5, 8]", "mean = sum(d) / len(d)", "print(max(d) - min(d), mean)")
_SALES: Final = (
    "import pandas as pd\n\ndf = pd.read_csv('sales.csv')",
    "df['price'] = df['revenue'] / df['units']",
    "print(len(df), df['price'].max())",
)
_CALC: Final = (
    "def calc(price, count):\n    return price * count",
    "lamps = calc(20, 3)",
    "print(lamps + calc(5, 4))",
)
_AMT: Final = ("import pandas as pd\n\ndf = pd.DataFrame({'id': [1, 2], 'amt': [10, 32]})", "print(df['amt'].sum())")
_TWICE: Final = "a = (50 - 32) * 5 / 9\nb = (86 - 32) * 5 / 9\nprint(a, b)"
_FUNCTION: Final = "def to_celsius(f):\n    return (f - 32) * 5 / 9"
_USED: Final = "a = to_celsius(50)\nb = to_celsius(86)\nprint(a, b)"


def _renamed(old: str, new: str, **values: object) -> Callable[[Outcome], None]:
    """Nothing is called by the old name any more, and all comes out as before."""

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        names = outcome.names()
        outcome.must(old not in names, f"{old} is still there")
        outcome.must(new in names, f"{new} is nowhere")
        outcome.must(len(outcome.after) == len(outcome.before), f"there are {len(outcome.after)} cells")
        shown = [cell.text.strip() for cell in outcome.before if cell.text.strip()]
        rerun_text = "\n".join(outcome.rerun.texts)
        outcome.must(all(text in rerun_text for text in shown), "the notebook shows something else than before")
        for probe, value in values.items():
            outcome.equals(probe, value)

    return judge


def _swapped(cells: tuple[str, ...], old: str, new: str) -> list[str]:
    return [source.replace(old, new) for source in cells]


def _column(outcome: Outcome) -> None:
    outcome.runs()
    outcome.equals("list(df.columns)", ["id", "amount"])
    outcome.must(any("42" in text for text in outcome.rerun.texts), "the sum is not shown any more")


def _extracted(outcome: Outcome) -> None:
    outcome.runs()
    outcome.equals("to_celsius(212)", 100)
    outcome.equals("[a, b]", [10, 30])
    calls = [node for node in ast.walk(ast.parse(outcome.code)) if isinstance(node, ast.Call)]
    used = sum(isinstance(call.func, ast.Name) and call.func.id == "to_celsius" for call in calls)
    outcome.must(used > 0, "to_celsius is not used")
    outcome.must(outcome.code.count("32") == 1, "the conversion is still written out elsewhere")


EVAL_TASKS: Final = (
    EvalTask(
        "rename-variable",
        "rename",
        "rename d to data everywhere",
        _renamed("d", "data", mean=16 / 3),
        cells=_NUMBERS,
        probes=["mean"],
        right=EndState(
            ["data = [3, 5, 8]", "mean = sum(data) / len(data)", "print(max(data) - min(data), mean)"],
        ),
        wrong=[
            EndState(["data = [3, 5, 8]", *_NUMBERS[1:]]),
            EndState([*_NUMBERS, "data = d"]),
            EndState(["data = [3, 5, 8]", "mean = sum(data) / len(data)", "print(max(data), mean)"]),
        ],
    ),
    EvalTask(
        "rename-frame",
        "rename",
        "pls rename df -> sales in the whole notebook",
        _renamed("df", "sales"),
        cells=_SALES,
        files=["sales.csv"],
        right=EndState(
            [
                "import pandas as pd\n\nsales = pd.read_csv('sales.csv')",
                "sales['price'] = sales['revenue'] / sales['units']",
                "print(len(sales), sales['price'].max())",
            ]
        ),
        wrong=[EndState([f"{_SALES[0]}\nsales = df", *_SALES[1:]])],
    ),
    EvalTask(
        "rename-function",
        "rename",
        "rename the function calc to total_price",
        _renamed("calc", "total_price", lamps=60),
        cells=_CALC,
        probes=["lamps"],
        right=EndState(_swapped(_CALC, "calc", "total_price")),
        wrong=[EndState([_CALC[0].replace("calc", "total_price"), *_CALC[1:]])],
    ),
    EvalTask(
        "rename-column",
        "rename",
        "rename the column amt to amount",
        _column,
        cells=_AMT,
        probes=["list(df.columns)"],
        right=EndState(_swapped(_AMT, "amt", "amount")),
        also_right=[
            EndState([_AMT[0], "df = df.rename(columns={'amt': 'amount'})", "print(df['amount'].sum())"]),
            EndState([*_AMT, "df.rename(columns={'amt': 'amount'}, inplace=True)"]),
        ],
        wrong=[EndState([*_AMT, "df.rename(columns={'amt': 'amount'})"])],
    ),
    EvalTask(
        "extract-function",
        "rename",
        "put the conversion into a function to_celsius(f) and use it",
        _extracted,
        cells=[_TWICE],
        probes=["to_celsius(212)", "[a, b]"],
        at=1,
        right=EndState([f"{_FUNCTION}\n\n{_USED}"]),
        also_right=[EndState([_FUNCTION, _USED])],
        wrong=[EndState([_TWICE, _FUNCTION]), EndState([_FUNCTION, _TWICE])],
    ),
)
