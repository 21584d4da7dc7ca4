"""How verdicts on eval tasks are counted and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.evals._verdicts import Arm, Verdict, load_verdict, rates, save_verdict


def verdict(name: str, arm: Arm, *, done: bool) -> Verdict:
    return Verdict(name, "plot", arm, None if done else "nothing is drawn", requests=2, tokens=60, seconds=4.5)


@pytest.mark.parametrize(("product", "plain", "met"), [(4, 2, True), (4, 3, False), (3, 0, False), (4, 0, True)])
def test_the_goal_needs_a_high_rate_and_a_great_lead(product: int, plain: int, met: bool) -> None:
    verdicts = [verdict(str(at), "product", done=at < product) for at in range(4)]
    verdicts += [verdict(str(at), "plain", done=at < plain) for at in range(4)]
    overall, plots = rates(verdicts)
    assert (overall.id, plots.id) == ("evals.all", "evals.plot")
    assert (overall.value, overall.baseline, overall.runs) == (25 * product, 25 * plain, 4)
    assert overall.met is plots.met is met


@pytest.mark.parametrize("arm", ["reworded", "blind"])
def test_other_prompts_are_counted_apart(arm: Arm) -> None:
    verdicts = [
        verdict("a", "product", done=True),
        verdict("a", "plain", done=False),
        verdict("a", arm, done=False),
    ]
    found = {entry.id: (entry.value, entry.baseline) for entry in rates(verdicts)}
    assert found == {"evals.all": (100, 0), "evals.plot": (100, 0), f"evals.{arm}": (0, 100)}


def test_a_run_that_was_cut_goes_on_with_what_was_kept(tmp_path: Path) -> None:
    made = verdict("plot-sine", "product", done=False)
    save_verdict(made, "all that was said: 사인", tmp_path)
    assert load_verdict("plot-sine", "product", tmp_path) == made
    assert load_verdict("plot-sine", "plain", tmp_path) is None
    assert (tmp_path / "plot-sine.product.txt").read_text(encoding="utf-8") == "all that was said: 사인"
