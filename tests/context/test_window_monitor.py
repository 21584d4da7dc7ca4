"""What is said about how full the window is, and when a conversation is condensed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.context import ContextMonitor, DegradationWatch, Meter, condense_percent, meter
from hdsp_agent.context._window_monitor import ADVICE, ContextThresholds
from hdsp_agent.messages import ApiMessage

from ._helpers.conversations import answer, call

TALKING = [answer("I look.", call("c")), answer("Found it.")]


def test_each_threshold_is_told_once() -> None:
    monitor = ContextMonitor()
    seen = [
        monitor.observe(used, 200_000)
        for used in (100_000, 139_999, 140_000, 150_000, 160_000, 190_000, 100_000, 170_000)
    ]

    kinds = [notice.kind if notice else None for notice in seen]
    assert kinds == [None, None, "reassurance", None, "advice", None, None, None]
    assert monitor.issued == {"reassurance", "advice"}


def test_the_advice_is_in_the_seeds_words_with_how_it_stands() -> None:
    notice = ContextMonitor().observe(161_000, 200_000)

    assert notice is not None
    assert notice.text == f"{ADVICE}\n[Context Status: 80.5% used (161,000/200,000 tokens), 19.5% remaining]"
    assert notice.percent == 80


def test_a_model_is_not_soothed_when_the_window_fills_at_one_stroke() -> None:
    monitor = ContextMonitor()
    first = monitor.observe(180_000, 200_000)
    assert first is not None
    assert first.kind == "advice"
    assert monitor.observe(145_000, 200_000) is None


def test_a_restart_says_nothing_again() -> None:
    before = ContextMonitor()
    before.observe(150_000, 200_000)
    after = ContextMonitor(issued=before.issued)
    assert after.observe(150_000, 200_000) is None
    assert after.observe(165_000, 200_000) is not None


def test_thresholds_are_settings_and_a_window_nobody_knows_is_not_watched() -> None:
    assert ContextMonitor(ContextThresholds(0.5, 0.6)).observe(120, 200) is not None
    assert ContextMonitor().observe(10**9, None) is None


@given(st.lists(st.integers(0, 300_000)))
def test_there_are_never_more_than_two_notices(sizes: list[int]) -> None:
    monitor = ContextMonitor()
    told = [notice for used in sizes if (notice := monitor.observe(used, 200_000))]
    assert len({notice.kind for notice in told}) == len(told)


@pytest.mark.parametrize(
    ("answer_tokens", "percent", "limit", "reserved"),
    [
        (8_000, 100, 180_000, 8_000),
        (32_000, 100, 168_000, 32_000),
        (8_000, 70, 140_000, 8_000),
        (None, 100, 180_000, 0),
        (200_000, 100, 100_000, 100_000),
    ],
)
def test_the_limit_leaves_room_for_the_answer(
    answer_tokens: int | None, percent: int, limit: int, reserved: int
) -> None:
    shown = meter(50_000, window=200_000, answer=answer_tokens, percent=percent)
    assert shown == Meter(200_000, 50_000, reserved, limit)
    assert shown.free == 200_000 - reserved - 50_000
    assert not shown.is_over_limit
    assert meter(limit, window=200_000, answer=answer_tokens, percent=percent).is_over_limit


@pytest.mark.parametrize(("own", "percent"), [(5, 5), (100, 100), (-1, 80), (4, 80), (101, 80)])
def test_a_profile_has_its_own_threshold_or_the_general_one(own: int, percent: int) -> None:
    assert condense_percent("p", general=80, by_profile={"p": own}) == percent
    assert condense_percent("other", general=80, by_profile={"p": own}) == 80
    assert condense_percent(None, general=80, by_profile={"p": own}) == 80


def degraded(watch: DegradationWatch, answers: list[ApiMessage]) -> list[bool]:
    return [watch.has_degraded(each) for each in answers]


def test_three_calls_without_a_word_are_a_model_that_lost_the_thread() -> None:
    watch = DegradationWatch()
    silent = answer(call("c"))
    assert degraded(watch, [silent] * 4) == [False] * 4

    watch.condensed(TALKING)
    assert degraded(watch, [silent, silent, silent, silent]) == [False, False, True, False]
    watch.condensed(TALKING)
    assert degraded(watch, [silent, silent, answer("Here.", call("d")), silent, silent, silent]) == [False] * 6


def test_a_model_that_never_talks_is_not_judged_by_that() -> None:
    watch = DegradationWatch()
    watch.condensed([answer(call("c")), answer(call("d")), answer("Done.")])
    assert degraded(watch, [answer(call("e"))] * 5) == [False] * 5


def test_it_gives_up_after_three_recoveries() -> None:
    watch = DegradationWatch()
    outcomes = []
    for _ in range(5):
        watch.condensed(TALKING)
        outcomes.append(any(degraded(watch, [answer(call("c"))] * 3)))
    assert outcomes == [True, True, True, False, False]
