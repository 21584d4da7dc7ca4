"""Plots: what is drawn counts, not how."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue

from hdsp_agent.messages import JsonObject

from .._eval_task import EndState, EvalTask, Outcome
from .._rerun import FIGURES

__all__ = ["EVAL_TASKS", "labels"]

_PEOPLE: Final = "import pandas as pd\nimport matplotlib.pyplot as plt\n\npeople = pd.read_csv('people.csv')"
_VOLTAGE: Final = "import matplotlib.pyplot as plt\n\nplt.plot([0, 1, 2, 3], [1.0, 1.4, 1.1, 0.6])\n{more}plt.show()"
_TEMPERATURES: Final = [14.5, 15, 16.5, 18, 17.5, 15.5, 14, 13.5, 15, 16]
_SIZES: Final = [(160, 58), (165, 60), (168, 62), (170, 65), (175, 70), (180, 78), (185, 90)]
_FEW: Final = 10


def labels(outcome: Outcome, name: str) -> list[str]:
    """What is written on the axes that were drawn."""
    return [str(axes.get(name) or "") for axes in _axes(outcome)]


def _axes(outcome: Outcome) -> Iterator[JsonObject]:
    figures = outcome.value(FIGURES)
    assert isinstance(figures, list)
    for figure in figures:
        yield from figure


def _series(outcome: Outcome) -> Iterator[list[tuple[JsonValue, JsonValue]]]:
    """The points of each line and each cloud, without those that are missing."""
    for axes in _axes(outcome):
        for kind in ("lines", "points"):
            drawn = axes[kind]
            assert isinstance(drawn, list)
            for one in drawn:
                assert isinstance(one, list)
                pairs = [(pair[0], pair[1]) for pair in one if isinstance(pair, list)]
                yield [(x, y) for x, y in pairs if x is not None and y is not None]


def _bars(outcome: Outcome, name: str) -> list[float]:
    return sorted(float(str(bar)) for axes in _axes(outcome) for bar in _list(axes[name]) if bar)


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _drawn(outcome: Outcome) -> None:
    outcome.runs()
    outcome.must(any(cell.has_image for cell in outcome.new), "no new cell shows a picture")


def _sine(outcome: Outcome) -> None:
    _drawn(outcome)
    outcome.must(any(map(_is_sine, _series(outcome))), "no line is a sine")


def _is_sine(points: list[tuple[JsonValue, JsonValue]]) -> bool:
    """Of whatever period, if it begins with 0; else the sine of x."""
    pairs = [(x, y) for x, y in points if isinstance(x, float) and isinstance(y, float)]
    if len(pairs) < _FEW:
        return False
    if all(math.isclose(y, math.sin(x), abs_tol=0.02) for x, y in pairs):
        return True
    ys = [y for _, y in pairs]
    turns = sum((b - a) * (c - b) < 0 for a, b, c in zip(ys, ys[1:], ys[2:], strict=False))
    reaches = -1.01 <= min(ys) < -0.9 and 0.9 < max(ys) <= 1.01
    return reaches and abs(ys[0]) < 0.1 and turns <= len(ys) // 2


def _temperature(outcome: Outcome) -> None:
    _drawn(outcome)
    drawn = [[y for _, y in points] for points in _series(outcome)]
    outcome.must(_TEMPERATURES in drawn, f"no line is the temperature, but {[line[:4] for line in drawn]}")


def _cities(outcome: Outcome) -> None:
    _drawn(outcome)
    heights, widths = _bars(outcome, "bars"), _bars(outcome, "widths")
    outcome.must([2, 2, 3] in (heights, widths), f"the bars are {heights}")


def _scatter(outcome: Outcome) -> None:
    _drawn(outcome)
    wanted = [_SIZES, [(weight, height) for height, weight in _SIZES]]
    drawn = [sorted(points, key=str) for points in _series(outcome)]
    right = [sorted([(float(x), float(y)) for x, y in pairs], key=str) for pairs in wanted]
    outcome.must(any(points in right for points in drawn), "the points are not those of the people")


def _labelled(outcome: Outcome) -> None:
    _drawn(outcome)
    x, y = labels(outcome, "x_label"), labels(outcome, "y_label")
    outcome.must(len(x) == 1, f"there are {len(x)} plots")
    outcome.must("time" in x[0].casefold() and "voltage" in y[0].casefold(), f"the axes are labelled {x}, {y}")


EVAL_TASKS: Final = (
    EvalTask(
        "plot-sine",
        "plot",
        "plot a sine",
        _sine,
        probes=[FIGURES],
        right=EndState(
            [
                "import numpy as np\nimport matplotlib.pyplot as plt",
                "x = np.linspace(0, 10)\nplt.plot(x, np.sin(x))\nplt.show()",
            ]
        ),
        also_right=[
            EndState(
                ["import numpy as np\nimport pandas as pd\nx = np.arange(-5, 5, 0.1)\npd.Series(np.sin(x), x).plot()"]
            ),
            EndState(
                ["import numpy as np\nimport matplotlib.pyplot as plt\nplt.plot(np.sin(2 * np.arange(0, 9, 0.1)))"]
            ),
        ],
        wrong=[
            EndState(["import numpy as np\nimport matplotlib.pyplot as plt\nplt.plot(np.cos(np.arange(0, 9, 0.1)))"]),
            EndState(["import matplotlib.pyplot as plt\n\nplt.plot([0, 1], [0, 1])"], "Here is the sine."),
            EndState(
                ["import numpy as np\nimport matplotlib.pyplot as plt\nplt.plot(np.sin(np.linspace(0, 9, 99)))"],
                ran=False,
            ),
        ],
    ),
    EvalTask(
        "plot-temperature",
        "plot",
        "plot temp over day from weather.csv",
        _temperature,
        files=["weather.csv"],
        probes=[FIGURES],
        right=EndState(["import pandas as pd\n\npd.read_csv('weather.csv').plot(x='day', y='temp')"]),
        wrong=[EndState(["import pandas as pd\n\npd.read_csv('weather.csv').plot(x='day', y='rain')"])],
    ),
    EvalTask(
        "plot-cities",
        "plot",
        "bar chart of how many people live in each city",
        _cities,
        cells=[_PEOPLE],
        files=["people.csv"],
        probes=[FIGURES],
        right=EndState([_PEOPLE, "people['city'].value_counts().plot.bar()\nplt.show()"]),
        also_right=[EndState([_PEOPLE, "counts = people.groupby('city').size()\nplt.barh(counts.index, counts)"])],
        wrong=[EndState([_PEOPLE, "people.plot.bar(x='city', y='age')"])],
    ),
    EvalTask(
        "plot-scatter",
        "plot",
        "scatter plot of height vs weight",
        _scatter,
        cells=[_PEOPLE],
        files=["people.csv"],
        probes=[FIGURES],
        right=EndState([_PEOPLE, "plt.scatter(people['height'], people['weight'])\nplt.show()"]),
        also_right=[EndState([_PEOPLE, "plt.plot(people['weight'], people['height'], 'o')"])],
        wrong=[EndState([_PEOPLE, "plt.scatter(people['age'], people['weight'])"])],
    ),
    EvalTask(
        "plot-labels",
        "plot",
        "label the axes: time (s) for x, voltage (V) for y",
        _labelled,
        cells=[_VOLTAGE.format(more="")],
        probes=[FIGURES],
        at=1,
        right=EndState([_VOLTAGE.format(more="plt.xlabel('time (s)')\nplt.ylabel('voltage (V)')\n")]),
        wrong=[
            EndState([_VOLTAGE.format(more=""), "plt.xlabel('time (s)')\nplt.ylabel('voltage (V)')"]),
            EndState([_VOLTAGE.format(more="plt.xlabel('voltage (V)')\nplt.ylabel('time (s)')\n")]),
        ],
    ),
)
