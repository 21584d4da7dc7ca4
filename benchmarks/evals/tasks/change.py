"""Changing cells that are there."""

from __future__ import annotations

from typing import Final

from .._eval_task import EndState, EvalTask, Outcome, Text
from .._rerun import FIGURES
from .plot import labels

__all__ = ["EVAL_TASKS"]

_SUM: Final = "sum(range(1, n + 1))"
_PLOT: Final = (
    "import matplotlib.pyplot as plt\n\nplt.plot([1, 2, 3], [120, 90, 150])\nplt.title({title!r})\nplt.show()"
)
_DRAFT: Final = ("x = [1, 2, 3]", "print(sum(x))", "print('just a test')")
_AVERAGE: Final = ("values = [1, 2, 2]", "average = sum(values) / len(values)\nprint(average)")
_ORDERS: Final = "orders = [3, 4, 5]\nprint(len(orders))"


def _hundred(outcome: Outcome) -> None:
    outcome.runs()
    outcome.keeps(1)
    outcome.equals("n", 100)
    outcome.must(any("5050" in text for text in outcome.rerun.texts), "from the top, no cell shows 5050")
    outcome.must(any("5050" in cell.text for cell in outcome.after), "no cell shows 5050")


def _title(outcome: Outcome) -> None:
    outcome.runs()
    titles = [title for title in labels(outcome, "title") if title]
    outcome.must([title.casefold() for title in titles] == ["monthly sales"], f"the titles are {titles}")
    outcome.must(any(cell.has_image for cell in outcome.new), "the new plot is not shown")


def _last_gone(outcome: Outcome) -> None:
    outcome.keeps(3)
    outcome.must(len(outcome.after) == 2, f"there are {len(outcome.after)} cells")
    outcome.runs()


def _heading(outcome: Outcome) -> None:
    outcome.runs()
    outcome.keeps()
    outcome.must(outcome.after and not outcome.after[0].is_code, "the first cell is no Markdown")
    first = outcome.after[0].source.strip()
    is_heading = first.startswith(("#", "<h")) or "\n===" in first
    outcome.must(is_heading and "sales report" in first.casefold(), f"the first cell says {first[:60]!r}")


def _rounded(outcome: Outcome) -> None:
    outcome.runs()
    outcome.keeps(2)
    texts = [cell.text for cell in outcome.after]
    outcome.must(any("1.67" in text for text in texts), "no cell shows 1.67")
    outcome.must(not any("1.666" in text for text in (*texts, *outcome.rerun.texts)), "it is shown unrounded, too")


EVAL_TASKS: Final = (
    EvalTask(
        "change-n",
        "change",
        "set n to 100 and run it again",
        _hundred,
        cells=["n = 10", _SUM],
        probes=["n"],
        right=EndState(["n = 100", _SUM]),
        wrong=[EndState(["n = 10", _SUM, "n = 100"]), EndState(["n = 100", _SUM], "Done: 5050", ran=False)],
    ),
    EvalTask(
        "change-title",
        "change",
        "change the title of the plot to Monthly sales",
        _title,
        cells=[_PLOT.format(title="Untitled")],
        probes=[FIGURES],
        right=EndState([_PLOT.format(title="Monthly sales")]),
        wrong=[
            EndState([_PLOT.format(title="Untitled"), _PLOT.format(title="Monthly sales")]),
            EndState([_PLOT.format(title="Untitled"), "plt.title('Monthly sales')"]),
        ],
    ),
    EvalTask(
        "delete-last",
        "change",
        "delete the last cell",
        _last_gone,
        cells=_DRAFT,
        right=EndState(_DRAFT[:2]),
        wrong=[EndState(_DRAFT[1:]), EndState([*_DRAFT[:2], ""])],
    ),
    EvalTask(
        "add-heading",
        "change",
        "put a heading 'Sales report' at the top",
        _heading,
        cells=[_ORDERS],
        right=EndState([Text("# Sales report"), _ORDERS]),
        wrong=[
            EndState([_ORDERS, Text("# Sales report")]),
            EndState(["# Sales report", _ORDERS]),
            EndState(["print('Sales report')", _ORDERS]),
        ],
    ),
    EvalTask(
        "round-average",
        "change",
        "round the average to 2 decimals",
        _rounded,
        cells=_AVERAGE,
        at=2,
        right=EndState([_AVERAGE[0], "average = round(sum(values) / len(values), 2)\nprint(average)"]),
        also_right=[EndState([_AVERAGE[0], "average = sum(values) / len(values)\nprint(f'{average:.2f}')"])],
        wrong=[EndState([*_AVERAGE, "round(average, 2)"])],
    ),
)
