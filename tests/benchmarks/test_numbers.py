"""The generated answers: what stands where, what stands nowhere, and the rates."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.errands import LANGUAGES, split_of
from benchmarks.numbers import answers_of
from benchmarks.numbers._answer import Answer, Claim, ResultFamily, Sentence
from benchmarks.numbers._measure import Place, checked, rates
from benchmarks.numbers._notebook import known_numbers, printed
from benchmarks.numbers.families import FAMILIES
from hdsp_agent.verify import AnswerNumber, TextAt

CELLS = (printed("print(mean)", "12.3456"), printed("print(count)", "4711"))

ANSWERS = answers_of("development", 1, each=2)


def answer(*sentences: Sentence) -> Answer:
    return Answer("a", "en", CELLS, sentences)


def test_enough_families_are_held_out_and_each_has_three_phrases_in_each_language() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    for split in ("held out", "development"):
        some = [family for family in FAMILIES if split_of(family.name) == split]
        assert sum(isinstance(family, ResultFamily) for family in some) >= 20
        assert sum(not isinstance(family, ResultFamily) for family in some) >= 15
    for family in FAMILIES:
        assert set(family.phrases) == set(LANGUAGES)
        assert all(len(set(phrases)) >= 3 for phrases in family.phrases.values()), family.name


@pytest.mark.in_short(1)
@pytest.mark.parametrize("seed", range(2, 12))
def test_answers_can_be_made_of_every_seed_and_are_the_same_each_time(seed: int) -> None:
    made, again = (answers_of("development", seed, each=1) for _ in range(2))
    assert [one.text for one in made] == [one.text for one in again]
    assert not [one.text for one in made if "{" in one.text]
    assert len({one.text for one in made} & {one.text for one in ANSWERS}) < len(made) / 3


def test_half_of_the_answers_that_state_results_are_right_and_half_are_wrong() -> None:
    claims = [claim for one in ANSWERS for said in one.sentences for claim in said.claims]
    right = [claim for claim in claims if claim.cell is not None]
    assert len(right) * 2 == len(claims) > 100


def test_all_numbers_of_a_cell_are_known_to_it() -> None:
    assert list(known_numbers(printed("df.head(5)", "1,234 and 1.5e-05"))) == [5, 1234, 1, 234, 1.5e-05]


def test_a_verdict_tells_links_marks_and_what_is_marked_in_vain() -> None:
    told = answer(
        Sentence("mean", "The mean is 12.35.", [Claim("12.35", 0)]),
        Sentence("wrong", "The count is 4,712.", [Claim("4,712", None)]),
        Sentence("date", "It ends on 30 Feb 2023."),
    )

    def check(text: str, seen: Sequence[Sequence[TextAt[Place]]]) -> list[AnswerNumber[Place]]:
        assert text == told.text and [one.text.strip() for one in seen[0]] == ["12.3456", "4711"]
        return [AnswerNumber("12.35", ("output", 1)), AnswerNumber("4,712", None), AnswerNumber("2023", None)]

    verdicts = {one.kind: (one.ok, one.marked) for one in checked([told], check)}
    assert verdicts == {"right": (False, False), "wrong": (True, True), "mention": (False, True)}


def test_some_digits_of_a_number_are_not_the_number() -> None:
    told = answer(Sentence("mean", "The mean is 12.3456.", [Claim("12.3456", 0)]), Sentence("code", "See row 34."))
    numbers = [AnswerNumber[Place]("12.3456", ("output", 0)), AnswerNumber[Place]("34", None)]
    assert [(one.kind, one.ok) for one in checked([told], lambda text, seen: numbers)] == [
        ("right", True),
        ("mention", False),
    ]


def test_only_what_is_held_out_has_goals_and_the_plain_search_stands_beside() -> None:
    for split in ("held out", "development"):
        told = {entry.id.rpartition(".")[2]: entry for entry in rates(split, ANSWERS)}
        assert set(told) == {"wrong_marked", "right_linked", "false_marks", "marked_mentions"}
        assert all((entry.goal == "none") == (split == "development") for entry in told.values())
        assert told["right_linked"].baseline is not None and told["right_linked"].value > told["right_linked"].baseline
