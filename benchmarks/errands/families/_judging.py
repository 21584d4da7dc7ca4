"""Judges that many families share. What counts is the effect, not how it was come by."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from benchmarks.evals import FIGURES, NotDone, Outcome

__all__ = [
    "all_told",
    "bars",
    "column_values",
    "drawn",
    "holds",
    "named_alone",
    "one_told",
    "points",
    "rows_in_order",
    "told",
]


def told(*numbers: float, within: float = 0.006) -> Callable[[Outcome], None]:
    """These numbers are told, and nothing of the person's was changed."""

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        outcome.tells(*numbers, within=within)

    return judge


def one_told(*choices: float) -> Callable[[Outcome], None]:
    """One of these numbers is told: a share may be told as a fraction or in percent."""

    def judge(outcome: Outcome) -> None:
        failures: list[NotDone] = []
        for number in choices:
            try:
                told(number)(outcome)
            except NotDone as why:
                failures.append(why)
        if len(failures) == len(choices):
            raise failures[0]

    return judge


def all_told(texts: Sequence[str], others: Sequence[str] = ()) -> Callable[[Outcome], None]:
    """All of these are told, and none of the others."""

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        found = f"{outcome.shown}\n{outcome.answer}"
        missing = [text for text in texts if not _names(found, text)]
        outcome.must(not missing, f"these are not told: {missing}")
        extra = [text for text in others if _names(found, text)]
        outcome.must(not extra, f"these are told, too: {extra}")

    return judge


def named_alone(right: str, others: Sequence[str]) -> Callable[[Outcome], None]:
    """This one is named as the answer: in the answer, or by a new cell that shows it first; others only behind it."""

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        said = [one for one in (right, *others) if _names(outcome.unquoted_answer, one)]
        if said:
            outcome.must(said == [right], f"the answer names {said}, and not {right} alone")
            return
        shown = "\n".join(cell.text for cell in outcome.new)
        first = min((one for one in (right, *others) if _names(shown, one)), key=shown.find, default=None)
        outcome.must(first == right, f"what is shown begins with {first}, and not with {right}")

    return judge


def rows_in_order(labels: Sequence[str]) -> Callable[[Outcome], None]:
    """Rows are shown in this order."""

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        shown = "\n".join([*(cell.text for cell in outcome.new), outcome.answer])
        # Where one name begins another, the place of the longer would be found.
        places = [found.start() if (found := _place(shown, label)) else -1 for label in labels]
        outcome.must(-1 not in places, "not all of the rows are shown")
        outcome.must(places == sorted(places), "the rows are not shown in the right order")

    return judge


def holds(outcome: Outcome, probe: str, expected: Sequence[float]) -> None:
    """A probe gives these numbers, in this order."""
    found = outcome.value(probe)
    outcome.must(isinstance(found, list) and len(found) == len(expected), f"{probe} gives {str(found)[:120]}")
    assert isinstance(found, list)
    for one, other in zip(found, expected, strict=True):
        same = isinstance(one, (int, float)) and math.isclose(one, other, rel_tol=0.006, abs_tol=0.006)
        outcome.must(same, f"{probe} gives {one} where {other:g} is right")


def column_values(frame: str, column: str) -> str:
    """A probe: the values of a column."""
    return f"{frame}[{column!r}].tolist()"


def drawn(outcome: Outcome) -> list[dict[str, object]]:
    """All axes that were drawn by the notebook, one of whose new or changed cells shows a picture."""
    outcome.runs()
    outcome.must(any(cell.has_image for cell in outcome.new), "no new cell shows a picture")
    figures = outcome.value(FIGURES)
    assert isinstance(figures, list)
    return [axes for figure in figures for axes in figure]


def bars(axes: dict[str, object]) -> list[float]:
    """The lengths of the bars, from the shortest: those that stand are told by their heights, others by their widths."""
    heights, widths = axes["bars"], axes["widths"]
    assert isinstance(heights, list) and isinstance(widths, list)
    lying = len(set(heights)) == 1 and len(set(widths)) > 1
    return sorted(map(float, widths if lying else heights))


def points(axes: dict[str, object]) -> list[tuple[object, object]]:
    """The points of lines and clouds."""
    found: list[tuple[object, object]] = []
    for kind in ("lines", "points"):
        series = axes[kind]
        assert isinstance(series, list)
        found += [(pair[0], pair[1]) for one in series for pair in one]
    return found


def _names(text: str, name: str) -> bool:
    return _place(text, name) is not None


def _place(text: str, name: str) -> re.Match[str] | None:
    """Where the name stands by itself: a particle may follow it, no other letter or digit of ours."""
    return re.search(rf"(?<![A-Za-z0-9_가-힣一-龥]){re.escape(name)}(?![A-Za-z0-9_])", text)
