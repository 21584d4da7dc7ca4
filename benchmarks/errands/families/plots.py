"""Plots: what is drawn counts, not how."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from benchmarks.evals import FIGURES, Outcome

from .._errand import Family, Made, Scene
from ._judging import bars, drawn, points

__all__ = ["FAMILIES"]

_PLT: Final = "import matplotlib.pyplot as plt\n\n"
_FEW: Final = 8
_CURVES: Final[Mapping[str, tuple[Callable[[float], float], str]]] = {
    "x**3": (lambda x: x**3, "x**3"),
    "cos(x)": (math.cos, "np.cos(x)"),
    "exp(-x)": (lambda x: math.exp(-x), "np.exp(-x)"),
    "x**2 - 4": (lambda x: x * x - 4, "x**2 - 4"),
}
"""Formulas, what they give, and their code."""


def _bars(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    right = sorted(sum(data.numbers(data.amount, group)) for group in data.groups)

    def judge(outcome: Outcome) -> None:
        axes = drawn(outcome)
        outcome.keeps()
        found = [bars(one) for one in axes]
        fits = any(_close(one, right) for one in found)
        outcome.must(fits, f"the bars are {str(found)[:120]}, not {right}")

    grouped = f"{table}.groupby({data.group!r})[{data.amount!r}]"
    return Made(
        judge,
        scene.with_table(f"{_PLT}{grouped}.sum().plot.bar()\nplt.show()"),
        [
            scene.with_table(f"{_PLT}{grouped}.mean().plot.bar()\nplt.show()"),
            scene.with_table(f"{grouped}.sum()"),
            scene.with_table(f"{_PLT}plt.bar([], [])\nplt.show()"),
        ],
        also_right=[scene.with_table(f"{_PLT}sums = {grouped}.sum()\nplt.barh(sums.index, sums.values)\nplt.show()")],
        probes=[FIGURES],
    )


def _counts(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    right = sorted(Counter(data.texts(data.group)).values())

    def judge(outcome: Outcome) -> None:
        axes = drawn(outcome)
        outcome.keeps()
        outcome.must(any(_close(bars(one), right) for one in axes), "no bars show how many rows each group has")

    return Made(
        judge,
        scene.with_table(f"{_PLT}{table}[{data.group!r}].value_counts().plot(kind='bar')\nplt.show()"),
        [
            scene.with_table(f"{_PLT}{table}.plot(y={data.measure!r})\nplt.show()"),
            scene.with_table(f"{table}[{data.group!r}].value_counts()"),
        ],
        probes=[FIGURES],
    )


def _histogram(scene: Scene) -> Made:
    data, table = scene.data, scene.variable

    def judge(outcome: Outcome) -> None:
        axes = drawn(outcome)
        outcome.keeps()
        values = data.numbers(data.measure)
        fits = any(
            len(one) > 2
            and math.isclose(sum(one), len(values), abs_tol=0.1)
            and all(float(bar).is_integer() for bar in one)
            for one in map(bars, axes)
        )
        outcome.must(fits, "no bars count the values")

    return Made(
        judge,
        scene.with_table(f"{_PLT}plt.hist({table}[{data.measure!r}])\nplt.show()"),
        [
            scene.with_table(f"{_PLT}plt.plot({table}[{data.measure!r}])\nplt.show()"),
            scene.with_table(f"{_PLT}plt.bar({table}.index, {table}[{data.measure!r}])\nplt.show()"),
        ],
        also_right=[scene.with_table(f"{table}[{data.measure!r}].hist(bins=7)")],
        probes=[FIGURES],
    )


def _scatter(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    right = {(float(row[data.amount] or 0), float(row[data.measure] or 0)) for row in data.rows}

    def judge(outcome: Outcome) -> None:
        axes = drawn(outcome)
        outcome.keeps()
        found = [{_pair(one) for one in points(each)} for each in axes]
        turned = [{(y, x) for x, y in one} for one in found]
        outcome.must(any(one == right for one in (*found, *turned)), "the points are not those of the table")

    x, y = f"{table}[{data.amount!r}]", f"{table}[{data.measure!r}]"
    return Made(
        judge,
        scene.with_table(f"{_PLT}plt.scatter({x}, {y})\nplt.show()"),
        [
            scene.with_table(f"{_PLT}plt.scatter({table}.index, {y})\nplt.show()"),
            scene.with_table(f"{_PLT}plt.hist({x})\nplt.show()"),
        ],
        also_right=[scene.with_table(f"{table}.plot.scatter(x={data.amount!r}, y={data.measure!r})")],
        probes=[FIGURES],
    )


def _over_days(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    right = [float(row[data.measure] or 0) for row in sorted(data.rows, key=lambda row: str(row[data.day]))]

    def judge(outcome: Outcome) -> None:
        axes = drawn(outcome)
        outcome.keeps()
        series = [line for one in axes for line in _lines(one)]
        outcome.must(any(len(line) == len(right) for line in series), "no line has all the values")
        outcome.must(any(_close([y for _, y in line], right) for line in series), "the line does not follow the days")

    return Made(
        judge,
        scene.with_table(
            f"{_PLT}by_day = {table}.sort_values({data.day!r})\nplt.plot(by_day[{data.day!r}], by_day[{data.measure!r}])\nplt.show()"
        ),
        [
            scene.with_table(f"{_PLT}plt.plot({table}[{data.amount!r}])\nplt.show()"),
            scene.with_table(f"{_PLT}plt.figure()\nplt.show()"),
        ],
        probes=[FIGURES],
    )


def _curve(scene: Scene) -> Made:
    rng = scene.rng
    formula = rng.choice(list(_CURVES))
    function, code = _CURVES[formula]
    low, high = rng.choice([(-2, 2), (0, 5), (-3, 1)])

    def judge(outcome: Outcome) -> None:
        axes = drawn(outcome)
        outcome.keeps()
        series = [line for one in axes for line in _lines(one)]
        fits = any(
            len(line) >= _FEW
            and all(math.isclose(y, function(x), rel_tol=0.01, abs_tol=0.02) for x, y in line)
            and min(x for x, _ in line) <= low + 0.3
            and max(x for x, _ in line) >= high - 1.01
            for line in series
        )
        outcome.must(fits, f"no line is {formula} from {low} to {high}")

    head = f"import numpy as np\n{_PLT}x = np.linspace({low}, {high}, 100)\n"
    return Made(
        judge,
        scene.ends(f"{head}plt.plot(x, {code})\nplt.show()"),
        [scene.ends(f"{head}plt.plot(x, 2 * x + 31)\nplt.show()"), scene.ends(f"{head}print({code})")],
        {"formula": formula, "low": str(low), "high": str(high)},
        probes=[FIGURES],
    )


def _lines(axes: dict[str, object]) -> list[list[tuple[float, float]]]:
    series = axes["lines"]
    assert isinstance(series, list)
    return [
        [
            (float(index) if not isinstance(x, (int, float)) else float(x), float(y))
            for index, (x, y) in enumerate(one)
            if isinstance(y, (int, float))
        ]
        for one in series
    ]


def _pair(point: tuple[object, object]) -> tuple[float, float]:
    x, y = point
    return (
        float(x) if isinstance(x, (int, float)) else math.nan,
        float(y) if isinstance(y, (int, float)) else math.nan,
    )


def _close(found: Sequence[float], right: Sequence[float]) -> bool:
    return len(found) == len(right) and all(
        math.isclose(one, other, rel_tol=0.006, abs_tol=0.01) for one, other in zip(found, right, strict=True)
    )


FAMILIES: Final = (
    Family(
        "bars-of-totals",
        "plot",
        {
            "en": (
                "bar chart of total {amount} per {group} in {table}",
                "plot the sum of {amount} by {group} as bars ({table})",
                "draw the total {amount} of each {group} as a bar chart, from {table}",
            ),
            "ko": (
                "{table}의 {group}별 {amount} 합계를 막대그래프로 그려줘",
                "{group}별 {amount} 총합 막대 차트 ({table})",
                "{table}에서 {group}마다 {amount} 합을 바 차트로 보여줘",
            ),
            "ja": (
                "{table}の{group}ごとの{amount}の合計を棒グラフにして",
                "{group}別の{amount}の合計の棒グラフ（{table}）",
                "{table}で{group}ごとに{amount}を合計して棒グラフで描いて",
            ),
        },
        _bars,
    ),
    Family(
        "bars-of-counts",
        "plot",
        {
            "en": (
                "bar chart of how many rows of {table} each {group} has",
                "plot the number of rows per {group} ({table})",
                "draw the counts of {group} in {table} as bars",
            ),
            "ko": (
                "{table}의 {group}별 행 개수를 막대그래프로 그려줘",
                "{group}별 건수 막대 차트 ({table})",
                "{table}에서 {group} 값이 몇 번씩 나오는지 막대로 그려줘",
            ),
            "ja": (
                "{table}の{group}ごとの行数を棒グラフにして",
                "{group}別の件数の棒グラフ（{table}）",
                "{table}で{group}の値が何回ずつ出てくるか棒グラフで",
            ),
        },
        _counts,
    ),
    Family(
        "histogram-of-column",
        "plot",
        {
            "en": (
                "histogram of {measure} in {table}",
                "show the distribution of {measure} as a histogram ({table})",
                "plot a histogram: {measure}, {table}",
            ),
            "ko": (
                "{table}의 {measure} 히스토그램 그려줘",
                "{measure} 분포를 히스토그램으로 ({table})",
                "{table}에서 {measure}의 히스토그램을 보여줘",
            ),
            "ja": (
                "{table}の{measure}のヒストグラムを描いて",
                "{measure}の分布をヒストグラムで（{table}）",
                "{table}で{measure}のヒストグラムを見せて",
            ),
        },
        _histogram,
    ),
    Family(
        "scatter-of-two",
        "plot",
        {
            "en": (
                "scatter plot of {amount} against {measure} in {table}",
                "plot {measure} over {amount} as points ({table})",
                "draw a scatter of {amount} and {measure}, {table}",
            ),
            "ko": (
                "{table}의 {amount_with} {measure} 산점도를 그려줘",
                "{amount}, {measure} 산점도 ({table})",
                "{table}에서 {amount} 대 {measure_object} 점으로 찍어줘",
            ),
            "ja": (
                "{table}の{amount}と{measure}の散布図を描いて",
                "{amount}と{measure}の散布図（{table}）",
                "{table}で{amount}に対する{measure}を点で描いて",
            ),
        },
        _scatter,
    ),
    Family(
        "line-over-days",
        "plot",
        {
            "en": (
                "line plot of {measure} over {day} in {table}, in order of the dates",
                "plot {measure} by {day} as a line ({table}, sorted by date)",
                "show how {measure} develops over {day} in {table} (sort the days)",
            ),
            "ko": (
                "{table}의 {measure_object} {day} 순서대로 선 그래프로 그려줘",
                "{day} 순으로 정렬해서 {measure} 꺾은선 그래프 ({table})",
                "{table}에서 {day}에 따른 {measure} 변화를 선으로 그려줘 (날짜순)",
            ),
            "ja": (
                "{table}の{measure}を{day}順に折れ線グラフにして",
                "{day}で並べて{measure}の折れ線（{table}）",
                "{table}で{day}に沿った{measure}の変化を線で描いて（日付順）",
            ),
        },
        _over_days,
    ),
    Family(
        "curve-of-formula",
        "plot",
        {
            "en": (
                "plot y = {formula} from {low} to {high}",
                "draw the curve {formula} for x between {low} and {high}",
                "graph of {formula}, x from {low} to {high}",
            ),
            "ko": (
                "y = {formula} 그래프를 {low}부터 {high}까지 그려줘",
                "{formula} 곡선, x는 {low}에서 {high}",
                "x가 {low}~{high}일 때 {formula_object} 그려줘",
            ),
            "ja": (
                "y = {formula} のグラフを{low}から{high}まで描いて",
                "{formula}の曲線、xは{low}から{high}",
                "xが{low}から{high}のときの{formula}を描いて",
            ),
        },
        _curve,
    ),
)
