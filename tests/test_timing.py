"""How tests count work."""

from __future__ import annotations

import pytest

from ._helpers.timing import lines_run, processor_time


def _search(items: list[int]) -> bool:
    for item in items:  # noqa: SIM110  # its lines are what is counted
        if item < 0:
            return True
    return False


def test_the_lines_of_a_call_are_counted_the_same_each_time() -> None:
    short, long = (lines_run(lambda length=length: _search([1] * length)) for length in (10, 1000))  # type: ignore[misc]
    assert lines_run(lambda: _search([1] * 10)) == short
    assert 50 * short < long < 200 * short


def test_what_computes_for_too_long_fails() -> None:
    with pytest.raises(AssertionError, match="This computed"), processor_time(0.0):
        _search([1] * 1000)
