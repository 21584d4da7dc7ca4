"""Old outputs are cleared many at once, and only when that pays."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.context import Pruner, PruningSettings, SentHistory, TokenCounter
from hdsp_agent.messages import ApiMessage

from ._helpers.conversations import answer, call, image, normalized, result, text, user
from ._helpers.provider_rules import assert_all_take

SMALL = PruningSettings(
    trigger=1_000, keep=2, minimum_gain=300, crowded_trigger=1_000, crowded_gain=300,
    cold_trigger=500, cold_gain=50, cold_keep=3,
)  # fmt: skip


def step(id: str, output: str, tool: str = "execute_command", **arguments: object) -> list[ApiMessage]:
    """One call and its result."""
    return [answer(call(id, tool, **(arguments or {"command": id}))), user(result(id, output))]


def talk(*steps: list[ApiMessage]) -> list[ApiMessage]:
    """A conversation whose last answer has seen all results."""
    return [user("go"), *(message for each in steps for message in each), answer("Done.")]


def test_all_but_the_newest_outputs_are_cleared_at_once() -> None:
    messages = talk(*(step(f"c{n}", f"{n}" * 1_000) for n in range(6)))

    plan = Pruner(SMALL).plan(messages, 1_500)

    assert plan is not None
    assert list(plan.stubs) == ["c0", "c1", "c2", "c3"]
    assert plan.stubs["c0"] == (
        '[Cleared: an old output of execute_command {"command": "c0"}. Call it again if you need it.]'
    )
    before = TokenCounter().messages(messages)
    history = SentHistory()
    for message in messages:
        history.add(message)
    history.clear_results(plan.stubs)
    assert abs(before - history.tokens() - plan.gain) <= 4


@pytest.mark.parametrize(
    ("used", "cold", "cleared"), [(999, False, 0), (1_000, False, 4), (499, True, 0), (500, True, 3)]
)
def test_it_waits_for_its_trigger_which_is_lower_when_nothing_is_cached(used: int, cold: bool, cleared: int) -> None:
    messages = talk(*(step(f"c{n}", f"{n}" * 1_000) for n in range(6)))
    plan = Pruner(SMALL).plan(messages, used, cold=cold)
    assert len(plan.stubs if plan else ()) == cleared


def test_for_too_little_the_cache_is_not_given_up_and_the_next_look_is_later() -> None:
    messages = talk(*(step(f"c{n}", f"{n}" * 1_000) for n in range(3)))
    pruner = Pruner(SMALL)
    assert pruner.plan(messages, 1_200) is None

    more = talk(*(step(f"c{n}", f"{n}" * 1_000) for n in range(9)))
    assert pruner.plan(more, 1_274) is None
    assert pruner.plan(more, 1_275) is not None


def test_after_a_batch_comes_no_other_until_as_much_is_there_again() -> None:
    pruner = Pruner(SMALL)
    messages = talk(*(step(f"c{n}", f"{n}" * 4_000) for n in range(6)))
    plan = pruner.plan(messages, 6_000)
    assert plan is not None
    left = 6_000 - plan.gain
    history = SentHistory()
    history.clear_results(plan.stubs)
    for message in messages:
        history.add(message)
    for n in range(6, 9):
        for message in step(f"c{n}", "n" * 4_000):
            history.add(message)
    history.add(answer("so"))
    assert pruner.plan(history.messages, left + 299) is None
    again = pruner.plan(history.messages, left + 3_000)
    assert again is not None
    assert set(again.stubs) == {"c4", "c5", "c6"}


def test_what_the_model_has_not_seen_stays() -> None:
    messages = [
        *talk(*(step(f"c{n}", f"{n}" * 1_000) for n in range(4))),
        answer(call("new1"), call("new2"), call("new3")),
    ]
    messages.append(user(*(result(f"new{n}", "x" * 9_000) for n in (1, 2, 3))))
    plan = Pruner(SMALL).plan(messages, 9_000)
    assert plan is not None
    assert set(plan.stubs) == {"c0", "c1"}


def test_protected_tools_short_outputs_and_cleared_ones_stay() -> None:
    plan_call = step("todo", "x" * 4_000, "update_todo_list")
    stub = step("old", f"[Cleared: {'x' * 4_000}]")
    messages = talk(plan_call, stub, step("short", "x" * 499), *(step(f"c{n}", f"{n}" * 4_000) for n in range(4)))
    plan = Pruner(SMALL).plan(messages, 6_000)
    assert plan is not None
    assert set(plan.stubs) == {"c0", "c1"}


def test_an_output_that_is_there_twice_goes_before_anything_is_lost() -> None:
    twice = [step(f"c{n}", "same" * 500, "execute_command", command="make") for n in range(3)]
    messages = talk(step("other", "y" * 4_000), *twice, step("last", "z" * 100))

    plan = Pruner(SMALL).plan(messages, 1_200)

    assert plan is not None
    assert plan.stubs == dict.fromkeys(
        ["c1", "c2"], "[Repeated: the same output as that of the same call of execute_command above.]"
    )


def test_a_read_that_was_overtaken_goes_but_a_run_does_not() -> None:
    reads = [step(f"r{n}", f"version {n} " * 200, "read_file", path="a.py") for n in range(3)]
    runs = [step(f"m{n}", f"outcome {n} " * 200, "execute_command", command="make") for n in range(2)]
    plan = Pruner(replace(SMALL, keep=3)).plan(talk(*reads, *runs), 1_500)
    assert plan is not None
    assert plan.stubs == dict.fromkeys(
        ["r0", "r1"], "[Outdated: read_file was called in the same way later, see below.]"
    )


def test_another_part_of_the_file_and_a_failed_read_overtake_nothing() -> None:
    messages = talk(
        step("r0", "one " * 400, "read_file", path="a.py"),
        step("r1", "two " * 400, "read_file", path="a.py", start_line=10),
        [answer(call("r2", "read_file", path="a.py")), user(result("r2", "it failed " * 200, is_error=True))],
    )
    assert Pruner(replace(SMALL, trigger=100, minimum_gain=1, crowded_gain=1, keep=3)).plan(messages, 1_000) is None


def test_what_stays_does_not_point_to_what_goes() -> None:
    messages = talk(
        step("a", "same " * 400, "read_file", path="a.py"),
        *(step(f"c{n}", f"{n}" * 4_000) for n in range(4)),
        step("b", "same " * 400, "read_file", path="a.py"),
    )
    plan = Pruner(SMALL).plan(messages, 9_000)
    assert plan is not None
    assert "a" in plan.stubs
    assert "b" not in plan.stubs


def test_what_was_called_for_again_after_it_was_cleared_stays() -> None:
    read = ("read_file",)
    first = [step("a", "a" * 4_000, *read, path="a.py"), *(step(f"c{n}", f"{n}" * 4_000) for n in range(3))]
    plan = Pruner(SMALL).plan(talk(*first), 5_000)
    assert plan is not None and "a" in plan.stubs
    history = SentHistory()
    history.clear_results(plan.stubs)
    again = step("again", "a" * 4_000, *read, path="a.py")
    for message in talk(*first, again, *(step(f"d{n}", f"{n}" * 4_000) for n in range(5))):
        history.add(message)
    later = Pruner(SMALL).plan(history.messages, 9_000)
    assert later is not None
    assert "again" not in later.stubs and {"c2", "d0", "d1", "d2"} <= set(later.stubs)


def test_pictures_are_not_taken_for_equal_by_their_words() -> None:
    def look(id: str, data: str) -> list[ApiMessage]:
        return [answer(call(id, "read_file", path="a.png")), user(result(id, [text("A picture."), image(data)]))]

    messages = talk(look("a", "AAAA"), look("b", "BBBB"), look("c", "CCCC"))
    assert Pruner(replace(SMALL, trigger=100, minimum_gain=1, crowded_gain=1, keep=3)).plan(messages, 8_000) is None
    cleared = Pruner(SMALL).plan(messages, 8_000)
    assert cleared is not None
    assert cleared.gain > 1_700


def test_a_stub_says_where_the_whole_output_is() -> None:
    artifact = "ab" * 32
    kept = f"{'x' * 900}\n[… read or search it with read_command_output and artifact_id {artifact} …]\n{'y' * 900}"
    plan = Pruner(SMALL).plan(talk(step("c", kept), *(step(f"c{n}", f"{n}" * 2_000) for n in range(3))), 2_000)
    assert plan is not None
    assert f"artifact {artifact}" in plan.stubs["c"]


@pytest.mark.parametrize(
    ("window", "trigger", "gain"), [(None, 60_000, 5_000), (1_000_000, 60_000, 5_000), (32_000, 16_000, 800)]
)
def test_a_small_window_has_smaller_settings(window: int | None, trigger: int, gain: int) -> None:
    settings = PruningSettings.for_window(window)
    assert (settings.trigger, settings.minimum_gain) == (trigger, gain)


def test_outputs_are_cleared_when_reading_them_has_cost_as_much_as_writing_the_rest_anew() -> None:
    """An answer takes in 1,000 tokens of output and writes 250: both are read at each answer since."""
    limits = replace(SMALL, minimum_gain=500, crowded_trigger=1_000_000)
    messages = [user("go")]
    cleared = []
    for n in range(40):
        messages += [
            answer("w" * 1_000, call(f"c{n}", "execute_command", command=f"{n}")),
            user(result(f"c{n}", f"{n:03}" + "x" * 3_997)),
        ]
        plan = Pruner(limits).plan([*messages, answer("so")], 20_000)
        cleared.append(len(plan.stubs) if plan else 0)
    first = next(n for n, each in enumerate(cleared) if each)
    # Read until then: 1,000 n²/2 tokens, at a tenth; to be written anew: 270 n + 2,000, at 1.25 instead of a tenth.
    assert cleared[first:] == [n - 1 for n in range(first, 40)]
    assert 9 <= first <= 12


def test_short_outputs_among_long_answers_are_left_where_clearing_costs_more() -> None:
    limits = replace(SMALL, minimum_gain=500, crowded_trigger=1_000_000)
    steps = [
        [
            answer("w" * 8_000, call(f"c{n}", "execute_command", command=f"{n}")),
            user(result(f"c{n}", f"{n:03}" + "x" * 600)),
        ]
        for n in range(30)
    ]
    assert Pruner(limits).plan(talk(*steps), 70_000) is None
    assert Pruner(limits).plan(talk(*steps), 70_000, cold=True) is not None


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 2_000)), max_size=12), st.booleans()
)
def test_clearing_leaves_a_conversation_that_can_be_sent_and_never_adds_to_it(
    calls: list[tuple[str, int, int]], cold: bool
) -> None:
    messages = normalized(
        talk(*(step(f"c{n}", f"{v}" * size, "read_file", path=path) for n, (path, v, size) in enumerate(calls)))
    )
    plan = Pruner(SMALL).plan(messages, 5_000, cold=cold)
    history = SentHistory()
    history.clear_results(plan.stubs if plan else {})
    for message in messages:
        history.add(message)
    assert_all_take(history.messages)
    if plan is not None:
        assert plan.gain >= (SMALL.cold_gain if cold else SMALL.minimum_gain)
        assert history.tokens() < TokenCounter().messages(messages)
