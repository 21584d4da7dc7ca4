"""Changing cells that are there."""

from __future__ import annotations

from typing import Final

from .._eval_task import Ending, Errand, Outcome, Text
from .._rerun import FIGURES
from .plot import labels

__all__ = ["ERRANDS"]

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
    outcome.must(any("5050" in text for text in outcome.fresh.texts), "from the top, no cell shows 5050")
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
    outcome.must(not any("1.666" in text for text in (*texts, *outcome.fresh.texts)), "it is shown unrounded, too")


ERRANDS: Final = (
    Errand(
        "change-n",
        "change",
        "set n to 100 and run it again",
        _hundred,
        cells=["n = 10", _SUM],
        probes=["n"],
        right=Ending(["n = 100", _SUM]),
        wrong=[Ending(["n = 10", _SUM, "n = 100"]), Ending(["n = 100", _SUM], "Done: 5050", ran=False)],
    ),
    Errand(
        "change-title",
        "change",
        "change the title of the plot to Monthly sales",
        _title,
        cells=[_PLOT.format(title="Untitled")],
        probes=[FIGURES],
        right=Ending([_PLOT.format(title="Monthly sales")]),
        wrong=[
            Ending([_PLOT.format(title="Untitled"), _PLOT.format(title="Monthly sales")]),
            Ending([_PLOT.format(title="Untitled"), "plt.title('Monthly sales')"]),
        ],
    ),
    Errand(
        "delete-last",
        "change",
        "delete the last cell",
        _last_gone,
        cells=_DRAFT,
        right=Ending(_DRAFT[:2]),
        wrong=[Ending(_DRAFT[1:]), Ending([*_DRAFT[:2], ""])],
    ),
    Errand(
        "add-heading",
        "change",
        "put a heading 'Sales report' at the top",
        _heading,
        cells=[_ORDERS],
        right=Ending([Text("# Sales report"), _ORDERS]),
        wrong=[
            Ending([_ORDERS, Text("# Sales report")]),
            Ending(["# Sales report", _ORDERS]),
            Ending(["print('Sales report')", _ORDERS]),
        ],
    ),
    Errand(
        "round-average",
        "change",
        "round the average to 2 decimals",
        _rounded,
        cells=_AVERAGE,
        at=2,
        right=Ending([_AVERAGE[0], "average = round(sum(values) / len(values), 2)\nprint(average)"]),
        also_right=[Ending([_AVERAGE[0], "average = sum(values) / len(values)\nprint(f'{average:.2f}')"])],
        wrong=[Ending([*_AVERAGE, "round(average, 2)"])],
    ),
)
