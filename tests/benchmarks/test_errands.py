"""The generated errands: what is held out, judges that know right from wrong, damage, and the rates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.errands import FAMILIES, LANGUAGES, Errand, damage, errands_of, split_of
from benchmarks.errands._errand import with_particles
from benchmarks.errands._generate import errand_of
from benchmarks.errands._verdict import Verdict, interval, load_verdict, rates, save_verdict
from benchmarks.evals import Outcome, RerunKernel, SeenCell
from benchmarks.evals._eval_task import RerunResult
from hdsp_agent.messages import JsonObject
from tests._helpers.long_tests import rounds

from ._helpers.end_states import JudgedTask

SMALL = "qwen2.5-coder-0.5b-instruct"
ERRANDS = [
    errand_of(family, LANGUAGES[(at // 3 + turn) % len(LANGUAGES)], seed=7)
    for at, family in enumerate(FAMILIES)
    for turn in range(rounds(1 if at % 3 == 0 else 0, len(LANGUAGES)))
]
"""A third of the families in one language each; in the long form all of them in every language."""


@pytest.mark.in_short(5)
@pytest.mark.parametrize("errand", ERRANDS, ids=lambda errand: errand.task.name)
def test_a_judge_knows_what_is_done(errand: Errand, kernel: RerunKernel, tmp_path: Path) -> None:
    JudgedTask(errand.task, kernel, tmp_path).must_know_right_from_wrong()


def test_enough_families_are_held_out_and_each_is_asked_for_in_every_language() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    held = [errand.family for errand in errands_of("held out", seed=1)]
    assert len(set(held)) >= 12 and len(held) >= 48
    assert {errand.language for errand in errands_of("held out", seed=1)} == set(LANGUAGES)
    assert not set(held) & {errand.family for errand in errands_of("development", seed=1)}


def test_each_family_has_three_phrases_in_each_language() -> None:
    for family in FAMILIES:
        assert set(family.phrases) == set(LANGUAGES)
        assert all(len(set(phrases)) >= 3 for phrases in family.phrases.values()), family.name


@pytest.mark.parametrize("seed", range(20))
def test_errands_can_be_made_of_every_seed_and_are_the_same_each_time(seed: int) -> None:
    made = [*errands_of("held out", seed), *errands_of("development", seed)]
    again = [*errands_of("held out", seed), *errands_of("development", seed)]
    assert [one.task.prompt for one in made] == [one.task.prompt for one in again]
    assert not [one.task.prompt for one in made if "{" in one.task.prompt]


def test_another_seed_makes_other_errands() -> None:
    one, other = ({each.task.prompt for each in errands_of("held out", seed)} for seed in (1, 2))
    assert len(one & other) < len(one) / 3


def test_what_is_held_out_is_decided_by_the_name_alone() -> None:
    assert (split_of("cell-deleted"), split_of("cell-explained")) == ("held out", "development")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("df", "df를 df로"),
        ("금액", "금액을 금액으로"),
        ("점수", "점수를 점수로"),
        ("반", "반을 반으로"),
        ("0.2", "0.2를 0.2로"),
        ("7", "7을 7로"),
    ],
)
def test_korean_particles_fit_the_words_before_them(name: str, said: str) -> None:
    assert "{x_object} {x_by}".format(**with_particles({"x": name})) == said


# ---- damage

BEFORE = [SeenCell("a", "x = 1", True), SeenCell("b", "x + 1", True), SeenCell("c", "note", False)]
FAILED: list[JsonObject] = [{"output_type": "error", "ename": "NameError", "evalue": "x"}]


def errand_with(may_change: frozenset[int] = frozenset()) -> Errand:
    [some] = [one for one in errands_of("development", 1) if one.task.name == "mean-of-column-en-1-0"]
    return replace(some, may_change=may_change)


def damaged(
    after: list[SeenCell], *may_change: int, done: bool = True, files: dict[str, str] | None = None
) -> str | None:
    errand = errand_with(frozenset(may_change))
    kept = dict(errand.task.tables) if files is None else files
    return damage(errand, Outcome(BEFORE, after, "", RerunResult(None, {})), kept, done=done)


def test_new_cells_and_a_change_that_was_asked_for_are_no_damage() -> None:
    assert damaged([*BEFORE, SeenCell("d", "x", True)]) is None
    assert damaged([SeenCell("n", "# new", False), *BEFORE]) is None
    assert damaged([BEFORE[0], SeenCell("b", "x + 2", True), BEFORE[2]], 2) is None
    assert damaged([BEFORE[0], BEFORE[2]], 2) is None


def test_other_cells_that_are_changed_gone_moved_or_fail_now_are_damage() -> None:
    assert damaged([BEFORE[0], SeenCell("b", "x + 2", True), BEFORE[2]], 1) == "cell 2 is changed"
    assert damaged(BEFORE[1:]) == "cell 1 is gone"
    assert damaged([BEFORE[1], BEFORE[0], BEFORE[2]]) == "the cells are in another order"
    assert (
        damaged([BEFORE[0], SeenCell("b", "x + 1", True, FAILED), BEFORE[2]]) == "cell 2 worked and shows an error now"
    )


def test_a_change_that_was_asked_for_and_went_wrong_has_to_be_taken_back() -> None:
    assert damaged([BEFORE[0], SeenCell("b", "x + 2", True), BEFORE[2]], 2, done=False) is not None
    assert damaged(BEFORE, 2, done=False) is None


def test_a_file_that_is_gone_or_changed_is_damage() -> None:
    [name] = errand_with().task.tables
    assert damaged(BEFORE, files={}) == f"{name} is gone or changed"
    assert damaged(BEFORE, files={name: "other"}) == f"{name} is gone or changed"


# ---- rates


def verdict(
    name: str, *, done: bool, claim: str = "unchecked", by: str = "product", split: str = "held out", **more: object
) -> Verdict:
    known: dict[str, object] = {
        "name": name, "family": "f", "language": "en", "split": split, "by": by, "model": SMALL,
        "why_not": None if done else "it is not there", "claim": claim, "damage": None, "requests": 2, "tokens": 60,
        "questions": 0, "seconds": 4.5,
    }  # fmt: skip
    return Verdict(**{**known, **more})  # type: ignore[arg-type]  # as above


def test_the_rates_are_of_what_is_held_out_with_the_plain_loop_beside() -> None:
    verdicts = [verdict(str(at), done=at < 3, claim="checked" if at in (0, 3) else "unchecked") for at in range(6)]
    verdicts += [verdict(f"p{at}", done=at < 1, claim="checked", by="plain") for at in range(4)]
    verdicts += [verdict("d", done=True, split="development")]
    found = {entry.id: (round(entry.value, 1), entry.baseline, entry.met) for entry in rates(verdicts)}
    assert found == {
        "errands.held_out@0.5b": (50, 25, True),
        "errands.held_out.en@0.5b": (50, 25, True),
        "errands.damage@0.5b": (0, 0, True),
        "errands.wrong_claims@0.5b": (16.7, 75, False),
        "errands.wrong_unchecked@0.5b": (33.3, 0, True),
        "errands.development@0.5b": (100, None, True),
    }


def test_one_damaged_cell_is_told() -> None:
    [told] = [
        one for one in rates([verdict("a", done=True, damage="cell 1 is gone")]) if one.id == "errands.damage@0.5b"
    ]
    assert (told.value, told.met) == (100, False)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"), [(0, 10, 0.0, 27.8), (7, 24, 14.9, 49.2), (10, 10, 72.2, 100.0)]
)
def test_the_interval_is_wilsons(hits: int, of: int, low: float, high: float) -> None:
    assert list(interval(hits, of)) == pytest.approx([low, high], abs=0.06)


def test_of_what_is_held_out_nobody_reads_why_it_failed(tmp_path: Path) -> None:
    made = verdict("a", done=False)
    assert "it is not there" not in made.line
    assert "it is not there" in verdict("a", done=False, split="development").line
    save_verdict(made, None, tmp_path)
    assert load_verdict("a", "product", SMALL, tmp_path) == made
    assert load_verdict("a", "plain", SMALL, tmp_path) is None
    assert not list(tmp_path.glob("*.txt"))
