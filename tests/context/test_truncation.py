"""Cutting the middle out of texts: the cases of the reference, and what holds for any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.context import (
    Budget,
    room_for_output,
    truncated,
    truncated_items,
    truncation_header,
)

from ._helpers.conversations import image, text

EMOJI = "😀" * 10 + "\nsecond line with text\n"
LONG = "this is an example of a long output that should be truncated\nalso some other line"
BUDGETS = st.builds(Budget, st.sampled_from(["bytes", "tokens"]), st.integers(0, 60))
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("a한語😀\n é\ud83d")), max_size=200)


@pytest.mark.parametrize(
    ("given_text", "budget", "expected"),
    [
        ("", Budget("bytes", 0), ""),
        ("", Budget("tokens", 5), ""),
        ("short", Budget("bytes", 5), "short"),
        ("short", Budget("tokens", 2), "short"),
        ("example output", Budget("bytes", 1), "…13 chars truncated…t"),
        ("example output", Budget("tokens", 1), "ex…3 tokens truncated…ut"),
        ("example output", Budget("bytes", 0), "…14 chars truncated…"),
        ("example output", Budget("tokens", 0), "…4 tokens truncated…"),
        (EMOJI, Budget("tokens", 8), "😀😀😀😀…8 tokens truncated… line with text\n"),
        (EMOJI, Budget("bytes", 20), "😀😀…21 chars truncated…with text\n"),
        (LONG, Budget("tokens", 10), "this is an example o…11 tokens truncated…also some other line"),
        (LONG, Budget("bytes", 30), "this is an exam…51 chars truncated…some other line"),
    ],
)
def test_the_beginning_and_the_end_stay(given_text: str, budget: Budget, expected: str) -> None:
    assert truncated(given_text, budget) == expected


def test_a_header_tells_how_much_there_was() -> None:
    assert truncation_header(LONG) == "Warning: truncated output (original token count: 21)\nTotal output lines: 2"


@given(TEXTS, BUDGETS)
def test_what_is_left_is_within_budget_and_no_code_point_is_broken(words: str, budget: Budget) -> None:
    outcome = truncated(words, budget)
    if outcome == words:
        assert not words or len(words.encode("utf-8", "surrogatepass")) <= budget.bytes
        return
    unit = "tokens" if budget.kind == "tokens" else "chars"
    splits = [
        (outcome[: marker.start()], outcome[marker.end() :], int(marker[1]))
        for marker in re.finditer(rf"…(\d+) {unit} truncated…", outcome)
    ]
    assert any(
        words.startswith(begin)
        and words.endswith(end)
        and len((begin + end).encode("utf-8", "surrogatepass")) <= budget.bytes
        and (budget.kind == "tokens" or omitted == len(words) - len(begin) - len(end))
        for begin, end, omitted in splits
    )


@given(TEXTS)
def test_a_text_that_fits_is_not_touched(words: str) -> None:
    length = len(words.encode("utf-8", "surrogatepass"))
    assert truncated(words, Budget("bytes", max(1, length))) == words


def test_items_use_up_one_budget_and_images_always_stay() -> None:
    blocks = [text("a" * 20), image(), text("b" * 30), text("c"), image(), text("d")]

    told = truncated_items(blocks, Budget("bytes", 30))

    assert told == [
        text("a" * 20),
        image(),
        text("bbbbb…20 chars truncated…bbbbb"),
        image(),
        text("[omitted 2 text items ...]"),
    ]


def test_items_within_the_budget_are_the_same() -> None:
    blocks = [text("a" * 8), text("b" * 8)]
    assert truncated_items(blocks, Budget("tokens", 4)) == blocks


@pytest.mark.parametrize(
    ("remaining", "tokens"), [(200_000, 50_000), (100_000, 50_000), (30_001, 15_000), (0, 0), (-5, 0)]
)
def test_one_output_takes_half_of_what_is_left_and_never_more_than_its_cap(remaining: int, tokens: int) -> None:
    assert room_for_output(remaining) == Budget("tokens", tokens)
