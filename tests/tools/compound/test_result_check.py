"""Whether a change did what was asked is told by what the cells show."""

from __future__ import annotations

import pytest

from hdsp_agent.tools.compound._result_check import expected_number, keeps_results, not_as_asked, written_in


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("the mean should be 4.0", 4.0),
        ("it has to return -3 here", -3.0),
        ("I expected 12 but get 11", 12.0),
        ("결과는 7이어야 해", 7.0),
        ("3.5になるはず", 3.5),
        ("fix cell 3", None),
        ("it should work", None),
    ],
)
def test_a_number_that_should_come_out_is_known(words: str, number: float | None) -> None:
    assert expected_number(words) == number


@pytest.mark.parametrize(
    ("words", "before", "after", "problem"),
    [
        ("fix it, it should be 4", {"a": "2.4"}, {"a": "3.0"}, "It should show 4, and it does not."),
        ("fix it, it should be 4", {"a": "2.4"}, {"a": "mean: 4.00"}, None),
        ("the sum is wrong, fix it", {"a": "", "b": "7"}, {"a": "", "b": "7"}, "It still shows 7, which is wrong."),
        ("the sum is wrong, fix it", {"a": "", "b": "7"}, {"a": "", "b": "8"}, None),
        ("the sum is wrong, fix it", {"a": ""}, {"a": ""}, None),
        ("refactor it", {"a": "1 2"}, {"a": "1 3"}, "It showed 1 2 before, and has to show that again."),
        ("refactor it", {"a": "1 2"}, {"a": "1 2"}, None),
        ("refactor it", {"a": ""}, {"a": "3"}, None),
        ("set n to 5", {"a": "1"}, {"a": "1"}, None),
    ],
)
def test_outputs_tell_whether_it_was_done(
    words: str, before: dict[str, str], after: dict[str, str], problem: str | None
) -> None:
    assert not_as_asked(words, before, after, ["x = 1"]) == problem


def test_what_chance_decides_is_not_held_against_the_change() -> None:
    assert not_as_asked("refactor it", {"a": "0.1"}, {"a": "0.2"}, ["x = random.random()"]) is None


def test_results_stay_where_code_is_written_otherwise() -> None:
    for words in ("put it into a function", "refactor this", "rewrite it as a list comprehension"):
        assert keeps_results(words)
    assert not keeps_results("write a function") and not keeps_results("fix it: make it a function")


def test_a_number_that_is_written_down_is_not_computed() -> None:
    old = "def mean(xs):\n    return sum(xs) / 2"
    assert written_in("def mean(xs):\n    return 3.0", old, 3.0)
    assert written_in("mean = 3", "mean = sum(xs)", 3.0)
    assert not written_in("mean = sum([3, 4]) / 3", old, 3.0)
    assert not written_in("x = 3", "x = 3", 3.0) and not written_in("x = 3", "x = 2", None)
