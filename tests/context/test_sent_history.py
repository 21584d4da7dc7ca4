"""A history can be sent, whatever happened to it."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.context import SentHistory, TokenCounter
from hdsp_agent.context._content_blocks import IMAGE_OMITTED, NOTHING_SAID
from hdsp_agent.context._sent_history import BEGINNING_HIDDEN
from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.persistence import INTERRUPTED

from .._helpers.long_tests import rounds
from .._helpers.timing import lines_run
from ._helpers.conversations import answer, call, image, normalized, result, text, user
from ._helpers.provider_rules import assert_all_take

IDS = st.sampled_from(["a", "b", "call_0", "call_0_2", ""])
THOUGHT: JsonObject = {"type": "thinking", "thinking": "hm", "signature": "s"}
ANSWERS = st.lists(
    st.one_of(IDS.map(call), st.sampled_from(["so", " ", "다"]).map(text), st.just(THOUGHT)), max_size=4
).map(lambda blocks: answer(*blocks))
RESULTS = st.builds(result, IDS, st.sampled_from(["ok", "", [text("seen"), image()]]))
WORDS = st.lists(st.one_of(RESULTS, st.sampled_from(["go", "", "하세요"]).map(text), st.builds(image)), max_size=4).map(
    lambda blocks: user(*blocks)
)
SUMMARIES = st.just(ApiMessage(role="user", content="what was", is_summary=True))
MARKERS = st.just(ApiMessage(role="user", content="[hidden]", is_truncation_marker=True))
PLAIN = st.builds(ApiMessage, role=st.sampled_from(["user", "assistant"]), content=st.sampled_from(["", "plain"]))
HISTORIES = st.lists(st.one_of(ANSWERS, WORDS, WORDS, ANSWERS, SUMMARIES, MARKERS, PLAIN), min_size=1, max_size=14)


@settings(max_examples=rounds(200, 500), deadline=None)
@given(HISTORIES, st.booleans())
def test_any_history_can_be_sent_to_any_provider(history: list[ApiMessage], images: bool) -> None:
    assert_all_take(normalized(history, images=images), images=images)


def test_thousands_of_random_histories_have_no_orphans() -> None:
    rng = random.Random(9)
    ids = [f"call_{n}" for n in range(6)]
    for _ in range(rounds(3_000, 10_000)):
        history = SentHistory()
        for _ in range(rng.randrange(1, 12)):
            some = rng.choices(ids, k=rng.randrange(3))
            history.add(answer("so", *map(call, some)) if rng.random() < 0.5 else user("go", *map(result, some)))
        waiting: list[object] = []
        seen: set[object] = set()
        for message in history.messages:
            results = [block["tool_use_id"] for block in blocks(message) if block["type"] == "tool_result"]
            assert results == waiting
            waiting = [block["id"] for block in blocks(message) if block["type"] == "tool_use"]
            assert not seen.intersection(map(str, waiting))
            seen.update(map(str, waiting))
        assert not waiting


@settings(max_examples=rounds(100, 300), deadline=None)
@given(HISTORIES)
def test_what_can_be_sent_stays_as_it_is(history: list[ApiMessage]) -> None:
    once = normalized(history)
    assert normalized(once) == once


@settings(max_examples=rounds(100, 300), deadline=None)
@given(HISTORIES, st.data())
def test_looking_in_between_changes_nothing(history: list[ApiMessage], data: st.DataObject) -> None:
    growing = SentHistory()
    for message in history:
        growing.add(message)
        if data.draw(st.booleans()):
            _ = growing.messages, growing.tokens()
    assert list(growing.messages) == normalized(history)
    assert growing.tokens() == TokenCounter().messages(normalized(history))


@st.composite
def turns(draw: st.DrawFn) -> list[list[ApiMessage]]:
    """A conversation as it is recorded, cut where a request is made."""
    turns = [[user(draw(st.sampled_from(["go", "시작"])))]]
    for _ in range(draw(st.integers(1, 8))):
        ids = draw(st.lists(IDS, max_size=3))
        said = [answer(*draw(st.sampled_from([["so"], []])), *(call(id) for id in ids))]
        said += [user(result(id, [text("x"), image()])) for id in draw(st.permutations(ids))]
        if not ids or draw(st.booleans()):
            said.append(user(draw(st.sampled_from(["more", "<environment_details>\nx\n</environment_details>"]))))
        turns.append(said)
    return turns


@settings(max_examples=rounds(150, 500), deadline=None)
@given(turns(), st.booleans())
def test_every_request_is_the_one_before_with_something_added(turns: list[list[ApiMessage]], images: bool) -> None:
    history = SentHistory(images=images)
    before: list[tuple[str, JsonObject]] = []
    for turn in turns:
        for message in turn:
            history.add(message)
        now = flat(history.messages)
        assert now[: len(before)] == before
        before = now


def test_a_request_stays_as_it_was_made() -> None:
    history = SentHistory()
    history.add(user("go"))
    first = history.messages
    history.add(answer(call("a")))
    history.add(user(result("a", "x" * 900)))
    second = history.messages
    history.add(answer("done"))
    history.clear_results({"a": "[cleared]"})

    assert [message.role for message in first] == ["user"]
    assert blocks(second[-1]) == [result("a", "x" * 900)]
    assert blocks(history.messages[2]) == [result("a", "[cleared]")]
    assert second[0] is first[0]


def test_messages_that_can_be_sent_are_the_same_objects() -> None:
    history = [user("go"), answer(call("a")), user(result("a")), answer("done")]
    assert all(sent is given for sent, given in zip(normalized(history), history, strict=True))


def test_a_call_without_a_result_is_answered_as_interrupted() -> None:
    sent = normalized([user("go"), answer(call("a"), call("b")), user(result("b", "B"), "and now?")])
    assert blocks(sent[2]) == [result("a", INTERRUPTED), result("b", "B"), text("and now?")]


def test_calls_at_the_end_are_answered_too() -> None:
    sent = normalized([user("go"), answer(call("a"))])
    assert blocks(sent[-1]) == [result("a", INTERRUPTED)]


def test_results_of_no_call_and_second_results_are_gone() -> None:
    sent = normalized([user("go", result("z")), answer(call("a")), user(result("a", "1")), user(result("a", "2"))])
    assert [blocks(message) for message in sent] == [[text("go")], [call("a")], [result("a", "1")]]


def test_results_under_wrong_ids_are_those_of_the_calls_in_their_place() -> None:
    history = [
        answer(call("a"), call("b"), call("c")),
        user(result("b", "two"), result("x", "one"), result("", "three")),
    ]
    assert normalized(history)[1:][-1].content == [result("a", "one"), result("b", "two"), result("c", "three")]


def test_a_late_result_of_an_earlier_call_is_not_taken_for_that_of_another() -> None:
    history = [user("go"), answer(call("a")), user("on"), answer(call("b")), user(result("a", "late"))]
    assert normalized(history)[-1].content == [result("b", INTERRUPTED)]


def test_results_of_two_answers_in_a_row_each_stand_behind_their_own() -> None:
    sent = normalized([user("go"), answer(call("a")), answer(call("b")), user(result("b", "B"), result("a", "A"))])
    assert [blocks(message) for message in sent[1:]] == [
        [call("a")],
        [result("a", "A")],
        [call("b")],
        [result("b", "B")],
    ]


def test_ids_that_a_server_counts_anew_in_each_answer_are_told_apart() -> None:
    extra: JsonObject = {"type": "tool_call_extra", "id": "call_0", "extra_content": "sig"}
    again = answer(call("call_0")).model_copy(update={"reasoning_details": [extra]})
    sent = normalized(
        [user("go"), answer(call("call_0")), user(result("call_0", "1")), again, user(result("call_0", "2"))]
    )

    assert blocks(sent[3]) == [call("call_0_2")]
    assert sent[3].reasoning_details == [{**extra, "id": "call_0_2"}]
    assert blocks(sent[4]) == [result("call_0_2", "2")]


def test_a_conversation_whose_beginning_is_hidden_begins_with_the_person() -> None:
    sent = normalized([answer("so"), user("go")])
    assert [message.role for message in sent] == ["user", "assistant", "user"]
    assert sent[0].content == BEGINNING_HIDDEN


def test_images_become_words_for_a_model_that_sees_none() -> None:
    sent = normalized([user("look", image()), answer(call("a")), user(result("a", [image(), text("x")]))], images=False)
    assert blocks(sent[0]) == [text("look"), text(IMAGE_OMITTED)]
    assert blocks(sent[2]) == [result("a", [text(IMAGE_OMITTED), text("x")])]


def test_a_summary_begins_a_message_and_the_marker_of_a_truncation_stands_alone() -> None:
    summary = ApiMessage(role="user", content="sum", is_summary=True)
    marker = ApiMessage(role="user", content="[hidden]", is_truncation_marker=True)
    sent = normalized([user("a"), summary, user("b"), marker, user("c"), user("d")])
    assert [[block["text"] for block in blocks(message)] for message in sent] == [
        ["a"],
        ["sum", "b"],
        ["[hidden]"],
        ["c", "d"],
    ]


def test_what_came_after_the_last_answer_is_counted_apart() -> None:
    history = SentHistory()
    for message in [user("go"), answer(call("a")), user(result("a", "x" * 4_000)), user("so?")]:
        history.add(message)

    assert history.after_answer == 2
    assert history.tokens(history.after_answer) == TokenCounter().messages(list(history.messages)[2:])
    assert history.tokens() == TokenCounter().messages(history.messages)


def test_cleared_results_are_cleared_in_a_history_that_is_built_anew() -> None:
    history = SentHistory()
    history.clear_results({"a": "[cleared]"})
    for message in [user("go"), answer(call("a")), user(result("a", "x" * 900)), answer("done")]:
        history.add(message)
    assert blocks(history.messages[2]) == [result("a", "[cleared]")]


def long_history(steps: int) -> list[ApiMessage]:
    """So many steps of two messages."""
    messages = [user("go")]
    for number in range(steps):
        messages.append(answer("I look", call(f"call_{number}", path=f"src/f{number}.py")))
        messages.append(user(result(f"call_{number}", "x" * 1_200)))
    return messages


def build(messages: Sequence[ApiMessage]) -> SentHistory:
    history = SentHistory()
    for message in messages:
        history.add(message)
    return history


def test_ten_thousand_messages_are_ready_after_a_few_steps_each_and_in_four_megabytes() -> None:
    messages = long_history(5_000)
    assert len(build(messages).messages) == 10_001
    assert lines_run(lambda: build(messages).messages) < 11 * lines_run(lambda: build(messages[:1_001]).messages)

    tracemalloc.start()
    try:
        history = build(messages)
        _ = history.messages, history.tokens()
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_step_costs_nothing_for_how_long_the_conversation_is() -> None:
    def lines(steps: int) -> int:
        history = build(long_history(steps))
        _ = history.tokens(), history.detailed()

        def go_on() -> None:
            for number in range(20):
                history.add(answer(call(f"more_{number}")))
                history.add(user(result(f"more_{number}")))
                _ = history.messages, history.tokens(), history.tokens(history.after_answer), history.detailed()

        return lines_run(go_on)

    assert lines(3_000) == lines(30)


def test_answers_with_details_of_their_reasoning_are_found_wherever_they_are() -> None:
    history = SentHistory()
    assert [*history.detailed()] == []
    for number in (1, 2):
        history.add(user(text("go")))
        history.add(answer(call(f"c{number}")).model_copy(update={"ts": number, "reasoning_details": [{"n": number}]}))
        history.add(user(result(f"c{number}", "x" * 600)))
        assert [message.ts for message in history.detailed()] == [*range(1, number + 1)]
    history.clear_results({"c1": "[Cleared]"})
    assert [message.ts for message in history.detailed()] == [1, 2]


def blocks(message: ApiMessage) -> list[JsonObject]:
    return [text(message.content)] if isinstance(message.content, str) else message.content


def flat(messages: Sequence[ApiMessage]) -> list[tuple[str, JsonObject]]:
    return [(message.role, block) for message in messages for block in blocks(message)]


def test_what_is_empty_is_filled_for_a_provider_that_refuses_it() -> None:
    history = SentHistory(blanks=False)
    same = user("go")
    for message in (
        same,
        answer(call("a")),
        user(result("a", "")),
        answer(THOUGHT),
        user(" "),
        ApiMessage(role="assistant", content=""),
    ):
        history.add(message)
    said = [blocks(message) for message in history.messages]
    assert history.messages[0] is same
    assert said[2][0]["content"] == "[no output]"
    # Replaced where it is blank, put in where there is nothing.
    assert said[3] == [THOUGHT, text(NOTHING_SAID)]
    assert said[4] == [text(NOTHING_SAID)]
    assert history.messages[5].content == NOTHING_SAID


def test_stubs_may_be_given_with_the_answer_whose_results_they_stand_for() -> None:
    history = SentHistory()
    history.add(user("go"))
    history.add(answer(call("a"), call("b")), {1: "[Cleared]"})
    history.add(user(result("a", "one"), result("b", "two")))
    assert [block["content"] for block in blocks(history.messages[2])] == ["one", "[Cleared]"]
    assert list(history.newest_calls) == ["a", "b"]


def test_a_result_that_was_taken_back_is_told_as_such_though_it_was_cleared_once() -> None:
    history = SentHistory()
    history.clear_results({"a": "[Cleared]"})
    history.add(user("go"))
    history.add(answer(call("a")))
    history.add(user("and?"))
    assert blocks(history.messages[2])[0]["content"] == INTERRUPTED
