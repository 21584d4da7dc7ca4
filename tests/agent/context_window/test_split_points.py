"""Where a conversation may be parted: never between a call and its result."""

from __future__ import annotations

from hdsp_agent.agent.context_window.split_points import newest_step, newest_words, partings, reach
from hdsp_agent.messages import JsonObject
from hdsp_agent.persistence import INTERRUPTED, ApiRecord

from ...context._helpers.conversations import call, result, text


def record(seq: int, role: str, *blocks: JsonObject, summary: bool = False) -> ApiRecord:
    return ApiRecord.model_validate(
        {
            "seq": seq, "role": role, "content": list(blocks), "timestamp": "2026-01-01T00:00:00Z", "token_count": 1,
            "is_summary": summary or None,
        }
    )  # fmt: skip


TALK = [
    record(2, "user", text("go")),
    record(3, "assistant", call("a"), call("b")),
    record(4, "user", result("a")),
    record(5, "user", result("b")),
    record(6, "user", text("a note")),
    record(7, "assistant", call("c")),
    record(8, "user", result("c")),
]


def test_it_is_parted_before_answers_and_behind_whole_results() -> None:
    assert partings(TALK) == [1, 4, 5, 7]


def test_a_call_that_still_runs_stays_behind_the_cut() -> None:
    assert partings(TALK[:-1]) == [1, 4, 5]
    # As it is read while it runs.
    assert partings([*TALK[:-1], record(8, "user", result("c", INTERRUPTED))]) == [1, 4, 5]


def test_an_earlier_summary_is_always_in_front_of_it() -> None:
    talk = [TALK[0], record(9, "user", text("what was"), summary=True), *TALK[4:]]
    assert partings(talk) == [2, 3, 5]
    assert reach(talk[:3]) == 6 and reach(talk) == 8


def test_the_newest_words_and_the_newest_step_are_found() -> None:
    assert (newest_words(TALK), newest_step(TALK)) == (7, 5)
    assert newest_words([*TALK, record(9, "user", text("and now?"))]) == 7
    assert (newest_words(TALK[:1]), newest_step(TALK[:1])) == (0, 0)
